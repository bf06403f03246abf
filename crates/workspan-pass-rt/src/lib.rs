//! The run-time of instrumented programs: a library of its own, which `workspan build` has programs linked with.
//!
//! * [`thread`]: what a thread knows of its buffer; [`mod@buffer`]: what happens when that is full, for the code that calls
//!   [`full`]; [`record`]: the bytes of an event; [`shared`]: the shared memory, and [`ring`]: the buffers in it.
//! * [`modules`]: static descriptions, handed over when a program or library is loaded; [`start`]: beginning and `fork`.
//! * [`event`]: control events; [`threads`], [`locks`], [`memory`]: functions of the C library that are defined here first,
//!   note what happens, and call the original ([`mod@original`]). [`openmp`]: tasks of OpenMP, as its runtime reports them.
//! * [`messengers`]: libraries under MPI, whose locks are their own business. [`external`]: for libraries that note events themselves, such as the one that stands in for MPI's functions.
//! * [`extents`]: how much functions of the C library touch.
//! * [`atomics`]: the order that atomic operations make. [`tasks`]: tasks of other runtimes; [`tbb`]: those of oneTBB.
//!
//! **Invariant:** without `WORKSPAN_TRACE` a program behaves as if it had not been instrumented, and its events go nowhere.
//! No function here allocates, formats or locks; what waits, waits for `workspan` alone, and gives up when that is gone.
//! `errno` is the program's. Events of a signal's handler that interrupts a change of buffers are not recorded.

#![expect(unsafe_code, reason = "collector: its own memory, interposed functions, thread-local storage")]
#![expect(clippy::cast_possible_truncation, reason = "halves of words that hold two numbers")]
#![expect(clippy::macro_metavars_in_unsafe, reason = "arguments of a call, which are names")]
#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]

pub mod allocator;
pub mod atomics;
pub mod buffer;
pub mod c;
pub mod c11;
pub mod event;
pub mod extents;
pub mod external;
pub mod full;
pub mod locks;
pub mod memory;
pub mod messengers;
pub mod modules;
pub mod openmp;
pub mod operators;
pub mod original;
pub mod platform;
pub mod record;
pub mod ring;
pub mod shared;
pub mod spare;
pub mod start;
pub mod tasks;
pub mod tbb;
pub mod thread;
pub mod threads;
