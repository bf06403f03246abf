//! Models that hold a dependence against every execution of its lines, from the journal.
//!
//! **Invariant:** what is known at the end counts for the whole run, as long as the journal has room for it. A journal that is full is gone
//! through with what is known then, and begins anew: its models go on where they stood.

use workspan_trace::program::flag;

use crate::engine::Engine;
use crate::models::{Child, Known, LineFacts, StripFacts};
use crate::paths::walk::Names;

/// Goes through the journal and empties it. To be done between two buffers, when it [is full](crate::journal::Journal::is_full).
pub fn part(engine: &mut Engine) {
    let mut later = std::mem::take(&mut engine.later);
    let journal = std::mem::take(&mut engine.journal);
    let mut walked = std::mem::take(&mut engine.walked);
    let mut continuations = std::mem::take(&mut engine.continuations);
    let waits: Vec<_> = engine.lines.iter().map(|line| waits_of(engine, *line)).collect();
    let lines = engine.lines.iter().zip(&waits);
    let lines: Vec<_> = lines.map(|((id, number), waits)| line_of(engine, (*id, *number), waits)).collect();
    let strips: Vec<_> = engine.sequences.iter().map(|numbers| StripFacts::new(numbers, &lines)).collect();
    let (serial, places) = (&engine.serial, &engine.source.places);
    let mut known = Known { lines: &lines, strips: &strips, serial, places, small: &[] };
    let names = Names { lines: &engine.lines, strips: &engine.sequences };
    later.begin(&known);
    let at_once = engine.granularity == 0;
    // Once for all: to find what follows what is as much work as what they do with it.
    journal.replay(|walk| {
        if at_once {
            later.walk(walk, &known);
        }
        walked.walk(walk, &names, &engine.source);
        continuations.walk(walk, &known, &names, &engine.source);
    });
    walked.spread(&engine.sequences);
    continuations.chain.spread();
    if !at_once {
        // Which calls are tasks follows from their sizes.
        let small = |place: u32| continuations.of(place).mean().is_some_and(|mean| mean < engine.granularity);
        let small: Vec<bool> = (0..).take(places.len()).map(small).collect();
        known.small = &small;
        journal.replay(|walk| later.walk(walk, &known));
    }
    (engine.later, engine.walked, engine.continuations) = (later, walked, continuations);
}

/// Goes through what the journal has, and puts these models to the others.
pub fn again(engine: &mut Engine) {
    part(engine);
    for (number, run) in std::mem::take(&mut engine.later).finish() {
        engine.models[number] = run;
    }
}

/// What a line waits for: nobody waits for calls that no function of the program has run in.
fn waits_of(engine: &Engine, line: (u32, u32)) -> Vec<Child> {
    let waits = engine.waits.get(&line).map_or(&[][..], |waits| waits.children.as_slice());
    let has_run = |child: &&Child| !matches!(child, Child::Call(place) if !engine.has_run(*place));
    waits.iter().filter(has_run).copied().collect()
}

fn line_of<'w>(engine: &Engine, (id, number): (u32, u32), waits: &'w [Child]) -> Option<LineFacts<'w>> {
    let info = engine.source.segments.get(id as usize)?;
    let line = info.runs.get(number as usize)?;
    let branches = number as usize + 1 == info.runs.len() && info.flags & flag::BRANCH != 0;
    Some(LineFacts { line: line.line, cost: line.cost.into(), branches, waits })
}
