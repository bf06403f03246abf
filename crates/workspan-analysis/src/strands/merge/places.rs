//! Where runs differ.

use std::collections::BTreeMap;

use workspan_model::ContextId;

use super::{Unmatched, MOST_PLACES};

/// What has not matched, by context.
#[derive(Debug, Default)]
pub(super) struct Places(BTreeMap<ContextId, Unmatched>);

impl Places {
    #[cold]
    pub(super) fn missing(&mut self, context: ContextId) {
        if let Some(place) = self.place(context) {
            place.missing += 1;
        }
    }

    #[cold]
    pub(super) fn extra(&mut self, context: ContextId) {
        if let Some(place) = self.place(context) {
            place.extra += 1;
        }
    }

    /// Rows may name any number as their context.
    fn place(&mut self, context: ContextId) -> Option<&mut Unmatched> {
        let room = self.0.len() < MOST_PLACES || self.0.contains_key(&context);
        room.then(|| self.0.entry(context).or_default())
    }

    pub(super) fn all(self) -> Vec<(ContextId, Unmatched)> {
        self.0.into_iter().collect()
    }
}
