//! A recording as a stream of decoded segments, in an order in which the program may have run.
//!
//! Each context's events come in their order. Between contexts: a context begins after its creation; a join comes after the
//! end of what it joins; operations on an object, and allocations, come by their tickets; nobody leaves a barrier before all
//! have arrived. Where there is a choice, contexts take turns. The order is the same in each replay.
//!
//! **Memory:** a decoded chunk for each context that has begun and not ended.

use std::collections::{BTreeMap, HashMap};

use workspan_trace::control::Kind;
use workspan_trace::program::Segment;

use crate::codec::Decoder;
use crate::events::{Access, Control, Events};
use crate::file::{ChunkInfo, Problem, Recording};
use crate::program::{Loaded, Program};

/// Segments of a context before another has its turn.
const TURN: usize = 1000;

/// A segment that was executed.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'p> {
    /// Context.
    pub context: u32,
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

/// Takes what a program did. What it sees is decoded: no consumer knows how events are stored.
pub trait Consumer {
    /// A segment, with its accesses in program order.
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]);

    /// A control event of a context.
    fn control(&mut self, context: u32, control: Control) {
        let _ = (context, control);
    }

    /// A context has come to a barrier. Its control event follows once all have come.
    fn arrive(&mut self, context: u32, barrier: Control) {
        let _ = (context, barrier);
    }
}

struct Cursor<'r> {
    context: u32,
    chunks: Vec<&'r ChunkInfo>,
    next: usize,
    raw: Vec<u8>,
    at: usize,
    begun: bool,
    /// A control event that has to wait.
    pending: Option<Control>,
    arrived: bool,
}

/// What must come before what, by tickets.
#[derive(Default)]
struct Gate {
    /// For each object the tickets that are still to come, in descending order.
    tickets: HashMap<u64, Vec<u64>>,
    /// Arrivals at barriers.
    arrived: BTreeMap<(u64, u64), u64>,
    created: std::collections::HashSet<u32>,
    heap: u64,
}

/// Replays a recording. A damaged chunk ends its context.
pub fn replay(recording: &Recording, consumer: &mut impl Consumer) -> Result<(), Problem> {
    let mut decoder = Decoder::default();
    let mut gate = Gate::new(recording);
    let mut cursors: Vec<Cursor<'_>> = recording
        .contexts()
        .into_iter()
        .map(|context| Cursor {
            context,
            chunks: recording.chunks_of(context).collect(),
            next: 0,
            raw: Vec::new(),
            at: 0,
            begun: false,
            pending: None,
            arrived: false,
        })
        .collect();
    let modules: HashMap<u32, u32> = (0..).zip(&recording.program.modules).map(|(n, m)| (m.base, n)).collect();
    let mut turn = Turn { recording, modules, decoder: &mut decoder, accesses: Vec::new() };
    while !cursors.is_empty() {
        let mut moved = false;
        let mut at = 0;
        while at < cursors.len() {
            let ended: Vec<u32> = cursors.iter().map(|cursor| cursor.context).collect();
            match turn.take(&mut cursors[at], &mut gate, &ended, consumer)? {
                Went::On => (moved, at) = (true, at + 1),
                Went::Nowhere => at += 1,
                Went::ToTheEnd => {
                    moved = true;
                    cursors.remove(at);
                }
            }
        }
        if !moved {
            // What they wait for is missing from the recording: who waits for the lowest ticket goes on.
            let first = cursors.iter_mut().min_by_key(|cursor| cursor.pending.map_or(0, |c| time_of(&c)));
            if let Some(control) = first.and_then(|cursor| {
                cursor.begun = true;
                Some((cursor.context, cursor.pending.take()?))
            }) {
                gate.pass(&control.1);
                consumer.control(control.0, control.1);
            }
        }
    }
    Ok(())
}

/// Which passage of which barrier.
pub fn episode(barrier: &Control) -> (u64, u64) {
    let [_, _, object, arrival, count] = barrier.slots;
    (object, arrival / count.max(1))
}

fn time_of(control: &Control) -> u64 {
    match control.kind {
        Kind::Allocate => control.slots[2],
        Kind::Free => control.slots[1],
        _ => control.slots[0],
    }
}

enum Went {
    On,
    Nowhere,
    ToTheEnd,
}

