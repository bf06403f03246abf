//! A recording as a stream of decoded segments, in an order in which the program may have run.
//!
//! Each context's events come in their order. Between contexts: a context begins after its creation, and after the end of
//! the tasks that it depends on; a join comes after the end of what it joins; operations on an object, and allocations, come by their tickets; nobody leaves a barrier before all
//! have arrived. Where there is a choice, contexts take turns. The order is the same in each replay.
//!
//! **Memory:** a decoded chunk for each thread that has begun and not ended.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use workspan_trace::control::{Kind, TICKET_BITS};
use workspan_trace::mpi::Passage;
use workspan_trace::program::{operation, Access as Mode, Segment};

use crate::bounds::Bounds;
use crate::codec::Decoder;
use crate::events::{episode, Access, Control, Events};
use crate::file::{ChunkInfo, Problem, Recording};
use crate::program::{Loaded, Program};
use crate::ranks;
use crate::structure::{other, Need, Position, Structure};

/// Segments of a context before another has its turn.
const TURN: u64 = 1000;
/// Iterations of a loop in a tick of the clock, at most: what says more is damaged.
const PER_TICK: u64 = 16;
/// The same, however long the run was.
const MOST_ITERATIONS: u64 = 1 << 40;

/// A segment that was executed.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'p> {
    /// Context.
    pub context: u32,
    /// The context of the thread that runs it.
    pub thread: u32,
    /// Its id.
    pub id: u32,
    /// Module.
    pub module: &'p Loaded,
    /// Number of the module.
    pub module_number: u32,
    /// Static description.
    pub segment: &'p Segment,
    /// Address of the frame, where a function is entered or unwinding arrives.
    pub frame: Option<u64>,
}

/// Iterations of a loop, one after the other, whose accesses move by constant steps.
#[derive(Clone, Copy, Debug)]
pub struct Iterations<'a> {
    /// Accesses of the first.
    pub first: &'a [Access],
    /// What the address of each grows by.
    pub steps: &'a [i64],
    /// How many there are.
    pub times: u64,
}

impl Iterations<'_> {
    /// The accesses of each iteration in turn, in a list that is used again and again.
    pub fn each(&self, list: &mut Vec<Access>, mut take: impl FnMut(&[Access])) {
        let _ = self.try_each(list, |accesses| {
            take(accesses);
            ControlFlow::Continue(())
        });
    }

    /// The same, until `take` has enough.
    pub fn try_each(
        &self,
        list: &mut Vec<Access>,
        mut take: impl FnMut(&[Access]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        list.clear();
        list.extend_from_slice(self.first);
        for _ in 0..self.times {
            take(list)?;
            advance(list, self.steps, 1);
        }
        ControlFlow::Continue(())
    }
}

/// Moves accesses on by some iterations.
fn advance(accesses: &mut [Access], steps: &[i64], times: u64) {
    for (access, step) in accesses.iter_mut().zip(steps) {
        access.address = access.address.wrapping_add(step.cast_unsigned().wrapping_mul(times));
    }
}

/// Takes what a program did. What it sees is decoded: no consumer knows how events are stored.
pub trait Consumer {
    /// A segment, with its accesses in program order.
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]);

    /// Several executions of a segment, one after the other. `list` is memory that may be used.
    fn repeated(&mut self, executed: Executed<'_>, iterations: Iterations<'_>, list: &mut Vec<Access>) {
        iterations.each(list, |accesses| self.segment(executed, accesses));
    }

    /// An access that a library makes in a call at the end of a segment, which has run already.
    fn transfer(&mut self, executed: Executed<'_>, access: &Access) {
        self.segment(executed, std::slice::from_ref(access));
    }

    /// A control event of a context.
    fn control(&mut self, context: u32, control: Control) {
        let _ = (context, control);
    }

    /// All that `before` did, which has ended, comes before what `context` does from here on.
    fn after(&mut self, context: u32, before: u32) {
        let _ = (context, before);
    }

    /// A context has come to a barrier. Its control event follows once all have come.
    fn arrive(&mut self, context: u32, barrier: Control) {
        let _ = (context, barrier);
    }
}

