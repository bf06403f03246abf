//! From rows to a graph, in one pass: by the machine that replays them, which [reports](super::events) what it has found to be
//! in order.
//!
//! Each row makes a piece; an edge goes from the piece before in the same chain. What is not known yet when an edge is made —
//! the piece behind a join, a wait — is a *label*, resolved when that piece comes. A barrier, and all children of a task
//! together, are pieces without time.
//!
//! Cost: constant for each row, and linear in what is folded ([`fold`](super::fold)). Memory: the pieces, 34 bytes each
//! with their edges.

use std::ops::ControlFlow;

use workspan_model::{ContextId, Creation, Nanos, Recording};

use super::grain::{Grain, Inlined};
use super::graph::{kind, Graph};
use super::parts::Parts;
use super::scratch::Scratch;
use crate::strands::{Machine, Problems, Regions, Rows};

/// How a graph is built.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// This number of pieces at most: what is small is folded until they are no more.
    pub most: usize,
    /// Tasks that their creators are to run themselves.
    pub grain: Vec<Grain>,
    /// By what to multiply the extents of what is in each context: iterations of loops that could run beside each other.
    pub factors: Vec<f64>,
    /// Picoseconds that a fork and join cost that were measured as a whole, as the run has it: what such a task saves.
    pub join_cost_ps: i64,
}

impl Default for BuildOptions {
    fn default() -> BuildOptions {
        BuildOptions { most: 1 << 22, grain: Vec::new(), factors: Vec::new(), join_cost_ps: 0 }
    }
}

impl Graph {
    /// The graph of a run of `recording`. Reads the rows again if it turns out that they are too many.
    pub fn of<R: Rows + ?Sized>(recording: &Recording, rows: &R, options: &BuildOptions) -> Result<Graph, R::Error> {
        let (mut threshold, mut keep_ends) = (0, false);
        loop {
            let grain = Inlined::new(recording, &options.grain, options.join_cost_ps);
            let mut machine = Machine::new(recording, Builder::new(options.most, threshold, grain));
            if keep_ends {
                machine.charge_mut().keep_ends = true;
                machine = machine.keep_ends();
            }
            rows.read(&mut |batch| {
                machine.feed(batch);
                if machine.needs_ends() || machine.charge().is_full() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            if machine.needs_ends() {
                keep_ends = true;
            } else if machine.charge().is_full() {
                threshold = machine.charge().next_threshold();
            } else {
                let finished = machine.finish();
                return Ok(finished.charge.into_graph(
                    finished.rows,
                    finished.span,
                    finished.problems,
                    &options.factors,
                ));
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "rounded; no more than it was")]
fn scaled(extent: i64, factor: f64) -> i64 {
    if factor < 1.0 {
        (extent as f64 * factor).round() as i64
    } else {
        extent
    }
}

pub(super) const LABEL: u32 = 1 << 31;
const UNRESOLVED: u32 = u32::MAX;

/// A task, a branch, a member: what goes on one strand after the other.
#[derive(Debug)]
pub(super) struct Chain {
    /// What the next piece comes after: a piece or a label.
    pub(super) at: u32,
    /// And what else.
    pub(super) also: Vec<u32>,
    /// Ends of tasks that it has created, since they were last gathered.
    pub(super) children: Vec<u32>,
    /// Where they were.
    pub(super) gathered: Option<u32>,
    /// Ends of all of them since the last barrier, if somebody asks.
    pub(super) created: Vec<u32>,
    /// After which the next one comes.
    pub(super) after: Vec<u32>,
    /// The last task that was created has been folded into this piece.
    pub(super) bundle: Option<Bundle>,
}

impl Chain {
    pub(super) fn at(at: u32) -> Chain {
        Chain {
            at,
            also: Vec::new(),
            children: Vec::new(),
            gathered: None,
            created: Vec::new(),
            after: Vec::new(),
            bundle: None,
        }
    }
}

/// Tasks that were folded together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bundle {
    /// The piece that creates them; they are the next one.
    pub(super) creator: u32,
    pub(super) group: Option<u32>,
}

/// How far everything had got when a construct began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) node: u32,
    pub(super) edge: usize,
    pub(super) label: usize,
    pub(super) total: i64,
}

#[derive(Debug)]
pub(super) struct Fork {
    pub(super) from: u32,
    pub(super) label: u32,
    pub(super) mark: Mark,
    /// Of the running branch.
    pub(super) branch: Mark,
    /// Its number, from 0.
    pub(super) number: u32,
    pub(super) tasks: bool,
    pub(super) context: ContextId,
    /// The branch before, if it is one piece.
    pub(super) before: Option<u32>,
    /// Work of the largest branch but the first.
    pub(super) largest: i64,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) from: u32,
    pub(super) mark: Mark,
    pub(super) creation: Creation,
    pub(super) group: Option<u32>,
    pub(super) call: bool,
    /// It comes after others.
    pub(super) ordered: bool,
}

#[derive(Debug)]
pub(super) struct Team {
    pub(super) from: u32,
    pub(super) mark: Mark,
    pub(super) barriers: Vec<u32>,
    pub(super) round: usize,
    pub(super) member: u32,
    /// [`kind::TEAM`], if it has several.
    pub(super) several: u16,
    /// Edges before the member that runs.
    pub(super) members: usize,
}

/// What waits for tasks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Group {
    Label { label: u32, from: u32, mark: Mark },
    Round,
}

