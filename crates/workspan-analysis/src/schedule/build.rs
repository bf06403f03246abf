//! From rows to a graph, in one pass: by the machine that replays them, which tells what it has found to be in order.
//!
//! Each row makes a piece; an edge goes from the piece before in the same chain. What is not known yet when an edge is made —
//! the piece behind a join, a wait — is a *label*, resolved when that piece comes. A barrier, and all children of a task
//! together, are pieces without time.
//!
//! Cost: constant for each row, and linear in what is folded ([`fold`](super::fold)). Memory: the pieces, 30 bytes each
//! with their edges.

use std::ops::ControlFlow;

use workspan_model::{ContextId, Creation, Nanos, Recording, Strand};

use super::grain::{Grain, Inlined};
use super::graph::{kind, Graph, SCALE};
use crate::strands::{Charge, Machine, Problems, Regions, Rows};

/// How a graph is built.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// So many pieces at most: what is small is folded until they are no more.
    pub most: usize,
    /// Tasks that their creators are to run themselves.
    pub grain: Vec<Grain>,
}

impl Default for BuildOptions {
    fn default() -> BuildOptions {
        BuildOptions { most: 1 << 22, grain: Vec::new() }
    }
}

impl Graph {
    /// The graph of a run of `recording`. Reads the rows again if it turns out that they are too many.
    pub fn of<R: Rows + ?Sized>(recording: &Recording, rows: &R, options: &BuildOptions) -> Result<Graph, R::Error> {
        let (mut threshold, mut keep_ends) = (0, false);
        loop {
            let grain = Inlined::new(recording, &options.grain);
            let mut machine = Machine::new(recording, Builder::new(options.most, threshold, grain));
            if keep_ends {
                machine.charge.keep_ends = true;
                machine = machine.keep_ends();
            }
            rows.read(&mut |batch| {
                machine.feed(batch);
                if machine.needs_ends() || machine.charge.is_full() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            if machine.needs_ends() {
                keep_ends = true;
            } else if machine.charge.is_full() {
                threshold = machine.charge.next_threshold();
            } else {
                let finished = machine.finish();
                return Ok(finished.charge.into_graph(finished.rows, finished.span, finished.problems));
            }
        }
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
    /// It is the number so many, from 0.
    pub(super) number: u32,
    pub(super) tasks: bool,
    pub(super) context: ContextId,
    /// The branch before, if it is one piece.
    pub(super) before: Option<u32>,
    /// Work of the largest branch but the first.
    pub(super) largest: i64,
}

#[derive(Debug)]
struct Task {
    from: u32,
    mark: Mark,
    creation: Creation,
    group: Option<u32>,
    call: bool,
    /// It comes after others.
    ordered: bool,
}

#[derive(Debug)]
struct Team {
    from: u32,
    mark: Mark,
    barriers: Vec<u32>,
    round: usize,
    member: u32,
    /// Edges before the member that runs.
    members: usize,
}

/// What waits for tasks.
#[derive(Clone, Copy, Debug)]
enum Group {
    Label { label: u32, from: u32, mark: Mark },
    Round,
}

/// Where the graph is made.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(super) time: Vec<i64>,
    pub(super) extent: Vec<i64>,
    pub(super) region: Vec<u32>,
    pub(super) kind: Vec<u8>,
    pub(super) blocked: Vec<(u32, i64)>,
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
    pub(super) scratch: super::fold::Scratch,
    /// Members of the largest team.
    widest: u32,
    most: usize,
    regions: Regions,
    creators: Vec<Chain>,
    forks: Vec<Fork>,
    groups: Vec<Group>,
    tasks: Vec<Task>,
    teams: Vec<Team>,
    grain: Inlined,
    /// Of the next piece.
    flags: u8,
    keep_ends: bool,
}

impl Builder {
    fn new(most: usize, threshold: i64, grain: Inlined) -> Builder {
        Builder {
            time: Vec::new(),
            extent: Vec::new(),
            region: Vec::new(),
            kind: Vec::new(),
            blocked: Vec::new(),
            edges: Vec::new(),
            // Where the root begins.
            labels: vec![UNRESOLVED],
            chain: Chain::at(LABEL),
            threshold,
            total: 0,
            folded: 0,
            saved: 0,
            scratch: super::fold::Scratch::default(),
            widest: 0,
            most: most.min(LABEL as usize - 1),
            regions: Regions::new(),
            creators: Vec::new(),
            forks: Vec::new(),
            groups: Vec::new(),
            tasks: Vec::new(),
            teams: Vec::new(),
            grain,
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

    fn into_graph(mut self, rows: u64, recorded_span: Nanos, problems: Problems) -> Graph {
        self.here();
        let regions = self.regions.all();
        let labels = &self.labels;
        let resolved = self.edges.iter().filter_map(|(from, to)| {
            let to = if to & LABEL == 0 { *to } else { labels.get((to ^ LABEL) as usize).copied()? };
            (to != UNRESOLVED).then_some((*from, to))
        });
        let (offsets, targets) = super::graph::successors(self.time.len(), resolved);
        Graph {
            time: self.time,
            extent: self.extent,
            region: self.region,
            kind: self.kind,
            blocked: self.blocked,
            offsets,
            targets,
            regions,
            rows,
            folded: self.folded,
            saved: self.saved,
            widest: self.widest,
            threshold: self.threshold,
            recorded_span,
            problems,
        }
    }

    pub(super) fn len(&self) -> u32 {
        // Below `LABEL`: see `is_full`.
        u32::try_from(self.time.len()).unwrap_or(LABEL - 1)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { node: self.len(), edge: self.edges.len(), label: self.labels.len(), total: self.total }
    }

    fn label(&mut self) -> u32 {
        self.labels.push(UNRESOLVED);
        LABEL | u32::try_from(self.labels.len() - 1).unwrap_or(LABEL - 1)
    }

    /// Adds a piece with no edges.
    pub(super) fn push(&mut self, time: i64, extent: i64, region: u32, kind: u8) -> u32 {
        let id = self.len();
        self.time.push(time);
        self.extent.push(extent);
        self.region.push(region);
        self.kind.push(kind);
        self.total = self.total.saturating_add(time);
        id
    }

    /// The next piece of the chain.
    fn piece(&mut self, cost: i64, blocked: i64, region: u32) {
        let time = cost.saturating_add(blocked);
        if self.threshold > 0 && self.goes_on(time) {
            self.append(time, blocked, region);
            return;
        }
        let flags = std::mem::take(&mut self.flags);
        let id = self.push(time, time, region, flags);
        if blocked != 0 {
            self.blocked.push((id, blocked));
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
    fn here(&mut self) -> u32 {
        if self.chain.at & LABEL != 0 || !self.chain.also.is_empty() {
            self.piece(0, 0, 0);
        }
        self.chain.at
    }

    /// The last piece of what began behind `from`.
    fn end_of(&mut self, from: u32) -> u32 {
        if self.here() == from {
            // Nothing of it has been recorded.
            self.piece(0, 0, 0);
        }
        self.chain.at
    }

    pub(super) fn set(&mut self, node: u32, flags: u8) {
        if let Some(kind) = self.kind.get_mut(node as usize) {
            *kind |= flags;
        }
    }

    /// The running task's children are no longer asked for.
    fn forget(&mut self) {
        self.chain.children.clear();
        self.chain.gathered = None;
        self.chain.created.clear();
        self.chain.after.clear();
        self.chain.bundle = None;
    }

    /// The running branch ends at the piece `end`.
    fn end_branch(&mut self, fork: &mut Fork, end: u32) {
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
        if work < self.threshold && end + 1 == self.len() && self.is_one_way(&fork.branch, end) {
            end = self.fold_branch(fork, end);
        }
        self.set(end, flags);
        if self.edges.last() != Some(&(end, fork.label)) {
            self.edges.push((end, fork.label));
        }
    }
}

impl Charge for Builder {
    const PLACES: bool = true;
    const SCALE: i64 = SCALE;

    #[inline(always)]
    fn charge(&mut self, row: &Strand, context: ContextId, before: u32, after: u32) -> (u32, i64) {
        let region = self.regions.find(context, before, after);
        let [cost, blocked] = [row.cost.0, row.blocked.0].map(|nanos| nanos.saturating_mul(SCALE));
        self.piece(cost, blocked, region);
        (0, cost)
    }

    fn blocked(&self, key: u32) -> u32 {
        key
    }

    fn expected(&self, _: ContextId) -> u32 {
        0
    }

    fn fork(&mut self, context: ContextId, tasks: bool) {
        let from = self.here();
        self.set(from, kind::FORKS);
        let mark = self.mark();
        let label = self.label();
        self.forks.push(Fork {
            from,
            label,
            mark,
            branch: self.mark(),
            number: 0,
            tasks,
            context,
            before: None,
            largest: 0,
        });
    }

    fn next(&mut self) {
        if let Some(mut fork) = self.forks.pop() {
            let end = self.end_of(fork.from);
            self.end_branch(&mut fork, end);
            fork.number += 1;
            fork.branch = self.mark();
            self.chain.at = fork.from;
            self.chain.bundle = None;
            self.flags = if fork.tasks { kind::FIRST } else { 0 };
            self.forks.push(fork);
        }
    }

    fn join(&mut self) {
        let Some(mut fork) = self.forks.pop() else {
            return;
        };
        let end = self.end_of(fork.from);
        self.end_branch(&mut fork, end);
        self.chain.bundle = None;
        let work = self.total.saturating_sub(fork.mark.total);
        if fork.tasks && fork.number > 0 && fork.largest < self.grain.below(fork.context) {
            let saved = self.grain.join_cost().saturating_mul(i64::from(fork.number));
            self.chain.at = self.inline(fork.from, &fork.mark, saved);
        } else if work < self.threshold {
            self.chain.at = self.fold(fork.from, &fork.mark);
        } else {
            self.chain.at = fork.label;
        }
    }

    fn group(&mut self) {
        let from = self.here();
        let mark = self.mark();
        let label = self.label();
        self.groups.push(Group::Label { label, from, mark });
    }

    fn wait(&mut self) {
        let end = self.here();
        let Some(Group::Label { label, from, mark }) = self.groups.pop() else {
            return;
        };
        self.chain.bundle = None;
        self.edges.push((end, label));
        // A group whose first row has become the rest of a piece cannot be taken out of it again.
        if self.total.saturating_sub(mark.total) < self.threshold && from + 1 == mark.node && end > from {
            self.chain.at = self.fold(from, &mark);
        } else {
            self.set(end, kind::WAITS);
            self.chain.at = label;
        }
    }

    fn spawn(&mut self, creation: &Creation, group: Option<u32>, call: bool) {
        let from = self.here();
        self.set(from, if call { kind::FORKS } else { kind::SPAWNS });
        let mark = self.mark();
        let after = std::mem::take(&mut self.chain.after);
        let ordered = !after.is_empty();
        let chain = Chain { also: after, ..Chain::at(from) };
        self.creators.push(std::mem::replace(&mut self.chain, chain));
        self.tasks.push(Task { from, mark, creation: *creation, group, call, ordered });
        self.flags = if call { 0 } else { kind::FIRST } | if ordered { kind::ORDERED } else { 0 };
    }

    fn end(&mut self) {
        let (Some(task), Some(creator)) = (self.tasks.pop(), self.creators.pop()) else {
            return;
        };
        let mut end = self.end_of(task.from);
        self.chain = creator;
        let work = self.total.saturating_sub(task.mark.total);
        if !task.call && work < self.grain.below(task.creation.context) {
            let saved = task.creation.overhead.0.saturating_mul(SCALE);
            end = self.inline(task.from, &task.mark, saved);
            if self.keep_ends {
                self.chain.created.push(end);
            }
            self.chain.at = end;
            self.chain.bundle = None;
            return;
        }
        if self.keep_ends {
            self.chain.created.push(end);
        }
        if task.call {
            self.chain.at = if work < self.threshold && !task.ordered { self.fold(task.from, &task.mark) } else { end };
            self.chain.bundle = None;
            return;
        }
        let small = work < self.threshold && !task.ordered;
        if small {
            end = self.collapse(task.from, &task.mark, false);
            if let Some(created) = self.chain.created.last_mut() {
                *created = end;
            }
            self.set(end, kind::FIRST);
        }
        self.set(end, kind::LAST);
        if small && self.bundle(task.from, end, task.group, task.mark.edge) {
            return;
        }
        let target = task.group.and_then(|at| match self.groups.get(at as usize)? {
            Group::Label { label, .. } => Some(*label),
            Group::Round => self.teams.last().and_then(|team| team.barriers.get(team.round).copied()),
        });
        if let Some(target) = target.filter(|target| self.edges.last() != Some(&(end, *target))) {
            self.edges.push((end, target));
        }
        self.chain.children.push(end);
        self.chain.bundle = small.then_some(Bundle { creator: task.from, group: task.group });
    }

    fn sync(&mut self) {
        let end = self.here();
        if !self.chain.children.is_empty() {
            let all = self.push(0, 0, 0, kind::VIRTUAL);
            if let Some(before) = self.chain.gathered.replace(all) {
                self.edges.push((before, all));
            }
            for child in std::mem::take(&mut self.chain.children) {
                self.edges.push((child, all));
            }
        }
        self.chain.bundle = None;
        if let Some(all) = self.chain.gathered {
            self.set(end, kind::WAITS);
            self.chain.also.push(all);
        }
    }

    fn after(&mut self, number: usize) {
        if let Some(end) = self.chain.created.get(number) {
            self.chain.after.push(*end);
        }
    }

    fn team(&mut self) {
        let from = self.here();
        self.set(from, kind::FORKS);
        let mark = self.mark();
        let first = self.push(0, 0, 0, kind::VIRTUAL);
        self.creators.push(std::mem::replace(&mut self.chain, Chain::at(from)));
        self.groups.push(Group::Round);
        self.teams.push(Team { from, mark, barriers: vec![first], round: 0, member: 0, members: mark.edge });
    }

    fn barrier(&mut self) {
        let end = self.here();
        let Some(mut team) = self.teams.pop() else {
            return;
        };
        self.set(end, kind::PARKS);
        let barrier = team.barriers[team.round];
        self.edges.push((end, barrier));
        self.forget();
        self.chain.also.push(barrier);
        team.round += 1;
        if team.barriers.len() == team.round {
            let next = self.push(0, 0, 0, kind::VIRTUAL);
            team.barriers.push(next);
        }
        self.teams.push(team);
    }

    fn member_end(&mut self) {
        let Some(mut team) = self.teams.pop() else {
            return;
        };
        let end = self.end_of(team.from);
        if team.member > 0 {
            self.set(end, kind::LAST);
        }
        self.edges.push((end, team.barriers[team.round]));
        self.forget();
        self.chain.at = team.from;
        team.round = 0;
        team.member = team.member.saturating_add(1);
        team.members = self.edges.len();
        self.widest = self.widest.max(team.member);
        self.flags = kind::FIRST;
        self.teams.push(team);
    }

    fn team_end(&mut self) {
        self.flags = 0;
        self.here();
        let (Some(team), Some(creator)) = (self.teams.pop(), self.creators.pop()) else {
            return;
        };
        self.groups.pop();
        let last = team.barriers.last().copied().unwrap_or(team.from);
        let at = std::mem::replace(&mut self.chain, creator).at;
        self.chain.at = if at == team.from { last } else { at };
        if at != team.from {
            // The row of the team's end: after all members, and not one of them.
            if let Some(kind) = self.kind.get_mut(at as usize) {
                *kind &= !kind::FIRST;
            }
            let leads_on = self.edges.iter().skip(team.members).any(|(from, _)| *from == at);
            if leads_on {
                // Of rows that break the rules.
                self.chain.also.push(last);
            } else {
                self.edges.push((last, at));
            }
        }
        self.chain.bundle = None;
        if self.chain.also.is_empty() && self.total.saturating_sub(team.mark.total) < self.threshold {
            self.chain.at = self.fold(team.from, &team.mark);
        }
    }
}