struct Cursor<'r> {
    /// What its addresses have in their highest bits.
    rank: u64,
    /// Segment that it executed last.
    last: u32,
    /// Whose events come.
    context: u32,
    thread: u32,
    /// Events of the chunk so far.
    number: u64,
    chunks: Vec<&'r ChunkInfo>,
    next: usize,
    raw: Vec<u8>,
    at: usize,
    begun: bool,
    /// A control event that has to wait.
    pending: Option<(Control, Position)>,
    arrived: bool,
    /// Iterations of the segment that it executed last which are still to come.
    left: u64,
    accesses: Vec<Access>,
    steps: Vec<i64>,
}

/// What must come before what, by tickets.
#[derive(Default)]
struct Gate {
    /// For each object the tickets that are still to come, in descending order.
    tickets: HashMap<u64, Vec<u64>>,
    /// Arrivals at barriers.
    arrived: BTreeMap<(u64, u64), u64>,
    created: HashSet<u32>,
    ended: HashSet<u32>,
    /// Pieces of each context that are over.
    over: HashMap<u32, usize>,
    /// Allocations and releases so far, of each rank.
    heap: HashMap<u64, u64>,
    /// Of each rank and counter of atomics the ticket that comes next.
    atomics: HashMap<(u64, u64), u64>,
    structure: Structure,
}

/// Replays a recording. A damaged chunk ends its context.
pub fn replay(recording: &Recording, consumer: &mut impl Consumer) -> Result<(), Problem> {
    let mut decoder = Decoder::default();
    let mut gate = Gate::new(recording);
    let mut cursors: Vec<Cursor<'_>> = recording
        .contexts()
        .into_iter()
        .map(|context| Cursor {
            rank: recording.ranks.bits(context),
            last: 0,
            context,
            thread: context,
            number: 0,
            chunks: recording.chunks_of(context).collect(),
            next: 0,
            raw: Vec::new(),
            at: 0,
            begun: false,
            pending: None,
            arrived: false,
            left: 0,
            accesses: Vec::new(),
            steps: Vec::new(),
        })
        .collect();
    let most = most_iterations(recording);
    let bounds = Bounds::of(recording);
    let mut turn = Turn { recording, decoder: &mut decoder, accesses: Vec::new(), most, bounds };
    while !cursors.is_empty() {
        let mut moved = false;
        let mut at = 0;
        while at < cursors.len() {
            match turn.take(&mut cursors[at], &mut gate, consumer)? {
                Went::On => (moved, at) = (true, at + 1),
                Went::Nowhere => at += 1,
                Went::ToTheEnd => {
                    moved = true;
                    let cursor = cursors.remove(at);
                    *gate.over.entry(cursor.context).or_default() += 1;
                }
            }
        }
        if !moved {
            // What they wait for is missing from the recording: who waits for the lowest ticket goes on.
            let first = cursors.iter_mut().min_by_key(|cursor| cursor.pending.map_or(0, |(c, _)| time_of(&c)));
            if let Some((cursor, (control, at))) = first.and_then(|cursor| {
                let pending = cursor.pending.take()?;
                Some((cursor, pending))
            }) {
                pass(cursor, &mut gate, control, at, consumer);
            }
        }
    }
    Ok(())
}

/// Iterations that a loop may have.
pub(crate) fn most_iterations(recording: &Recording) -> u64 {
    let ticks = recording.end.as_ref().map_or(u64::MAX, |end| end.ticks);
    ticks.saturating_mul(PER_TICK).min(MOST_ITERATIONS)
}

/// A control event comes.
fn pass(cursor: &mut Cursor<'_>, gate: &mut Gate, control: Control, at: Position, consumer: &mut impl Consumer) {
    gate.arrive(cursor, &control, at, consumer);
    (cursor.pending, cursor.begun, cursor.arrived) = (None, true, false);
    if let (Kind::Switch, Some(next)) = (control.kind, other(control.slots[1])) {
        *gate.over.entry(cursor.context).or_default() += 1;
        cursor.context = next;
        return;
    }
    gate.pass(cursor, &control);
    consumer.control(cursor.context, control);
    if control.kind != Kind::Barrier {
        gate.join(cursor.context, &control, at, consumer);
    }
}

