//! A greedy schedule: no processor is idle as long as a strand is ready.
//!
//! Whenever strands have ended, free processors take those that are ready: first those with which something that has begun goes
//! on, then tasks, branches and members that have not, each in serial order. Nothing costs anything but the strands. A strand
//! that is delayed needs no processor meanwhile. So with `W` for the work, `S` for the span and `B` for the delays on it, the
//! schedule takes at least `W/P` and at least `S`, and at most `(W + B)/P + S·(1 - 1/P)` (Brent, Graham): while a processor is
//! idle, the longest path that is left gets shorter.
//!
//! Cost: `O(n log n)` for n pieces, whatever their length. Memory: 4 bytes for a piece, besides the graph.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{kind, Graph};
use super::parts::Parts;
use super::waiting::Waiting;
use super::{Schedule, MOST_PROCESSORS};

/// The greedy schedule on this number of processors, 1 to [`MOST_PROCESSORS`].
pub fn greedy(graph: &Graph, processors: u32) -> Schedule {
    watched(graph, processors, None).0
}

/// The same, and for which strands the others wait meanwhile.
pub(crate) fn greedy_with_waiting(graph: &Graph, processors: u32) -> (Schedule, Waiting) {
    let (schedule, waiting) = watched(graph, processors, Some(Waiting::none(graph)));
    (schedule, waiting.unwrap_or_default())
}

fn watched(graph: &Graph, processors: u32, waiting: Option<Waiting>) -> (Schedule, Option<Waiting>) {
    let processors = processors.clamp(1, MOST_PROCESSORS);
    let mut run = Greedy {
        graph,
        parts: graph.parts,
        needs: graph.needs.clone(),
        begun: Vec::new(),
        ready: BinaryHeap::new(),
        ends: BinaryHeap::new(),
        over: Vec::new(),
        free: processors,
        busy: 0,
        waiting,
    };
    let time = run.run().max(graph.least);
    (Schedule::new(processors, time, run.busy, 0, 0), run.waiting)
}

struct Greedy<'a> {
    graph: &'a Graph,
    parts: Parts,
    /// Edges that a piece still waits for; of one that runs in parts, those that have not ended.
    needs: Vec<u32>,
    /// Parts of a piece that have not begun, if there are any parts.
    begun: Vec<u32>,
    /// By [`Greedy::rank`].
    ready: BinaryHeap<Reverse<u32>>,
    ends: BinaryHeap<Reverse<(i64, u32)>>,
    /// Pieces whose end others wait for.
    over: Vec<u32>,
    free: u32,
    busy: i64,
    waiting: Option<Waiting>,
}

/// There are fewer pieces.
const LATER: u32 = 1 << 31;

impl Greedy<'_> {
    fn rank(&self, piece: u32) -> u32 {
        let begins = self.graph.kind[piece as usize] & kind::FIRST != 0;
        piece | if begins { LATER } else { 0 }
    }

    fn run(&mut self) -> i64 {
        if self.parts.any {
            self.begun = vec![0; self.graph.pieces()];
        }
        for piece in 0..u32::try_from(self.needs.len()).unwrap_or(0) {
            if self.needs[piece as usize] == 0 {
                self.make_ready(piece);
            }
        }
        self.tell();
        let mut now = 0;
        loop {
            while self.free > 0 && self.begin(now) {
                self.free -= 1;
            }
            let Some(Reverse((time, piece))) = self.ends.pop() else {
                return now;
            };
            if let Some(waiting) = &mut self.waiting {
                let graph = self.graph;
                let left = |end: i64, piece: u32| match piece & LATER {
                    0 => (piece, (end - now).saturating_add(graph.delay(piece))),
                    _ => (piece & !LATER, end - now),
                };
                let others = self.ends.iter().map(|Reverse((end, piece))| left(*end, *piece));
                waiting.pass(graph, time - now, self.free, (self.ends.len() + 1, others.chain([left(time, piece)])));
            }
            now = time;
            self.end(piece, now);
            while let Some(Reverse((_, piece))) = self.ends.peek().copied().filter(|Reverse((time, _))| *time == now) {
                self.ends.pop();
                self.end(piece, now);
            }
        }
    }

    /// A processor takes the first strand that is ready.
    fn begin(&mut self, now: i64) -> bool {
        let Some(Reverse(rank)) = self.ready.peek().copied() else {
            return false;
        };
        let piece = rank & !LATER;
        let at = piece as usize;
        let (time, extent) = self.graph.length(at);
        let (count, length) = self.parts.divide(time, extent);
        let mut last = true;
        if count > 1 {
            let count = u32::try_from(count).unwrap_or(1);
            let left = &mut self.begun[at];
            if *left == 0 {
                *left = count;
                self.needs[at] = count;
            }
            *left -= 1;
            last = *left == 0;
        }
        let length = if count > 1 && last { time - length * (count - 1) } else { length };
        if last {
            self.ready.pop();
        }
        self.busy = self.busy.saturating_add(length);
        self.ends.push(Reverse((now.saturating_add(length), piece)));
        true
    }

    /// A piece, a part of one, or a delay ([`LATER`]) ends.
    fn end(&mut self, ended: u32, now: i64) {
        let piece = ended & !LATER;
        if ended & LATER != 0 {
            return self.is_over(piece);
        }
        self.free += 1;
        let needs = &mut self.needs[piece as usize];
        if *needs > 1 {
            *needs -= 1;
            return;
        }
        match self.graph.delay(piece) {
            delay if delay > 0 => self.ends.push(Reverse((now.saturating_add(delay), piece | LATER))),
            _ => self.is_over(piece),
        }
    }

    fn is_over(&mut self, piece: u32) {
        self.over.push(piece);
        self.tell();
    }

    fn tell(&mut self) {
        while let Some(piece) = self.over.pop() {
            for target in self.graph.successors(piece) {
                let needs = &mut self.needs[*target as usize];
                *needs -= 1;
                if *needs == 0 {
                    self.make_ready(*target);
                }
            }
        }
    }

    fn make_ready(&mut self, piece: u32) {
        if self.graph.kind[piece as usize] & kind::VIRTUAL == 0 {
            self.ready.push(Reverse(self.rank(piece)));
        } else {
            self.over.push(piece);
        }
    }
}
