//! oneTBB: its entry points, defined here first, and its tasks, which pass through here when they run.
//!
//! All that spawns, waits or enters an arena leads through functions that libtbb exports ([`interpose`]), also from within
//! libtbb. A task that is spawned gets another virtual table until it runs ([`class`]), whose functions note begin and end
//! and go on to its own ([`run`]). What a task is to the model is in a word of the task that libtbb leaves alone ([`abi`]).
//!
//! Where the program calls is found in its stack ([`site`]); names of classes distinguish algorithms ([`class`]).

#![expect(clippy::multiple_unsafe_ops_per_block, reason = "a chain of pointers of one task has one argument")]

pub mod abi;
pub mod algorithm;
pub mod arena;
pub mod body;
pub mod calibrate;
pub mod class;
pub mod context;
pub mod fold;
pub mod interpose;
pub mod library;
pub mod limiter;
pub mod names;
pub mod node;
pub mod order;
pub mod pipeline;
pub mod regulator;
pub mod run;
pub mod site;
pub mod spawn;
pub mod stage;
pub mod start;
pub mod state;
pub mod store;
pub mod suspend;
pub mod wait;
pub mod workers;
