//! aarch64: virtual counter, 128-bit compare and swap. **Untested**: written from the manuals, no machine has run it.

use core::arch::asm;
use workspan_wire::shm::Candidate;

/// The virtual counter, which user code may read. Much coarser than a cycle (often 24 to 1000 MHz).
#[inline(always)]
pub fn ticks() -> u64 {
    let now: u64;
    // SAFETY: Linux lets user code read CNTVCT_EL0.
    unsafe { asm!("mrs {0}, cntvct_el0", out(reg) now, options(nomem, nostack, preserves_flags)) }
    now
}

/// The architecture promises a constant rate.
pub fn steady_counter() -> bool {
    true
}

/// Counters of events are read by the kernel alone.
#[inline]
pub fn event_counter(_number: u32) -> Option<u64> {
    None
}

/// No register of this architecture betrays an interrupt to user code.
pub mod interrupt_witness {
    /// Does nothing.
    #[inline]
    pub fn arm() {}

    /// Always true.
    #[inline]
    pub fn intact() -> bool {
        true
    }

    /// Always false.
    pub fn works(_fault: impl FnOnce()) -> bool {
        false
    }
}

/// If `at` holds `old`, stores `new`; otherwise returns what it holds.
pub fn exchange_pair(at: &Candidate, old: (i64, u64), new: (i64, u64)) -> Result<(), (i64, u64)> {
    loop {
        let (low, high): (u64, u64);
        let failed: u32;
        // SAFETY: `Candidate` is 16 bytes long and 16-byte aligned, as the exclusive pair instructions require. If the
        // value differs, the exclusive monitor is cleared and nothing is stored.
        unsafe {
            asm!(
                "ldaxp {low}, {high}, [{at}]",
                "cmp {low}, {old_low}",
                "ccmp {high}, {old_high}, #0, eq",
                "b.ne 2f",
                "stlxp {failed:w}, {new_low}, {new_high}, [{at}]",
                "b 3f",
                "2: clrex",
                "mov {failed:w}, #2",
                "3:",
                at = in(reg) at as *const Candidate,
                old_low = in(reg) old.0,
                old_high = in(reg) old.1,
                new_low = in(reg) new.0,
                new_high = in(reg) new.1,
                low = out(reg) low,
                high = out(reg) high,
                failed = out(reg) failed,
                options(nostack)
            );
        }
        match failed {
            0 => return Ok(()),
            1 => {}
            _ => return Err((low as i64, high)),
        }
    }
}
