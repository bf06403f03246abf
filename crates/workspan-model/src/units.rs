//! Units.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A time, or the virtual clock's ticks, in nanoseconds. Signed: differences, and sums of calibrated costs taken out
/// of very short strands, may be below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub i64);

impl Nanos {
    /// No time.
    pub const ZERO: Nanos = Nanos(0);

    /// As a number for ratios.
    #[expect(clippy::cast_precision_loss, reason = "exact below 104 days")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// `self / other`; `None` if `other` is not above zero.
    pub fn over(self, other: Nanos) -> Option<Ratio> {
        (other.0 > 0).then(|| Ratio(self.as_f64() / other.as_f64()))
    }

    /// Not below zero.
    pub fn at_least_zero(self) -> Nanos {
        Nanos(self.0.max(0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Nanos {
    fn sub_assign(&mut self, other: Nanos) {
        *self = *self - other;
    }
}

impl Neg for Nanos {
    type Output = Nanos;
    fn neg(self) -> Nanos {
        Nanos(self.0.saturating_neg())
    }
}

impl Mul<i64> for Nanos {
    type Output = Nanos;
    fn mul(self, factor: i64) -> Nanos {
        Nanos(self.0.saturating_mul(factor))
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(items: I) -> Nanos {
        items.fold(Nanos::ZERO, Add::add)
    }
}

/// Four digits and a unit.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.as_f64();
        let (scaled, unit) = match value.abs() {
            v if v < 1e3 => return write!(f, "{} ns", self.0),
            v if v < 1e6 => (value / 1e3, "µs"),
            v if v < 1e9 => (value / 1e6, "ms"),
            _ => (value / 1e9, "s"),
        };
        let digits = match scaled.abs() {
            v if v < 10.0 => 2,
            v if v < 100.0 => 1,
            _ => 0,
        };
        write!(f, "{scaled:.digits$} {unit}")
    }
}

/// A quotient of two quantities of the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

/// As a number with as many digits as matter.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.abs() {
            v if v < 9.995 => write!(f, "{:.2}", self.0),
            v if v < 99.95 => write!(f, "{:.1}", self.0),
            _ => write!(f, "{:.0}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(nanos: i64, expected: &str) {
        assert_eq!(Nanos(nanos).to_string(), expected);
    }

    #[test]
    fn times_have_three_digits_or_more() {
        check(0, "0 ns");
        check(-7, "-7 ns");
        check(999, "999 ns");
        check(1_234, "1.23 µs");
        check(12_345, "12.3 µs");
        check(123_456, "123 µs");
        check(1_500_000, "1.50 ms");
        check(61_000_000_000, "61.0 s");
    }

    #[test]
    fn ratios_have_three_digits() {
        assert_eq!(Ratio(3.268).to_string(), "3.27");
        assert_eq!(Ratio(32.5).to_string(), "32.5");
        assert_eq!(Ratio(255.6).to_string(), "256");
    }
}
