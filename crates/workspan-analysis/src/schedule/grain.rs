//! Tasks that are too small to be tasks: their creators run them.
//!
//! A task of a site that has less work, with all below it, than the threshold is run where it is created, as if the program
//! had a cutoff there: one strand more of its creator, and what its creation cost is saved. Of a join that is its right branch.

use workspan_model::{ContextId, Nanos, Recording, SiteId};

use super::graph::SCALE;

/// A cutoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// The site whose tasks it is about.
    pub site: SiteId,
    /// Tasks with less work than this are none.
    pub least: Nanos,
}

/// Cutoffs by context.
#[derive(Clone, Debug)]
pub(super) struct Inlined {
    below: Vec<i64>,
    join_cost: i64,
}

impl Inlined {
    pub(super) fn new(recording: &Recording, grain: &[Grain], join_cost_ps: i64) -> Inlined {
        let tree = &recording.contexts;
        let least = |site: Option<SiteId>| {
            let named = grain.iter().filter(|grain| Some(grain.site) == site);
            named.map(|grain| grain.least.0.saturating_mul(SCALE)).max().unwrap_or(0)
        };
        let below =
            if grain.is_empty() { Vec::new() } else { tree.ids().map(|context| least(tree.site(context))).collect() };
        let join_cost = join_cost_ps.max(0).saturating_mul(SCALE) / 1000;
        Inlined { below, join_cost }
    }

    /// Whether tasks in a context with so much work are run by their creators.
    pub(super) fn inlines(&self, context: ContextId, work: i64) -> bool {
        self.below.get(context.index()).is_some_and(|below| *below > 0 && work < *below)
    }

    pub(super) fn join_cost(&self) -> i64 {
        self.join_cost
    }
}
