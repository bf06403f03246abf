//! Continuations as a Markov chain has them: see [`crate::chain`].

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Engine;
use crate::models::Child;
use crate::source::PlaceId;

/// What is looked up for each place.
pub(super) struct Expected<'e> {
    engine: &'e Engine,
    following: Vec<Vec<(u32, u64)>>,
    /// Lines that wait for the calls of a place.
    waiting: BTreeMap<PlaceId, BTreeSet<u32>>,
}

impl Expected<'_> {
    pub(super) fn new(engine: &Engine) -> Expected<'_> {
        let chain = &engine.continuations.chain;
        let mut waiting: BTreeMap<PlaceId, BTreeSet<u32>> = BTreeMap::new();
        #[expect(clippy::iter_over_hash_type, reason = "into sets")]
        for ((id, number), waits) in &engine.waits {
            let Some(info) = engine.source.segments.get(*id as usize) else { continue };
            let line = info.runs.get(*number as usize).and_then(|run| chain.find(info.function, run.line));
            for child in &waits.children {
                if let (Child::Call(place), Some(line)) = (child, line) {
                    waiting.entry(*place).or_default().insert(line);
                }
            }
        }
        Expected { engine, following: chain.following(), waiting }
    }

    /// Instructions that follow all calls of a place on a line of a function.
    pub(super) fn of(&self, place: PlaceId, function: u32, line: u32) -> Option<u64> {
        let continuations = &self.engine.continuations;
        if continuations.decided.contains(&place) {
            // A condition waits for it at once.
            return Some(0);
        }
        let start = continuations.chain.find(function, line)?;
        let none = BTreeSet::new();
        let waiting = self.waiting.get(&place).unwrap_or(&none);
        let mean = continuations.chain.expected(&self.following, start, waiting)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an estimate"
        )]
        let all = (mean.max(0.0) * continuations.of(place).awaited as f64) as u64;
        Some(all)
    }
}
