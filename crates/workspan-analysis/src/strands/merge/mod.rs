//! Several runs of a program merged node by node, so that a span is no longer a maximum over noise.
//!
//! The rows of all runs are read side by side. Where the program does the same, they are the same but for costs; where it
//! does not, the runs meet again within the construct around, or after it. The result has the rows of the first run, each
//! with the least cost, or the median, of all runs that have the strand.
//!
//! **Cost:** linear in the rows. **Memory:** of each run a batch of its source, what is open, and what is looked at ahead
//! where runs differ: at most 2^16 rows.
//!
//! Definition: `docs/methods/merge.md`.

mod align;
mod cursor;
mod follower;
mod places;

use std::ops::ControlFlow;

use workspan_model::{ContextId, Event, Nanos, Strand};

pub(crate) use align::{align, Aligned};
pub use cursor::Source;
pub(crate) use places::Places;
pub use places::{Unmatched, MOST_PLACES};

/// What is kept of a strand's costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The least.
    #[default]
    Minimum,
    /// The median; of an even number the mean of the two in the middle.
    Median,
}

/// How well runs have matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Strands of the first run, and so of the result.
    pub strands: u64,
    /// Of them, those that all runs have.
    pub matched: u64,
    /// Of each run but the first: what has not matched.
    pub others: Vec<Unmatched>,
    /// By context, ascending: what has not matched, summed over the runs. Of the first [`MOST_PLACES`] contexts.
    pub places: Vec<(ContextId, Unmatched)>,
}

/// Merges runs, and gives the rows that result to `take`, in batches, until it has enough.
pub fn merge<S: Source>(
    runs: impl IntoIterator<Item = S>,
    keep: Keep,
    take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>,
) -> Result<Merged, S::Error> {
    let mut runs = runs.into_iter();
    let Some(first) = runs.next() else {
        return Ok(Merged::default());
    };
    let others: Vec<S> = runs.collect();
    let count = others.len();
    let mut matched = 0;
    let mut batch = Vec::with_capacity(BATCH);
    let mut same = Vec::with_capacity(count + 1);
    let mut scratch = Vec::with_capacity(count + 1);
    let mut enough = ControlFlow::Continue(());
    let aligned = align(first, vec![others], |row, others| {
        same.clear();
        same.push(*row);
        same.extend(others.iter().flatten());
        matched += u64::from(same.len() > count);
        batch.push(keep.of(&same, &mut scratch));
        if batch.len() == BATCH {
            enough = take(&batch);
            batch.clear();
        }
        enough
    })?;
    if !batch.is_empty() {
        let _ = take(&batch);
    }
    let Aligned { strands, runs, places } = aligned;
    let places = places.into_iter().flat_map(Places::all).map(|(context, unmatched, _)| (context, unmatched)).collect();
    Ok(Merged { strands, matched, others: runs.into_iter().flatten().collect(), places })
}

/// Small enough to stay in the cache when several analyses look at a batch.
const BATCH: usize = 1024;

impl Keep {
    /// One strand for those that are the same. Where and when it ran is of the first run.
    pub(crate) fn of(self, same: &[Strand], scratch: &mut Vec<i64>) -> Strand {
        let Some(first) = same.first() else {
            unreachable!("the first run has it");
        };
        let mut one = |value: fn(&Strand) -> Nanos| Nanos(self.one(same.iter().map(|row| value(row).0), scratch));
        let mut event = first.event;
        let (cost, blocked) = (one(|row| row.cost), one(|row| row.blocked));
        if let Event::Spawn(creation) | Event::Call(creation) = &mut event {
            creation.overhead = one(|row| match row.event {
                Event::Spawn(creation) | Event::Call(creation) => creation.overhead,
                _ => Nanos::ZERO,
            });
        }
        Strand { event, cost, blocked, ..*first }
    }

    #[inline]
    pub(crate) fn one(self, values: impl Iterator<Item = i64>, scratch: &mut Vec<i64>) -> i64 {
        match self {
            Keep::Minimum => values.min().unwrap_or(0),
            Keep::Median => {
                scratch.clear();
                scratch.extend(values);
                scratch.sort_unstable();
                let middle = scratch.len() / 2;
                match scratch.get(middle) {
                    Some(upper) if scratch.len().is_multiple_of(2) => scratch[middle - 1].midpoint(*upper),
                    Some(value) => *value,
                    None => 0,
                }
            }
        }
    }
}
