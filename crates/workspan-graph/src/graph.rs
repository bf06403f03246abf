//! The task graph: work, create, join, sync and barrier tasks, and what must come before what.
//!
//! A context begins with a work task. Each control event ends it, is a task of its own, and begins the next; the three
//! operations of a wait on a condition variable follow each other directly. A barrier is one task for all who pass it
//! together, of the context that arrived last. Operations on one object are linked in the order of their tickets.
//!
//! **Invariant:** acyclic: [`Graph::order`] visits every task after its predecessors, the one that began first before others
//! that are ready, so that analyses repeat exactly. **Cost:** linear in the control events, which are kept in memory.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use workspan_trace::control::{Kind, Operation};

use crate::events::Control;
use crate::file::Recording;
use crate::summary::Tally;

/// Types of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// Runs code.
    Work,
    /// Creates a context.
    Create,
    /// Waits for the end of a context.
    Join,
    /// An operation on a synchronisation object.
    Sync,
    /// A barrier that several contexts pass.
    Barrier,
}

impl Type {
    /// The letter that stands for it in Contech's graphs.
    pub fn letter(self) -> &'static str {
        match self {
            Type::Work => "W",
            Type::Create => "C",
            Type::Join => "J",
            Type::Sync => "S",
            Type::Barrier => "B",
        }
    }
}

/// A task. Its name is `context:sequence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Context.
    pub context: u32,
    /// Number in the context.
    pub sequence: u32,
    /// Type.
    pub kind: Type,
    /// For syncs: what was done.
    pub operation: Option<Operation>,
    /// Object of a sync or barrier; context + 1 of a create or join, or 0.
    pub object: u64,
    /// Ticks when it began.
    pub start: u64,
    /// Ticks when it ended.
    pub end: u64,
    /// What it executed and touched.
    pub tally: Tally,
    /// Segment that was executed last before it: the place of a create, join, sync or barrier. Chunk and event.
    pub at: (u32, u64),
}

/// A task graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Tasks, context by context.
    pub tasks: Vec<Task>,
    /// From which task to which, sorted.
    pub edges: Vec<(u32, u32)>,
    /// Contexts.
    pub contexts: u32,
    /// Nothing is missing.
    pub complete: bool,
}

/// A context while its tasks are made.
struct Context {
    number: u32,
    /// Its work task at present.
    work: u32,
    sequence: u32,
    /// End and operation of the control event before, if nothing was executed since.
    before: Option<(u64, Operation)>,
}

#[derive(Default)]
struct Builder {
    graph: Graph,
    first: HashMap<u32, u32>,
    last: HashMap<u32, u32>,
    creates: Vec<(u32, u32)>,
    joins: Vec<(u32, u32)>,
    objects: HashMap<u64, Vec<(u64, u32)>>,
    /// Tasks of barriers, by object and episode.
    episodes: HashMap<(u64, u64), Episode>,
}

#[derive(Default)]
struct Episode {
    last_arrival: u64,
    task: Option<u32>,
    arriving: Vec<u32>,
    leaving: Vec<u32>,
    start: u64,
    end: u64,
}

impl Graph {
    /// The graph of a recording.
    pub fn of(recording: &Recording) -> Graph {
        let mut builder = Builder::default();
        let contexts = recording.contexts();
        for context in &contexts {
            builder.survey(recording, *context);
        }
        let end = recording.end.as_ref().map_or(0, |end| end.ticks);
        for context in &contexts {
            builder.context(recording, *context, end);
        }
        builder.link();
        let mut graph = builder.graph;
        graph.contexts = u32::try_from(contexts.len()).unwrap_or(u32::MAX);
        graph.complete = recording.complete();
        graph.edges.sort_unstable();
        graph.edges.dedup();
        graph
    }

    /// How many tasks are of a type.
    pub fn count(&self, kind: Type) -> u64 {
        self.tasks.iter().filter(|task| task.kind == kind).count() as u64
    }

