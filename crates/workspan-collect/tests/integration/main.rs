//! The collector without a runtime: its rules driven by hand, on private memory and the virtual clock. Runs under Miri.

#![expect(unsafe_code, reason = "reads the private memory as bytes")]

mod batches;
mod counters;
mod events;
mod machine;
mod paths;
mod pauses;
mod replay;
mod restarts;
mod schedules;
mod tables;
mod waits;