/// Where the graph is made.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(super) time: Vec<i64>,
    pub(super) extent: Vec<i64>,
    pub(super) region: Vec<u32>,
    pub(super) kind: Vec<u16>,
    pub(super) delays: Vec<(u32, i64)>,
    pub(super) blocked: i64,
    pub(super) edges: Vec<(u32, u32)>,
    /// Where each leads.
    pub(super) labels: Vec<u32>,
    pub(super) chain: Chain,
    pub(super) threshold: i64,
    /// Sum of `time`.
    pub(super) total: i64,
    pub(super) folded: u64,
    /// Cost of creations that were saved.
    pub(super) saved: i64,
    pub(super) scratch: Scratch,
    /// Members of the largest team.
    pub(super) widest: u32,
    pub(super) most: usize,
    pub(super) regions: Regions,
    pub(super) creators: Vec<Chain>,
    pub(super) forks: Vec<Fork>,
    pub(super) groups: Vec<Group>,
    pub(super) tasks: Vec<Task>,
    pub(super) teams: Vec<Team>,
    pub(super) grain: Inlined,
    /// Pieces that others wait for, by label.
    pub(super) wakes: Vec<u32>,
    /// Pieces when the last wait was met, at either end: what holds one of them is not folded, since it is neither before nor
    /// behind what it waits for as a whole.
    pub(super) met: u32,
    /// Of the next piece.
    pub(super) flags: u16,
    pub(super) keep_ends: bool,
}

impl Builder {
    fn new(most: usize, threshold: i64, grain: Inlined) -> Builder {
        Builder {
            time: Vec::new(),
            extent: Vec::new(),
            region: Vec::new(),
            kind: Vec::new(),
            delays: Vec::new(),
            blocked: 0,
            edges: Vec::new(),
            // Where the root begins.
            labels: vec![UNRESOLVED],
            chain: Chain::at(LABEL),
            threshold,
            total: 0,
            folded: 0,
            saved: 0,
            scratch: Scratch::default(),
            widest: 0,
            most: most.min(LABEL as usize - 1),
            regions: Regions::new(),
            creators: Vec::new(),
            forks: Vec::new(),
            groups: Vec::new(),
            tasks: Vec::new(),
            teams: Vec::new(),
            grain,
            wakes: Vec::new(),
            met: 0,
            flags: 0,
            keep_ends: false,
        }
    }

    fn is_full(&self) -> bool {
        self.time.len() >= self.most && (self.threshold < i64::MAX || self.most >= LABEL as usize - 1)
    }

    /// What is folded has up to as much work as this many pieces.
    fn next_threshold(&self) -> i64 {
        const PIECES: i64 = 16;
        let mean = self.total / i64::try_from(self.time.len()).unwrap_or(1).max(1);
        self.threshold.max(mean).max(1).saturating_mul(PIECES)
    }

