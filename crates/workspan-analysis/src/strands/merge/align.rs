//! Runs side by side: to each strand of the first one the same strands of the others.

use std::ops::ControlFlow;

use workspan_model::Strand;

use super::cursor::Cursor;
use super::follower::Follower;
use super::places::{Places, Unmatched};
use super::Source;

/// How well runs have matched.
#[derive(Debug, Default)]
pub(crate) struct Aligned {
    /// Strands of the first run that were taken.
    pub(crate) strands: u64,
    /// Of each group: what of each run has not matched.
    pub(crate) runs: Vec<Vec<Unmatched>>,
    /// Of each group: where, summed over its runs.
    pub(crate) places: Vec<Places>,
}

/// Reads `first` with all runs of all `groups` beside it, and gives each strand with the same of each group to `take`,
/// until it has enough.
pub(crate) fn align<S: Source>(
    first: S,
    groups: Vec<Vec<S>>,
    mut take: impl FnMut(&Strand, &[Vec<Strand>]) -> ControlFlow<()>,
) -> Result<Aligned, S::Error> {
    let mut first = Cursor::new(first);
    let mut groups: Vec<Group<S>> = groups.into_iter().map(Group::new).collect();
    let mut same: Vec<Vec<Strand>> = groups.iter().map(|group| Vec::with_capacity(group.runs.len())).collect();
    let mut strands = 0;
    while let Some(node) = first.peek(0)?.copied() {
        for (group, same) in groups.iter_mut().zip(&mut same) {
            same.clear();
            for run in &mut group.runs {
                same.extend(run.follow(&node, &mut first, &mut group.places)?);
            }
        }
        first.advance();
        strands += 1;
        if take(&node.row, &same).is_break() {
            return Ok(tell(strands, groups));
        }
    }
    for group in &mut groups {
        for run in &mut group.runs {
            run.finish(&mut group.places)?;
        }
    }
    Ok(tell(strands, groups))
}

#[derive(Debug)]
struct Group<S> {
    runs: Vec<Follower<S>>,
    places: Places,
}

impl<S: Source> Group<S> {
    fn new(runs: Vec<S>) -> Group<S> {
        Group { runs: runs.into_iter().map(Follower::new).collect(), places: Places::default() }
    }
}

fn tell<S>(strands: u64, groups: Vec<Group<S>>) -> Aligned {
    let mut aligned = Aligned { strands, ..Aligned::default() };
    for group in groups {
        let unmatched = |run: &Follower<S>| Unmatched { missing: run.missing, extra: run.extra };
        aligned.runs.push(group.runs.iter().map(unmatched).collect());
        aligned.places.push(group.places);
    }
    aligned
}
