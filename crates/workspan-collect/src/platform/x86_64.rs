//! x86-64: cycle counter, interrupt witness, 128-bit compare and swap.

use core::arch::asm;
use workspan_wire::shm::Candidate;
use workspan_wire::sync::Ordering;

/// Cycle counter. Not serialising: about 8 ns, half of which overlaps with its surroundings.
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: `rdtsc` is available to user code on every x86-64 Linux (a process may disable it by prctl for itself).
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// True if the counter runs at a constant rate in all power states (CPUID 0x80000007, EDX bit 8).
pub fn steady_counter() -> bool {
    let leaf = core::arch::x86_64::__cpuid(0x8000_0000);
    leaf.eax >= 0x8000_0007 && core::arch::x86_64::__cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// Counter `number` of the processor's events, which the kernel permits programs to read now.
#[inline]
pub fn event_counter(number: u32) -> Option<u64> {
    let (low, high): (u32, u32);
    // SAFETY: reads a counter; where that is not permitted the processor traps, but callers have the kernel's word that it
    // is (`cap_user_rdpmc` of the counter's page).
    unsafe {
        asm!("rdpmc", in("ecx") number, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
    }
    Some(u64::from(high) << 32 | u64::from(low))
}

/// Shows whether an interrupt or exception came since it was armed.
///
/// In 64-bit mode the ES selector has no meaning, and Linux preserves it. A null selector may carry any privilege bits
/// (0..=3). When the processor returns to user code from an interrupt or exception (`iret` to an outer level) it
/// replaces every null selector by plain 0 (Intel SDM vol. 2, `IRET`, "RETURN-TO-OUTER-PRIVILEGE-LEVEL"); `sysret`
/// does not. So a 1 that has become 0 witnesses an interrupt, at the price of one register move. Whether the machine
/// behaves so is tested once with a page fault before it is relied upon.
pub mod interrupt_witness {
    use super::asm;

    /// Sets the witness. Takes 5 ns and more, of which to test it is a fraction.
    #[inline]
    pub fn arm() {
        // SAFETY: loading a null selector (index 0, any privilege bits) into ES never faults, and 64-bit code does
        // not use ES.
        unsafe { asm!("mov es, {0:e}", in(reg) 1u32, options(nomem, nostack, preserves_flags)) }
    }

    /// True if no interrupt came since [`arm`].
    #[inline]
    pub fn intact() -> bool {
        let selector: u32;
        // SAFETY: reading a selector has no effect.
        unsafe { asm!("mov {0:e}, es", out(reg) selector, options(nomem, nostack, preserves_flags)) }
        selector == 1
    }

    /// Tests the mechanism: `fault` must take a page fault.
    pub fn works(fault: impl FnOnce()) -> bool {
        if under_valgrind() {
            return false;
        }
        arm();
        if !intact() {
            return false;
        }
        fault();
        !intact()
    }

    /// Valgrind does not emulate a load of ES. Its documented "client request" is a no-op on real processors.
    fn under_valgrind() -> bool {
        let request: [u64; 6] = [0x1001, 0, 0, 0, 0, 0];
        let mut answer: u64 = 0;
        // SAFETY: four rotations of RDI by 128 bits in total and an exchange of RBX with itself change nothing.
        unsafe {
            asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") request.as_ptr(),
                inout("rdx") answer,
                out("rdi") _,
                options(nostack)
            );
        }
        answer != 0
    }
}

/// If `at` holds `old`, stores `new`; otherwise returns what it holds. One instruction, for both fields together.
pub fn exchange_pair(at: &Candidate, old: (i64, u64), new: (i64, u64)) -> Result<(), (i64, u64)> {
    let mut low = old.0 as u64;
    let mut high = old.1;
    let swapped: u8;
    show_to_sanitizer(at);
    // SAFETY: `Candidate` is 16 bytes long and 16-byte aligned, which `cmpxchg16b` requires; RBX, which cannot be named
    // as an operand, is saved around it, and no operand can be in it: the class `reg` could. Both fields are atomics, so
    // other threads may access them meanwhile.
    unsafe {
        asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            "sete r8b",
            in("rdi") at as *const Candidate,
            inout("rsi") new.0 as u64 => _,
            out("r8b") swapped,
            inout("rax") low,
            inout("rdx") high,
            in("rcx") new.1,
            options(nostack)
        );
    }
    show_to_sanitizer(at);
    if swapped != 0 {
        Ok(())
    } else {
        Err((low as i64, high))
    }
}

/// The instruction orders memory on both sides, as an exchange of one word would, which changes nothing: ThreadSanitizer sees only that.
#[inline(always)]
fn show_to_sanitizer(at: &Candidate) {
    if cfg!(tsan) {
        at.path.fetch_add(0, Ordering::AcqRel);
    }
}
