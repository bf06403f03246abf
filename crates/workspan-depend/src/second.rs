//! Models that hold a dependence against every execution of its lines, from the journal.

use crate::engine::Engine;
use crate::journal::Step;
use crate::models::{Child, Run};
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
    for number in 0..engine.models.len() {
        if wanted(&engine.models[number]) {
            let again = replay(engine, engine.models[number].model);
            engine.models[number] = again;
        }
    }
}

/// A line of a segment: its cost, whether a condition ends it, and what it waits for.
fn line_of(engine: &Engine, id: u32, number: u32) -> Option<(Line, bool, &[Child])> {
    let info = engine.source.segments.get(id as usize)?;
    let line = *info.runs.get(number as usize)?;
    let branches = number as usize + 1 == info.runs.len() && info.flags & flag::BRANCH != 0;
    Some((line, branches, engine.waits.get(&(id, number)).map_or(&[], |waits| waits.children.as_slice())))
}

fn replay(engine: &Engine, model: crate::models::Model) -> Run {
    let mut run = Run::new(model);
    // Levels of running calls and loops; loops that are no tasks have none.
    let mut frames: Vec<usize> = Vec::new();
    let mut loops: Vec<bool> = Vec::new();
    let mut follows = 0;
    // Tasks that began or ended: a line that has waited since need not wait again.
    let mut changes = 1_u64;
    // What a line means, looked up once.
    let lines: Vec<_> = engine.lines.iter().map(|(id, number)| line_of(engine, *id, *number)).collect();
    let mut waited = vec![0; lines.len()];
    engine.journal.replay(|step| match step {
        Step::Call => {
            changes += 1;
            frames.push(run.depth());
            run.begin();
        }
        Step::Return(place) => {
            frames.pop();
            run.end(Child::Call(place));
            changes += 1;
            follows = place;
        }
        Step::Loop(number) => {
            let is_task = model.loops && !engine.serial.get(number as usize - 1).copied().unwrap_or(true);
            loops.push(is_task);
            if is_task {
                changes += 1;
                run.begin();
                run.begin();
            }
        }
        Step::Turn => {
            if loops.last() == Some(&true) {
                changes += 1;
                run.end(Child::Iteration);
                run.begin();
            }
        }
        Step::Leave(number) => {
            if loops.pop() == Some(true) {
                changes += 1;
                run.end(Child::Iteration);
                run.end(Child::Loop(number));
            }
        }
        Step::Line(at) => {
            let Some(Some((line, branches, waits))) = lines.get(at as usize) else {
                return;
            };
            run.work(line.cost.into());
            if follows != 0 {
                let of_call = engine.source.places.get(follows as usize).map_or(0, |place| place.line);
                if of_call != line.line {
                    follows = 0;
                } else if *branches && model.control {
                    let level = run.depth() - 1;
                    run.depend(level, Child::Call(follows));
                }
            }
            if waits.is_empty() || std::mem::replace(&mut waited[at as usize], changes) == changes {
                return;
            }
            let first = frames.last().copied().unwrap_or(0);
            for child in waits.iter().filter(|child| model.loops || matches!(child, Child::Call(_))) {
                for level in first..run.depth() {
                    run.depend(level, *child);
                }
            }
        }
    });
    run
}
