//! How many strands ran at each moment of a recorded run.
//!
//! The run is cut into buckets of equal width. A strand runs for its cost from its start: of a bucket, `busy` is the time
//! that all strands ran within it, so `busy` over the width is how many ran on average. The sum over all buckets is the work.
//!
//! **Bias.** A cost has preemption and the profiler taken out, while the clock went on: a strand ends a little early here.
//! What a strand was blocked is counted at its end, as not running.
//!
//! Reads the rows twice: for the first and last moment, then for the buckets. Each row costs constant time whatever the
//! number of buckets it covers: whole buckets are entered as two differences. Memory: the buckets.

use std::ops::ControlFlow;

use workspan_model::{Nanos, Strand};

use crate::strands::Rows;

/// A run over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Where the first bucket begins, after the program's start.
    pub from: Nanos,
    /// Width of a bucket. At least one nanosecond.
    pub width: Nanos,
    /// Per bucket: how long strands ran in it, all together.
    pub busy: Vec<Nanos>,
    /// Strands that cost something.
    pub strands: u64,
}

/// The first and the last moment of strands that cost something, and how many rows there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// All rows.
    pub rows: u64,
    /// Those with a cost.
    pub strands: u64,
    /// Start of the earliest.
    pub first: i64,
    /// End of the last.
    pub last: i64,
}

/// Reads all rows once.
pub fn extent<R: Rows + ?Sized>(rows: &R) -> Result<Extent, R::Error> {
    let mut extent = Extent::default();
    rows.read(&mut |batch| {
        extent.rows += batch.len() as u64;
        for (start, end) in batch.iter().filter_map(interval) {
            let known = extent.strands > 0;
            extent.first = if known { extent.first.min(start) } else { start };
            extent.last = if known { extent.last.max(end) } else { end };
            extent.strands += 1;
        }
        ControlFlow::Continue(())
    })?;
    Ok(extent)
}

/// The timeline of rows in at most this number of buckets; `None` if nothing cost anything.
pub fn timeline<R: Rows + ?Sized>(rows: &R, extent: &Extent, most: usize) -> Result<Option<Timeline>, R::Error> {
    let length = extent.last.saturating_sub(extent.first);
    let most_buckets = i64::try_from(most.max(1)).unwrap_or(i64::MAX);
    if extent.strands == 0 || length <= 0 {
        return Ok(None);
    }
    let width = length / most_buckets + i64::from(length % most_buckets != 0);
    let count = usize::try_from((length - 1) / width + 1).unwrap_or(most);
    let mut buckets = Buckets { width, parts: vec![0; count], whole: vec![0; count + 1] };
    rows.read(&mut |batch| {
        for (start, end) in batch.iter().filter_map(interval) {
            let within = |at: i64| at.clamp(extent.first, extent.last).saturating_sub(extent.first);
            buckets.add(within(start), within(end));
        }
        ControlFlow::Continue(())
    })?;
    Ok(Some(Timeline { from: Nanos(extent.first), width: Nanos(width), busy: buckets.busy(), strands: extent.strands }))
}

/// When a strand ran, if it cost anything.
fn interval(row: &Strand) -> Option<(i64, i64)> {
    (row.cost.0 > 0).then(|| (row.start.0, row.start.0.saturating_add(row.cost.0)))
}

struct Buckets {
    width: i64,
    /// Time in buckets that a strand covers in part.
    parts: Vec<i64>,
    /// How many strands cover a whole bucket, as differences to the bucket before.
    whole: Vec<i64>,
}

impl Buckets {
    fn add(&mut self, start: i64, end: i64) {
        if end <= start {
            return;
        }
        let index = |at: i64| usize::try_from(at / self.width).unwrap_or(0);
        let (first, last) = (index(start), index(end - 1));
        let edge = |bucket: usize| i64::try_from(bucket).unwrap_or(i64::MAX).saturating_mul(self.width);
        if first == last {
            add_to(&mut self.parts, first, end - start);
            return;
        }
        let (left, right) = (edge(first + 1) - start, end - edge(last));
        add_to(&mut self.parts, first, left);
        add_to(&mut self.parts, last, right);
        add_to(&mut self.whole, first + 1, 1);
        add_to(&mut self.whole, last, -1);
    }

    fn busy(self) -> Vec<Nanos> {
        let mut covering = 0i64;
        let sum = |(part, change): (&i64, &i64)| {
            covering = covering.saturating_add(*change);
            Nanos(part.saturating_add(covering.saturating_mul(self.width)))
        };
        self.parts.iter().zip(&self.whole).map(sum).collect()
    }
}

fn add_to(sums: &mut [i64], index: usize, value: i64) {
    if let Some(sum) = sums.get_mut(index) {
        *sum = sum.saturating_add(value);
    }
}
