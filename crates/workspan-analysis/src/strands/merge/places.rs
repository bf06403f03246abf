//! Where runs differ.

use std::collections::BTreeMap;

use workspan_model::{ContextId, Nanos, Strand};

/// Contexts that are distinguished in [`Merged::places`](super::Merged::places).
pub const MOST_PLACES: usize = 1 << 12;

/// Strands that have not matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// The first run has them, the other has not.
    pub missing: u64,
    /// The other run has them, the first has not.
    pub extra: u64,
}

/// What has not matched, by context.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// With the cost of what the first run lacks.
    known: BTreeMap<ContextId, (Unmatched, Nanos)>,
    /// Cost of all strands that the first run lacks, wherever they are.
    pub(crate) extra_cost: Nanos,
}

impl Places {
    #[cold]
    pub(super) fn missing(&mut self, context: ContextId) {
        if let Some((place, _)) = self.place(context) {
            place.missing += 1;
        }
    }

    #[cold]
    pub(super) fn extra(&mut self, row: &Strand) {
        self.extra_cost += row.cost;
        if let Some((place, cost)) = self.place(row.context) {
            place.extra += 1;
            *cost += row.cost;
        }
    }

    /// Rows may name any number as their context.
    fn place(&mut self, context: ContextId) -> Option<&mut (Unmatched, Nanos)> {
        let room = self.known.len() < MOST_PLACES || self.known.contains_key(&context);
        room.then(|| self.known.entry(context).or_default())
    }

    /// By context, ascending.
    pub(crate) fn all(self) -> impl Iterator<Item = (ContextId, Unmatched, Nanos)> {
        self.known.into_iter().map(|(context, (unmatched, cost))| (context, unmatched, cost))
    }
}
