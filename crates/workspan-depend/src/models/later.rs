//! Models that go through the [journal](crate::journal), a part at a time.
//!
//! **Invariant:** work, and which call a line follows, are the same for all of them.

use crate::journal::{Step, Walk};
use crate::models::{jump, Child, Clock, Run, LATER, MODELS};
use crate::source::Place;

/// The models, between two parts of a journal.
#[derive(Debug)]
pub struct Later {
    runs: Vec<Replay>,
    /// Work of the program so far.
    work: u64,
    follows: u32,
}

impl Default for Later {
    fn default() -> Later {
        let all = (0..MODELS.len()).filter(|number| LATER & 1 << number != 0);
        Later { runs: all.map(Replay::new).collect(), work: 0, follows: 0 }
    }
}

impl Later {
    /// A part of the journal comes.
    pub fn begin(&mut self, known: &Known<'_>) {
        self.runs.iter_mut().for_each(|replay| replay.waited.resize(known.lines.len(), 0));
    }

    /// Takes what comes next in the journal with what is known.
    #[inline]
    pub fn walk(&mut self, walk: Walk<'_>, known: &Known<'_>) {
        match walk {
            Walk::Step(step) => known.step(&mut self.runs, step, &mut self.work, &mut self.follows),
            Walk::Cycle(steps, times) => self.cycle(known, steps, times),
        }
    }

    /// The same iteration, several times.
    fn cycle(&mut self, known: &Known<'_>, steps: &[Step], times: u64) {
        let cost: u64 = steps.iter().map(|step| known.cost(*step)).sum();
        let (before, follows) = (self.work, self.follows);
        let waits = |loops: bool| follows != 0 || steps.iter().any(|step| known.waits(*step, loops));
        let waits = [waits(false), waits(true)];
        for replay in &mut self.runs {
            (self.work, self.follows) = (before, follows);
            if !waits[usize::from(replay.run.model.loops)] && replay.loops.last() != Some(&true) {
                // No task begins or ends, and no line waits for one.
                self.work += cost * times;
                continue;
            }
            jump(replay, &mut self.work, times, cost, |replay, work| {
                let one = std::slice::from_mut(replay);
                steps.iter().for_each(|step| known.step(one, *step, work, &mut self.follows));
            });
        }
    }

    /// The models, and their numbers.
    pub fn finish(self) -> impl Iterator<Item = (usize, Run)> {
        self.runs.into_iter().map(|replay| (replay.number, replay.run))
    }
}

/// What a line means for the models.
#[derive(Debug)]
pub struct LineFacts<'e> {
    /// Line.
    pub line: u32,
    /// Its instructions.
    pub cost: u64,
    /// A condition ends it.
    pub branches: bool,
    /// What it was ever seen to wait for.
    pub waits: &'e [Child],
}

/// A model that goes through the journal.
#[derive(Debug)]
struct Replay {
    number: usize,
    run: Run,
    /// Levels of running calls and loops; loops that are no tasks have none.
    frames: Vec<usize>,
    loops: Vec<bool>,
    /// Tasks that began or ended: a line that has waited since need not wait again.
    changes: u64,
    waited: Vec<u64>,
}

impl AsMut<Run> for Replay {
    fn as_mut(&mut self) -> &mut Run {
        &mut self.run
    }
}

impl Replay {
    fn new(number: usize) -> Replay {
        let (frames, loops, waited) = (Vec::new(), Vec::new(), Vec::new());
        Replay { number, run: Run::new(MODELS[number]), frames, loops, changes: 1, waited }
    }
}

/// What is known of the program.
#[derive(Debug)]
pub struct Known<'e> {
    /// Lines, by their number in the journal.
    pub lines: &'e [Option<LineFacts<'e>>],
    /// Strips, by their number in the journal.
    pub strips: &'e [StripFacts<'e>],
    /// Loops that carry a dependence that forbids parallel iterations.
    pub serial: &'e [bool],
    /// Places of the source.
    pub places: &'e [Place],
    /// Places whose calls are too small to be tasks; those behind the end are not.
    pub small: &'e [bool],
}

