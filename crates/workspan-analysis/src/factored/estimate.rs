//! A time over several runs: its mean, and how far that may be off.
//!
//! **Invariant:** the mean is a whole number of nanoseconds, so that sums and differences of means are exact.

use workspan_model::{Nanos, Ratio};

/// A time over several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The mean, which stands for the expected value (Acar et al. 2.7).
    pub mean: Nanos,
    /// Smallest.
    pub low: Nanos,
    /// Largest.
    pub high: Nanos,
    /// Standard deviation; 0 with a single run.
    pub deviation: Nanos,
    /// Runs.
    pub runs: usize,
}

impl Estimate {
    /// Of `values`; all zero if there are none.
    pub fn of(values: impl IntoIterator<Item = Nanos>) -> Estimate {
        let values: Vec<Nanos> = values.into_iter().collect();
        let (Some(low), Some(high)) = (values.iter().min(), values.iter().max()) else {
            return Estimate::default();
        };
        let sum: i128 = values.iter().map(|value| i128::from(value.0)).sum();
        let count = values.len() as i128;
        let half = if sum < 0 { -count / 2 } else { count / 2 };
        let mean = Nanos(i64::try_from((sum + half) / count).unwrap_or(i64::MAX));
        let squares: f64 = values.iter().map(|value| (*value - mean).as_f64().powi(2)).sum();
        let deviation = if values.len() < 2 { 0.0 } else { (squares / number(values.len() - 1)).sqrt() };
        Estimate { mean, low: *low, high: *high, deviation: nanos(deviation), runs: values.len() }
    }

    /// Half the width of the interval in which the expected value lies with a probability of 95 %; `None` with a single
    /// run, which says nothing.
    pub fn error(&self) -> Option<Nanos> {
        let t = student(self.runs)?;
        Some(nanos(t * self.standard_error()))
    }

    fn standard_error(&self) -> f64 {
        self.deviation.as_f64() / number(self.runs.max(1)).sqrt()
    }
}

/// The quotient of two expected values, never the mean of quotients (Acar et al. 2.7).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quotient {
    /// The value.
    pub value: Ratio,
    /// Half the width of its 95 % interval; `None` if either side is of a single run.
    pub error: Option<Ratio>,
}

impl Quotient {
    /// A number that is no measurement.
    pub fn exact(value: f64) -> Quotient {
        Quotient { value: Ratio(value), error: Some(Ratio(0.0)) }
    }

    /// `factor · above / below`; `None` if `below` is not above zero. The error is that of the first order: relative
    /// errors add up as squares.
    pub fn of(factor: f64, above: &Estimate, below: &Estimate) -> Option<Quotient> {
        let value = factor * above.mean.over(below.mean)?.0;
        let relative = |side: &Estimate| side.standard_error() / side.mean.as_f64();
        let runs = above.runs.min(below.runs);
        let error = student(runs).filter(|_| above.mean > Nanos::ZERO).map(|t| {
            // One and the same estimate on both sides has no error against itself.
            let both = if above == below { 0.0 } else { relative(above).hypot(relative(below)) };
            Ratio(value * t * both)
        });
        Some(Quotient { value: Ratio(value), error })
    }

    /// How far the value may be off; nothing if that is not known.
    pub fn margin(&self) -> f64 {
        self.error.map_or(0.0, |error| error.0)
    }
}

/// Quantile 0.975 of Student's distribution for a mean of this number of runs.
fn student(runs: usize) -> Option<f64> {
    const QUANTILES: [f64; 12] = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179];
    let degrees = runs.checked_sub(1).filter(|degrees| *degrees > 0)?;
    // From there on within half a per cent of its series in 1/degrees.
    Some(QUANTILES.get(degrees - 1).copied().unwrap_or_else(|| 1.96 + 2.45 / number(degrees)))
}

#[expect(clippy::cast_precision_loss, reason = "counts of runs")]
fn number(runs: usize) -> f64 {
    runs as f64
}

#[expect(clippy::cast_possible_truncation, reason = "a time in nanoseconds; saturates")]
fn nanos(value: f64) -> Nanos {
    Nanos(value.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[i64], mean: i64, deviation: i64, error: Option<i64>) {
        let estimate = Estimate::of(values.iter().copied().map(Nanos));
        assert_eq!((estimate.mean.0, estimate.deviation.0, estimate.error().map(|e| e.0)), (mean, deviation, error));
    }

    #[test]
    fn means_have_errors() {
        check(&[], 0, 0, None);
        check(&[7], 7, 0, None);
        check(&[10, 11], 11, 1, Some(9));
        check(&[-10, -11], -11, 1, Some(9));
        // t(4) = 2.776, s = 1581, n = 5.
        check(&[8_000, 9_000, 10_000, 11_000, 12_000], 10_000, 1_581, Some(1_963));
        check(&[i64::MAX, i64::MAX], i64::MAX, 0, Some(0));
    }

    #[test]
    fn quotients_are_of_means() {
        let of = |values: &[i64]| Estimate::of(values.iter().copied().map(Nanos));
        let quotient = Quotient::of(2.0, &of(&[100, 300]), &of(&[50, 150])).expect("it is above zero");
        // The mean of the quotients would be 4, too, but for [100 / 150, 300 / 50].
        assert!((quotient.value.0 - 4.0).abs() < 1e-12, "{quotient:?}");
        assert!(quotient.error.is_some_and(|error| error.0 > 10.0), "two runs say next to nothing");
        assert_eq!(Quotient::of(1.0, &of(&[1]), &of(&[0])), None);
        assert_eq!(Quotient::of(1.0, &of(&[1]), &of(&[2])).and_then(|q| q.error), None);
        let same = of(&[90, 110, 100]);
        assert_eq!(Quotient::of(1.0, &same, &same), Some(Quotient::exact(1.0)));
    }

    #[test]
    fn quantiles_do_not_jump() {
        assert_eq!(student(1), None);
        for runs in 3..200 {
            let (a, b) = (student(runs).expect("two or more"), student(runs + 1).expect("two or more"));
            assert!(a > b && b > 1.95, "{runs}: {a} {b}");
        }
    }
}
