//! Whom idle processors wait for.
//!
//! While processors are idle, what runs, or waits for the outside world, has a longest way to the end of the program before it. The
//! program is over no earlier than the longest of these ways; so idle processors wait for the strands that have it, or nearly so
//! ([`NEAR`]), each to the same part. What all are charged is the idle time of the schedule.
//!
//! **Argument:** with the others shorter, the schedule would still take that way. Of a task that creates tasks one by one, and these tasks,
//! it is the creator that others wait for, though most of the time more of its tasks run than creators.
//!
//! Cost: all that runs is looked at when a strand ends, at most [`LOOKED_AT`] on average. Memory: 8 bytes for a piece.

use workspan_model::Nanos;

use super::graph::{nanos, Graph};
use crate::strands::Region;

/// Ways that have this part of the longest one are as long: both would have to be shorter.
const NEAR: f64 = 0.9;

/// Strands that are looked at for one that ends.
const LOOKED_AT: usize = 64;

/// Charges by region.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    sums: Vec<f64>,
    /// The longest way behind each piece, its delay not included.
    behind: Vec<i64>,
    /// Processor time that is charged to nobody yet, and for how many ends.
    idle: f64,
    ends: usize,
}

/// What a region is charged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Charged {
    /// The region.
    pub(crate) region: Region,
    /// Processor time that others wait for it: a weight, exact but for rounding.
    pub(crate) waiting: Nanos,
    /// Its pieces: strands, if nothing was folded.
    pub(crate) strands: u64,
    /// The longest of them.
    pub(crate) longest: Nanos,
}

impl Waiting {
    pub(super) fn none(graph: &Graph) -> Waiting {
        Waiting { sums: vec![0.0; graph.regions.len()], behind: graph.behind(), ..Waiting::default() }
    }

    /// Time passes, while this number of processors is free, and pieces go on: their number, which they are, and how long each does, its
    /// delay included.
    #[expect(clippy::cast_precision_loss, reason = "a weight")]
    pub(super) fn pass(
        &mut self,
        graph: &Graph,
        time: i64,
        free: u32,
        (count, running): (usize, impl Iterator<Item = (u32, i64)> + Clone),
    ) {
        if time == 0 || free == 0 {
            return;
        }
        self.idle += time as f64 * f64::from(free);
        self.ends += 1;
        if self.ends * LOOKED_AT < count {
            return;
        }
        let Waiting { sums, behind, .. } = self;
        let way = |(piece, left): (u32, i64)| left.saturating_add(behind[piece as usize]) as f64;
        let longest = running.clone().map(way).fold(0.0, f64::max);
        let near = running.filter(|one| way(*one) >= longest * NEAR);
        let part = self.idle / near.clone().count().max(1) as f64;
        for (piece, _) in near {
            if let Some(sum) = sums.get_mut(graph.region[piece as usize] as usize) {
                *sum += part;
            }
        }
        (self.idle, self.ends) = (0.0, 0);
    }

    /// By region, in the order of the graph.
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    pub(crate) fn charged(&self, graph: &Graph) -> Vec<Charged> {
        let mut charged: Vec<Charged> = graph
            .regions
            .iter()
            .zip(&self.sums)
            .map(|(region, sum)| Charged {
                region: *region,
                waiting: nanos(sum.max(0.0) as i64),
                strands: 0,
                longest: Nanos::ZERO,
            })
            .collect();
        for ((time, region), kind) in graph.time.iter().zip(&graph.region).zip(&graph.kind) {
            let is_strand = kind & (super::graph::kind::VIRTUAL | super::graph::kind::LEADS) == 0 && *time > 0;
            if let Some(charged) = charged.get_mut(*region as usize).filter(|_| is_strand) {
                charged.strands += 1;
                charged.longest = charged.longest.max(nanos(*time));
            }
        }
        charged
    }
}
