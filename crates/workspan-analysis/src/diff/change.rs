//! What became of a quantity: a change, or noise.

use workspan_model::{Clock, Nanos, Ratio, Recording};

use crate::spread::Spread;

/// What became of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// One number in all runs, or ranges that meet and lie within [`SAME`].
    Same,
    /// It is less in every run than in any before, by more than noise.
    Less,
    /// It is more in every run than in any before, by more than noise.
    More,
    /// The ranges meet, and are too wide to say that it is the same.
    Unclear,
}

/// Runs of the same program differ by so large a share.
pub const SAME: f64 = 0.05;
/// By so much recordings of the same program with several runs each differ though the ranges of their runs do not meet:
/// what a machine does changes with time.
const DRIFT: f64 = 0.01;

/// A quantity that noise may change.
pub trait Number: Copy {
    /// As a number.
    fn number(self) -> f64;
    /// The least change that is more than noise, whatever the quantity; of a single run, and of one of several.
    const LEAST: [f64; 2];
}

impl Number for Nanos {
    fn number(self) -> f64 {
        self.as_f64()
    }
    /// What a page fault or an interrupt takes.
    const LEAST: [f64; 2] = [50e3, 10e3];
}

impl Number for Ratio {
    fn number(self) -> f64 {
        self.0
    }
    const LEAST: [f64; 2] = [1e-3, 1e-3];
}

/// Counts have no noise of their own: what a program counts is not measured.
impl Number for u64 {
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn number(self) -> f64 {
        self as f64
    }
    const LEAST: [f64; 2] = [0.0; 2];
}

/// How exact one side is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// A share by which its range may lie off, up or down.
    share: f64,
    /// And an amount.
    least: f64,
    /// An amount by which it may be too high.
    delayed: f64,
    /// Ranges that meet are the same if they lie within this share.
    same: f64,
}

impl Noise {
    /// Of what the runs of a recording measured; nothing with the virtual clock.
    pub fn of<T: Number>(recording: &Recording) -> Noise {
        let measured = T::LEAST[0] > 0.0 && recording.runs.iter().any(|run| run.clock == Clock::Real);
        let (share, least) = match recording.runs.len() {
            _ if !measured => return Noise::default(),
            0 | 1 => (SAME / 2.0, T::LEAST[0] / 2.0),
            _ => (DRIFT / 2.0, T::LEAST[1] / 2.0),
        };
        Noise { share, least, delayed: 0.0, same: SAME }
    }

    /// The same of the time from start to end, which a single run spends in part waiting for a processor.
    pub fn of_wall(recording: &Recording) -> Noise {
        let noise = Noise::of::<Nanos>(recording);
        let delayed = match recording.runs.as_slice() {
            [run] if noise.same > 0.0 => run.displaced.as_f64() / f64::from(run.threads.max(1)),
            _ => 0.0,
        };
        // Start and end of a process are in no strand.
        Noise { least: noise.least * 20.0, delayed, ..noise }
    }
}

/// A quantity before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair<T> {
    /// Over the runs before.
    pub before: Spread<T>,
    /// Over the runs after.
    pub after: Spread<T>,
    /// How exact both are.
    pub noise: [Noise; 2],
}

impl<T: Number + PartialEq> Pair<T> {
    /// What became of it.
    pub fn change(&self) -> Change {
        let Pair { before, after, noise } = self;
        let range = |spread: &Spread<T>, noise: Noise| {
            let (low, high) = (spread.low.number(), spread.high.number());
            let off = |value: f64| value.abs() * noise.share + noise.least;
            (low - noise.delayed - off(low), high + off(high))
        };
        let [old, new] = [range(before, noise[0]), range(after, noise[1])];
        if new.1 < old.0 {
            return Change::Less;
        }
        if new.0 > old.1 {
            return Change::More;
        }
        let delayed = |spread: &Spread<T>, noise: Noise| spread.low.number() - noise.delayed;
        let low = delayed(before, noise[0]).min(delayed(after, noise[1]));
        let high = before.high.number().max(after.high.number());
        let same = noise[0].same.max(noise[1].same);
        if before == after || high - low <= low.abs() * same + noise[0].least + noise[1].least {
            Change::Same
        } else {
            Change::Unclear
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_model::Run;

    fn recording(runs: usize, clock: Clock, displaced: i64) -> Recording {
        let run = Run { clock, displaced: Nanos(displaced), threads: 2, ..Run::default() };
        Recording { runs: vec![run; runs], ..Recording::default() }
    }

    fn change(before: &[i64], after: &[i64], clock: Clock, displaced: i64) -> Change {
        let noise = [before, after].map(|runs| Noise::of_wall(&recording(runs.len(), clock, displaced)));
        let spread = |runs: &[i64]| Spread::of(runs.iter().map(|run| Nanos(*run * 1_000_000)));
        Pair { before: spread(before), after: spread(after), noise }.change()
    }

    #[test]
    fn single_runs_differ_by_noise() {
        let check = |after: i64, expected: Change| {
            assert_eq!(change(&[1000], &[after], Clock::Real, 0), expected, "{after}");
        };
        check(1000, Change::Same);
        check(1040, Change::Same);
        check(960, Change::Same);
        check(1080, Change::More);
        check(920, Change::Less);
        // Less than a millisecond is noise, however short the run.
        assert_eq!(change(&[1], &[2], Clock::Real, 0), Change::Same);
        assert_eq!(change(&[1], &[9], Clock::Real, 0), Change::More);
        // With the virtual clock there is none.
        assert_eq!(change(&[1000], &[1001], Clock::Virtual, 0), Change::More);
    }

    #[test]
    fn single_runs_that_waited_for_a_processor_leave_the_time_open() {
        assert_eq!(change(&[100], &[150], Clock::Real, 120_000_000), Change::Unclear);
        assert_eq!(change(&[100], &[300], Clock::Real, 120_000_000), Change::More);
        assert_eq!(change(&[100, 101], &[150, 151], Clock::Real, 120_000_000), Change::More);
    }

    #[test]
    fn ranges_that_meet_are_the_same_if_they_are_narrow() {
        let check = |after: &[i64], expected: Change| {
            assert_eq!(change(&[1000, 1010, 1020], after, Clock::Real, 0), expected, "{after:?}");
        };
        check(&[1005, 1040], Change::Same);
        check(&[1005, 1100], Change::Unclear);
        // Ranges that do not meet, but nearly.
        check(&[1022, 1026], Change::Same);
        check(&[1050, 1060], Change::More);
    }

    #[test]
    fn counts_are_exact() {
        let recording = recording(1, Clock::Real, 0);
        let noise = [Noise::of::<u64>(&recording); 2];
        let pair = |before: u64, after: u64| Pair { before: Spread::of([before]), after: Spread::of([after]), noise };
        assert_eq!(pair(1000, 1001).change(), Change::More);
        assert_eq!(pair(1000, 1000).change(), Change::Same);
    }
}
