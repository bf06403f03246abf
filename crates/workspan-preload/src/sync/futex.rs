//! `syscall(SYS_futex, …)`: what locks, channels and parking of Rust's standard library come down to where they block, and `wait`
//! of C++'s atomics, latches and semaphores.

use core::arch::naked_asm;
use core::ffi::c_long;

use workspan_collect::futex::{fail, returned, Futex, CHANGED};

use super::looks;
use super::wait::{self, Ended, For};
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
    let futex = Futex { address, operation, others: [value, timeout, second, third] };
    if let Some(number) = futex.wakes() {
        wait::wake(called, address, number);
        looks::woken(called, address, number);
    }
    let waiting = if futex.waits() { wait::begin(called, For::ever(address)) } else { None };
    let answer = futex.call();
    if let Some(waiting) = waiting {
        waiting.end(match answer {
            0 => Ended::Woken,
            CHANGED => Ended::AtOnce,
            _ => Ended::TimedOut,
        });
    }
    returned(answer)
}
