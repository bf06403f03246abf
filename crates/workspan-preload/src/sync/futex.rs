//! `syscall(SYS_futex, …)`: what locks, channels and parking of Rust's standard library come down to where they block, and `wait`
//! of C++'s atomics, latches and semaphores.

use core::arch::{asm, naked_asm};
use core::ffi::{c_int, c_long};

use super::wait::{self, Ended};
use crate::tbb::site::Called;

/// What glibc's does: shift the arguments by one register, enter the kernel, turn an error into errno. Number 202, futex, goes
/// to [`futex`], with where the return address lies as one more argument.
///
/// # Safety
///
/// As for the C library's.
#[no_mangle]
#[unsafe(naked)]
pub unsafe extern "C" fn syscall() {
    naked_asm!(
        "cmp rdi, 202",
        "je 3f",
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
        "3:",
        "mov rax, rsp",
        "mov rdi, qword ptr [rsp + 8]",
        // Keeps the stack aligned.
        "push rax",
        "push rax",
        "push rdi",
        "call {futex}",
        "add rsp, 24",
        "ret",
        futex = sym futex,
        fail = sym fail,
    )
}

/// Sets errno from a kernel's answer between -4095 and -1; returns -1 as system calls of the C library do.
extern "C" fn fail(answer: c_long) -> c_long {
    extern "C" {
        fn __errno_location() -> *mut c_int;
    }
    // SAFETY: always succeeds.
    let errno = unsafe { __errno_location() };
    // SAFETY: it is the address of the calling thread's own errno.
    unsafe { *errno = c_int::try_from(-answer).unwrap_or(0) };
    -1
}

extern "C" fn futex(
    _number: c_long,
    address: u64,
    operation: c_long,
    value: c_long,
    timeout: c_long,
    second: c_long,
    third: c_long,
    called: Called,
) -> c_long {
    const FUTEX: c_long = 202;
    const WAIT: c_long = 0;
    const WAKE: c_long = 1;
    const WAIT_BITSET: c_long = 9;
    const WAKE_BITSET: c_long = 10;
    const EAGAIN: c_long = -11;
    let command = operation & 127;
    if command == WAKE || command == WAKE_BITSET {
        // A number of the kernel's type, `int`.
        wait::wake(called, address, u32::try_from(value as i32).unwrap_or(0));
    }
    let waits = command == WAIT || command == WAIT_BITSET;
    let waiting = if waits { wait::begin(called, address, 0) } else { None };
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
    if let Some(waiting) = waiting {
        waiting.end(match answer {
            0 => Ended::Woken,
            // The value had changed already: it was not even asleep.
            EAGAIN => Ended::AtOnce,
            _ => Ended::TimedOut,
        });
    }
    if (-4095..0).contains(&answer) {
        return fail(answer);
    }
    answer
}
