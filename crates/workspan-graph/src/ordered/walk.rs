//! Accesses, allocations and releases one by one, each with the task that made it.
//!
//! Summaries say which task each event of a chunk belongs to: whoever wants the accesses of one task decodes the chunks that the task
//! ran in, and no others. Events come in the order of their thread. **Memory:** some words for each control event; a decoded chunk
//! for each reader.

use std::collections::HashMap;
use std::ops::ControlFlow;

use workspan_trace::control::{Kind, FIRST_SEGMENT};
use workspan_trace::program::{operation, Access as Mode};

use crate::codec::Decoder;
use crate::events::{Access, Events};
use crate::file::{ChunkInfo, Problem, Recording};
use crate::graph::{Graph, Type};
use crate::ranks;
use crate::replay::{most_iterations, Iterations};
use crate::structure::{other, Position};

/// Events of a chunk that belong to one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// It ends before the event of this number.
    pub until: u64,
    /// Context.
    pub context: u32,
    /// Number of the task in the graph, if it is known.
    pub task: Option<u32>,
}

/// What a task did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It accessed memory, in an iteration (from 0) of a loop that one event stands for.
    Access(Access, u64),
    /// It allocated memory: address, bytes, ticket.
    Allocate(u64, u64, u64),
    /// It freed memory: address, ticket.
    Free(u64, u64),
}

/// What a task did, and where this stands in the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Whose it is.
    pub piece: Piece,
    /// Thread, chunk of the thread, events of the chunk before it.
    pub at: Position,
    /// Number of the module.
    pub module: u32,
    /// The segment that was executed last; 0: nobody knows.
    pub segment: u32,
    /// What it is.
    pub deed: Deed,
}

/// Whose events each chunk holds.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// As the recording's chunks: those of a thread behind a missing one are empty.
    chunks: Vec<Vec<Piece>>,
}

impl Walk {
    /// Of a recording and its graph.
    pub fn new(recording: &Recording, graph: &Graph) -> Walk {
        let tasks = Tasks::of(graph);
        let mut walk = Walk { chunks: vec![Vec::new(); recording.chunks.len()] };
        for thread in recording.contexts() {
            let first = recording.chunks.partition_point(|chunk| chunk.context < thread);
            let mut piece = Piece { until: 0, context: thread, task: tasks.first(thread) };
            for (number, chunk) in (first..).zip(recording.chunks_of(thread)) {
                let pieces = &mut walk.chunks[number];
                for mark in &chunk.summary.marks {
                    pieces.push(Piece { until: mark.at.saturating_add(1), ..piece });
                    match (mark.control.kind, other(mark.control.slots[1])) {
                        (Kind::Switch, Some(context)) => {
                            piece = Piece { context, task: tasks.at(context, mark.control.slots[0]), ..piece };
                        }
                        _ => {
                            let after = tasks.after.get(&(thread, chunk.sequence, mark.at)).copied();
                            piece.task = after.or(piece.task);
                        }
                    }
                }
                pieces.push(Piece { until: u64::MAX, ..piece });
            }
        }
        walk
    }

    /// Chunks, by their number in the recording, that have events of somebody who is wanted.
    pub fn chunks(&self, wanted: impl Fn(&Piece) -> bool) -> Vec<usize> {
        (0..self.chunks.len()).filter(|number| self.chunks[*number].iter().any(&wanted)).collect()
    }

    /// Reads a chunk, whose beginnings `read` gets from the recording, until `take` has enough.
    pub fn read(
        &self,
        recording: &Recording,
        (decoder, raw): (&mut Decoder, &mut Vec<u8>),
        number: usize,
        wanted: impl Fn(&Piece) -> bool,
        take: &mut dyn FnMut(Item) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Problem> {
        let (Some(chunk), Some(pieces)) = (recording.chunks.get(number), self.chunks.get(number)) else {
            return Ok(ControlFlow::Continue(()));
        };
        let encoded = recording.encoded(chunk)?;
        if decoder.decode_into(&recording.program, &encoded, raw).is_err() {
            // As everywhere: what cannot be decoded is not there.
            return Ok(ControlFlow::Continue(()));
        }
        let mut reader = Reader { recording, number, chunk, rank: recording.ranks.bits(chunk.context), last: 0, take };
        Ok(reader.read(raw, pieces, wanted))
    }
}

/// The segment that a thread had executed last when a chunk began; 0: none.
fn last_before(recording: &Recording, number: usize) -> u32 {
    let (mut decoder, mut raw) = (Decoder::default(), Vec::new());
    let threads = recording.chunks.get(..=number).unwrap_or_default().windows(2).rev();
    let earlier = threads.take_while(|pair| pair[0].context == pair[1].context).map(|pair| &pair[0]);
    for chunk in earlier {
        let Ok(encoded) = recording.encoded(chunk) else { break };
        if decoder.decode_into(&recording.program, &encoded, &mut raw).is_err() {
            break;
        }
        let mut events = Events::new(&recording.program, &raw);
        let mut last = 0;
        while let Ok(Some((event, _))) = events.next_event() {
            last = if event.id < FIRST_SEGMENT { last } else { event.id };
        }
        if last != 0 {
            return last;
        }
    }
    0
}

/// Work tasks, by where and when they begin.
#[derive(Default)]
struct Tasks {
    /// The one that begins behind a control event.
    after: HashMap<Position, u32>,
    /// Those of a context: begin, number.
    of: HashMap<u32, Vec<(u64, u32)>>,
}

impl Tasks {
    fn of(graph: &Graph) -> Tasks {
        let mut tasks = Tasks::default();
        for (number, task) in (0..).zip(&graph.tasks).filter(|(_, task)| task.kind == Type::Work) {
            let of = tasks.of.entry(task.context).or_default();
            if !of.is_empty() {
                // Of several, as behind a wait for many, the last one goes on.
                tasks.after.insert(task.at, number);
            }
            of.push((task.start, number));
        }
        tasks.of.values_mut().for_each(|of| of.sort_unstable());
        tasks
    }

