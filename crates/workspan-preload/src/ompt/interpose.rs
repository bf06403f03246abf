//! Entry points of the OpenMP runtimes, defined here first: each notes what the compiler passes, and goes on to the
//! runtime's own.
//!
//! What is worth noting: the place in the source (`ident_t`, the first argument of clang's and flang's entry points), the
//! body of a task (gcc's), and whether the program says that a task runs at once.

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::site::{note, Entry, Ident};

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;

/// The next definition of a function, looked up once.
struct Original {
    name: &'static core::ffi::CStr,
    at: AtomicPtr<c_void>,
}

impl Original {
    const fn new(name: &'static core::ffi::CStr) -> Original {
        Original { name, at: AtomicPtr::new(ptr::null_mut()) }
    }

    #[inline(always)]
    fn get(&self) -> *mut c_void {
        let known = self.at.load(Ordering::Relaxed);
        if known.is_null() {
            self.find()
        } else {
            known
        }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: a terminated name. The program calls the function, so its runtime defines it.
        let found = unsafe { dlsym(RTLD_NEXT, self.name.as_ptr()) };
        self.at.store(found, Ordering::Relaxed);
        found
    }
}

/// `__kmpc_omp_task_alloc`: a task is about to be created.
///
/// # Safety
///
/// As for the runtime's.
#[no_mangle]
pub unsafe extern "C" fn __kmpc_omp_task_alloc(
    ident: *const Ident,
    thread: c_int,
    flags: c_int,
    size: usize,
    shareds: usize,
    body: *const c_void,
) -> *mut c_void {
    type Function = unsafe extern "C" fn(*const Ident, c_int, c_int, usize, usize, *const c_void) -> *mut c_void;
    static ORIGINAL: Original = Original::new(c"__kmpc_omp_task_alloc");
    note(Entry { ident, body, at_once: false, since: super::site::sample() });
    // SAFETY: the runtime defines it with this signature.
    let original: Function = unsafe { mem::transmute::<*mut c_void, Function>(ORIGINAL.get()) };
    // SAFETY: the caller's own arguments.
    unsafe { original(ident, thread, flags, size, shareds, body) }
}

/// `__kmpc_omp_task_begin_if0`: a task that runs at once begins.
///
/// # Safety
///
/// As for the runtime's.
#[no_mangle]
pub unsafe extern "C" fn __kmpc_omp_task_begin_if0(ident: *const Ident, thread: c_int, task: *mut c_void) {
    type Function = unsafe extern "C" fn(*const Ident, c_int, *mut c_void);
    static ORIGINAL: Original = Original::new(c"__kmpc_omp_task_begin_if0");
    note(Entry { ident, at_once: true, ..Entry::NONE });
    // SAFETY: the runtime defines it with this signature.
    let original: Function = unsafe { mem::transmute::<*mut c_void, Function>(ORIGINAL.get()) };
    // SAFETY: the caller's own arguments.
    unsafe { original(ident, thread, task) }
}

/// `GOMP_task`: a task is created.
///
/// # Safety
///
/// As for the runtime's.
#[no_mangle]
pub unsafe extern "C" fn GOMP_task(
    body: *const c_void,
    data: *mut c_void,
    copy: *const c_void,
    size: c_long,
    align: c_long,
    deferred: bool,
    flags: c_uint,
    depend: *mut *mut c_void,
    priority: c_int,
    detach: *mut c_void,
) {
    type Function = unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        *const c_void,
        c_long,
        c_long,
        bool,
        c_uint,
        *mut *mut c_void,
        c_int,
        *mut c_void,
    );
    static ORIGINAL: Original = Original::new(c"GOMP_task");
    note(Entry { ident: ptr::null(), body, at_once: !deferred, since: super::site::sample() });
    // SAFETY: the runtime defines it with this signature.
    let original: Function = unsafe { mem::transmute::<*mut c_void, Function>(ORIGINAL.get()) };
    // SAFETY: the caller's own arguments.
    unsafe { original(body, data, copy, size, align, deferred, flags, depend, priority, detach) }
}

/// Notes the place in the source that an entry point was given.
extern "C" fn note_ident(ident: *const Ident) {
    note(Entry { ident, ..Entry::NONE });
}

/// Entry points of which only the first argument matters, whatever the others are: a jump to the runtime's own leaves
/// the stack, and so the return address that the runtime reports, as they are.
macro_rules! entry_points {
    ($($name:ident)*) => {
        $(
            #[cfg(target_arch = "x86_64")]
            #[no_mangle]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                static ORIGINAL: Original = Original::new(match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                });
                extern "C" fn original() -> *mut c_void {
                    ORIGINAL.get()
                }
                // Seven pushes: the stack is aligned for the calls.
                core::arch::naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    "push r9",
                    "push rax",
                    "call {note}",
                    "call {original}",
                    "mov r11, rax",
                    "pop rax",
                    "pop r9",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    "jmp r11",
                    note = sym note_ident,
                    original = sym original,
                )
            }
        )*
    };
}

mod entry_points {
    use super::*;

    entry_points! {
        __kmpc_fork_call __kmpc_fork_call_if __kmpc_fork_teams
        __kmpc_taskloop __kmpc_taskloop_5
        __kmpc_for_static_init_4 __kmpc_for_static_init_4u __kmpc_for_static_init_8 __kmpc_for_static_init_8u
        __kmpc_dispatch_init_4 __kmpc_dispatch_init_4u __kmpc_dispatch_init_8 __kmpc_dispatch_init_8u
        __kmpc_dist_for_static_init_4 __kmpc_dist_for_static_init_4u
        __kmpc_dist_for_static_init_8 __kmpc_dist_for_static_init_8u
        __kmpc_critical __kmpc_critical_with_hint
    }
}
