//! Task graphs of instrumented programs.
//!
//! * [`program`]: the static descriptions of all modules; [`events`]: a buffer's bytes as events with addresses.
//! * [`codec`]: buffers to small chunks and back; [`mod@file`]: chunks on disk.
//! * [`graph`]: work, create, join, sync and barrier tasks with their edges.
//! * [`replay`]: a recording as a stream of decoded segments. A [`replay::Consumer`] sees accesses, never the encoding.
//! * Analyses: [`cache`], [`races`], [`timeline`].
//!
//! **Invariant:** any bytes are decoded without a panic, in memory proportional to a chunk. Chunks are independent: each
//! can be made and read by any thread. What is missing or damaged is said ([`file::Problem`], [`graph::Graph::complete`]).

pub mod cache;
pub mod codec;
pub mod events;
pub mod file;
pub mod graph;
pub mod program;
pub mod races;
pub mod replay;
pub mod summary;
pub mod timeline;
