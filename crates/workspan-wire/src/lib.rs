//! Layouts that two processes agree on: the profiled program, which writes, and `workspan`, which reads.
//!
//! * [`shm`]: the shared memory in which a collector keeps its tables while the program runs.
//! * [`events`]: events counted by context.
//! * [`log`]: records of single strands, where the whole model is requested.
//! * [`segment`]: when serial code ran.
//! * [`site`]: what kinds of source places a collector distinguishes.
//! * [`task`]: the state of a task.
//! * [`trace`]: instructions and accesses to memory of a program that runs under an emulator.
//! * [`histogram`]: the buckets of task sizes.
//! * [`sync`]: atomics and cells, for whoever uses the tables.
//!
//! **Invariant:** this crate depends on nothing, allocates nothing and has no unsafe code, so that a collector can
//! be compiled from its text inside any crate (see `workspan-instrument`).
//!
//! **If you change a layout here, increment [`shm::WIRE_VERSION`].** Reader and writer must be of the same wire
//! version; `workspan` says so when they are not.

#![no_std]

pub mod asked;
pub mod config;
pub mod events;
pub mod histogram;
pub mod log;
pub mod path;
pub mod records;
pub mod segment;
pub mod shm;
pub mod site;
pub mod stash;
pub mod sync;
pub mod task;
pub mod trace;
pub mod wait;
