//! From words of a trace to the engine.

use workspan_wire::trace;

use crate::engine::Engine;
use crate::program::Program;
use crate::system::Call;

/// What a run is analysed with, and how far.
#[derive(Debug)]
pub struct Stream<const N: usize, const T: usize, const A: bool> {
    /// The depths.
    pub engine: Engine<N, T, A>,
    /// The code.
    pub program: Program,
    threads: Vec<Pending>,
    limit: u64,
    /// Words that made no sense.
    odd: u64,
    last: Option<(u64, u32)>,
}

/// What is not known yet of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// A system call: its block, and what it is.
    call: Option<(u64, Option<Call>)>,
}

impl<const N: usize, const T: usize, const A: bool> Stream<N, T, A> {
    /// Stops behind this number of instructions.
    pub fn new(engine: Engine<N, T, A>, limit: u64) -> Stream<N, T, A> {
        Stream { engine, program: Program::new(), threads: Vec::new(), limit, odd: 0, last: None }
    }

    /// Words that made no sense; 0 unless the trace is damaged.
    pub fn odd(&self) -> u64 {
        self.odd
    }

    /// True if no more is wanted.
    pub fn is_full(&self) -> bool {
        self.engine.instructions() >= self.limit || !self.engine.has_room()
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
                    if self.is_full() {
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

    fn block(&mut self, thread: usize, id: u64, words: &[u64]) -> usize {
        let Some(block) = self.program.run(id) else {
            self.odd += 1;
            return 0;
        };
        let ops = block.ops.as_slice();
        let Some((last, before)) = ops.split_last() else { return 0 };
        self.last = Some((id, last.id));
        if last.system {
            self.threads[thread].call = Some((id, None));
            return self.engine.run(thread, before, words);
        }
        self.engine.run(thread, ops, words)
    }

    fn other(&mut self, thread: usize, kind: u64, body: &[u64]) {
        match kind {
            trace::CODE => match self.program.code(body) {
                Some(id) => self.engine.learn(&self.program.blocks()[id].ops),
                None => self.odd += 1,
            },
            trace::FILE => self.program.file(body),
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
                if let Some((address, len)) = effect.mapped {
                    self.engine.forget(address, len);
                }
                self.call(thread, id, &effect.ranges);
            }
            _ => self.odd += 1,
        }
    }

    /// A system call that has not come back ran, too.
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