    fn into_graph(mut self, rows: u64, recorded_span: Nanos, problems: Problems, factors: &[f64]) -> Graph {
        self.here();
        let regions = self.regions.all();
        if !factors.is_empty() {
            for (extent, region) in self.extent.iter_mut().zip(&self.region) {
                let context = regions.get(*region as usize).map(|region| region.context.index());
                *extent = scaled(*extent, context.and_then(|context| factors.get(context).copied()).unwrap_or(1.0));
            }
        }
        let labels = &self.labels;
        let resolved = self.edges.iter().filter_map(|(from, to)| {
            let to = if to & LABEL == 0 { *to } else { labels.get((to ^ LABEL) as usize).copied()? };
            (to != UNRESOLVED).then_some((*from, to))
        });
        let (offsets, targets) = super::graph::successors(self.time.len(), resolved);
        let needs = super::graph::needs(self.time.len(), &targets);
        let graph = Graph {
            time: self.time,
            extent: self.extent,
            region: self.region,
            kind: self.kind,
            delays: self.delays,
            blocked: self.blocked,
            offsets,
            targets,
            needs,
            regions,
            rows,
            folded: self.folded,
            saved: self.saved,
            widest: self.widest,
            threshold: self.threshold,
            recorded_span,
            problems,
            even: Vec::new(),
            least: 0,
            parts: Parts::none(),
        };
        graph.evened().parted()
    }

    pub(super) fn len(&self) -> u32 {
        // Below `LABEL`: see `is_full`.
        u32::try_from(self.time.len()).unwrap_or(LABEL - 1)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { node: self.len(), edge: self.edges.len(), label: self.labels.len(), total: self.total }
    }

    pub(super) fn label(&mut self) -> u32 {
        self.labels.push(UNRESOLVED);
        LABEL | u32::try_from(self.labels.len() - 1).unwrap_or(LABEL - 1)
    }

    /// Adds a piece with no edges.
    pub(super) fn push(&mut self, time: i64, extent: i64, region: u32, kind: u16) -> u32 {
        let id = self.len();
        self.time.push(time);
        self.extent.push(extent);
        self.region.push(region);
        self.kind.push(kind);
        self.total = self.total.saturating_add(time);
        id
    }

    /// The next piece of the chain.
    pub(super) fn piece(&mut self, time: i64, blocked: i64, region: u32) {
        self.blocked = self.blocked.saturating_add(blocked);
        if self.threshold > 0 && self.goes_on(time) {
            self.append(time, blocked, region);
            return;
        }
        let flags = std::mem::take(&mut self.flags);
        let id = self.push(time, time, region, flags);
        if blocked != 0 {
            self.delay(id, blocked);
        }
        let at = std::mem::replace(&mut self.chain.at, id);
        if at & LABEL == 0 {
            self.edges.push((at, id));
        } else if let Some(label) = self.labels.get_mut((at ^ LABEL) as usize) {
            *label = id;
        }
        for before in self.chain.also.drain(..) {
            self.edges.push((before, id));
        }
    }

    /// Whether the next piece is no more than the rest of the last one.
    fn goes_on(&self, time: i64) -> bool {
        let at = self.chain.at;
        at & LABEL == 0
            && at + 1 == self.len()
            && self.flags == 0
            && self.chain.also.is_empty()
            && self.kind[at as usize] & kind::NOT_LAST == 0
            && self.time[at as usize].saturating_add(time) < self.threshold
    }

    /// The piece at which the chain stands.
    pub(super) fn here(&mut self) -> u32 {
        if self.chain.at & LABEL != 0 || !self.chain.also.is_empty() {
            self.piece(0, 0, 0);
        }
        self.chain.at
    }

    /// The last piece of what began behind `from`.
    pub(super) fn end_of(&mut self, from: u32) -> u32 {
        if self.here() == from {
            // Nothing of it has been recorded.
            self.piece(0, 0, 0);
        }
        self.chain.at
    }

    pub(super) fn set(&mut self, node: u32, flags: u16) {
        if let Some(kind) = self.kind.get_mut(node as usize) {
            *kind |= flags;
        }
    }

    /// Nobody will ask for the running task's children again.
    pub(super) fn forget(&mut self) {
        self.chain.children.clear();
        self.chain.gathered = None;
        self.chain.created.clear();
        self.chain.after.clear();
        self.chain.bundle = None;
    }

    /// The running branch ends at the piece `end`.
    pub(super) fn end_branch(&mut self, fork: &mut Fork, end: u32) {
        let work = self.total.saturating_sub(fork.branch.total);
        let first = fork.number == 0;
        if !first {
            fork.largest = fork.largest.max(work);
        }
        let flags = if first {
            kind::WAITS
        } else if fork.tasks {
            kind::LAST
        } else {
            0
        };
        let mut end = end;
        if self.is_foldable(work, &fork.branch) && end + 1 == self.len() && self.is_one_way(&fork.branch, end) {
            end = self.fold_branch(fork, end);
        }
        self.set(end, flags);
        if self.edges.last() != Some(&(end, fork.label)) {
            self.edges.push((end, fork.label));
        }
    }
}
