//! Axes of drawings: which numbers stand beside them, and where.

/// How far apart numbers stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences.
    Linear,
    /// A doubling at a time.
    Doubling,
    /// Ten times at a time.
    Decades,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What the numbers are, with their unit.
    pub label: String,
    /// How far apart they stand.
    pub scale: Scale,
    /// A number as it is shown.
    pub shown: fn(f64) -> String,
}

/// An axis over the numbers that are drawn.
#[derive(Debug)]
pub(super) struct Extent<'a> {
    axis: &'a Axis,
    least: f64,
    most: f64,
}

impl<'a> Extent<'a> {
    /// Over all of some numbers, from 0 on if the scale is linear.
    pub(super) fn of(axis: &'a Axis, values: impl Iterator<Item = f64>) -> Extent<'a> {
        let (mut least, mut most) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)));
        match axis.scale {
            Scale::Linear => {
                least = 0.0;
                most = if most > 0.0 { most } else { 1.0 };
            }
            Scale::Doubling | Scale::Decades => {
                least = if least.is_finite() && least > 0.0 { least } else { 1.0 };
                most = most.max(least * 2.0);
            }
        }
        Extent { axis, least, most }
    }

    /// Where a number lies: 0 at the beginning of the axis, 1 at its end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = match self.axis.scale {
            Scale::Linear => (value - self.least) / (self.most - self.least),
            Scale::Doubling | Scale::Decades => {
                (value.max(self.least) / self.least).log2() / (self.most / self.least).log2()
            }
        };
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Numbers beside the axis, at most about ten, and how they are shown.
    pub(super) fn marks(&self) -> Vec<(f64, String)> {
        let powers = |base: f64| {
            let (from, to) = (self.least.log(base).ceil(), (self.most.log(base) + 1e-9).floor());
            let step = ((to - from) / 9.0).ceil().max(1.0);
            std::iter::successors(Some(from), move |power| Some(power + step))
                .take_while(move |power| *power <= to)
                .map(move |power| base.powf(power))
                .collect::<Vec<f64>>()
        };
        let values = match self.axis.scale {
            Scale::Linear => ticks(self.most),
            Scale::Doubling => powers(2.0),
            Scale::Decades => powers(10.0),
        };
        values.into_iter().map(|value| (value, (self.axis.shown)(value))).collect()
    }
}

/// Round numbers from 0 up to `top`, at most nine.
pub(crate) fn ticks(top: f64) -> Vec<f64> {
    // Steps of a quarter are for axes that reach 1 at least.
    let unit = if top > 0.0 && top < 1.0 { 10f64.powf(top.log10().floor()) } else { 1.0 };
    let top = top / unit;
    let mut step = 0.25;
    let mut factors = [2.0, 2.0, 2.5].iter().cycle();
    while top.is_finite() && top / step > 8.0 {
        step *= factors.next().copied().unwrap_or(2.0);
    }
    (0..=8).map(|n| f64::from(n) * step).take_while(|tick| *tick <= top * 1.0001).map(|tick| tick * unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: Scale) -> Axis {
        Axis { label: String::new(), scale, shown: |value| value.to_string() }
    }

    #[test]
    fn marks_are_round_and_few() {
        assert_eq!(ticks(4.0), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]);
        assert_eq!((ticks(0.03).len(), ticks(0.0)), (7, vec![0.0]));
        let shown = |scale, values: &[f64]| {
            let axis = axis(scale);
            let marks = Extent::of(&axis, values.iter().copied()).marks();
            marks.into_iter().map(|mark| mark.1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(Scale::Doubling, &[1024.0, 8192.0]), "1024 2048 4096 8192");
        assert_eq!(shown(Scale::Decades, &[3.0, 2000.0]), "10 100 1000");
        for scale in [Scale::Linear, Scale::Doubling, Scale::Decades] {
            for values in [&[][..], &[0.0], &[f64::NAN, f64::INFINITY], &[1e-300, 1e300], &[-5.0]] {
                let axis = axis(scale);
                let extent = Extent::of(&axis, values.iter().copied());
                assert!(extent.marks().len() <= 12, "{scale:?} {values:?}");
                assert!(values.iter().all(|value| (0.0..=1.0).contains(&extent.place(*value))), "{scale:?} {values:?}");
            }
        }
    }
}