    /// What all tasks executed and touched.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.tasks.iter().for_each(|task| total += task.tally);
        total
    }

    /// All tasks, each after its predecessors, by start time where there is a choice. Fewer than there are if there is a
    /// cycle, which a damaged recording may have.
    pub fn order(&self) -> Vec<u32> {
        let mut waiting = vec![0_u32; self.tasks.len()];
        for (_, to) in &self.edges {
            waiting[*to as usize] += 1;
        }
        let key = |task: u32| {
            let Task { start, context, sequence, .. } = self.tasks[task as usize];
            Reverse((start, context, sequence, task))
        };
        let mut ready: BinaryHeap<_> =
            (0..).zip(&waiting).filter(|(_, n)| **n == 0).map(|(task, _)| key(task)).collect();
        let mut order = Vec::with_capacity(self.tasks.len());
        while let Some(Reverse((.., task))) = ready.pop() {
            order.push(task);
            for to in self.successors(task) {
                waiting[to as usize] -= 1;
                if waiting[to as usize] == 0 {
                    ready.push(key(to));
                }
            }
        }
        order
    }

    /// Tasks that must come after one.
    pub fn successors(&self, task: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.edges.partition_point(|(from, _)| *from < task);
        self.edges[first..].iter().take_while(move |(from, _)| *from == task).map(|(_, to)| *to)
    }
}

impl Builder {
    /// Finds who arrives last at each barrier.
    fn survey(&mut self, recording: &Recording, context: u32) {
        for mark in recording.chunks_of(context).flat_map(|chunk| &chunk.summary.marks) {
            if let (Kind::Barrier, [_, _, object, arrival, count]) = (mark.control.kind, mark.control.slots) {
                let episode = self.episodes.entry((object, arrival / count.max(1))).or_default();
                episode.last_arrival = episode.last_arrival.max(arrival);
            }
        }
    }

    fn task(&mut self, context: &mut Context, kind: Type, start: u64, at: (u32, u64)) -> u32 {
        let number = u32::try_from(self.graph.tasks.len()).unwrap_or(u32::MAX);
        let (tally, sequence) = (Tally::default(), context.sequence);
        context.sequence += 1;
        let task =
            Task { context: context.number, sequence, kind, operation: None, object: 0, start, end: start, tally, at };
        self.graph.tasks.push(task);
        number
    }

    fn edge(&mut self, from: u32, to: u32) {
        self.graph.edges.push((from, to));
    }

    fn get(&mut self, task: u32) -> &mut Task {
        &mut self.graph.tasks[task as usize]
    }

    fn context(&mut self, recording: &Recording, number: u32, end: u64) {
        let mut context = Context { number, work: 0, sequence: 0, before: None };
        context.work = self.task(&mut context, Type::Work, 0, (0, 0));
        self.first.insert(number, context.work);
        let mut latest = 0;
        let mut ended = None;
        for chunk in recording.chunks_of(number) {
            let mut fragments = chunk.summary.fragments.iter();
            for mark in &chunk.summary.marks {
                self.execute(&mut context, fragments.next());
                latest = latest.max(self.control(&mut context, mark.control, (chunk.sequence, mark.at)));
                if mark.control.kind == Kind::End {
                    ended = Some(latest);
                }
            }
            self.execute(&mut context, fragments.next());
        }
        let work = context.work;
        self.get(work).end = ended.unwrap_or(end.max(latest));
        self.last.insert(number, work);
    }

    fn execute(&mut self, context: &mut Context, tally: Option<&Tally>) {
        if let Some(tally) = tally.filter(|tally| **tally != Tally::default()) {
            self.get(context.work).tally += *tally;
            context.before = None;
        }
    }

    /// Takes a control event; says when it ended.
    fn control(&mut self, context: &mut Context, control: Control, at: (u32, u64)) -> u64 {
        let [before, after, object, ticket, more] = control.slots;
        match control.kind {
            Kind::Begin => {
                let task = self.get(context.work);
                (task.start, task.end) = (before, before);
                return before;
            }
            Kind::Create | Kind::Join => {
                let create = control.kind == Kind::Create;
                let kind = if create { Type::Create } else { Type::Join };
                let task = self.step(context, kind, (before, after), at);
                self.get(task).object = object;
                if let Some(other) = u32::try_from(object).ok().and_then(|other| other.checked_sub(1)) {
                    if create { &mut self.creates } else { &mut self.joins }.push((task, other));
                }
                context.before = None;
            }
            Kind::Sync => {
                let Some(operation) = Operation::of(more) else {
                    return after;
                };
                let task = self.sync(context, operation, (before, after), at);
                let made = self.get(task);
                (made.object, made.operation) = (object, Some(operation));
                self.objects.entry(object).or_default().push((ticket, task));
                context.before = Some((after, operation));
            }
            Kind::Barrier => {
                self.barrier(context, control.slots, at);
                context.before = None;
            }
            Kind::End => return before,
            Kind::Gap | Kind::Allocate | Kind::Free => return 0,
        }
        after
    }

