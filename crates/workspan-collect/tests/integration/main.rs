//! The collector without a runtime: its rules driven by hand, on private memory and the virtual clock. Runs under Miri.

#![expect(unsafe_code, reason = "reads the private memory as bytes; asks the kernel")]

mod batches;
mod counters;
mod events;
#[cfg(all(target_os = "linux", not(miri)))]
mod kernel;
mod machine;
mod meets;
mod paths;
mod pauses;
mod polls;
mod replay;
mod restarts;
mod schedules;
mod tables;
mod wait_graph;
mod waits;