/// Lines that follow one another.
#[derive(Debug)]
pub struct StripFacts<'e> {
    /// Their numbers.
    pub lines: &'e [u32],
    /// Their cost.
    pub cost: u64,
    /// Places of those that wait, and the cost of the lines before each.
    waits: Vec<(usize, u64)>,
}

impl<'e> StripFacts<'e> {
    /// Places of those lines that wait, and the cost of the lines before each.
    pub(crate) fn waits(&self) -> &[(usize, u64)] {
        &self.waits
    }

    /// Of these lines.
    pub fn new(numbers: &'e [u32], lines: &[Option<LineFacts<'_>>]) -> StripFacts<'e> {
        let (mut cost, mut waits) = (0, Vec::new());
        for (place, at) in numbers.iter().enumerate() {
            if let Some(Some(line)) = lines.get(*at as usize) {
                if !line.waits.is_empty() {
                    waits.push((place, cost));
                }
                cost += line.cost;
            }
        }
        StripFacts { lines: numbers, cost, waits }
    }
}

impl Known<'_> {
    fn cost_of(&self, at: u32) -> u64 {
        self.lines.get(at as usize).and_then(Option::as_ref).map_or(0, |line| line.cost)
    }

    /// True if a step waits for calls, or for loops as well.
    fn waits(&self, step: Step, loops: bool) -> bool {
        let line = |at: u32| {
            let waits = self.lines.get(at as usize).and_then(Option::as_ref).map_or(&[][..], |line| line.waits);
            waits.iter().any(|child| loops || matches!(child, Child::Call(_)))
        };
        match step {
            Step::Line(at) => line(at),
            Step::Strip(number) => {
                let strip = self.strips.get(number as usize);
                strip.is_some_and(|strip| strip.waits.iter().any(|(place, _)| line(strip.lines[*place])))
            }
            _ => false,
        }
    }

    fn cost(&self, step: Step) -> u64 {
        match step {
            Step::Line(at) => self.cost_of(at),
            Step::Strip(number) => self.strips.get(number as usize).map_or(0, |strip| strip.cost),
            _ => 0,
        }
    }

    #[inline]
    fn step(&self, replays: &mut [Replay], step: Step, work: &mut u64, follows: &mut u32) {
        match step {
            Step::Line(at) => self.line(replays, at as usize, work, follows),
            Step::Strip(number) => self.strip(replays, number, work, follows),
            Step::Call => {
                for replay in replays {
                    replay.changes += 1;
                    replay.frames.push(replay.run.depth());
                    replay.run.begin(*work);
                }
            }
            Step::Return(place) => {
                for replay in replays {
                    replay.frames.pop();
                    if self.small.get(place as usize) == Some(&true) {
                        replay.run.end_inline(Child::Call(place), *work);
                    } else {
                        replay.run.end(Child::Call(place), *work);
                    }
                    replay.changes += 1;
                }
                *follows = place;
            }
            Step::Loop(number) => {
                let is_serial = self.serial.get(number as usize - 1).copied().unwrap_or(true);
                for replay in replays.iter_mut().filter(|replay| replay.run.model.loops) {
                    replay.loops.push(!is_serial);
                    if !is_serial {
                        replay.changes += 1;
                        replay.run.begin(*work);
                        replay.run.begin(*work);
                    }
                }
            }
            Step::Turn => {
                for replay in replays.iter_mut().filter(|replay| replay.loops.last() == Some(&true)) {
                    replay.changes += 1;
                    replay.run.end(Child::Iteration, *work);
                    replay.run.begin(*work);
                }
            }
            Step::Leave(number) => {
                for replay in replays {
                    if replay.loops.pop() == Some(true) {
                        replay.changes += 1;
                        replay.run.end(Child::Iteration, *work);
                        replay.run.end(Child::Loop(number), *work);
                    }
                }
            }
        }
    }

    fn strip(&self, replays: &mut [Replay], number: u32, work: &mut u64, follows: &mut u32) {
        let Some(strip) = self.strips.get(number as usize) else {
            return;
        };
        let (begun, mut done) = (*work, 0);
        // Those on the line of a call before them; then those that wait.
        while *follows != 0 {
            let Some(at) = strip.lines.get(done) else {
                return;
            };
            self.line(replays, *at as usize, work, follows);
            done += 1;
        }
        for (place, before) in strip.waits.iter().filter(|(place, _)| *place >= done) {
            *work = begun + before;
            self.line(replays, strip.lines[*place] as usize, work, follows);
        }
        *work = begun + strip.cost;
    }

    #[inline]
    fn line(&self, replays: &mut [Replay], at: usize, work: &mut u64, follows: &mut u32) {
        let Some(Some(line)) = self.lines.get(at) else {
            return;
        };
        *work += line.cost;
        let now = Clock { work: *work, line: line.cost };
        if *follows != 0 {
            self.after_call(replays, line, now, follows);
        }
        if line.waits.is_empty() {
            return;
        }
        for replay in replays {
            if std::mem::replace(&mut replay.waited[at], replay.changes) == replay.changes {
                continue;
            }
            let first = replay.frames.last().copied().unwrap_or(0);
            let (loops, run) = (replay.run.model.loops, &mut replay.run);
            for child in line.waits.iter().filter(|child| loops || matches!(child, Child::Call(_))) {
                for level in first..run.depth() {
                    run.depend(level, *child, now);
                }
            }
        }
    }

    fn after_call(&self, replays: &mut [Replay], line: &LineFacts<'_>, now: Clock, follows: &mut u32) {
        if self.places.get(*follows as usize).map_or(0, |place| place.line) != line.line {
            *follows = 0;
            return;
        }
        for run in replays.iter_mut().map(|replay| &mut replay.run).filter(|run| line.branches && run.model.control) {
            let level = run.depth() - 1;
            run.depend(level, Child::Call(*follows), now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Journal;
    use proptest::prelude::*;

    /// Steps of a program: calls and loops within each other, all closed.
    fn steps(choices: &[(u32, u32)]) -> Vec<Step> {
        let (mut steps, mut open) = (vec![Step::Call], vec![Step::Return(9)]);
        for (choice, number) in choices {
            match (choice, open.last()) {
                (0, _) => {
                    steps.push(Step::Call);
                    open.push(Step::Return(number % 3 + 1));
                }
                (1, _) => {
                    steps.push(Step::Loop(number % 2 + 1));
                    open.push(Step::Leave(number % 2 + 1));
                }
                (2 | 3, Some(Step::Leave(_))) => steps.push(Step::Turn),
                (4, _) if open.len() > 1 => steps.extend(open.pop()),
                _ => steps.push(Step::Line(number % 4)),
            }
        }
        steps.extend(open.into_iter().rev());
        steps
    }

    proptest! {
        #[test]
        fn parts_are_as_good_as_the_whole(choices in prop::collection::vec((0_u32..8, 0_u32..100), 0..300), cut in 0_usize..300) {
            let waits = [Child::Call(1), Child::Call(2), Child::Loop(2)];
            let line = |line: u32, cost, waits| Some(LineFacts { line, cost, branches: line == 2, waits });
            let lines = [line(0, 3, &waits[..1]), line(1, 1, &[]), line(2, 7, &waits[1..]), line(3, 2, &waits[..])];
            let places: Vec<Place> = (0..10).map(|line| Place { line: line % 4, ..Place::default() }).collect();
            let known = Known { lines: &lines, strips: &[], serial: &[false, true], places: &places, small: &[] };
            let steps = steps(&choices);
            let spans = |parts: &[&[Step]]| {
                let mut later = Later::default();
                for part in parts {
                    let mut journal = Journal::default();
                    part.iter().for_each(|step| journal.note(*step));
                    later.begin(&known);
                    journal.replay(|walk| later.walk(walk, &known));
                }
                let work = later.work;
                later.finish().map(|(number, mut run)| (number, run.finish(work))).collect::<Vec<_>>()
            };
            let (first, second) = steps.split_at(cut.min(steps.len()));
            prop_assert_eq!(spans(&[first, second]), spans(&[&steps]));
        }
    }
}