fn time_of(control: &Control) -> u64 {
    match control.kind {
        Kind::Allocate => control.slots[2],
        Kind::Free => control.slots[1],
        // It has no time: its thread goes on first.
        Kind::Atomic | Kind::Local | Kind::Semaphore => 0,
        _ => control.slots[0],
    }
}

/// Counter and ticket of an atomic operation.
fn counted(slot: u64) -> (u64, u64) {
    (slot >> TICKET_BITS, slot & ((1 << TICKET_BITS) - 1))
}

enum Went {
    On,
    Nowhere,
    ToTheEnd,
}

struct Turn<'r, 'd> {
    recording: &'r Recording,
    decoder: &'d mut Decoder,
    /// Memory for a list.
    accesses: Vec<Access>,
    /// Iterations of a loop, at most.
    most: u64,
    bounds: Bounds<'r>,
}

impl<'r> Turn<'r, '_> {
    fn take(
        &mut self,
        cursor: &mut Cursor<'r>,
        gate: &mut Gate,
        consumer: &mut impl Consumer,
    ) -> Result<Went, Problem> {
        let program: &Program = &self.recording.program;
        let mut went = Went::Nowhere;
        if let Some((control, at)) = cursor.pending {
            gate.arrive(cursor, &control, at, consumer);
            if !gate.opens(cursor, &control, at) {
                return Ok(went);
            }
            pass(cursor, gate, control, at, consumer);
            went = Went::On;
        }
        let mut turn = TURN;
        while turn > 0 {
            if cursor.left > 0 {
                self.iterate(cursor, &mut turn, consumer);
                went = Went::On;
                continue;
            }
            let mut events = Events::new(program, cursor.raw.get(cursor.at..).unwrap_or_default());
            let Ok(Some((event, entry))) = events.next_event() else {
                let Some(chunk) = cursor.chunks.get(cursor.next) else {
                    return Ok(Went::ToTheEnd);
                };
                cursor.next += 1;
                (cursor.at, cursor.number) = (0, 0);
                let encoded = self.recording.encoded(chunk)?;
                if self.decoder.decode_into(program, &encoded, &mut cursor.raw).is_err() {
                    return Ok(Went::ToTheEnd);
                }
                continue;
            };
            let length = events.position();
            turn -= 1;
            cursor.number += 1;
            if let Some(mut control) = event.control() {
                cursor.at += length;
                ranks::mark(&mut control, cursor.rank);
                if control.kind == Kind::Transfer {
                    self.transfer(cursor, control, consumer);
                    went = Went::On;
                    continue;
                }
                let chunk = cursor.next.saturating_sub(1);
                let at = (cursor.thread, u32::try_from(chunk).unwrap_or(u32::MAX), cursor.number - 1);
                cursor.pending = Some((control, at));
                gate.arrive(cursor, &control, at, consumer);
                if !gate.opens(cursor, &control, at) {
                    return Ok(went);
                }
                pass(cursor, gate, control, at, consumer);
            } else if let Some((module, segment)) = program.segment(event.id) {
                let module_number = program.module_of(event.id);
                if segment.operations == 0 && entry.slots == 0 {
                    (cursor.last, cursor.at) = (event.id, cursor.at + length);
                    let (context, thread, id) = (cursor.context, cursor.thread, event.id);
                    let executed = Executed { context, thread, id, module, module_number, segment, frame: None };
                    consumer.segment(executed, &[]);
                    went = Went::On;
                    continue;
                }
                let variables = self.recording.ranks.variables(cursor.rank, module_number).unwrap_or(&module.variables);
                let (context, id) = (cursor.context, event.id);
                cursor.last = id;
                cursor.at += length;
                if entry.repeated {
                    let lists = (&mut cursor.accesses, &mut cursor.steps);
                    cursor.left = event.iterations_at(module, variables, segment, lists).min(self.most);
                    cursor.accesses.iter_mut().for_each(|access| access.address |= cursor.rank);
                    self.bounds.of_loop(&mut cursor.accesses);
                } else {
                    let frame = event.accesses_at(module, variables, segment, &mut self.accesses);
                    let frame = frame.map(|frame| frame | cursor.rank);
                    if cursor.rank != 0 {
                        self.accesses.iter_mut().for_each(|access| access.address |= cursor.rank);
                    }
                    if entry.dynamic || u64::from(entry.bytes) > self.bounds.most() {
                        self.bounds.apply(&mut self.accesses);
                    }
                    let thread = cursor.thread;
                    let executed = Executed { context, thread, id, module, module_number, segment, frame };
                    consumer.segment(executed, &self.accesses);
                }
            }
            went = Went::On;
        }
        Ok(went)
    }

    /// As many iterations as the turn has room for.
    fn iterate(&mut self, cursor: &mut Cursor<'_>, turn: &mut u64, consumer: &mut impl Consumer) {
        let Some((module, segment)) = self.recording.program.segment(cursor.last) else {
            cursor.left = 0;
            return;
        };
        let times = cursor.left.min(*turn);
        let module_number = self.recording.program.module_of(cursor.last);
        let (context, thread, id) = (cursor.context, cursor.thread, cursor.last);
        let executed = Executed { context, thread, id, module, module_number, segment, frame: None };
        let iterations = Iterations { first: &cursor.accesses, steps: &cursor.steps, times };
        consumer.repeated(executed, iterations, &mut self.accesses);
        advance(&mut cursor.accesses, &cursor.steps, times);
        *turn -= times;
        cursor.left -= times;
    }

    /// An access that a library made for the context.
    fn transfer(&self, cursor: &Cursor<'_>, control: Control, consumer: &mut impl Consumer) {
        let program = &self.recording.program;
        let Some((module, segment)) = program.segment(cursor.last) else {
            return;
        };
        let [address, size, writes, ..] = control.slots;
        let mode = if writes == 0 { Mode::Load } else { Mode::Store };
        let flags = operation::LIBRARY;
        let mut access = Access { address, size, mode, flags, operation: program.transfer(cursor.last, mode) };
        self.bounds.one(&mut access);
        let module_number = program.module_of(cursor.last);
        let (context, thread, id) = (cursor.context, cursor.thread, cursor.last);
        consumer.transfer(Executed { context, thread, id, module, module_number, segment, frame: None }, &access);
    }
}

