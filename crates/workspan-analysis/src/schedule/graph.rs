//! The graph of a run: its strands as *pieces*, in serial order, and what comes before what.
//!
//! **Invariants:** there is no cycle; edges of a piece ascend; a piece with no time and the kind [`VIRTUAL`](kind::VIRTUAL)
//! is no strand, but a barrier, or all tasks that are waited for. Times are in 1/1024 ns, as those of
//! [what-if](mod@crate::what_if), so that a divided strand has the same length there and here.
//!
//! A piece takes its *time* from processors and lasts its *extent* on the longest path. Of a strand both are its cost.
//! Where the extent is less, the piece can be run in parts: it stands for a whole construct, or for strands that are done in
//! parallel in a what-if. What comes behind a piece comes after its *delay*, besides: the time that the strand waited for the
//! outside world, for which it needs no processor.

use workspan_model::Nanos;

use super::parts::Parts;
use crate::strands::{divide, Problems, Region};

/// Units of a nanosecond.
pub(super) const SCALE: i64 = 1024;

/// What a piece is, beside a strand.
pub(super) mod kind {
    /// Of a task, a branch, a member: the first piece, which a thief begins with.
    pub(in super::super) const FIRST: u16 = 1;
    /// The last one: whoever waits for it has to be notified.
    pub(in super::super) const LAST: u16 = 2;
    /// It creates a task; whoever ran it goes on behind, and the task may be stolen.
    pub(in super::super) const SPAWNS: u16 = 4;
    /// It forks branches or members; whoever ran it goes on with the first.
    pub(in super::super) const FORKS: u16 = 8;
    /// Whoever ran it waits for what it leads to, and does something else meanwhile.
    pub(in super::super) const WAITS: u16 = 16;
    /// It arrives at a barrier.
    pub(in super::super) const PARKS: u16 = 32;
    /// No strand.
    pub(in super::super) const VIRTUAL: u16 = 64;
    /// Of a team with several members: what begins it, and the end of its first member.
    pub(in super::super) const TEAM: u16 = 256;
    /// Of a task that comes after others: their ends are not reported to it: it begins then.
    pub(in super::super) const ORDERED: u16 = 128;
    /// What comes behind it comes after a delay.
    pub(in super::super) const DELAYED: u16 = 512;
    /// Somebody else waits for it.
    pub(in super::super) const WAKES: u16 = 1024;
    /// Of a loop: what a member does before its first chunk.
    pub(in super::super) const LEADS: u16 = 2048;
    /// What is not simply followed by the next piece.
    pub(in super::super) const NOT_LAST: u16 = LAST | SPAWNS | FORKS | WAITS | PARKS | VIRTUAL | WAKES;
}

/// The graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub(super) time: Vec<i64>,
    pub(super) extent: Vec<i64>,
    pub(super) region: Vec<u32>,
    pub(super) kind: Vec<u16>,
    /// Of pieces that are [`DELAYED`](kind::DELAYED), ascending.
    pub(super) delays: Vec<(u32, i64)>,
    /// Time that strands were blocked, all together.
    pub(super) blocked: i64,
    /// Where the edges of a piece begin among `targets`; one more than pieces.
    pub(super) offsets: Vec<u32>,
    pub(super) targets: Vec<u32>,
    /// How many edges lead to each piece.
    pub(super) needs: Vec<u32>,
    pub(super) regions: Vec<Region>,
    pub(super) rows: u64,
    pub(super) folded: u64,
    pub(super) saved: i64,
    pub(super) widest: u32,
    pub(super) threshold: i64,
    pub(super) recorded_span: Nanos,
    pub(super) problems: Problems,
    /// What schedules take for `time`, none below zero; empty if it is the same.
    pub(super) even: Vec<i64>,
    /// If it is not: the span, which no schedule is shorter than.
    pub(super) least: i64,
    /// How pieces are divided.
    pub(super) parts: Parts,
}

/// Edges in order: where those of each piece begin, and where they lead.
pub(super) fn successors(pieces: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; pieces + 1];
    for (from, _) in edges.clone() {
        offsets[from as usize + 1] += 1;
    }
    for at in 0..pieces {
        offsets[at + 1] += offsets[at];
    }
    let mut targets = vec![0u32; offsets.last().copied().unwrap_or(0) as usize];
    let mut next = offsets.clone();
    for (from, to) in edges {
        let at = &mut next[from as usize];
        targets[*at as usize] = to;
        *at += 1;
    }
    for piece in offsets.windows(2) {
        targets[piece[0] as usize..piece[1] as usize].sort_unstable();
    }
    (offsets, targets)
}

/// How many edges lead to each piece.
pub(super) fn needs(pieces: usize, targets: &[u32]) -> Vec<u32> {
    let mut needs = vec![0; pieces];
    for target in targets {
        needs[*target as usize] += 1;
    }
    needs
}

impl Graph {
    /// Number of pieces.
    pub fn pieces(&self) -> usize {
        self.time.len()
    }

    /// Rows that it was made of.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many of them have become part of another piece.
    pub fn folded(&self) -> u64 {
        self.folded
    }

    /// Up to how much work a folded piece has; zero if nothing had to be folded.
    pub fn threshold(&self) -> Nanos {
        nanos(self.threshold)
    }

    /// The span by the rules of composition, before anything was folded, divided or put into its creator.
    pub fn recorded_span(&self) -> Nanos {
        self.recorded_span
    }

    /// What was wrong with the rows.
    pub fn problems(&self) -> Problems {
        self.problems
    }

    /// Cost of all strands.
    pub fn work(&self) -> Nanos {
        nanos(self.total())
    }

    /// Time that strands were blocked. Of each it is short by what the clock cannot see: never below zero all together.
    pub fn blocked(&self) -> Nanos {
        nanos(self.blocked).at_least_zero()
    }