struct Turn<'r, 'd> {
    recording: &'r Recording,
    modules: HashMap<u32, u32>,
    decoder: &'d mut Decoder,
    accesses: Vec<Access>,
}

impl<'r> Turn<'r, '_> {
    fn take(
        &mut self,
        cursor: &mut Cursor<'r>,
        gate: &mut Gate,
        running: &[u32],
        consumer: &mut impl Consumer,
    ) -> Result<Went, Problem> {
        let program: &Program = &self.recording.program;
        let mut went = Went::Nowhere;
        if let Some(control) = cursor.pending {
            if !gate.opens(cursor, &control, running) {
                return Ok(went);
            }
            gate.pass(&control);
            consumer.control(cursor.context, control);
            (cursor.pending, cursor.begun, cursor.arrived) = (None, true, false);
            went = Went::On;
        }
        for _ in 0..TURN {
            let mut events = Events::new(program, cursor.raw.get(cursor.at..).unwrap_or_default());
            let Ok(Some((event, _))) = events.next_event() else {
                let Some(chunk) = cursor.chunks.get(cursor.next) else {
                    return Ok(Went::ToTheEnd);
                };
                cursor.next += 1;
                cursor.at = 0;
                cursor.raw = match self.decoder.decode(program, &self.recording.encoded(chunk)?) {
                    Ok(raw) => raw,
                    Err(_) => return Ok(Went::ToTheEnd),
                };
                continue;
            };
            let length = events.position();
            if let Some(control) = event.control() {
                cursor.at += length;
                cursor.pending = Some(control);
                gate.arrive(cursor, &control, consumer);
                if !gate.opens(cursor, &control, running) {
                    return Ok(went);
                }
                gate.pass(&control);
                consumer.control(cursor.context, control);
                (cursor.pending, cursor.begun, cursor.arrived) = (None, true, false);
            } else if let Some((module, segment)) = program.segment(event.id) {
                let frame = event.accesses(module, segment, &mut self.accesses);
                let (context, id) = (cursor.context, event.id);
                let module_number = self.modules.get(&module.base).copied().unwrap_or(0);
                consumer.segment(Executed { context, id, module, module_number, segment, frame }, &self.accesses);
                cursor.at += length;
            }
            went = Went::On;
        }
        Ok(went)
    }
}

impl Gate {
    fn new(recording: &Recording) -> Gate {
        let mut gate = Gate::default();
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

    /// A context comes to a barrier.
    fn arrive(&mut self, cursor: &mut Cursor<'_>, control: &Control, consumer: &mut impl Consumer) {
        if control.kind == Kind::Barrier && !std::mem::replace(&mut cursor.arrived, true) {
            *self.arrived.entry(episode(control)).or_default() += 1;
            consumer.arrive(cursor.context, *control);
        }
    }

    /// True if a control event may come now.
    fn opens(&self, cursor: &Cursor<'_>, control: &Control, running: &[u32]) -> bool {
        let [_, second, third, fourth, fifth] = control.slots;
        match control.kind {
            Kind::Begin => second == 0 || self.created.contains(&cursor.context),
            Kind::Join => !u32::try_from(third).is_ok_and(|other| other > 0 && running.contains(&(other - 1))),
            Kind::Sync => {
                self.tickets.get(&third).and_then(|tickets| tickets.last()).is_none_or(|next| *next >= fourth)
            }
            Kind::Barrier => self.arrived.get(&episode(control)).is_some_and(|here| *here >= fifth.max(1)),
            Kind::Allocate => self.heap >= third,
            Kind::Free => self.heap >= second,
            Kind::Create | Kind::End | Kind::Gap => true,
        }
    }

    /// A control event comes.
    fn pass(&mut self, control: &Control) {
        let [_, second, third, fourth, _] = control.slots;
        match control.kind {
            Kind::Create => {
                self.created.extend(u32::try_from(third).ok().and_then(|other| other.checked_sub(1)));
            }
            Kind::Sync => {
                if let Some(tickets) = self.tickets.get_mut(&third) {
                    while tickets.last().is_some_and(|next| *next <= fourth) {
                        tickets.pop();
                    }
                }
            }
            Kind::Allocate => self.heap = self.heap.max(third + 1),
            Kind::Free => self.heap = self.heap.max(second + 1),
            Kind::Begin | Kind::Join | Kind::Barrier | Kind::End | Kind::Gap => {}
        }
    }
}
