//! What is bound to the processor: the thread's storage, the entry that the pass calls, the cycle counter.
//!
//! `__workspan_thread` is thread-local in the initial-exec model: one addition to find. Rust has no name for such a variable
//! that other objects may use, so that it is declared in assembly. `__workspan_flush` is called where a buffer is full,
//! by a convention that keeps all general registers, so that the hot path need not save any.

use crate::thread::Thread;

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    r#"
    .section .tbss.__workspan_thread,"awT",@nobits
    .globl __workspan_thread
    .type __workspan_thread, @object
    .size __workspan_thread, 256
    .balign 64
__workspan_thread:
    .zero 256
    .text
    .globl __workspan_flush
    .type __workspan_flush, @function
__workspan_flush:
    .cfi_startproc
    push rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    mov rbp, rsp
    .cfi_def_cfa_register rbp
    push rdi
    push rsi
    push rdx
    push rcx
    push r8
    push r9
    push r10
    push r11
    and rsp, -16
    call {flush}
    lea rsp, [rbp - 64]
    pop r11
    pop r10
    pop r9
    pop r8
    pop rcx
    pop rdx
    pop rsi
    pop rdi
    pop rbp
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size __workspan_flush, . - __workspan_flush
    "#,
    flush = sym crate::thread::flush,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    r#"
    .section .tbss.__workspan_thread,"awT",@nobits
    .globl __workspan_thread
    .type __workspan_thread, %object
    .size __workspan_thread, 256
    .balign 64
__workspan_thread:
    .zero 256
    .text
    .globl __workspan_flush
    .type __workspan_flush, %function
__workspan_flush:
    .cfi_startproc
    stp x29, x30, [sp, #-160]!
    .cfi_def_cfa_offset 160
    .cfi_offset x29, -160
    .cfi_offset x30, -152
    mov x29, sp
    stp x1, x2, [sp, #16]
    stp x3, x4, [sp, #32]
    stp x5, x6, [sp, #48]
    stp x7, x8, [sp, #64]
    stp x9, x10, [sp, #80]
    stp x11, x12, [sp, #96]
    stp x13, x14, [sp, #112]
    stp x15, x18, [sp, #128]
    bl {flush}
    ldp x1, x2, [sp, #16]
    ldp x3, x4, [sp, #32]
    ldp x5, x6, [sp, #48]
    ldp x7, x8, [sp, #64]
    ldp x9, x10, [sp, #80]
    ldp x11, x12, [sp, #96]
    ldp x13, x14, [sp, #112]
    ldp x15, x18, [sp, #128]
    ldp x29, x30, [sp], #160
    .cfi_def_cfa sp, 0
    ret
    .cfi_endproc
    .size __workspan_flush, . - __workspan_flush
    "#,
    flush = sym crate::thread::flush,
);

/// The calling thread's storage.
#[inline]
pub fn thread() -> &'static Thread {
    let pointer: *const Thread;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads where thread-local storage begins, and the distance that the loader found.
    unsafe {
        core::arch::asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + __workspan_thread@GOTTPOFF]",
            out(reg) pointer,
            options(nostack, pure, readonly),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:__workspan_thread",
            "ldr {1}, [{1}, :gottprel_lo12:__workspan_thread]",
            "add {0}, {0}, {1}",
            out(reg) pointer,
            out(reg) _,
            options(nostack, pure, readonly),
        );
    }
    // SAFETY: the storage is this thread's alone, zero at first, which a Thread may be, and lasts as long as the thread; the
    // reference never leaves it.
    unsafe { &*pointer }
}

/// The cycle counter.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads a counter that every such processor has.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let value;
        // SAFETY: reads a counter that Linux lets programs read.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) value, options(nomem, nostack)) };
        value
    }
}