    /// What was saved where creators run their tasks: part of the work as it was recorded.
    pub fn saved(&self) -> Nanos {
        nanos(self.saved)
    }

    /// Members of the largest team; 0 if there are no teams.
    pub fn widest_team(&self) -> u32 {
        self.widest
    }

    /// The longest path.
    pub fn span(&self) -> Nanos {
        nanos(self.longest(0))
    }

    /// The longest path if each branch but a fork's first, each task, and each member of a team that has several began so much
    /// later, and was waited for so much longer (Cilkview).
    pub fn burdened_span(&self, burden: Nanos) -> Nanos {
        nanos(self.longest(burden.0.saturating_mul(SCALE)))
    }

    /// The same program with strands of regions this number of times faster, by being done in parallel: their time stays, their
    /// extent is divided. Delays are not.
    #[must_use]
    pub fn with_factors(&self, factor: impl Fn(&Region) -> f64) -> Graph {
        let mut graph = self.clone();
        let factors: Vec<f64> = self.regions.iter().map(factor).collect();
        for (region, extent) in self.region.iter().zip(&mut graph.extent) {
            let by = factors.get(*region as usize).copied().unwrap_or(1.0);
            if by > 1.0 {
                *extent = divide(*extent, by);
            }
        }
        if !graph.even.is_empty() {
            graph.least = graph.longest(0);
        }
        graph.parted()
    }

    /// The same graph, its pieces divided as they are now.
    pub(super) fn parted(mut self) -> Graph {
        self.parts = Parts::of(|| (0..self.pieces()).map(|at| self.length(at)));
        self
    }

    /// Costs below zero, by errors of calibration, are taken out of what comes next in serial order, so that a processor never
    /// goes back in time, and one takes as long as ever; at the end, out of what came before.
    pub(super) fn evened(mut self) -> Graph {
        if self.time.iter().all(|time| *time >= 0) {
            return self;
        }
        let mut even = self.time.clone();
        let carry = |debt: i64, time: &mut i64| {
            let left = time.saturating_add(debt);
            *time = left.max(0);
            left.min(0)
        };
        let debt = even.iter_mut().fold(0, carry);
        even.iter_mut().rev().fold(debt, carry);
        self.even = even;
        self.least = self.longest(0);
        self
    }

    /// What a piece takes, and lasts on the longest path, in schedules.
    #[inline]
    pub(super) fn length(&self, at: usize) -> (i64, i64) {
        let (time, extent) = (self.time[at], self.extent[at]);
        match self.even.get(at) {
            None => (time, extent),
            Some(even) if extent < time => (*even, extent.clamp(0, *even)),
            Some(even) => (*even, *even),
        }
    }

    pub(super) fn total(&self) -> i64 {
        self.time.iter().fold(0, |sum: i64, time| sum.saturating_add(*time))
    }

    /// After what time behind its end others go on.
    #[inline]
    pub(super) fn delay(&self, piece: u32) -> i64 {
        if self.kind[piece as usize] & kind::DELAYED == 0 {
            return 0;
        }
        let at = self.delays.binary_search_by_key(&piece, |(at, _)| *at);
        at.ok().and_then(|at| self.delays.get(at)).map_or(0, |(_, delay)| *delay)
    }

    /// Where the edges of a piece lead.
    #[inline]
    pub(super) fn successors(&self, piece: u32) -> &[u32] {
        let at = piece as usize;
        let [first, last] = [self.offsets[at], self.offsets[at + 1]];
        &self.targets[first as usize..last as usize]
    }

    /// All pieces, each behind those that come before it.
    fn order(&self) -> Vec<u32> {
        let mut needs = self.needs.clone();
        let mut order: Vec<u32> = (0u32..).zip(&needs).filter(|(_, needs)| **needs == 0).map(|(at, _)| at).collect();
        let mut next = 0;
        while let Some(piece) = order.get(next).copied() {
            next += 1;
            for target in self.successors(piece) {
                needs[*target as usize] -= 1;
                if needs[*target as usize] == 0 {
                    order.push(*target);
                }
            }
        }
        order
    }

    /// The longest path behind each piece, its own delay not included.
    pub(super) fn behind(&self) -> Vec<i64> {
        let mut behind = vec![0_i64; self.pieces()];
        for piece in self.order().into_iter().rev() {
            let way = |target: &u32| {
                let (_, extent) = self.length(*target as usize);
                extent.saturating_add(self.delay(*target)).saturating_add(behind[*target as usize])
            };
            behind[piece as usize] = self.successors(piece).iter().map(way).max().unwrap_or(0);
        }
        behind
    }

    fn longest(&self, burden: i64) -> i64 {
        let mut begin: Vec<i64> = self.needs.iter().map(|needs| if *needs == 0 { 0 } else { i64::MIN }).collect();
        let mut longest = 0;
        for piece in self.order() {
            let at = piece as usize;
            let first = if self.kind[at] & kind::FIRST == 0 { 0 } else { burden };
            let end = begin[at].saturating_add(first).saturating_add(self.extent[at]).saturating_add(self.delay(piece));
            let targets = self.successors(piece);
            if targets.is_empty() {
                longest = longest.max(end);
            }
            for target in targets {
                let to = *target as usize;
                let last = self.kind[at] & kind::LAST != 0 && self.kind[to] & kind::ORDERED == 0;
                let told = last || self.kind[at] & kind::TEAM != 0 && self.kind[to] & kind::FIRST == 0;
                begin[to] = begin[to].max(if told { end.saturating_add(burden) } else { end });
            }
        }
        longest
    }
}

/// To the nearest.
pub(super) fn nanos(units: i64) -> Nanos {
    Nanos(units.saturating_add(SCALE / 2).div_euclid(SCALE))
}
