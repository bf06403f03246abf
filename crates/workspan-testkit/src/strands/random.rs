//! Rows made at random.

use workspan_model::{ContextId, ContextTree, Creation, Event, Nanos, Recording, Site, SiteId, SiteKind, Strand};

use crate::random::Random;

/// A recording without runs, and the rows of one.
#[derive(Clone, Debug, Default)]
pub struct RandomRun {
    /// Sites and contexts.
    pub recording: Recording,
    /// The rows.
    pub rows: Vec<Strand>,
}

/// All costs are multiples of this number: each of 1 to 5, twice, divides them.
pub const UNIT: i64 = 3600;

/// Sites, by number: where each is.
const SITES: &[(SiteKind, &str, u32)] = &[
    (SiteKind::Serial { from: None, to: None }, "", 0),
    (SiteKind::Join, "src/a.rs", 10),
    (SiteKind::Join, "src/a.rs", 20),
    (SiteKind::Join, "src/b.rs", 10),
    (SiteKind::ParIter, "src/a.rs", 30),
    (SiteKind::ParIter, "src/b.rs", 15),
    (SiteKind::Scope, "src/a.rs", 12),
    (SiteKind::Scope, "src/b.rs", 30),
    (SiteKind::ScopeSpawn, "src/a.rs", 14),
    (SiteKind::ScopeSpawn, "src/a.rs", 16),
    (SiteKind::Spawn, "src/b.rs", 40),
    (SiteKind::Task, "src/c.c", 10),
    (SiteKind::Task, "src/c.c", 20),
    (SiteKind::Parallel, "src/c.c", 5),
    (SiteKind::Parallel, "src/c.c", 50),
    (SiteKind::Loop, "src/c.c", 30),
    (SiteKind::Sections, "src/c.c", 35),
    (SiteKind::Taskloop, "src/c.c", 40),
    (SiteKind::Marked, "src/c.c", 60),
    (SiteKind::Critical, "src/c.c", 70),
];

const SERIAL: SiteId = SiteId(0);
const JOINS: &[u32] = &[1, 2, 3];
const ITERATORS: &[u32] = &[4, 5];
const SCOPES: &[u32] = &[6, 7];
const TASKS: &[u32] = &[8, 9, 10, 11, 12];
const TEAMS: &[u32] = &[13, 14];
const LOOPS: &[u32] = &[15, 16];
const TASKLOOPS: &[u32] = &[17];
const MARKS: &[u32] = &[18, 19];

/// Makes rows. The same seed makes the same; every fortieth is as small as can be, the next a little larger.
pub fn random(seed: u64) -> RandomRun {
    made(seed, false)
}

/// The same, and of every third seed with waits of tasks for what others do: locks, channels, ends of threads.
pub fn random_with_waits(seed: u64) -> RandomRun {
    made(seed, seed % 3 == 2)
}

fn made(seed: u64, waits: bool) -> RandomRun {
    let sites = SITES.iter().map(|(kind, file, line)| site(*kind, file, *line)).collect();
    let mut contexts = ContextTree::default();
    let serial = contexts.intern(ContextId::ROOT, SERIAL).unwrap_or(ContextId::ROOT);
    let mut maker = Maker {
        random: Random::new(seed ^ 0x5eed),
        rows: Vec::new(),
        contexts,
        context: serial,
        groups: Vec::new(),
        task: Task::default(),
        left: 1 + seed % 40,
        waits,
        labels: 0,
    };
    while maker.left > 0 {
        maker.node(5);
    }
    maker.row(Event::End);
    let recording = Recording { sites, contexts: maker.contexts, ..Recording::default() };
    RandomRun { recording, rows: maker.rows }
}

fn site(kind: SiteKind, file: &str, line: u32) -> Site {
    let type_name = if kind == SiteKind::Marked { "mark" } else { "" };
    Site { type_name: type_name.to_owned(), ..Site::at(kind, file, line, 1) }
}

/// What is known of the running task.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    created: u32,
    member: bool,
}

struct Maker {
    random: Random,
    rows: Vec<Strand>,
    contexts: ContextTree,
    context: ContextId,
    /// Open groups; true for the round of a team.
    groups: Vec<bool>,
    task: Task,
    /// Constructs still to be made.
    left: u64,
    /// Tasks wait for others, and how many labels there are.
    waits: bool,
    labels: u32,
}