impl Gate {
    fn new(recording: &Recording) -> Gate {
        let mut gate = Gate { structure: Structure::of(recording), ..Gate::default() };
        for chunk in &recording.chunks {
            for mark in &chunk.summary.marks {
                let [_, _, object, ticket, _] = mark.control.slots;
                if mark.control.kind == Kind::Sync {
                    gate.tickets.entry(object).or_default().push(ticket);
                }
            }
        }
        // The next one is the last.
        #[expect(clippy::iter_over_hash_type, reason = "each list for itself")]
        for tickets in gate.tickets.values_mut() {
            tickets.sort_unstable_by(|a, b| b.cmp(a));
        }
        gate
    }

    /// A context comes to a barrier; at a parallel region's, once the tasks have ended that it created.
    fn arrive(&mut self, cursor: &mut Cursor<'_>, control: &Control, at: Position, consumer: &mut impl Consumer) {
        if control.kind == Kind::Barrier && !cursor.arrived && self.have_ended(self.structure.joins.get(&at)) {
            cursor.arrived = true;
            self.join(cursor.context, control, at, consumer);
            if Passage::of(control.slots[4]).arrives {
                *self.arrived.entry(episode(control)).or_default() += 1;
                consumer.arrive(cursor.context, *control);
            }
        }
    }

    /// Lets what has ended come before a context.
    fn join(&self, context: u32, control: &Control, at: Position, consumer: &mut impl Consumer) {
        let needs = match control.kind {
            Kind::Begin => self.structure.needs.get(&context),
            Kind::Wait => self.structure.awaited.get(&at),
            _ => None,
        };
        let needed = needs.into_iter().flatten().flat_map(|need| &need.contexts);
        for before in self.structure.joins.get(&at).into_iter().flatten().chain(needed) {
            consumer.after(context, *before);
        }
    }

