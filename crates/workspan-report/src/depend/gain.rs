//! What a program gains if a loop runs in parallel.
//!
//! **Argument:** Amdahl's law, with what starting and ending a parallel loop costs: the loop takes its work divided by the processors that
//! have an iteration to run, plus that cost each time it is executed.

use workspan_depend::profile::Loop;

/// Instructions that starting and ending a parallel loop is taken to cost: some microseconds, as in libgomp, libomp and rayon.
pub(super) const OVERHEAD: u64 = 10_000;

/// The program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gain {
    /// Its instructions.
    pub(super) work: u64,
    /// Processors.
    pub(super) processors: u32,
}

#[expect(clippy::cast_precision_loss, reason = "a prediction")]
impl Gain {
    /// Instructions that the critical path loses; negative where the cost is larger than the gain.
    pub(super) fn saved(&self, each: &Loop) -> f64 {
        let entries = each.entries.max(1) as f64;
        let iterations = (each.iterations as f64 / entries).max(1.0);
        let parallel = each.work as f64 / iterations.min(self.processors.into()) + entries * OVERHEAD as f64;
        // Loops of recursive functions are counted once for each call that they lie in.
        (each.work.min(self.work) as f64 - parallel).min(self.work as f64)
    }

    /// The speedup of the program.
    pub(super) fn speedup(&self, saved: f64) -> f64 {
        let work = self.work.max(1) as f64;
        // No fewer than the work law allows.
        let rest = (work - saved).max(work / f64::from(self.processors));
        work / rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entries: u64, iterations: u64, work: u64, expected: f64) {
        let gain = Gain { work: 10_000_000, processors: 4 };
        let each = Loop { entries, iterations, work, ..Loop::default() };
        let found = gain.speedup(gain.saved(&each));
        assert!((found - expected).abs() < 0.01, "{found} instead of {expected}");
    }

    #[test]
    fn speedups_follow_amdahls_law() {
        check(1, 1000, 8_000_000, 2.496);
        // Two iterations keep two processors busy.
        check(1, 2, 8_000_000, 1.664);
        // An execution costs more than it gains.
        check(1000, 10_000, 8_000_000, 0.714);
        check(1, 1, 8_000_000, 0.999);
        check(0, 0, 0, 0.999);
    }
}