impl Maker {
    fn row(&mut self, event: Event) {
        let blocked = if self.random.once_in(9) { self.cost() } else { 0 };
        let cost = if self.random.once_in(12) { 0 } else { self.cost() };
        self.push(event, cost, blocked);
    }

    fn push(&mut self, event: Event, cost: i64, blocked: i64) {
        let start = Nanos(i64::try_from(self.rows.len()).unwrap_or(0));
        let thread = u16::try_from(self.random.below(4)).unwrap_or(0);
        let (cost, blocked) = (Nanos(cost), Nanos(blocked));
        self.rows.push(Strand { event, context: self.context, cost, blocked, start, thread });
    }

    fn cost(&mut self) -> i64 {
        // Wide enough that two chains are hardly ever of equal length.
        UNIT * i64::try_from(1 + self.random.below(100_000_007)).unwrap_or(1)
    }

    fn one_of(&mut self, sites: &[u32]) -> SiteId {
        let at = usize::try_from(self.random.below(sites.len() as u64)).unwrap_or(0);
        SiteId(sites[at])
    }

    /// Where a site leads, from serial code as from the root.
    fn target(&mut self, site: SiteId) -> ContextId {
        let serial = self.contexts.site(self.context) == Some(SERIAL);
        let from = if serial { ContextId::ROOT } else { self.context };
        self.contexts.enter(from, site).map_or(self.context, |(context, _)| context)
    }

    /// `body` in a region of one of the sites; a recursion into the current one is none.
    fn region(&mut self, sites: &[u32], body: impl FnOnce(&mut Maker)) {
        let site = self.one_of(sites);
        let inner = self.target(site);
        let around = self.context;
        if inner != around {
            self.row(Event::Enter(inner));
            self.context = inner;
        }
        body(self);
        if inner != around {
            self.row(Event::Leave);
            self.context = around;
        }
    }

    fn seq(&mut self, depth: u32) {
        for _ in 0..=self.random.below(3) {
            self.node(depth);
        }
    }

    fn node(&mut self, depth: u32) {
        if depth == 0 || self.left == 0 {
            return;
        }
        self.left -= 1;
        if self.waits && !self.groups.contains(&true) && self.random.once_in(3) {
            return self.meet();
        }
        let depth = depth - 1;
        match self.random.below(22) {
            0..=3 => self.region(JOINS, |maker| maker.branches(depth, false)),
            4..=5 => self.region(ITERATORS, |maker| {
                if maker.random.once_in(2) {
                    maker.branches(depth, false);
                } else {
                    maker.items(depth);
                }
            }),
            6..=8 => self.region(SCOPES, |maker| maker.group(depth)),
            9..=12 => self.spawn(TASKS, depth),
            13 => self.row(Event::Sync),
            14 if self.task.created > 0 => {
                let earlier = self.random.below(u64::from(self.task.created));
                self.push(Event::After(u32::try_from(earlier).unwrap_or(0)), 0, 0);
                self.spawn(TASKS, depth);
            }
            15..=17 => self.region(TEAMS, |maker| maker.team(depth)),
            18 if !self.groups.contains(&true) || self.task.member => {
                self.region(LOOPS, |maker| maker.branches(depth, true));
            }
            19 => self.region(TASKLOOPS, |maker| {
                let site = maker.contexts.site(maker.context).map_or(17, |site| site.0);
                maker.row(Event::Group);
                maker.groups.push(false);
                maker.spawn(&[site], depth);
                maker.spawn(&[site], depth);
                maker.row(Event::Wait);
                maker.groups.pop();
            }),
            20 => self.region(MARKS, |maker| maker.seq(depth)),
            _ => self.seq(depth),
        }
    }

    /// The task wakes whoever waits for it, or waits for another: labels are used again.
    fn meet(&mut self) {
        const LABELS: u32 = 6;
        if self.labels == 0 || self.random.once_in(2) {
            let new = self.labels < LABELS && self.random.once_in(2);
            let label = if new || self.labels == 0 { self.labels } else { self.label() };
            self.row(Event::Wake(label));
            self.labels = self.labels.max(label + 1);
        } else if self.labels > 1 && self.random.once_in(2) {
            // For a lock: what follows from another label goes on from here all the same.
            let (from, other) = (self.label(), self.label());
            self.row(Event::Wake(from));
            self.push(Event::Await(other), 0, 0);
            self.push(Event::Locked(from), 0, 0);
        } else {
            let label = self.label();
            self.row(Event::Await(label));
        }
    }

