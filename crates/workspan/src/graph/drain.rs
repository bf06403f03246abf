//! Takes full buffers while the program runs, on a few threads: each buffer is a chunk that depends on no other.
//!
//! Descriptions of modules are taken in, and buffers given out, under one lock, so that no buffer is read before the
//! descriptions that it needs are there.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use workspan_graph::codec::{Encoder, Haste};
use workspan_graph::file::Recorder;
use workspan_graph::program::Program;
use workspan_graph::sample::Sample;
use workspan_graph::thin::Sampler;
use workspan_trace::drain::{Memory, Taken};

/// Threads that encode, at most.
const WORKERS: usize = 4;
/// How long a worker sleeps before it looks again.
const PATIENCE: Duration = Duration::from_millis(100);

/// What came of it.
#[derive(Debug)]
pub struct Drained {
    /// The file, not finished.
    pub recorder: Recorder,
    /// Why nothing more could be written.
    pub error: Option<io::Error>,
    /// Buffers with events that are not understood.
    pub unknown: u32,
}

struct Written {
    recorder: Recorder,
    error: Option<io::Error>,
    unknown: u32,
}

/// Modules whose description is not complete yet: parts, and how many there are.
#[derive(Default)]
struct Parts {
    taken: u32,
    open: HashMap<u32, Vec<Option<Vec<u8>>>>,
}

struct Shared<'m> {
    memory: &'m Memory,
    parts: Mutex<Parts>,
    program: RwLock<Program>,
    /// Which accesses are recorded, if not all.
    sample: Option<Sample>,
    written: Mutex<Written>,
    dead: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs something, and drains meanwhile and afterwards.
pub fn during<T>(
    memory: &Memory,
    (recorder, sample): (Recorder, Option<Sample>),
    run: impl FnOnce() -> T,
) -> (T, Drained) {
    let shared = Shared {
        memory,
        parts: Mutex::default(),
        program: RwLock::new(Program::new()),
        sample,
        written: Mutex::new(Written { recorder, error: None, unknown: 0 }),
        dead: AtomicBool::new(false),
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(WORKERS);
    let result = thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| work(&shared));
        }
        let result = run();
        shared.dead.store(true, Ordering::Release);
        memory.ring();
        result
    });
    let Written { recorder, error, unknown } = shared.written.into_inner().unwrap_or_else(PoisonError::into_inner);
    (result, Drained { recorder, error, unknown })
}

fn work(shared: &Shared<'_>) {
    let (mut encoder, mut sampler) = (Encoder::default(), Sampler::default());
    loop {
        let seen = shared.memory.doorbell();
        let dead = shared.dead.load(Ordering::Acquire);
        match next(shared, dead) {
            Some(taken) => encode(shared, (&mut encoder, &mut sampler), taken),
            None if dead => return,
            None => shared.memory.wait(seen, PATIENCE),
        }
    }
}

/// The next buffer of events, after the descriptions that it needs.
fn next(shared: &Shared<'_>, dead: bool) -> Option<Taken> {
    let mut parts = lock(&shared.parts);
    while let Some(part) = shared.memory.take_part(dead) {
        add(shared, &mut parts, part);
    }
    let taken = shared.memory.take_events(dead)?;
    // Published before the buffer was full, hence there.
    while parts.taken < taken.parts {
        let Some(part) = shared.memory.take_part(dead) else {
            break;
        };
        add(shared, &mut parts, part);
    }
    Some(taken)
}

fn add(shared: &Shared<'_>, parts: &mut Parts, part: Taken) {
    parts.taken += 1;
    let open = parts.open.entry(part.context).or_default();
    open.resize((part.of as usize).clamp(open.len(), 1 << 12), None);
    if let Some(place) = open.get_mut(part.sequence as usize) {
        *place = Some(part.bytes);
    }
    if open.iter().any(Option::is_none) {
        return;
    }
    let bytes: Vec<u8> = parts.open.remove(&part.context).unwrap_or_default().into_iter().flatten().flatten().collect();
    let added = shared.program.write().unwrap_or_else(PoisonError::into_inner).add(part.base, &bytes);
    let mut written = lock(&shared.written);
    match added {
        Ok(()) => put(shared, &mut written, |recorder| recorder.module(part.base, &bytes)),
        Err(_) => written.unknown += 1,
    }
}

fn encode(shared: &Shared<'_>, (encoder, sampler): (&mut Encoder, &mut Sampler), taken: Taken) {
    let haste = if shared.memory.is_behind() { Haste::Behind } else { Haste::None };
    let (context, sequence, unfinished) = (taken.context, taken.sequence, taken.unfinished);
    let encoded = {
        let program = shared.program.read().unwrap_or_else(PoisonError::into_inner);
        match &shared.sample {
            None => encoder.encode_own(&program, taken.bytes, haste).map(|(chunk, unknown)| (chunk, unknown.is_some())),
            Some(sample) => sampler.encode(encoder, (&program, sample), &taken.bytes, haste),
        }
    };
    let mut written = lock(&shared.written);
    match encoded {
        Ok((chunk, unknown)) => {
            // The last event of a thread that was ended may lack a part; any other is damage.
            written.unknown += u32::from(unknown && !unfinished);
            put(shared, &mut written, |recorder| recorder.events(context, sequence, unfinished, &chunk));
        }
        Err(error) => fail(shared, &mut written, error),
    }
}

fn put(shared: &Shared<'_>, written: &mut Written, write: impl FnOnce(&mut Recorder) -> io::Result<()>) {
    if written.error.is_none() {
        if let Err(error) = write(&mut written.recorder) {
            fail(shared, written, error);
        }
    }
}

/// The program goes on without being recorded.
fn fail(shared: &Shared<'_>, written: &mut Written, error: io::Error) {
    written.error.get_or_insert(error);
    shared.memory.close();
}
