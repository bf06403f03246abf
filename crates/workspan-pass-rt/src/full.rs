//! `__workspan_flush`, which instrumented code calls where a buffer is full: by a convention that keeps all general
//! registers, so that the hot path need not save any. What happens then is [`crate::buffer::flush`].

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    r#"
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
    flush = sym crate::buffer::flush,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    r#"
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
    flush = sym crate::buffer::flush,
);
