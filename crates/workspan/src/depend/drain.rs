//! Analyses full buffers while the program runs, in order, in one pass: nothing is stored.
//!
//! The buffers of a thread come in their order; those of several threads in any. Allocations of another thread than the one that uses
//! the memory are seen by the former alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use workspan_depend::engine::{analyse, Engine};
use workspan_depend::second;
use workspan_graph::program::Program;
use workspan_trace::drain::{Memory, Taken};

use crate::signals;

/// How long the analysis sleeps before it looks again.
const PATIENCE: Duration = Duration::from_millis(100);

/// What came of it.
#[derive(Debug)]
pub struct Drained {
    /// All that was found.
    pub engine: Engine,
    /// Buffers with events that are not understood.
    pub unknown: u32,
    /// What has ended the analysis before the run's end: the rest is missing.
    pub cut: Option<Cut>,
}

/// Why an analysis ends before the run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It needed more memory than it may.
    Memory,
    /// A signal after the program's end.
    Signal,
}

/// Runs something, and analyses meanwhile and afterwards. `most`: bytes of memory; `engine`: has seen nothing yet.
pub fn during<T: Send>(memory: &Memory, most: u64, engine: Engine, run: impl FnOnce() -> T) -> (T, Drained) {
    let dead = AtomicBool::new(false);
    thread::scope(|scope| {
        let worker = scope.spawn(|| work(memory, most, engine, &dead));
        let result = run();
        dead.store(true, Ordering::Release);
        memory.ring();
        let drained = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (result, drained)
    })
}

#[derive(Default)]
struct Work {
    program: Program,
    engine: Engine,
    unknown: u32,
    parts: u32,
    open: HashMap<u32, Vec<Option<Vec<u8>>>>,
    /// Buffers that came before their turn, by thread and number.
    early: BTreeMap<(u32, u32), Taken>,
    next: HashMap<u32, u32>,
}

fn work(memory: &Memory, most: u64, engine: Engine, dead: &AtomicBool) -> Drained {
    let mut work = Work { program: Program::new(), engine, ..Work::default() };
    let mut cut = None;
    loop {
        let seen = memory.doorbell();
        let was_dead = dead.load(Ordering::Acquire);
        while let Some(part) = memory.take_part(was_dead) {
            work.add(part);
        }
        let Some(taken) = memory.take_events(was_dead) else {
            if was_dead {
                break;
            }
            memory.wait(seen, PATIENCE);
            continue;
        };
        while work.parts < taken.parts {
            let Some(part) = memory.take_part(was_dead) else {
                break;
            };
            work.add(part);
        }
        if was_dead && signals::stopped() {
            cut = cut.or(Some(Cut::Signal));
        }
        if cut.is_some() {
            continue;
        }
        work.early.insert((taken.context, taken.sequence), taken);
        work.in_order();
        if work.engine.bytes() as u64 > most {
            cut = Some(Cut::Memory);
            memory.close();
        }
    }
    // Of a thread that lost a buffer, what came after it.
    for taken in std::mem::take(&mut work.early).into_values() {
        work.analyse(&taken);
    }
    Drained { engine: work.engine, unknown: work.unknown, cut }
}

impl Work {
    fn add(&mut self, part: Taken) {
        self.parts += 1;
        let open = self.open.entry(part.context).or_default();
        open.resize((part.of as usize).clamp(open.len(), 1 << 12), None);
        if let Some(place) = open.get_mut(part.sequence as usize) {
            *place = Some(part.bytes);
        }
        if open.iter().any(Option::is_none) {
            return;
        }
        let parts = self.open.remove(&part.context).unwrap_or_default();
        let bytes: Vec<u8> = parts.into_iter().flatten().flatten().collect();
        match self.program.add(part.base, &bytes) {
            Ok(()) => {
                if let Some(loaded) = self.program.modules.last() {
                    self.engine.learn(loaded);
                }
            }
            Err(_) => self.unknown += 1,
        }
    }

    fn in_order(&mut self) {
        while let Some(key) =
            self.early.keys().find(|key| self.next.get(&key.0).copied().unwrap_or(0) == key.1).copied()
        {
            if let Some(taken) = self.early.remove(&key) {
                self.next.insert(key.0, key.1 + 1);
                self.analyse(&taken);
            }
        }
    }

    fn analyse(&mut self, taken: &Taken) {
        if analyse(&mut self.engine, &self.program, taken.context, &taken.bytes).is_err() {
            // The last event of a thread that was ended may lack a part; any other is damage.
            self.unknown += u32::from(!taken.unfinished);
        }
        if self.engine.journal.is_full() {
            second::part(&mut self.engine);
        }
    }
}
