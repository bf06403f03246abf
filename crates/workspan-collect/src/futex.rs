//! `syscall(SYS_futex, …)` of the program: the system call itself, for who defines `syscall` first. x86-64 Linux only.

use core::arch::asm;
use core::ffi::{c_int, c_long};

const FUTEX: c_long = 202;
const WAIT: c_long = 0;
const WAKE: c_long = 1;
const WAIT_BITSET: c_long = 9;
const WAKE_BITSET: c_long = 10;

/// The kernel's answer to a wait for a value that had changed already: the thread was not even asleep.
pub const CHANGED: c_long = -11;
/// The same where time was over.
pub const TIMED_OUT: c_long = -110;

/// The arguments behind the number of the call, as the caller passes them.
#[derive(Clone, Copy, Debug)]
pub struct Futex {
    /// Where the word lies.
    pub address: u64,
    /// What is to be done, with flags.
    pub operation: c_long,
    /// Value, or number of those to be woken; a limit of time, or another number; second address; third value.
    pub others: [c_long; 4],
}

impl Futex {
    fn command(&self) -> c_long {
        self.operation & 127
    }

    /// The caller wants to wait.
    pub fn waits(&self) -> bool {
        matches!(self.command(), WAIT | WAIT_BITSET)
    }

    /// How many the caller wants to wake; `None`: it wants something else.
    pub fn wakes(&self) -> Option<u32> {
        // A number of the kernel's type, `int`.
        let number = self.others[0] as c_int;
        matches!(self.command(), WAKE | WAKE_BITSET).then(|| u32::try_from(number).unwrap_or(0))
    }

    /// Calls the kernel. Returns its answer: between -4095 and -1 an error.
    #[inline(always)]
    pub fn call(self) -> c_long {
        let Futex { address, operation, others: [value, timeout, second, third] } = self;
        let answer: c_long;
        // SAFETY: the kernel checks the arguments, which are the caller's own; the instruction clobbers RCX and R11.
        unsafe {
            asm!(
                "syscall",
                inlateout("rax") FUTEX => answer,
                in("rdi") address,
                in("rsi") operation,
                in("rdx") value,
                in("r10") timeout,
                in("r8") second,
                in("r9") third,
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack)
            );
        }
        answer
    }
}

/// What `syscall` of the C library returns for a kernel's answer: errors go to errno.
pub extern "C" fn returned(answer: c_long) -> c_long {
    if (-4095..0).contains(&answer) {
        return fail(answer);
    }
    answer
}

/// Sets errno from a kernel's answer between -4095 and -1; returns -1 as system calls of the C library do.
pub extern "C" fn fail(answer: c_long) -> c_long {
    extern "C" {
        fn __errno_location() -> *mut c_int;
    }
    // SAFETY: always succeeds.
    let errno = unsafe { __errno_location() };
    // SAFETY: it is the address of the calling thread's own errno.
    unsafe { *errno = c_int::try_from(-answer).unwrap_or(0) };
    -1
}
