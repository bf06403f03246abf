//! How large the tasks would be that calls become: what a call takes, and how much follows it before something waits for it, its
//! *continuation*.
//!
//! After J. Mak, §4.3.6. It takes both to gain from a spawn, so the smaller one is the size. The [journal](crate::journal) is
//! gone through with what is known of waits; a call is waited for by the first line of its function that waits for it in the model `base`,
//! or by the end of the function.
//!
//! **Cost:** an addition for each strip and call, and a comparison for each line that waits while calls are not waited for.
//! **Memory:** a number for each place that has called, of each running call.

use std::collections::HashSet;

use crate::chain::Chain;
use crate::journal::{Step, Walk};
use crate::models::{Child, Known, LineFacts};
use crate::paths::walk::Names;
use crate::shadow::BuildHasher;
use crate::source::{PlaceId, Source};

/// Calls of a place, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Calls that have ended.
    pub calls: u64,
    /// Instructions in them.
    pub length: u64,
    /// Calls that have been waited for.
    pub awaited: u64,
    /// Instructions between the end of each, and what has waited for it.
    pub continuation: u64,
    /// Instructions of the longest call.
    pub longest: u64,
    /// Of the longest continuation.
    pub longest_continuation: u64,
}

impl Sizes {
    /// Mean of the smaller of both, in instructions; nothing before the first has been waited for.
    pub fn mean(&self) -> Option<u64> {
        let length = self.length.checked_div(self.calls)?;
        Some(length.min(self.continuation.checked_div(self.awaited)?))
    }
}

/// Calls of a place that nothing has waited for yet.
#[derive(Debug)]
struct Outstanding {
    place: PlaceId,
    calls: u64,
    /// Work of the program at their ends, added up; at the first end.
    ends: u128,
    first: u64,
}

#[derive(Debug, Default)]
struct Open {
    begun: u64,
    outstanding: Vec<Outstanding>,
}

/// Sizes of all calls.
#[derive(Debug, Default)]
pub struct Continuations {
    /// By place.
    sizes: Vec<Sizes>,
    /// Calls whose results decide conditions at once.
    pub decided: HashSet<PlaceId, BuildHasher>,
    /// How lines follow one another.
    pub chain: Chain,
    open: Vec<Open>,
    work: u64,
    follows: PlaceId,
}

impl Continuations {
    /// The calls of a place.
    pub fn of(&self, place: PlaceId) -> Sizes {
        self.sizes.get(place as usize).copied().unwrap_or_default()
    }

    /// Takes what comes next in the journal.
    #[inline]
    pub fn walk(&mut self, walk: Walk<'_>, known: &Known<'_>, names: &Names<'_>, source: &Source) {
        match walk {
            Walk::Step(step) => {
                self.step(step, known);
                self.chain.step(step, 1, names, source);
            }
            // No call is in it: what the first iteration has waited for, no other has to.
            Walk::Cycle(steps, times) => {
                let before = self.work;
                steps.iter().for_each(|step| self.step(*step, known));
                self.work += (self.work - before) * (times - 1);
                for times in [1, times - 1] {
                    steps.iter().for_each(|step| self.chain.step(*step, times, names, source));
                }
            }
        }
    }

    /// The program has ended: nothing else will wait.
    pub fn finish(&mut self) {
        while let Some(open) = self.open.pop() {
            open.outstanding.iter().for_each(|calls| self.await_calls(calls, self.work));
        }
    }

    fn step(&mut self, step: Step, known: &Known<'_>) {
        match step {
            Step::Call => self.open.push(Open { begun: self.work, outstanding: Vec::new() }),
            Step::Return(place) => self.end(place),
            Step::Line(at) => self.line(at, known),
            Step::Strip(number) => self.strip(number, known),
            Step::Loop(_) | Step::Turn | Step::Leave(_) => {}
        }
    }

    fn end(&mut self, place: PlaceId) {
        let Some(open) = self.open.pop() else { return };
        open.outstanding.iter().for_each(|calls| self.await_calls(calls, self.work));
        let length = self.work - open.begun;
        self.chain.called(length);
        let sizes = self.sizes(place);
        (sizes.calls, sizes.length) = (sizes.calls + 1, sizes.length + length);
        sizes.longest = sizes.longest.max(length);
        self.follows = place;
        let Some(around) = self.open.last_mut() else { return };
        match around.outstanding.iter_mut().find(|calls| calls.place == place) {
            Some(calls) => (calls.calls, calls.ends) = (calls.calls + 1, calls.ends + u128::from(self.work)),
            None => around.outstanding.push(Outstanding { place, calls: 1, ends: self.work.into(), first: self.work }),
        }
    }

    fn sizes(&mut self, place: PlaceId) -> &mut Sizes {
        let at = place as usize;
        if self.sizes.len() <= at {
            self.sizes.resize(at + 1, Sizes::default());
        }
        &mut self.sizes[at]
    }

    fn await_calls(&mut self, calls: &Outstanding, now: u64) {
        let passed = u128::from(calls.calls) * u128::from(now) - calls.ends;
        let sizes = self.sizes(calls.place);
        sizes.awaited += calls.calls;
        sizes.longest_continuation = sizes.longest_continuation.max(now - calls.first);
        sizes.continuation = sizes.continuation.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX));
    }

    fn strip(&mut self, number: u32, known: &Known<'_>) {
        let Some(strip) = known.strips.get(number as usize) else { return };
        let (begun, mut done) = (self.work, 0);
        // Those on the line of a call before them; then those that wait.
        while self.follows != 0 {
            let Some(at) = strip.lines.get(done) else { return };
            self.line(*at, known);
            done += 1;
        }
        if self.open.last().is_some_and(|open| !open.outstanding.is_empty()) {
            for (place, before) in strip.waits().iter().filter(|(place, _)| *place >= done) {
                self.work = begun + before;
                self.line(strip.lines[*place], known);
            }
        }
        self.work = begun + strip.cost;
    }

    fn line(&mut self, at: u32, known: &Known<'_>) {
        let Some(Some(line)) = known.lines.get(at as usize) else { return };
        if self.follows != 0 {
            self.after_call(line, known);
        }
        for child in line.waits {
            if let Child::Call(place) = child {
                self.wait(*place);
            }
        }
        self.work += line.cost;
    }

    fn after_call(&mut self, line: &LineFacts<'_>, known: &Known<'_>) {
        if known.places.get(self.follows as usize).map_or(0, |place| place.line) != line.line {
            self.follows = 0;
        } else if line.branches {
            self.decided.insert(self.follows);
            self.wait(self.follows);
        }
    }

    /// What runs now waits for the calls of a place.
    fn wait(&mut self, place: PlaceId) {
        let Some(open) = self.open.last_mut() else { return };
        if let Some(at) = open.outstanding.iter().position(|calls| calls.place == place) {
            let calls = open.outstanding.swap_remove(at);
            self.await_calls(&calls, self.work);
        }
    }
}