    /// A task between two work tasks of a context.
    fn step(&mut self, context: &mut Context, kind: Type, (start, end): (u64, u64), at: (u32, u64)) -> u32 {
        self.get(context.work).end = start;
        let task = self.task(context, kind, start, at);
        self.get(task).end = end;
        let next = self.task(context, Type::Work, end, at);
        self.edge(context.work, task);
        self.edge(task, next);
        context.work = next;
        task
    }

    /// A sync. The second and third of a wait take the place of the empty work task before them.
    fn sync(&mut self, context: &mut Context, operation: Operation, times: (u64, u64), at: (u32, u64)) -> u32 {
        let of_one_call = context.before.is_some_and(|(end, before)| {
            end == times.0
                && matches!(
                    (before, operation),
                    (Operation::Unlock, Operation::Wait | Operation::Lock) | (Operation::Wait, Operation::Lock)
                )
        });
        if !of_one_call {
            return self.step(context, Type::Sync, times, at);
        }
        let task = context.work;
        let made = self.get(task);
        (made.kind, made.start, made.end, made.at) = (Type::Sync, times.0, times.1, at);
        let next = self.task(context, Type::Work, times.1, at);
        self.edge(task, next);
        context.work = next;
        task
    }

    fn barrier(&mut self, context: &mut Context, slots: [u64; 5], at: (u32, u64)) {
        let [before, after, object, arrival, count] = slots;
        let key = (object, arrival / count.max(1));
        let arriving = context.work;
        self.get(arriving).end = before;
        let is_last = self.episodes.get(&key).is_some_and(|episode| episode.last_arrival == arrival);
        let task = is_last.then(|| {
            let task = self.task(context, Type::Barrier, before, at);
            self.get(task).object = object;
            task
        });
        let leaving = self.task(context, Type::Work, after, at);
        // Also where the task of the barrier is missing: a context's tasks follow each other.
        self.edge(arriving, leaving);
        context.work = leaving;
        let episode = self.episodes.entry(key).or_default();
        episode.task = episode.task.or(task);
        episode.arriving.push(arriving);
        episode.leaving.push(leaving);
        episode.start = if episode.arriving.len() == 1 { before } else { episode.start.min(before) };
        episode.end = episode.end.max(after);
    }

    /// Edges between contexts.
    fn link(&mut self) {
        for (create, context) in std::mem::take(&mut self.creates) {
            if let Some(first) = self.first.get(&context) {
                self.graph.edges.push((create, *first));
            }
        }
        for (join, context) in std::mem::take(&mut self.joins) {
            if let Some(last) = self.last.get(&context) {
                self.graph.edges.push((*last, join));
            }
        }
        let mut objects: Vec<_> = std::mem::take(&mut self.objects).into_iter().collect();
        objects.sort_unstable();
        for (_, mut operations) in objects {
            operations.sort_unstable();
            for pair in operations.windows(2) {
                self.edge(pair[0].1, pair[1].1);
            }
        }
        let mut episodes: Vec<_> = std::mem::take(&mut self.episodes).into_iter().collect();
        episodes.sort_unstable_by_key(|(key, _)| *key);
        for (_, episode) in episodes {
            let Some(task) = episode.task else {
                continue;
            };
            let made = self.get(task);
            (made.start, made.end) = (episode.start, episode.end);
            for arriving in episode.arriving {
                self.edge(arriving, task);
            }
            for leaving in episode.leaving {
                self.edge(task, leaving);
            }
        }
    }
}
