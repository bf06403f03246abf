//! Models that hold a dependence against every execution of its lines, from the journal.
//!
//! **Invariant:** what is known at the end counts for the whole run, as long as the journal has room for it. A journal that is full is gone
//! through with what is known then, and begins anew: its models go on where they stood.

use workspan_trace::program::flag;

use crate::engine::Engine;
use crate::journal::{Step, Walk};
use crate::models::{jump, Child, Run, LATER, MODELS};
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

/// Goes through the journal and empties it.
pub fn part(engine: &mut Engine) {
    let mut later = std::mem::take(&mut engine.later);
    let journal = std::mem::take(&mut engine.journal);
    let lines: Vec<_> = engine.lines.iter().map(|(id, number)| line_of(engine, *id, *number)).collect();
    let known = Known { lines: &lines, serial: &engine.serial, places: &engine.source.places };
    later.runs.iter_mut().for_each(|replay| replay.waited.resize(lines.len(), 0));
    journal.replay(|walk| match walk {
        Walk::Step(step) => {
            let (mut work, mut follows) = (later.work, later.follows);
            known.step(&mut later.runs, step, &mut work, &mut follows);
            (later.work, later.follows) = (work, follows);
        }
        Walk::Cycle(steps, times) => {
            let cost: u64 = steps.iter().map(|step| known.cost(*step)).sum();
            let (before, follows) = (later.work, later.follows);
            for replay in &mut later.runs {
                later.work = before;
                later.follows = follows;
                let mut run = std::mem::replace(&mut replay.run, Run::new(MODELS[replay.number]));
                let once = |run: &mut Run, work: &mut u64| {
                    std::mem::swap(run, &mut replay.run);
                    let one = std::slice::from_mut(replay);
                    steps.iter().for_each(|step| known.step(one, *step, work, &mut later.follows));
                    std::mem::swap(run, &mut replay.run);
                };
                jump(&mut run, &mut later.work, times, cost, once);
                replay.run = run;
            }
        }
    });
    engine.later = later;
}

/// Goes through what the journal has, and puts these models to the others.
pub fn again(engine: &mut Engine) {
    part(engine);
    for replay in &mut engine.later.runs {
        std::mem::swap(&mut engine.models[replay.number], &mut replay.run);
    }
}

/// What a line means for the models.
#[derive(Debug)]
struct Line<'e> {
    line: u32,
    cost: u64,
    /// A condition ends it.
    branches: bool,
    waits: &'e [Child],
}

fn line_of(engine: &Engine, id: u32, number: u32) -> Option<Line<'_>> {
    let info = engine.source.segments.get(id as usize)?;
    let line = info.runs.get(number as usize)?;
    let branches = number as usize + 1 == info.runs.len() && info.flags & flag::BRANCH != 0;
    let waits = engine.waits.get(&(id, number)).map_or(&[][..], |waits| waits.children.as_slice());
    Some(Line { line: line.line, cost: line.cost.into(), branches, waits })
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

impl Replay {
    fn new(number: usize) -> Replay {
        let (frames, loops, waited) = (Vec::new(), Vec::new(), Vec::new());
        Replay { number, run: Run::new(MODELS[number]), frames, loops, changes: 1, waited }
    }
}

/// What is known of the program.
struct Known<'e> {
    lines: &'e [Option<Line<'e>>],
    serial: &'e [bool],
    places: &'e [Place],
}

impl Known<'_> {
    fn cost(&self, step: Step) -> u64 {
        match step {
            Step::Line(at) => self.lines.get(at as usize).and_then(Option::as_ref).map_or(0, |line| line.cost),
            _ => 0,
        }
    }

    #[inline]
    fn step(&self, replays: &mut [Replay], step: Step, work: &mut u64, follows: &mut u32) {
        match step {
            Step::Line(at) => self.line(replays, at as usize, work, follows),
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
                    replay.run.end(Child::Call(place), *work);
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

    #[inline]
    fn line(&self, replays: &mut [Replay], at: usize, work: &mut u64, follows: &mut u32) {
        let Some(Some(line)) = self.lines.get(at) else {
            return;
        };
        *work += line.cost;
        if *follows != 0 {
            self.after_call(replays, line, *work, follows);
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
                    run.depend(level, *child, *work);
                }
            }
        }
    }

    fn after_call(&self, replays: &mut [Replay], line: &Line<'_>, work: u64, follows: &mut u32) {
        if self.places.get(*follows as usize).map_or(0, |place| place.line) != line.line {
            *follows = 0;
            return;
        }
        for run in replays.iter_mut().map(|replay| &mut replay.run).filter(|run| line.branches && run.model.control) {
            let level = run.depth() - 1;
            run.depend(level, Child::Call(*follows), work);
        }
    }
}
