//! How often loops ran, and how often places made calls: while the program runs, in numbers that are found by their place.

use std::collections::{BTreeMap, BTreeSet};

use crate::effects::Effect;
use crate::models::Child;
use crate::source::{PlaceId, Source};

/// How often a loop ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopCount {
    /// Executions.
    pub entries: u64,
    /// Iterations in all.
    pub iterations: u64,
    /// Iterations of its longest execution.
    pub most: u64,
    /// Instructions in it.
    pub work: u64,
    /// An exception, a panic or a `longjmp` has left it.
    pub abandoned: bool,
}

/// How often a place made calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallCount {
    /// Function that the place is in.
    pub function: u32,
    /// Name of what is called.
    pub callee: u32,
    /// The function of the program that was entered, + 1.
    pub entered: u32,
    /// Calls.
    pub count: u64,
    /// Instructions in them.
    pub work: u64,
    /// Lines of the function that were executed right afterwards.
    pub next: BTreeSet<u32>,
}

/// What a line waits for.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Calls and loops.
    pub children: Vec<Child>,
    /// Frame in which the line has waited, and how many calls had returned: waiting again changes nothing until another one has.
    pub(super) waited: (u64, u64),
}

/// A place that made calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) function: u32,
    pub(super) callee: u32,
    /// The function of the program that was entered, + 1.
    pub(super) entered: u32,
    pub(super) count: u64,
    pub(super) work: u64,
}

/// A function outside instrumented code.
#[derive(Clone, Copy, Debug, Default)]
struct Outside {
    count: u64,
    /// The state that it changes; nothing: not looked up yet.
    state: Option<Option<usize>>,
}

/// All counts.
#[derive(Debug, Default)]
pub(super) struct Counts {
    places: Vec<Count>,
    outside: Vec<Outside>,
}

impl Counts {
    /// Of a place.
    #[inline]
    pub(super) fn of(&mut self, place: PlaceId) -> &mut Count {
        let at = place as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, Count::default());
        }
        &mut self.places[at]
    }

    /// A function of the program was entered at a place.
    pub(super) fn has_entered(&self, place: PlaceId) -> bool {
        self.places.get(place as usize).is_some_and(|count| count.entered > 0)
    }

    /// A function outside was called; the state that it changes.
    #[inline]
    pub(super) fn outside(&mut self, source: &Source, callee: u32) -> Option<usize> {
        let (count, state) = self.outside_of(source, callee);
        *count += 1;
        state
    }

    /// A function was called, and one of the program entered: the state that changes if it is another one, which a known function has called
    /// back.
    #[inline]
    pub(super) fn around(&mut self, source: &Source, callee: u32, entered: u32) -> Option<usize> {
        let state = self.outside_of(source, callee).1.filter(|state| Some(*state) != Effect::Unknown.state())?;
        let own = source.functions.get(entered as usize).map(|function| &function.name);
        (own != source.names.get(callee as usize)).then_some(state)
    }

    /// How often a function was called without any of the program, and the state that it changes.
    fn outside_of(&mut self, source: &Source, callee: u32) -> (&mut u64, Option<usize>) {
        let at = callee as usize;
        if self.outside.len() <= at {
            self.outside.resize(at + 1, Outside::default());
        }
        let outside = &mut self.outside[at];
        let state = *outside.state.get_or_insert_with(|| {
            let name = source.names.get(at).map_or("", String::as_str);
            source.effects.of(name).state()
        });
        (&mut outside.count, state)
    }

    /// Puts the counts to what else is known; of functions outside, of those in no table.
    pub(super) fn settle(&mut self, calls: &mut BTreeMap<PlaceId, CallCount>, boxes: &mut BTreeMap<u32, u64>) {
        for (place, count) in (0..).zip(&mut self.places) {
            if count.count > 0 || count.entered > 0 || count.work > 0 {
                let Count { function, callee, entered, count, work } = std::mem::take(count);
                let known = calls.entry(place).or_default();
                (known.function, known.callee) = (function, callee);
                known.entered = entered;
                known.count += count;
                known.work += work;
            }
        }
        let is_box = |outside: &Outside| outside.count > 0 && outside.state == Some(Effect::Unknown.state());
        for (callee, outside) in (0..).zip(&mut self.outside).filter(|(_, outside)| is_box(outside)) {
            *boxes.entry(callee).or_default() += std::mem::take(&mut outside.count);
        }
    }
}
