//! From samples to the size at which two threads overtake plain calls.
//!
//! **Invariant:** a function of the samples alone. Of each size the tenth percentile counts, of the plain calls as of the two
//! threads: other programs only make a sample slower, so they may disturb most samples, and one lucky sample does not count. No
//! size above the threshold may be slower on two threads: a size that is faster below one that is slower makes no threshold.

use std::collections::BTreeMap;

use super::plan::FEWEST_ROUNDS;

/// One size in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Of each of the two tasks.
    pub(super) iterations: u64,
    /// Pairs of tasks.
    pub(super) forks: u64,
    /// All of them as plain calls.
    pub(super) seq_ns: u64,
    /// All of them on two threads.
    pub(super) p2_ns: u64,
}

/// The least size from which on two threads are always faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crossing {
    pub(super) iterations: u64,
    /// One task as a plain call.
    pub(super) nanos: u64,
}

/// The crossing, or why there is none.
pub(super) fn find(samples: &[Sample]) -> Result<Crossing, &'static str> {
    let mut sizes: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        sizes.entry(sample.iterations).or_default().push(sample);
    }
    if sizes.is_empty() || sizes.values().any(|samples| samples.len() < FEWEST_ROUNDS as usize) {
        return Err("this machine is too busy to measure it");
    }
    let mut least = None;
    for (iterations, samples) in sizes.iter().rev() {
        let seq_ns = of_a_fork(samples, |sample| sample.seq_ns);
        if of_a_fork(samples, |sample| sample.p2_ns) >= seq_ns {
            break;
        }
        least = Some(Crossing { iterations: *iterations, nanos: (seq_ns / 2000).max(1) });
    }
    least.ok_or("two threads were not faster than one, even for the largest tasks; is this machine busy?")
}

/// The tenth percentile of the time of a fork, in picoseconds.
fn of_a_fork(samples: &[&Sample], nanos: fn(&Sample) -> u64) -> u64 {
    let mut each: Vec<u64> =
        samples.iter().map(|sample| nanos(sample).saturating_mul(1000) / sample.forks.max(1)).collect();
    each.sort_unstable();
    each.get(each.len() / 10).copied().unwrap_or(0)
}

/// The samples that a program prints: a line of four numbers for each. `None` if there is anything else.
pub(super) fn parse(text: &str) -> Option<Vec<Sample>> {
    text.lines()
        .map(|line| {
            let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
            let [iterations, forks, seq_ns, p2_ns] = numbers.try_into().ok()?;
            Some(Sample { iterations, forks, seq_ns, p2_ns })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of ten rounds take which time on two threads, in percent of the plain calls' time.
    type Rounds = &'static [(u64, usize)];

    /// Ten rounds of each size. A task takes 5 ns an iteration.
    fn samples(sizes: &[(u64, Rounds)]) -> Vec<Sample> {
        let of_size = |(iterations, rounds): &(u64, Rounds)| {
            let seq_ns = 2 * 10 * 5 * iterations;
            let each = rounds.iter().flat_map(|(percent, times)| std::iter::repeat_n(*percent, *times));
            let sample = |percent| Sample { iterations: *iterations, forks: 10, seq_ns, p2_ns: seq_ns * percent / 100 };
            each.map(sample).collect::<Vec<_>>()
        };
        sizes.iter().flat_map(of_size).collect()
    }

    #[test]
    fn the_threshold_is_the_least_size_from_which_on_two_threads_are_faster() {
        let cases: [(&str, [Rounds; 4], Option<u64>); 9] = [
            ("monotone", [&[(400, 10)], &[(200, 10)], &[(99, 10)], &[(60, 10)]], Some(30)),
            ("equal is not faster", [&[(400, 10)], &[(200, 10)], &[(100, 10)], &[(60, 10)]], Some(40)),
            ("always faster", [&[(90, 10)], &[(80, 10)], &[(70, 10)], &[(60, 10)]], Some(10)),
            ("never", [&[(400, 10)], &[(300, 10)], &[(200, 10)], &[(110, 10)]], None),
            ("eight rounds are disturbed", [&[(400, 10)], &[(200, 10)], &[(900, 8), (80, 2)], &[(60, 10)]], Some(30)),
            ("nine rounds are disturbed", [&[(400, 10)], &[(200, 10)], &[(900, 9), (80, 1)], &[(60, 10)]], Some(40)),
            ("one round is lucky", [&[(400, 10)], &[(50, 1), (200, 9)], &[(80, 10)], &[(60, 10)]], Some(30)),
            ("a small size is lucky", [&[(90, 10)], &[(200, 10)], &[(80, 10)], &[(60, 10)]], Some(30)),
            ("the largest is slower", [&[(90, 10)], &[(80, 10)], &[(70, 10)], &[(101, 10)]], None),
        ];
        for (name, sizes, expected) in cases {
            let sizes: Vec<_> = [10, 20, 30, 40].into_iter().zip(sizes).collect();
            let found = find(&samples(&sizes)).ok();
            let expected = expected.map(|iterations| Crossing { iterations, nanos: 5 * iterations });
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn too_few_samples_are_none() {
        let all = samples(&[(10, &[(50, 5)]), (20, &[(50, 5)])]);
        assert!(find(&all).is_ok());
        assert!(find(&all[1..]).is_err());
        assert!(find(&[]).is_err());
    }

    #[test]
    fn lines_are_samples() {
        let sample = Sample { iterations: 16, forks: 256, seq_ns: 3000, p2_ns: 90_000 };
        assert_eq!(parse("16 256 3000 90000\n16 256 3000 90000\n"), Some(vec![sample; 2]));
        for broken in ["16 256 3000", "16 256 3000 90000 1", "16 256 3000 x", "\n", "16  256 3000 90000"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }
}
