//! The part of Workspan that lives in the profiled program.
//!
//! It measures strands with the cycle counter and composes them, while the program runs, into work, span, critical path
//! and totals per context. Memory is bounded by the active tasks and the number of source places; see
//! [`workspan_wire::shm`] for the bounds.
//!
//! Reading order: [`strand`] (the arithmetic), [`join`] (the hot path), [`clock`], [`region`], [`group`], [`batch`], [`handoff`],
//! [`resource`], [`task`], [`path`] (critical paths), [`calls`] (what is on them), [`log`] (where every
//! strand is requested), [`tool`] (where others listen), [`events`] and [`counters`] (what else is counted), [`idle`] (where nothing else is requested), [`tables`], [`thread`] and [`process`] (where it all lives).
//!
//! **Rules** (tested by `cargo xtask tidy` and the end-to-end tests): on the hot path no allocation, lock, system call,
//! hash or formatting; no panic crosses into the program; `errno` is kept; every loss is counted in the header.
//!
//! This crate is compiled twice: as itself, for its tests, and as a module inside the instrumented runtime, from the same
//! text (`workspan-instrument`). Hence it has no dependency but `workspan-wire`, and refers to itself by `super`.

#![expect(unsafe_code, reason = "collector: shared memory, thread-local state, processor instructions")]
#![expect(clippy::cast_possible_truncation, reason = "ids and bit fields narrower than the arithmetic around them")]

pub mod asked;
pub mod batch;
pub mod beside;
pub mod blocked;
pub mod calls;
pub mod candidate;
pub mod clock;
pub mod counters;
pub mod drain;
pub mod ends;
pub mod events;
pub mod exclude;
pub mod first_use;
pub mod free;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri)))]
pub mod futex;
pub mod group;
pub mod handoff;
pub mod idle;
pub mod intern;
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
pub mod interposed;
pub mod interrupt;
pub mod join;
pub mod left;
pub mod log;
pub mod looks;
pub mod memory;
pub mod modules;
pub mod origin;
pub mod outside;
pub mod page;
pub mod path;
pub mod pause;
pub mod platform;
pub mod polls;
pub mod process;
pub mod region;
pub mod resource;
pub mod ring;
pub mod role;
pub mod root;
mod run_delay;
pub mod sampled;
pub mod segment;
pub mod shared;
mod spare;
pub mod spins;
pub mod stack;
pub mod strand;
pub mod tables;
pub mod task;
pub mod text;
pub mod thread;
pub mod ticks;
pub mod timed;
pub mod tool;
pub mod wait_graph;
pub mod waiting;
pub mod waits;
