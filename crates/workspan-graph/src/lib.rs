//! Task graphs of instrumented programs.
//!
//! * [`program`]: the static descriptions of all modules; [`events`]: a buffer's bytes as events with addresses.
//! * [`codec`]: buffers to small chunks and back; [`mod@file`]: chunks on disk.
//! * [`structure`]: what each context did, and which tasks its waits join.
//! * [`ranks`]: several processes in one recording; [`messages`]: which send belongs to which receive; [`merge`]: one of several.
//! * [`graph`]: work, create, join, sync and barrier tasks with their edges.
//! * [`sample`]: recordings of a part of the cache lines, made by [`thin`]; [`part`] replays them; [`drawn`]: what they say about caches.
//! * [`replay`]: a recording as a stream of decoded segments. A [`replay::Consumer`] sees accesses, never the encoding.
//! * [`tables`]: what SQL reads of all this; [`walk`]: accesses and allocations with the task that made them.
//! * [`order`]: which moment of a context comes before which of another.
//! * Analyses: [`cache`] and [`curve`], [`misses`], [`moved`], [`races`], [`sharing`], [`code`], [`timeline`], [`path`], [`waits`],
//!   [`working_set`]; what they share: [`causes`], [`allocations`], [`runtimes`], [`now`], [`traffic`].
//!
//! **Invariant:** any bytes are decoded without a panic, in memory proportional to a chunk. Chunks are independent: each
//! can be made and read by any thread. What is missing or damaged is said ([`file::Problem`], [`graph::Graph::complete`]).

mod analyses;
mod ordered;
pub mod part;
pub mod replay;
mod stored;

// Folders show the flow; names stay short.
pub use analyses::{
    allocations, cache, code, curve, drawn, misses, moved, now, path, races, runtimes, sharing, summary, timeline,
    traffic, waits, working_set,
};
use analyses::{contexts, sets, streams, windows};
pub use ordered::{causes, graph, messages, order, ranks, structure, tables, task, walk};
use ordered::{four, level, levels, names, permits};
pub use stored::{bounds, codec, cut, events, file, merge, missing, program, sample, thin};
