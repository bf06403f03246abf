//! What is bound to the processor: the thread's storage, the cycle counter. The entry that the pass calls is [`crate::full`].
//!
//! `__workspan_thread` is thread-local in the initial-exec model: one addition to find. Rust has no name for such a variable
//! that other objects may use, so that it is declared in assembly.

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
    "#,
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
    "#,
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

/// Rate of the counter; 0: the processor's.
#[cfg(not(emulated))]
pub const RATE: u64 = 0;
/// The same.
#[cfg(emulated)]
pub const RATE: u64 = 1_000_000_000;

/// The counter of a program that an emulator runs: the kernel's clock, since `workspan` cannot read the emulated one.
#[cfg(emulated)]
#[inline]
pub fn ticks() -> u64 {
    let mut time = crate::c::Timespec { seconds: 0, nanos: 0 };
    // SAFETY: writes a time.
    unsafe { crate::c::clock_gettime(crate::c::CLOCK_MONOTONIC, &mut time) };
    time.seconds.cast_unsigned().wrapping_mul(RATE).wrapping_add(time.nanos.cast_unsigned())
}

/// The cycle counter.
#[cfg(not(emulated))]
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
