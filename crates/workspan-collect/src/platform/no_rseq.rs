//! C libraries that register no restartable sequences (musl, older glibc). **Untested** outside Miri.

/// No witness: long strands consult the kernel's clock instead.
pub mod switch_witness {
    /// Always 0: there is no word.
    pub fn word() -> u64 {
        0
    }

    /// Does nothing.
    #[inline]
    pub fn arm(_word: u64) {}

    /// Does nothing.
    pub fn disarm(_word: u64) {}

    /// Always true.
    #[inline]
    pub fn intact(_word: u64) -> bool {
        true
    }
}
