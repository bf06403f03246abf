//! How rayon's own splitters see the machine.
//!
//! A parallel iterator splits into about twice as many pieces as there are threads, and again when a piece is stolen. So
//! the shape of the computation, and with it the span, would depend on this machine and on chance. With a number of
//! *logical cores* the splitters see that number, and no thefts: the shape is a function of the program alone.

use workspan_collect::{asked, process};
use workspan_wire::shm::Asked;

/// Threads that a splitter is to assume, `actual` being the truth.
#[inline]
pub fn threads(actual: usize) -> usize {
    process::logical_cores().unwrap_or(actual)
}

/// Whether a splitter is to know that its piece was stolen.
#[inline]
pub fn stolen(actual: bool) -> bool {
    actual && process::logical_cores().is_none()
}

/// What the program hears that asks how many threads there are, `actual` being the truth.
pub fn asked(actual: usize) -> usize {
    asked::answer(Asked::CurrentNumThreads, actual)
}
