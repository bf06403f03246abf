//! The program's own threads and waits, by interposition: functions of the C library that std calls are defined here, in
//! the executable, and so take precedence. Each does what the original does, and notifies the collector.
//!
//! | function | original | reported |
//! |---|---|---|
//! | `syscall` | the same instruction; only `futex` is looked at | waits and wake-ups |
//! | `pthread_create` | by `dlsym(RTLD_NEXT)` | where the thread starts |
//! | `pthread_join` | by `dlsym(RTLD_NEXT)` | the wait for its end |
//! | `nanosleep`, `clock_nanosleep` | the same | sleeps between looks |
//!
//! Only for x86-64 with glibc, where this has been tested; elsewhere waits count with the time they take.

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
pub use interposed::keep;

use core::cell::Cell;

std::thread_local! {
    /// The threads that this one creates are workers of a pool.
    static CREATING: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, the calling thread creates workers. They begin no strand before they have work: when a pool's threads
/// come to life is the machine's business, and some may not before the program ends.
#[derive(Debug)]
pub struct Creating(());

impl Creating {
    /// From now on.
    pub fn new() -> Creating {
        CREATING.set(true);
        Creating(())
    }
}

impl Drop for Creating {
    fn drop(&mut self) {
        CREATING.set(false);
    }
}

/// Nothing is interposed on this platform.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"))))]
pub fn keep() {}

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
mod interposed {
    use core::arch::global_asm;
    use core::ffi::{c_int, c_long, c_void};
    use core::mem;

    use workspan_collect::futex::{fail, returned, Futex, CHANGED, TIMED_OUT};
    use workspan_collect::interposed::{Arguments, Create, Followed, Join, Original, Start, Worker};
    use workspan_collect::waits::{self, Born, Wait};
    use workspan_collect::{clock, looks, thread};

    // What glibc's `syscall` does: shift the arguments by one register, enter the kernel, turn an error into errno.
    // Number 202, futex, goes to `workspan_futex` with all arguments as they are.
    global_asm!(
        ".pushsection .text.workspan_syscall,\"ax\",@progbits",
        ".globl syscall",
        ".type syscall, @function",
        ".p2align 4",
        "syscall:",
        "cmp rdi, 202",
        "je {futex}",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov r10, r8",
        "mov r8, r9",
        "mov r9, qword ptr [rsp + 8]",
        "syscall",
        "cmp rax, -4095",
        "jae 2f",
        "ret",
        "2:",
        "mov rdi, rax",
        "jmp {fail}",
        ".size syscall, . - syscall",
        ".popsection",
        futex = sym workspan_futex,
        fail = sym fail,
    );

    extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
        fn pthread_self() -> u64;
    }

    const EAGAIN: c_int = 11;
    const NOT_THERE: c_long = -38;

    /// `syscall(SYS_futex, …)`.
    extern "C" fn workspan_futex(
        _number: c_long,
        address: u64,
        operation: c_long,
        value: c_long,
        timeout: c_long,
        second: c_long,
        third: c_long,
    ) -> c_long {
        let futex = Futex { address, operation, others: [value, timeout, second, third] };
        if futex.wakes().is_some() {
            waits::wake(address);
        }
        let wait = if futex.waits() { Wait::begin() } else { None };
        let answer = futex.call();
        match wait {
            Some(wait) if answer == TIMED_OUT => wait.end_by_time(),
            // Not even asleep if the value had changed already; the time is next to nothing then.
            Some(wait) => wait.end(address, answer == 0 || answer == CHANGED),
            None => {}
        }
        returned(answer)
    }

    static CREATE: Original = Original::new(c"pthread_create");
    static JOIN: Original = Original::new(c"pthread_join");

    /// # Safety
    ///
    /// As for the C library's.
    #[no_mangle]
    unsafe extern "C" fn pthread_create(
        id: *mut u64,
        attributes: *const c_void,
        start: Start,
        argument: *mut c_void,
    ) -> c_int {
        let original = CREATE.get();
        if original.is_null() {
            return EAGAIN;
        }
        // SAFETY: the C library defines it with this signature.
        let original: Create = unsafe { mem::transmute::<*mut c_void, Create>(original) };
        let arguments = Arguments { id, attributes, start, argument };
        if super::CREATING.get() {
            // SAFETY: the caller's own arguments, and the C library's function.
            return unsafe { arguments.create_followed(original, || Worker) };
        }
        match Born::here() {
            // SAFETY: the caller's own arguments, and the C library's function.
            Some(born) => unsafe { arguments.create_followed(original, || Followed { born, end: publish_end }) },
            // SAFETY: as above.
            None => unsafe { arguments.create(original) },
        }
    }

    fn publish_end() {
        // SAFETY: always succeeds.
        waits::publish_end(unsafe { pthread_self() });
    }

    /// # Safety
    ///
    /// As for the C library's.
    #[no_mangle]
    unsafe extern "C-unwind" fn pthread_join(id: u64, result: *mut *mut c_void) -> c_int {
        const ESRCH: c_int = 3;
        let original = JOIN.get();
        if original.is_null() {
            return ESRCH;
        }
        // SAFETY: the C library defines it with this signature.
        let original: Join = unsafe { mem::transmute::<*mut c_void, Join>(original) };
        let wait = Wait::begin();
        // SAFETY: the caller's own arguments.
        let answer = unsafe { original(id, result) };
        if let Some(wait) = wait {
            wait.end_of_thread(id);
        }
        answer
    }

    type Sleep = unsafe extern "C" fn(*const c_void, *mut c_void) -> c_int;
    type Clocked = unsafe extern "C" fn(c_int, c_int, *const c_void, *mut c_void) -> c_int;

    static SLEEP: Original = Original::new(c"nanosleep");
    static CLOCKED: Original = Original::new(c"clock_nanosleep");

    /// The calling thread sleeps, which is `own`.
    fn sleeps(own: impl FnOnce() -> c_int) -> c_int {
        match thread::hot().filter(|thread| thread.task.waiting.get() == 0) {
            Some(thread) => looks::sleeps(thread, clock::read(thread), own),
            None => own(),
        }
    }

    /// # Safety
    ///
    /// As for the C library's.
    #[no_mangle]
    unsafe extern "C" fn nanosleep(time: *const c_void, left: *mut c_void) -> c_int {
        let original = SLEEP.get();
        if original.is_null() {
            fail(NOT_THERE);
            return -1;
        }
        // SAFETY: the C library defines it with this signature.
        let original: Sleep = unsafe { mem::transmute::<*mut c_void, Sleep>(original) };
        // SAFETY: the caller's own arguments.
        sleeps(|| unsafe { original(time, left) })
    }

    /// # Safety
    ///
    /// As for the C library's.
    #[no_mangle]
    unsafe extern "C" fn clock_nanosleep(clock: c_int, flags: c_int, time: *const c_void, left: *mut c_void) -> c_int {
        const ENOSYS: c_int = 38;
        let original = CLOCKED.get();
        if original.is_null() {
            return ENOSYS;
        }
        // SAFETY: the C library defines it with this signature.
        let original: Clocked = unsafe { mem::transmute::<*mut c_void, Clocked>(original) };
        // SAFETY: the caller's own arguments.
        sleeps(|| unsafe { original(clock, flags, time, left) })
    }

    /// Refers to the interposed functions, so that they are linked.
    pub fn keep() {
        core::hint::black_box((
            syscall as unsafe extern "C" fn(c_long, ...) -> c_long as usize,
            pthread_create as Create as usize,
            pthread_join as Join as usize,
            nanosleep as Sleep as usize,
            clock_nanosleep as Clocked as usize,
        ));
    }
}
