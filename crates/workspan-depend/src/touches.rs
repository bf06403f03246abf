//! What segments do with locals without an address.
//!
//! **Argument** for [`Action::Look`]: the first segment of a function runs once in each call, before all others. A local that is written there alone, as
//! parameters mostly are, is never written after one of the other segments has read it. Nor is one that is written only where its scope has
//! just begun: what was read of it before is gone. So nobody needs these reads, and without them there are far fewer
//! shapes of frames: each place that reads a parameter would double them.

use workspan_trace::facts::{Deed, Run, Touch};
use workspan_trace::program::{flag, Module, Segment};

/// What a segment does with a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its scope begins: what it held is gone.
    Begin,
    /// It is read.
    Read,
    /// It is read, and no write follows.
    Look,
    /// It is written.
    Write,
}

/// By local of a module: whether no write follows the reads of all segments but the first one of the function.
pub fn settled(module: &Module) -> Vec<bool> {
    let mut settled = vec![true; module.facts.locals.len()];
    let mut fresh = Vec::new();
    for (segment, _, touches) in parts(module) {
        if segment.flags & flag::ENTRY != 0 {
            continue;
        }
        fresh.clear();
        for touch in touches {
            match touch.deed {
                Deed::Begin => fresh.push(touch.local),
                Deed::Read => fresh.retain(|local| *local != touch.local),
                Deed::Write if !fresh.contains(&touch.local) => {
                    if let Some(settled) = settled.get_mut(touch.local as usize) {
                        *settled = false;
                    }
                }
                Deed::Write => {}
            }
        }
    }
    settled
}

/// The segments of a module, with their lines, and what they do with locals.
pub fn parts(module: &Module) -> impl Iterator<Item = (&Segment, &[Run], &[Touch])> {
    let facts = &module.facts;
    let (mut run_at, mut touch_at) = (0, 0);
    module.segments.iter().enumerate().map(move |(number, segment)| {
        let count = facts.segments.get(number).map_or(0, |count| *count as usize);
        let runs = facts.runs.get(run_at..run_at + count).unwrap_or_default();
        run_at += count;
        let total: usize = runs.iter().map(|run| run.touches as usize).sum();
        let begin = touch_at.min(facts.touches.len());
        touch_at += total;
        (segment, runs, &facts.touches[begin..touch_at.clamp(begin, facts.touches.len())])
    })
}