    fn has_ended(&self, context: u32) -> bool {
        let pieces = self.structure.pieces.get(&context).copied().unwrap_or(0);
        self.ended.contains(&context) || self.over.get(&context).copied().unwrap_or(0) >= pieces
    }

    fn have_ended(&self, contexts: Option<&Vec<u32>>) -> bool {
        contexts.into_iter().flatten().all(|context| self.has_ended(*context))
    }

    fn are_there(&self, needs: Option<&Vec<Need>>) -> bool {
        needs.into_iter().flatten().all(|need| self.have_ended(Some(&need.contexts)))
    }

    /// True if a control event may come now.
    fn opens(&self, cursor: &Cursor<'_>, control: &Control, at: Position) -> bool {
        let [_, second, third, fourth, fifth] = control.slots;
        match control.kind {
            Kind::Begin => {
                (second == 0 || self.created.contains(&cursor.context))
                    && self.are_there(self.structure.needs.get(&cursor.context))
            }
            Kind::Join | Kind::Gather => self.have_ended(self.structure.joins.get(&at)),
            Kind::Wait => {
                self.have_ended(self.structure.joins.get(&at)) && self.are_there(self.structure.awaited.get(&at))
            }
            Kind::Sync => {
                self.tickets.get(&third).and_then(|tickets| tickets.last()).is_none_or(|next| *next >= fourth)
            }
            Kind::Barrier => {
                let Passage { count, waits, .. } = Passage::of(fifth);
                let all_have_come = || self.arrived.get(&episode(control)).is_some_and(|here| *here >= count.max(1));
                cursor.arrived && (second == 0 || !waits || all_have_come())
            }
            // Its pieces come in their order.
            Kind::Switch => other(second).is_none_or(|next| {
                let number = self.structure.numbers.get(&at).copied().unwrap_or(0);
                let own = usize::from(next == cursor.context);
                self.over.get(&next).copied().unwrap_or(0) + own >= number
            }),
            Kind::Allocate => self.heap.get(&cursor.rank).copied().unwrap_or(0) >= third,
            Kind::Free => self.heap.get(&cursor.rank).copied().unwrap_or(0) >= second,
            Kind::Atomic => {
                let (counter, ticket) = counted(second);
                self.atomics.get(&(cursor.rank, counter)).copied().unwrap_or(0) >= ticket
            }
            Kind::Create
            | Kind::Task
            | Kind::Spawn
            | Kind::Frame
            | Kind::Local
            | Kind::Semaphore
            | Kind::Group
            | Kind::Depend
            | Kind::End
            | Kind::Gap => true,
            Kind::Rank | Kind::Communicator | Kind::Message | Kind::Collective | Kind::Transfer => true,
        }
    }

    /// A control event comes.
    fn pass(&mut self, cursor: &Cursor<'_>, control: &Control) {
        let [_, second, third, fourth, _] = control.slots;
        let heap = self.heap.entry(cursor.rank).or_default();
        match control.kind {
            Kind::Create | Kind::Task | Kind::Spawn => {
                self.created.extend(u32::try_from(third).ok().and_then(|other| other.checked_sub(1)));
            }
            Kind::Sync => {
                if let Some(tickets) = self.tickets.get_mut(&third) {
                    while tickets.last().is_some_and(|next| *next <= fourth) {
                        tickets.pop();
                    }
                }
            }
            Kind::Allocate => *heap = (*heap).max(third + 1),
            Kind::Free => *heap = (*heap).max(second + 1),
            Kind::Atomic => {
                let (counter, ticket) = counted(second);
                let next = self.atomics.entry((cursor.rank, counter)).or_default();
                *next = (*next).max(ticket + 1);
            }
            Kind::End => {
                self.ended.insert(cursor.context);
            }
            Kind::Begin | Kind::Join | Kind::Wait | Kind::Barrier | Kind::Gap => {}
            Kind::Switch | Kind::Group | Kind::Depend | Kind::Gather => {}
            Kind::Frame | Kind::Local | Kind::Semaphore => {}
            Kind::Rank | Kind::Communicator | Kind::Message | Kind::Collective | Kind::Transfer => {}
        }
    }
}
