//! The analysis of a trace, as it comes: one engine, or two that work side by side.

use std::sync::mpsc::sync_channel;
use std::thread;

use workspan_limits::model::{
    All, Beyond, Kind, Model, Single, Table, ALL, BEYOND, BEYOND_LANES, BEYOND_NAMED, LANES, NAMED, SEVEN, SEVEN_LANES,
    SEVEN_NAMED, TRU,
};
use workspan_limits::program::Program;
use workspan_limits::result::limits;
use workspan_limits::roi::Watch;
use workspan_limits::stream::LookUp;
use workspan_limits::{Engine, Limits, Settings, Stream};

use crate::args::Models;

/// Takes words of a thread; false if no more is wanted.
pub type Feed<'a> = dyn FnMut(usize, &[u64]) -> bool + 'a;

/// What to analyse.
#[derive(Debug)]
pub struct Plan {
    /// With which models.
    pub models: Models,
    /// Bytes for the history of memory.
    pub memory: usize,
    /// Instructions at most.
    pub limit: u64,
    /// The region of interest.
    pub watch: Watch,
}

/// What was found.
#[derive(Debug)]
pub struct Analysed {
    /// The limits.
    pub found: Limits,
    /// The code.
    pub program: Program,
    /// The last instruction of the block that ran last.
    pub last: Option<u32>,
    /// Words that made no sense.
    pub odd: u64,
    /// How often the region of interest began, and all instructions that ran.
    pub seen: (u64, u64),
    /// False if a critical path was too long to count.
    pub room: bool,
}

/// Chunks that wait for the second engine.
const WAITING: usize = 16;

/// Analyses what `run` feeds.
pub fn analyse<E>(
    plan: &Plan,
    look_up: &dyn Fn() -> LookUp,
    run: impl FnOnce(&mut Feed<'_>) -> Result<E, anyhow::Error>,
) -> anyhow::Result<(E, Analysed)> {
    match plan.models {
        Models::Table => one::<Table, SEVEN_LANES, SEVEN_NAMED, E>(plan, SEVEN, look_up, run),
        Models::Tru => one::<Single, 1, 0, E>(plan, TRU, look_up, run),
        Models::All => two(plan, look_up, run),
    }
}

fn stream<K: Kind, const N: usize, const T: usize>(
    plan: &Plan,
    models: [Model; N],
    memory: usize,
    look_up: LookUp,
) -> Stream<K, N, T> {
    // 640 MiB of the usual 4 GiB.
    let ready = memory / 32 * 5;
    let settings = Settings { memory, ready, paths: true };
    Stream::new(Engine::new(models, settings), plan.limit, plan.watch.clone(), look_up)
}

fn one<K: Kind, const N: usize, const T: usize, E>(
    plan: &Plan,
    models: [Model; N],
    look_up: &dyn Fn() -> LookUp,
    run: impl FnOnce(&mut Feed<'_>) -> Result<E, anyhow::Error>,
) -> anyhow::Result<(E, Analysed)> {
    let mut stream = stream::<K, N, T>(plan, models, plan.memory, look_up());
    let ended = run(&mut |thread, words| {
        stream.feed(thread, words);
        !stream.is_full()
    })?;
    Ok((ended, analysed(stream)))
}

fn analysed<K: Kind, const N: usize, const T: usize>(mut stream: Stream<K, N, T>) -> Analysed {
    stream.finish();
    Analysed {
        found: limits(&stream.engine, &stream.program),
        last: stream.last(),
        odd: stream.odd(),
        seen: stream.watch().seen(),
        room: stream.engine.has_room(),
        program: stream.program,
    }
}

/// All models on this thread, what goes beyond them on another.
fn two<E>(
    plan: &Plan,
    look_up: &dyn Fn() -> LookUp,
    run: impl FnOnce(&mut Feed<'_>) -> Result<E, anyhow::Error>,
) -> anyhow::Result<(E, Analysed)> {
    // Cells of both take about as much.
    let memory = plan.memory / 2;
    thread::scope(|scope| {
        let found = look_up();
        let (send, receive) = sync_channel::<(usize, Vec<u64>)>(WAITING);
        let other = scope.spawn(move || {
            let mut stream = stream::<Beyond, BEYOND_LANES, BEYOND_NAMED>(plan, BEYOND, memory, found);
            for (thread, words) in receive {
                stream.feed(thread, &words);
            }
            analysed(stream)
        });
        let mut stream = stream::<All, LANES, NAMED>(plan, ALL, memory, look_up());
        let ended = run(&mut |thread, words| {
            // It only hangs up when it panics, which shows below.
            let _ = send.send((thread, words.to_vec()));
            stream.feed(thread, words);
            !stream.is_full()
        });
        drop(send);
        let mut analysed = analysed(stream);
        let beyond = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        analysed.found.bytes += beyond.found.bytes;
        analysed.found.coarse |= beyond.found.coarse;
        analysed.room &= beyond.room;
        analysed.found.beyond = beyond.found.models;
        Ok((ended?, analysed))
    })
}
