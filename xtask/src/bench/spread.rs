//! A quantity over several samples.

use serde_json::{json, Value};

/// Median, quartiles and extremes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spread {
    /// The samples, ascending.
    sorted: Vec<f64>,
}

impl Spread {
    /// Of `samples`, of which there is at least one.
    pub(super) fn of(samples: impl IntoIterator<Item = f64>) -> Spread {
        let mut sorted: Vec<f64> = samples.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Spread { sorted }
    }

    /// The value below which a share of the samples lies, interpolated.
    fn at(&self, share: f64) -> f64 {
        let Some(last) = self.sorted.len().checked_sub(1) else {
            return f64::NAN;
        };
        let position = share * last as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let below = position.floor() as usize;
        let above = (below + 1).min(last);
        self.sorted[below] + (self.sorted[above] - self.sorted[below]) * position.fract()
    }

    /// Half of the samples are below.
    pub(super) fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// The half in the middle lies between these.
    pub(super) fn quartiles(&self) -> (f64, f64) {
        (self.at(0.25), self.at(0.75))
    }

    /// The least and the most.
    pub(super) fn extremes(&self) -> (f64, f64) {
        (self.at(0.0), self.at(1.0))
    }

    /// The same in another unit.
    pub(super) fn over(&self, unit: f64) -> Spread {
        Spread::of(self.sorted.iter().map(|sample| sample / unit))
    }

    /// For scripts.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "median": self.median(),
            "quartiles": [self.at(0.25), self.at(0.75)],
            "extremes": [self.at(0.0), self.at(1.0)],
            "samples": self.sorted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_interpolated() {
        let spread = Spread::of([4.0, 1.0, 3.0, 2.0]);
        assert_eq!((spread.median(), spread.quartiles()), (2.5, (1.75, 3.25)));
        assert_eq!(Spread::of([7.0]).quartiles(), (7.0, 7.0));
    }
}
