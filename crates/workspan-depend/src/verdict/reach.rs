//! Which functions run within a loop, and which around it: as far as their calls were seen.

use std::collections::{BTreeMap, BTreeSet};

use workspan_trace::program::flag;

use crate::engine::Engine;
use crate::source::PlaceId;

/// A call that was seen.
pub(super) struct Made {
    /// The loop, + 1, that it stands in.
    pub(super) in_loop: u32,
    /// The function that it enters; nothing: one of several.
    pub(super) entered: Option<u32>,
}

/// Calls of the program's functions, by the function that makes them.
pub(super) struct Reach(BTreeMap<u32, Vec<Made>>);

impl Reach {
    pub(super) fn of(engine: &Engine) -> Reach {
        let (mut makers, mut found) = (BTreeMap::<PlaceId, BTreeSet<u32>>::new(), BTreeMap::<u32, Vec<Made>>::new());
        let calls = || engine.source.segments.iter().filter(|segment| segment.flags & flag::CALL != 0);
        for segment in calls() {
            makers.entry(segment.call).or_default().insert(segment.function);
        }
        for segment in calls() {
            let Some(count) = engine.calls.get(&segment.call) else { continue };
            // What a pointer leads to may change, and so may what stands at a place of a template.
            let is_one = count.callee != 0 && makers.get(&segment.call).is_some_and(|all| all.len() == 1);
            if let Some(function) = count.entered.checked_sub(1) {
                let entered = Some(function).filter(|_| is_one);
                found.entry(segment.function).or_default().push(Made { in_loop: segment.in_loop, entered });
            }
        }
        Reach(found)
    }

    /// True if calls of these functions lead to one, or may do so.
    pub(super) fn leads_to(&self, from: impl Iterator<Item = Option<u32>>, function: u32) -> bool {
        let (mut open, mut seen) = (from.collect::<Vec<Option<u32>>>(), BTreeSet::new());
        while let Some(next) = open.pop() {
            match next {
                None => return true,
                Some(next) if next == function => return true,
                Some(next) if seen.insert(next) => open.extend(self.made(next).map(|made| made.entered)),
                Some(_) => {}
            }
        }
        false
    }

    /// Calls that a function makes.
    pub(super) fn made(&self, function: u32) -> impl Iterator<Item = &Made> {
        self.0.get(&function).into_iter().flatten()
    }
}