    fn first(&self, context: u32) -> Option<u32> {
        self.of.get(&context)?.first().map(|task| task.1)
    }

    /// The one that a context executes at a time.
    fn at(&self, context: u32, time: u64) -> Option<u32> {
        let tasks = self.of.get(&context)?;
        tasks.get(tasks.partition_point(|task| task.0 <= time).saturating_sub(1)).map(|task| task.1)
    }
}

struct Reader<'r, 't> {
    recording: &'r Recording,
    number: usize,
    chunk: &'r ChunkInfo,
    rank: u64,
    last: u32,
    take: &'t mut dyn FnMut(Item) -> ControlFlow<()>,
}

impl Reader<'_, '_> {
    fn read(&mut self, raw: &[u8], pieces: &[Piece], wanted: impl Fn(&Piece) -> bool) -> ControlFlow<()> {
        let program = &self.recording.program;
        let most = most_iterations(self.recording);
        let (mut accesses, mut steps, mut list) = (Vec::new(), Vec::new(), Vec::new());
        let mut pieces = pieces.iter();
        let Some(mut piece) = pieces.next() else {
            return ControlFlow::Continue(());
        };
        let mut events = Events::new(program, raw);
        let mut number = 0;
        while let Ok(Some((event, entry))) = events.next_event() {
            while number >= piece.until {
                match pieces.next() {
                    Some(next) => piece = next,
                    None => return ControlFlow::Continue(()),
                }
            }
            let at = (self.chunk.context, self.chunk.sequence, number);
            number += 1;
            if let Some(mut control) = event.control() {
                if !wanted(piece) {
                    continue;
                }
                if !matches!(control.kind, Kind::Transfer | Kind::Allocate | Kind::Free) {
                    continue;
                }
                if self.last == 0 {
                    self.last = last_before(self.recording, self.number);
                }
                ranks::mark(&mut control, self.rank);
                let [address, second, third, ..] = control.slots;
                let deed = match control.kind {
                    Kind::Transfer => {
                        let mode = if third == 0 { Mode::Load } else { Mode::Store };
                        let operation = program.transfer(self.last, mode);
                        Deed::Access(Access { address, size: second, mode, flags: operation::LIBRARY, operation }, 0)
                    }
                    Kind::Allocate => Deed::Allocate(address, second, third),
                    Kind::Free => Deed::Free(address, second),
                    _ => continue,
                };
                self.give(piece, at, deed)?;
                continue;
            }
            self.last = event.id;
            let Some((module, segment)) = program.segment(event.id).filter(|_| wanted(piece)) else {
                continue;
            };
            let variables = self.recording.ranks.variables(self.rank, program.module_of(event.id));
            let variables = variables.unwrap_or(&module.variables);
            let mut times = 1;
            if entry.repeated {
                times = event.iterations_at(module, variables, segment, (&mut accesses, &mut steps)).min(most);
            } else {
                event.accesses_at(module, variables, segment, &mut accesses);
                steps.clear();
            }
            accesses.iter_mut().for_each(|access| access.address |= self.rank);
            if accesses.is_empty() {
                continue;
            }
            let mut iteration = 0;
            let iterations = Iterations { first: &accesses, steps: &steps, times };
            iterations.try_each(&mut list, |accesses| {
                for access in accesses {
                    self.give(piece, at, Deed::Access(*access, iteration))?;
                }
                iteration += 1;
                ControlFlow::Continue(())
            })?;
        }
        ControlFlow::Continue(())
    }

    fn give(&mut self, piece: &Piece, at: Position, deed: Deed) -> ControlFlow<()> {
        // Of a sample, an event is there for one of its accesses.
        let sample = self.recording.sample;
        if sample.is_some_and(|sample| matches!(deed, Deed::Access(access, _) if !sample.touched_by(&access))) {
            return ControlFlow::Continue(());
        }
        let module = self.recording.program.module_of(self.last);
        (self.take)(Item { piece: *piece, at, module, segment: self.last, deed })
    }
}
