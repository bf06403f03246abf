//! From words of a trace to the engine.

use workspan_wire::trace;

use crate::engine::Engine;
use crate::model::Kind;
use crate::program::{Mapped, Program};
use crate::roi::{Region, Watch};
use crate::system::Call;

/// What a run is analysed with, and how far.
#[expect(missing_debug_implementations, reason = "a function that looks up")]
pub struct Stream<K: Kind, const N: usize, const T: usize> {
    /// The depths.
    pub engine: Engine<K, N, T>,
    /// The code.
    pub program: Program,
    threads: Vec<Pending>,
    limit: u64,
    watch: Watch,
    look_up: LookUp,
    /// Where the heap that `brk` moves begins, once that is known.
    heap: Option<u64>,
    /// Up to this number of instructions, neither limit nor depths need a look.
    until: u64,
    /// Words that made no sense.
    odd: u64,
    last: Option<(u64, u32)>,
}

/// Where functions begin, of a file that code comes from.
pub type LookUp = Box<dyn FnMut(&Mapped) -> Functions + Send>;

/// Addresses at which functions begin.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// Those of the allocator.
    pub allocators: Vec<u64>,
    /// Those that begin or end the region of interest.
    pub region: Region,
}

/// What is not known yet of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// A system call: its block, and what it is.
    call: Option<(u64, Option<Call>)>,
}

impl<K: Kind, const N: usize, const T: usize> Stream<K, N, T> {
    /// Stops behind this number of instructions.
    pub fn new(engine: Engine<K, N, T>, limit: u64, watch: Watch, look_up: LookUp) -> Stream<K, N, T> {
        let (program, threads) = (Program::new(), Vec::new());
        Stream { engine, program, threads, limit, watch, look_up, heap: None, until: 0, odd: 0, last: None }
    }

    /// Words that made no sense; 0 unless the trace is damaged.
    pub fn odd(&self) -> u64 {
        self.odd
    }

    /// True if no more is wanted.
    pub fn is_full(&self) -> bool {
        self.engine.instructions() >= self.limit || !self.engine.has_room() || self.watch.is_over()
    }

    /// What was watched for.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The last instruction of the block that ran last.
    pub fn last(&self) -> Option<u32> {
        self.last.map(|(_, id)| id)
    }

    /// Words of a thread: whole records.
    pub fn feed(&mut self, thread: usize, words: &[u64]) {
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, Pending::default());
        }
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            match trace::kind(*word) {
                trace::BLOCK => {
                    if self.engine.instructions() >= self.until {
                        if self.is_full() {
                            return;
                        }
                        // A block has at most 512 instructions; the last one may exceed the limit, as ever.
                        self.until = self.limit.min(self.engine.instructions() + self.engine.room() / 2);
                    }
                    if self.watch.is_over() {
                        return;
                    }
                    self.flush(thread);
                    at += self.block(thread, trace::low(*word), &words[at..]);
                }
                // An access of no block: of one that was torn apart.
                trace::ACCESS => self.odd += 1,
                kind => {
                    let len = usize::try_from(trace::low(*word)).unwrap_or(usize::MAX);
                    let Some(body) = words.get(at..at.saturating_add(len)) else {
                        self.odd += 1;
                        return;
                    };
                    at += len;
                    self.other(thread, kind, body);
                }
            }
        }
    }

    #[inline(always)]
    fn block(&mut self, thread: usize, id: u64, words: &[u64]) -> usize {
        let watched = !self.watch.is_everything();
        let Some(block) = self.program.block(id) else {
            self.odd += 1;
            return 0;
        };
        let Some((last, before)) = block.ops.split_last() else { return 0 };
        self.last = Some((id, last.id));
        if watched {
            let accesses = words.iter().take_while(|word| trace::kind(**word) == trace::ACCESS).count();
            let first = self.program.place(block.ops[0].id).map_or(0, |place| place.address);
            if !self.watch.block(thread, first, last, block.ops.len() as u64, &words[..accesses]) {
                return accesses;
            }
        }
        let used = if last.system {
            self.threads[thread].call = Some((id, None));
            self.engine.run(thread, before, words)
        } else {
            self.engine.run(thread, &block.ops, words)
        };
        self.program.count(id);
        used
    }

    fn other(&mut self, thread: usize, kind: u64, body: &[u64]) {
        match kind {
            trace::CODE => match self.program.code(body) {
                Some(id) => self.engine.learn(&self.program.blocks()[id].ops),
                None => self.odd += 1,
            },
            trace::FILE => {
                let found = self.program.file(body).map(&mut self.look_up).unwrap_or_default();
                self.program.allocators(found.allocators);
                self.watch.add(found.region);
            }
            trace::CALL => {
                let Some((number, arguments)) = body.split_first() else { return };
                let Ok(arguments) = <[u64; 6]>::try_from(arguments) else { return };
                let call = Call { number: *number, arguments };
                if let Some((_, known)) = &mut self.threads[thread].call {
                    *known = Some(call);
                }
                if call.is_last() {
                    self.flush(thread);
                }
            }
            trace::RETURN => {
                let Some((id, call)) = self.threads[thread].call.take() else { return };
                let effect = call.map(|call| call.effect(body.get(1).copied().unwrap_or(0))).unwrap_or_default();
                if let Some((address, len, heap)) = effect.mapped {
                    self.engine.map(address, len, heap);
                }
                if let Some(end) = effect.end_of_heap {
                    let begin = *self.heap.get_or_insert(end);
                    self.engine.heap(begin, end);
                }
                self.call(thread, id, &effect.ranges);
            }
            _ => self.odd += 1,
        }
    }

    /// A system call that has not come back ran, too.
    #[inline(always)]
    fn flush(&mut self, thread: usize) {
        if let Some((id, _)) = self.threads.get_mut(thread).and_then(|pending| pending.call.take()) {
            self.call(thread, id, &[]);
        }
    }

    fn call(&mut self, thread: usize, id: u64, ranges: &[crate::engine::Range]) {
        let block = usize::try_from(id).ok().and_then(|id| self.program.blocks().get(id));
        if let Some(op) = block.and_then(|block| block.ops.last()) {
            self.engine.call(thread, op, ranges);
        }
    }

    /// The trace is over.
    pub fn finish(&mut self) {
        for thread in 0..self.threads.len() {
            self.flush(thread);
        }
    }
}