    fn label(&mut self) -> u32 {
        u32::try_from(self.random.below(u64::from(self.labels))).unwrap_or(0)
    }

    /// Branches; of a loop, each of some iterations.
    fn branches(&mut self, depth: u32, pieces: bool) {
        let count = if self.random.once_in(8) { 1 } else { 2 + self.random.below(2) };
        for branch in 0..count {
            let iterations = if pieces { 1 + self.random.below(5) } else { 1 };
            let iterations = u32::try_from(iterations).unwrap_or(1);
            self.row(if branch == 0 { Event::Fork(iterations) } else { Event::Next(iterations) });
            self.seq(depth);
        }
        self.row(Event::Join);
    }

    fn group(&mut self, depth: u32) {
        self.row(Event::Group);
        self.groups.push(false);
        self.seq(depth);
        self.seq(depth);
        self.row(Event::Wait);
        self.groups.pop();
    }

    /// Items of a shared iterator: tasks of the region itself.
    fn items(&mut self, depth: u32) {
        self.row(Event::Group);
        self.groups.push(false);
        for _ in 0..=self.random.below(3) {
            let context = self.context;
            self.create(context, Some(0), false, depth);
        }
        self.row(Event::Wait);
        self.groups.pop();
    }

    fn spawn(&mut self, sites: &[u32], depth: u32) {
        let site = self.one_of(sites);
        let context = self.target(site);
        // Up to and with the round of the innermost team.
        let visible = self.groups.iter().rev().position(|round| *round).map_or(self.groups.len(), |at| at + 1);
        let nobody = visible == 0 || (!self.task.member && self.random.once_in(8));
        let group = if nobody { None } else { u16::try_from(self.random.below(visible as u64)).ok() };
        let call = self.random.once_in(6);
        self.create(context, group, call, depth);
    }

    fn create(&mut self, context: ContextId, group: Option<u16>, call: bool, depth: u32) {
        let overhead = Nanos(i64::try_from(self.random.below(100)).unwrap_or(0));
        let creation = Creation { context, group, overhead };
        self.row(if call { Event::Call(creation) } else { Event::Spawn(creation) });
        self.task.created += 1;
        let (around, task) = (self.context, self.task);
        (self.context, self.task) = (context, Task::default());
        self.seq(depth);
        self.row(Event::End);
        (self.context, self.task) = (around, task);
    }

    fn team(&mut self, depth: u32) {
        let members = 1 + self.random.below(3);
        let rounds = 1 + self.random.below(3);
        self.row(Event::Team(u32::try_from(members).unwrap_or(1)));
        self.groups.push(true);
        let task = self.task;
        for _ in 0..members {
            self.task = Task { member: true, ..Task::default() };
            // Some member may leave early, and some region lasts over barriers.
            let mine = if self.random.once_in(6) { 1 } else { rounds };
            if self.random.once_in(3) {
                self.region(MARKS, |maker| maker.rounds(mine, depth));
            } else {
                self.rounds(mine, depth);
            }
            self.row(Event::End);
        }
        self.task = task;
        self.groups.pop();
        self.push(Event::TeamEnd, 0, 0);
    }

    fn rounds(&mut self, rounds: u64, depth: u32) {
        for round in 0..rounds {
            if round > 0 {
                self.row(Event::Barrier);
            }
            self.seq(depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::mem::{discriminant, Discriminant};

    use super::*;

    #[test]
    fn a_seed_makes_one_run() {
        assert_eq!(random(7).rows, random(7).rows);
        assert_ne!(random(7).rows, random(8).rows);
    }

    #[test]
    fn all_events_occur() {
        let rows = (0..400).flat_map(|seed| random_with_waits(seed).rows);
        let seen: HashSet<Discriminant<Event>> = rows.map(|row| discriminant(&row.event)).collect();
        assert_eq!(seen.len(), 18);
    }
}
