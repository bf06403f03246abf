//! Models that hold a dependence against every execution of its lines, from the journal.

use crate::engine::Engine;
use crate::journal::{Step, Walk};
use crate::models::{jump, Child, Model, Run};
use workspan_trace::facts::Run as Line;
use workspan_trace::program::flag;

/// Goes through the journal once more, for the models whose result depends on all dependences. Nothing if the journal is not whole.
pub fn again(engine: &mut Engine) {
    if engine.journal.full {
        return;
    }
    let wanted = |run: &Run| {
        let model = run.model;
        model.aggregated && !model.hoist && !model.reductions && (!model.loops || model.parallel_only)
    };
    let wanted: Vec<usize> = (0..engine.models.len()).filter(|number| wanted(&engine.models[*number])).collect();
    let models: Vec<Model> = wanted.iter().map(|number| engine.models[*number].model).collect();
    for (number, run) in wanted.into_iter().zip(replay(engine, &models)) {
        engine.models[number] = run;
    }
}

/// A line of a segment: its cost, whether a condition ends it, and what it waits for.
fn line_of(engine: &Engine, id: u32, number: u32) -> Option<(Line, bool, &[Child])> {
    let info = engine.source.segments.get(id as usize)?;
    let line = *info.runs.get(number as usize)?;
    let branches = number as usize + 1 == info.runs.len() && info.flags & flag::BRANCH != 0;
    Some((line, branches, engine.waits.get(&(id, number)).map_or(&[], |waits| waits.children.as_slice())))
}

/// A model that goes through the journal.
struct Replay<'e> {
    engine: &'e Engine,
    model: Model,
    /// Levels of running calls and loops; loops that are no tasks have none.
    frames: Vec<usize>,
    loops: Vec<bool>,
    follows: u32,
    /// Tasks that began or ended: a line that has waited since need not wait again.
    changes: u64,
    /// What a line means, looked up once.
    lines: &'e [Option<(Line, bool, &'e [Child])>],
    waited: Vec<u64>,
}

/// Goes through the journal once, for all of these models.
fn replay(engine: &Engine, models: &[Model]) -> Vec<Run> {
    let lines: Vec<_> = engine.lines.iter().map(|(id, number)| line_of(engine, *id, *number)).collect();
    let of_model = |model: &Model| {
        let (waited, frames, loops) = (vec![0; lines.len()], Vec::new(), Vec::new());
        let lines = &lines;
        (Replay { engine, model: *model, frames, loops, follows: 0, changes: 1, lines, waited }, Run::new(*model))
    };
    let mut all: Vec<_> = models.iter().map(of_model).collect();
    engine.journal.replay(|walk| match walk {
        Walk::Step(step) => all.iter_mut().for_each(|(replay, run)| replay.step(run, step)),
        Walk::Cycle(steps, times) => {
            let cost = steps.iter().map(|step| match step {
                Step::Line(at) => lines.get(*at as usize).copied().flatten().map_or(0, |line| line.0.cost.into()),
                _ => 0,
            });
            let cost: u64 = cost.sum();
            for (replay, run) in &mut all {
                jump(run, times, cost, |run| steps.iter().for_each(|step| replay.step(run, *step)));
            }
        }
    });
    all.into_iter().map(|(_, run)| run).collect()
}

impl Replay<'_> {
    fn step(&mut self, run: &mut Run, step: Step) {
        let model = self.model;
        match step {
            Step::Call => {
                self.changes += 1;
                self.frames.push(run.depth());
                run.begin();
            }
            Step::Return(place) => {
                self.frames.pop();
                run.end(Child::Call(place));
                self.changes += 1;
                self.follows = place;
            }
            Step::Loop(number) => {
                let is_task = model.loops && !self.engine.serial.get(number as usize - 1).copied().unwrap_or(true);
                self.loops.push(is_task);
                if is_task {
                    self.changes += 1;
                    run.begin();
                    run.begin();
                }
            }
            Step::Turn => {
                if self.loops.last() == Some(&true) {
                    self.changes += 1;
                    run.end(Child::Iteration);
                    run.begin();
                }
            }
            Step::Leave(number) => {
                if self.loops.pop() == Some(true) {
                    self.changes += 1;
                    run.end(Child::Iteration);
                    run.end(Child::Loop(number));
                }
            }
            Step::Line(at) => self.line(run, at as usize),
        }
    }

    fn line(&mut self, run: &mut Run, at: usize) {
        let Some(Some((line, branches, waits))) = self.lines.get(at) else {
            return;
        };
        run.work(line.cost.into());
        if self.follows != 0 {
            let of_call = self.engine.source.places.get(self.follows as usize).map_or(0, |place| place.line);
            if of_call != line.line {
                self.follows = 0;
            } else if *branches && self.model.control {
                let level = run.depth() - 1;
                run.depend(level, Child::Call(self.follows));
            }
        }
        if waits.is_empty() || std::mem::replace(&mut self.waited[at], self.changes) == self.changes {
            return;
        }
        let first = self.frames.last().copied().unwrap_or(0);
        for child in waits.iter().filter(|child| self.model.loops || matches!(child, Child::Call(_))) {
            for level in first..run.depth() {
                run.depend(level, *child);
            }
        }
    }
}
