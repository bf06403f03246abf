//! Which functions run within a loop, and which around it: as far as their calls were seen.

use std::collections::{BTreeMap, BTreeSet};

use workspan_trace::program::flag;

use super::judge::Judge;
use crate::engine::Engine;
use crate::source::PlaceId;

/// A call that was seen.
struct Made {
    in_loop: u32,
    /// The function that it enters; nothing: one of several.
    entered: Option<u32>,
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

    /// True if calls lead to a function, or may do so.
    fn leads_to(&self, from: impl Iterator<Item = Option<u32>>, function: u32) -> bool {
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

    fn made(&self, function: u32) -> impl Iterator<Item = &Made> {
        self.0.get(&function).into_iter().flatten()
    }
}

impl Judge<'_> {
    /// True if calls in a loop may lead to a function.
    pub(super) fn may_run_in(&self, carrier: u32, function: u32) -> bool {
        let source = &self.engine.source;
        let inside = self.reach.made(source.loops[carrier as usize - 1].function);
        let inside = inside.filter(|made| source.is_within(made.in_loop, carrier));
        self.reach.leads_to(inside.map(|made| made.entered), function)
    }

    /// True if a loop may run within a call of another function.
    pub(super) fn may_run_around(&self, carrier: u32, function: u32) -> bool {
        let own = self.engine.source.loops[carrier as usize - 1].function;
        own != function && self.reach.leads_to(self.reach.made(function).map(|made| made.entered), own)
    }
}
