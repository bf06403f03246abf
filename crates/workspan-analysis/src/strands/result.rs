//! What rows amount to.

use workspan_model::{CallMetrics, Nanos, OpenRegion, Run, Totals};

use super::calls::{CallKey, Calls};
use super::charge::{ByCall, ByRegion, Charge, Plain};
use super::path::OnPath;
use super::problem::Problems;

/// What the strands of a run amount to: what a collector reports without recording them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Rows read.
    pub strands: u64,
    /// Cost of all strands.
    pub work: Nanos,
    /// Longest chain of strands.
    pub span: Nanos,
    /// As [`Run::uniform_span`].
    pub uniform_span: Nanos,
    /// Per context, in the order of the recording's tree. Time waited for locks is not in rows.
    pub totals: Vec<Totals>,
    /// Per context: its share of the critical path. Sums to `span`.
    pub critical: Vec<Nanos>,
    /// Regions that had not ended.
    pub open: Vec<OpenRegion>,
    /// Time strands were blocked.
    pub blocked: Nanos,
    /// Threads that ran strands.
    pub threads: u32,
    /// What was wrong with the rows.
    pub problems: Problems,
}

impl Replayed {
    /// The run that was recorded, with what its strands amount to in place of what the collector reported.
    pub fn into_run(self, recorded: &Run) -> Run {
        let mut totals = self.totals;
        for (new, old) in totals.iter_mut().zip(&recorded.totals) {
            (new.contended, new.lock) = (old.contended, old.lock);
        }
        Run {
            span: self.span,
            uniform_span: self.uniform_span,
            // Another replay reports it, not this one.
            burdened_span: Nanos::ZERO,
            steal: Nanos::ZERO,
            totals,
            critical: self.critical,
            lost_path: Nanos::ZERO,
            open: self.open,
            blocked: self.blocked,
            ..recorded.clone()
        }
    }
}

/// What a machine has when all rows are read.
#[derive(Debug)]
pub(crate) struct Finished<C> {
    pub(crate) charge: C,
    pub(crate) rows: u64,
    pub(crate) work: Nanos,
    pub(crate) blocked: Nanos,
    pub(crate) span: Nanos,
    pub(crate) uniform_span: Nanos,
    pub(crate) totals: Vec<Totals>,
    /// The critical path, in the units of positions: by key, ascending, or [in its order](Charge::IN_ORDER).
    pub(crate) path: Vec<OnPath>,
    pub(crate) open: Vec<OpenRegion>,
    pub(crate) threads: u32,
    pub(crate) problems: Problems,
    pub(super) calls: Calls,
}

impl Finished<Plain> {
    pub(crate) fn into_replayed(self) -> Replayed {
        let mut critical = vec![Nanos::ZERO; self.totals.len()];
        for part in &self.path {
            if let Some(slot) = critical.get_mut(part.key as usize) {
                *slot += Nanos(part.span);
            }
        }
        Replayed { critical, ..self.rest() }
    }
}

impl<C> Finished<C> {
    /// All but the critical path.
    fn rest(self) -> Replayed {
        Replayed {
            strands: self.rows,
            work: self.work,
            span: self.span,
            uniform_span: self.uniform_span,
            totals: self.totals,
            critical: Vec::new(),
            open: self.open,
            blocked: self.blocked,
            threads: self.threads,
            problems: self.problems,
        }
    }
}

impl Finished<ByRegion<'_>> {
    /// Each context's share is rounded by itself.
    pub(crate) fn into_replayed(self) -> Replayed {
        let mut critical = vec![0i64; self.totals.len()];
        for part in &self.path {
            let region = self.charge.regions.get(part.key / 2);
            if let Some(sum) = critical.get_mut(region.context.index()) {
                *sum = sum.saturating_add(part.span);
            }
        }
        Replayed { critical: critical.into_iter().map(ByRegion::nanos).collect(), ..self.rest() }
    }
}

impl Finished<ByCall> {
    /// The calls' rows that are not empty.
    pub(crate) fn calls(&self) -> Vec<(CallKey, CallMetrics)> {
        self.calls.metrics(&self.path, &self.totals)
    }
}
