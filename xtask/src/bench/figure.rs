//! One figure that was measured, and what it should be.

use serde_json::{json, Value};

use super::spread::Spread;

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// This share of 1 away from 1, either way.
    NearOne(f64),
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Target::AtMost(most) => value <= most,
            Target::AtLeast(least) => value >= least,
            Target::NearOne(share) => (value - 1.0).abs() <= share,
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::AtMost(most) => write!(f, "≤ {most}"),
            Target::AtLeast(least) => write!(f, "≥ {least}"),
            Target::NearOne(share) => write!(f, "1 ± {share}"),
        }
    }
}

/// A figure.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// Group it belongs to.
    pub(super) group: &'static str,
    /// What ran.
    pub(super) case: String,
    /// With this number of workers.
    pub(super) workers: u32,
    /// What was measured.
    pub(super) quantity: &'static str,
    /// The figure. Not always the median of `spread`: a ratio is that of two medians, its spread that of the pairs.
    pub(super) value: f64,
    /// How it varies.
    pub(super) spread: Spread,
    /// What it should be; `None` if it is only reported.
    pub(super) target: Option<Target>,
    /// The quantities behind it, for reading and for scripts.
    pub(super) behind: Vec<(&'static str, Spread)>,
    /// A remark.
    pub(super) remark: String,
}

impl Figure {
    /// True if there is a target and it is missed.
    pub(super) fn missed(&self) -> bool {
        self.target.is_some_and(|target| !target.is_met(self.value))
    }

    /// For scripts.
    pub(super) fn to_json(&self) -> Value {
        let behind: serde_json::Map<_, _> =
            self.behind.iter().map(|(name, spread)| ((*name).to_owned(), spread.to_json())).collect();
        json!({
            "group": self.group,
            "case": self.case,
            "workers": self.workers,
            "quantity": self.quantity,
            "value": self.value,
            "spread": self.spread.to_json(),
            "target": self.target.map(|target| target.to_string()),
            "missed": self.missed(),
            "behind": behind,
            "remark": self.remark,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        assert!(Target::AtMost(1.05).is_met(1.05) && !Target::AtMost(1.05).is_met(1.06));
        assert!(Target::AtLeast(240.0).is_met(250.0) && !Target::AtLeast(240.0).is_met(239.0));
        assert!(Target::NearOne(0.05).is_met(0.96) && !Target::NearOne(0.05).is_met(0.94));
        assert!(!Target::AtMost(1.05).is_met(f64::NAN));
    }
}
