//! The curves of a view, for whoever draws them.

use super::view::{Point, Scale, Speedup};

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawn {
    /// Its name.
    pub(super) name: &'static str,
    /// Its mark in the terminal: in Unicode, and in ASCII.
    pub(super) marks: [char; 2],
    /// What it is, for a stylesheet.
    pub(super) class: &'static str,
    /// P, value, and how far that may be off.
    pub(super) points: Vec<(f64, f64, f64)>,
}

/// From the top, but for those that are not there.
pub(super) fn of(view: &Scale) -> Vec<Drawn> {
    let curve = |name, marks, class, value: fn(&Point) -> Option<Speedup>| {
        let at = |point: &Point| {
            let Speedup { value, error } = value(point)?;
            Some((f64::from(point.workers), value, error.unwrap_or(0.0)))
        };
        Drawn { name, marks, class, points: view.points.iter().filter_map(at).collect() }
    };
    let linear = |point: &Point| Some(Speedup { value: point.speedups.linear, error: None });
    let mut curves = vec![
        curve("linear", ['·', '.'], "linear", linear),
        curve("elision", ['◇', 'e'], "elision", |point| point.speedups.elision),
        curve("maximal", ['△', 'm'], "maximal", |point| point.speedups.maximal),
        curve("idle-time-specific", ['○', 'i'], "idle", |point| point.speedups.idle_specific),
        curve("inflation-specific", ['□', 'f'], "inflation", |point| point.speedups.inflation_specific),
        curve("actual", ['●', 'a'], "actual", |point| point.speedups.actual),
    ];
    curves.retain(|curve| !curve.points.is_empty());
    curves
}

/// The largest P and the largest speedup, neither below 1.
pub(super) fn extent(curves: &[Drawn]) -> (f64, f64) {
    let points = curves.iter().flat_map(|curve| &curve.points);
    points.fold((1.0, 1.0), |(x, y): (f64, f64), point| (x.max(point.0), y.max(point.1)))
}

/// The value between two points of a curve, by a straight line; every curve begins at nothing.
pub(super) fn between(curve: &Drawn, x: f64) -> Option<f64> {
    let mut before = (0.0, 0.0);
    for (at, value, _) in &curve.points {
        if x <= *at {
            let width = at - before.0;
            return Some(if width > 0.0 { before.1 + (value - before.1) * (x - before.0) / width } else { *value });
        }
        before = (*at, *value);
    }
    None
}
