//! Which sizes are measured, how often, and for how long: the same for all runtimes.
//!
//! Sizes grow by a factor of √2, from 64 to half a million instructions. A sample is a number of forks of one size: enough for
//! [`WORK`] in all, but no more than [`MOST_FORKS`], so that a runtime whose forks are slow does not take seconds for the smallest
//! tasks. A round has one sample of each size, so that what disturbs the machine for a while disturbs all sizes alike.

use std::time::Duration;

/// Machine instructions of an iteration of a task: or, add, compare, branch.
pub(super) const INSTRUCTIONS: u64 = 4;

/// Rounds at most.
pub(super) const ROUNDS: u32 = 60;

/// No new sample begins later than this,
pub(super) const LIMIT: Duration = Duration::from_millis(600);

/// but in the first rounds: fewer are no measurement.
pub(super) const FEWEST_ROUNDS: u32 = 5;

/// A busy machine gets more time for these.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// When no new sample of a round begins any more, the first being 0.
pub(super) fn limit(round: u32) -> Duration {
    if round < FEWEST_ROUNDS {
        PATIENCE
    } else {
        LIMIT
    }
}

/// Forks that wake the other thread before a sample, and their iterations. `fork.h` has the same.
pub(super) const WAKING: Size = Size { iterations: 16_384, forks: 4 };

/// Iterations of the smallest task.
const LEAST: u64 = 16;
/// Steps by √2.
const STEPS: u32 = 26;
/// Iterations of a sample, both tasks of all forks together.
const WORK: u64 = 1 << 19;
const FEWEST_FORKS: u64 = 4;
const MOST_FORKS: u64 = 128;

/// One size of the two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// Of each task.
    pub(super) iterations: u64,
    /// In a sample.
    pub(super) forks: u64,
}

/// All sizes, growing.
pub(super) fn sizes() -> Vec<Size> {
    let iterations = (0..=STEPS).map(|step| ((LEAST * LEAST) << step).isqrt());
    let size = |iterations: u64| Size { iterations, forks: (WORK / (2 * iterations)).clamp(FEWEST_FORKS, MOST_FORKS) };
    iterations.map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_grow_by_the_root_of_two() {
        let sizes = sizes();
        let iterations: Vec<u64> = sizes.iter().map(|size| size.iterations).collect();
        assert_eq!(iterations[..6], [16, 22, 32, 45, 64, 90]);
        assert_eq!((iterations[STEPS as usize - 1], iterations[STEPS as usize]), (92_681, 131_072));
        assert_eq!((sizes[0].forks, sizes[STEPS as usize].forks), (MOST_FORKS, FEWEST_FORKS));
        assert!(sizes.is_sorted_by(|small, large| small.forks >= large.forks));
    }

    /// What the programs do is what happens in this process.
    #[test]
    fn the_header_has_the_same_numbers() {
        let header = include_str!("fork.h");
        for (name, value) in [("FORKS", WAKING.forks), ("ITERATIONS", WAKING.iterations)] {
            assert!(header.contains(&format!("#define WAKING_{name} {value}\n")), "{name}");
        }
    }
}
