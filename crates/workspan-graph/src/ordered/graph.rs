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
use workspan_trace::mpi::{Message, Passage};

use crate::events::{episode, Control};
use crate::file::Recording;
use crate::messages::operation;
use crate::structure::{other, Need, Position, Step, Structure};
use crate::summary::Tally;
pub use crate::task::{Task, Type};

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
        let structure = Structure::of(recording);
        for steps in structure.steps.values() {
            builder.survey(steps);
        }
        // No event is later.
        let end = recording.end.as_ref().map_or(0, |end| end.ticks.min(1 << (8 * workspan_trace::SLOT_BYTES)));
        for (context, steps) in &structure.steps {
            builder.context(&structure, *context, steps, end);
        }
        builder.link();
        let mut graph = builder.graph;
        graph.contexts = u32::try_from(structure.steps.len()).unwrap_or(u32::MAX);
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

    /// True if no work lies between two work tasks: at most what one of them does and what the other waits for.
    pub fn is_next(&self, from: u32, to: u32) -> bool {
        let between = |task: &u32| self.tasks.get(*task as usize).is_some_and(|task| task.kind != Type::Work);
        let first: Vec<u32> = self.successors(from).collect();
        let second = || first.iter().filter(|task| between(task)).flat_map(|task| self.successors(*task));
        let third = || second().filter(between).flat_map(|task| self.successors(task));
        first.contains(&to) || second().any(|task| task == to) || third().any(|task| task == to)
    }

    /// Tasks that must come after one.
    pub fn successors(&self, task: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.edges.partition_point(|(from, _)| *from < task);
        self.edges[first..].iter().take_while(move |(from, _)| *from == task).map(|(_, to)| *to)
    }
}

impl Builder {
    /// Finds who arrives last at each barrier.
    fn survey(&mut self, steps: &[Step]) {
        for step in steps {
            let Step::Control(control @ Control { kind: Kind::Barrier, slots: [_, _, _, arrival, slot] }, _) = step
            else {
                continue;
            };
            if Passage::of(*slot).arrives {
                let last = self.episodes.entry(episode(control)).or_default();
                last.last_arrival = last.last_arrival.max(*arrival);
            }
        }
    }

    fn task(&mut self, context: &mut Context, kind: Type, start: u64, at: Position) -> u32 {
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

    fn context(&mut self, structure: &Structure, number: u32, steps: &[Step], end: u64) {
        let mut context = Context { number, work: 0, sequence: 0, before: None };
        context.work = self.task(&mut context, Type::Work, 0, (number, 0, 0));
        self.first.insert(number, context.work);
        let mut latest = 0;
        let mut ended = None;
        for step in steps {
            match step {
                Step::Executed(tally) => self.execute(&mut context, tally),
                Step::Control(control, at) => {
                    latest = latest.max(self.control(&mut context, structure, *control, *at));
                    if control.kind == Kind::End {
                        ended = Some(latest);
                    }
                }
            }
        }
        let work = context.work;
        self.get(work).end = ended.unwrap_or(end.max(latest));
        self.last.insert(number, work);
    }

    fn execute(&mut self, context: &mut Context, tally: &Tally) {
        self.get(context.work).tally += *tally;
        context.before = None;
    }

    /// The join tasks of a wait.
    fn join(&mut self, context: &mut Context, structure: &Structure, (before, after): (u64, u64), at: Position) {
        let mut begin = before;
        for joined in structure.joins.get(&at).into_iter().flatten() {
            let task = self.step(context, Type::Join, (begin, after), at);
            self.get(task).object = u64::from(*joined) + 1;
            self.joins.push((task, *joined));
            begin = after;
            context.before = None;
        }
    }

    /// A sync task for each item.
    fn depend(&mut self, context: &mut Context, needs: Option<&Vec<Need>>, time: u64, at: Position) {
        for need in needs.into_iter().flatten() {
            let task = self.step(context, Type::Sync, (time, time), at);
            let made = self.get(task);
            (made.object, made.operation) = (need.object, Some(Operation::Depend));
            self.joins.extend(need.contexts.iter().map(|other| (task, *other)));
            context.before = None;
        }
    }

    /// Takes a control event; says when it ended.
    fn control(&mut self, context: &mut Context, structure: &Structure, control: Control, at: Position) -> u64 {
        let [before, after, object, ticket, more] = control.slots;
        match control.kind {
            Kind::Begin => {
                let task = self.get(context.work);
                (task.start, task.end) = (before, before);
                self.depend(context, structure.needs.get(&context.number), before, at);
                return before;
            }
            Kind::Create | Kind::Task | Kind::Spawn => {
                let task = self.step(context, Type::Create, (before, after), at);
                self.get(task).object = object;
                self.creates.extend(other(object).map(|other| (task, other)));
                context.before = None;
            }
            Kind::Join if other(object).is_some() => {
                // Of a region: its creator has waited since it was made.
                let before = if before == 0 { self.get(context.work).start } else { before };
                self.join(context, structure, (before, after), at);
            }
            Kind::Join => {
                // Of a thread that nobody knows.
                self.step(context, Type::Join, (before, after), at);
                context.before = None;
            }
            Kind::Gather => self.join(context, structure, (before, after), at),
            Kind::Wait => {
                self.join(context, structure, (before, after), at);
                self.depend(context, structure.awaited.get(&at), after, at);
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
                let mut slots = control.slots;
                // Nobody waits at the end of a region: the context ends there.
                slots[1] = after.max(before);
                if structure.joins.contains_key(&at) {
                    self.join(context, structure, (before, slots[1]), at);
                    slots[0] = slots[1];
                }
                self.barrier(context, slots, at);
                context.before = None;
            }
            Kind::Message => {
                // Of one rank alone: nobody knows the other side.
                let task = self.step(context, Type::Sync, (before, after), at);
                self.get(task).operation = Message::of(control.slots).map(|message| operation(message.deed));
                context.before = None;
            }
            Kind::Collective => {
                self.step(context, Type::Barrier, (before, after), at);
                context.before = None;
            }
            Kind::End => return before,
            Kind::Rank | Kind::Communicator | Kind::Transfer => return 0,
            Kind::Gap | Kind::Allocate | Kind::Free | Kind::Switch | Kind::Group | Kind::Depend => return 0,
            Kind::Atomic | Kind::Frame | Kind::Local | Kind::Semaphore => return 0,
        }
        after
    }

    /// A task between two work tasks of a context.
    fn step(&mut self, context: &mut Context, kind: Type, (start, end): (u64, u64), at: Position) -> u32 {
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
    fn sync(&mut self, context: &mut Context, operation: Operation, times: (u64, u64), at: Position) -> u32 {
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

    fn barrier(&mut self, context: &mut Context, slots: [u64; 5], at: Position) {
        let [before, after, object, arrival, slot] = slots;
        let passage = Passage::of(slot);
        let key = episode(&Control { kind: Kind::Barrier, slots });
        let arriving = context.work;
        self.get(arriving).end = before;
        let is_last = self.episodes.get(&key).is_some_and(|episode| episode.last_arrival == arrival);
        let task = (is_last && passage.arrives).then(|| {
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
        if passage.arrives {
            episode.start = if episode.arriving.is_empty() { before } else { episode.start.min(before) };
            episode.arriving.push(arriving);
        }
        if passage.waits {
            episode.leaving.push(leaving);
        }
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
