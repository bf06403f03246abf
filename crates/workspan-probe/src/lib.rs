//! What a program may tell a collector that watches it. Without collector every call is a load and a test.
//!
//! The collector's functions are weak symbols: a program with this crate links and runs whether or not an instrumented
//! runtime is linked in.

#![expect(unsafe_code, reason = "weak symbols of the collector")]
#![no_std]

/// Advances the virtual clock of the calling thread, for exact tests; with the real clock it has no effect.
#[inline]
pub fn tick(ticks: u64) {
    if let Some(tick) = collector_tick() {
        tick(ticks);
    }
}

/// True if a collector is linked into this program.
pub fn present() -> bool {
    collector_tick().is_some()
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
fn collector_tick() -> Option<extern "C" fn(u64)> {
    let address: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the symbol's address from the global offset table: 0 if nobody defines it.
    unsafe {
        core::arch::asm!(
            ".weak workspan_tick",
            "mov {}, qword ptr [rip + workspan_tick@GOTPCREL]",
            out(reg) address,
            options(nostack, pure, readonly, preserves_flags)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            ".weak workspan_tick",
            "adrp {0}, :got:workspan_tick",
            "ldr {0}, [{0}, :got_lo12:workspan_tick]",
            out(reg) address,
            options(nostack, pure, readonly, preserves_flags)
        );
    }
    if address == 0 {
        return None;
    }
    // SAFETY: the collector defines the symbol as a function of this type.
    Some(unsafe { core::mem::transmute::<usize, extern "C" fn(u64)>(address) })
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn collector_tick() -> Option<extern "C" fn(u64)> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_happens_without_a_collector() {
        assert!(!super::present());
        super::tick(5);
    }
}
