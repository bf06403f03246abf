//! Whom idle processors wait for.
//!
//! While k of P processors are busy and d strands wait for the outside world, the other processors wait for what these do: each
//! of them is charged `(P − k) / (k + d)` of the time that passes. So what all are charged is the idle time of the schedule.
//!
//! Cost: constant for the begin and the end of a strand: `a(t)`, the charge since the begin of the schedule, is taken off the
//! sum of the strand's region when it begins, and added when it ends.

use workspan_model::Nanos;

use super::graph::{nanos, Graph};
use crate::strands::Region;

/// Charges by region.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    sums: Vec<f64>,
    now: f64,
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
        Waiting { sums: vec![0.0; graph.regions.len()], now: 0.0 }
    }

    #[expect(clippy::cast_precision_loss, reason = "a weight")]
    /// Time passes, while this number of processors is free and this number of strands goes on.
    pub(super) fn pass(&mut self, time: i64, free: u32, active: u32) {
        self.now += time as f64 * f64::from(free) / f64::from(active.max(1));
    }

    pub(super) fn begin(&mut self, region: u32) {
        if let Some(sum) = self.sums.get_mut(region as usize) {
            *sum -= self.now;
        }
    }

    pub(super) fn end(&mut self, region: u32) {
        if let Some(sum) = self.sums.get_mut(region as usize) {
            *sum += self.now;
        }
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
