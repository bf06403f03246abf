//! oneTBB: every task is a context.
//!
//! All that spawns or waits leads through functions that libtbb exports; they are defined here first ([`entry`], [`locks`]). A task
//! that is spawned gets another virtual table until it runs ([`table`]), whose functions note begin and end ([`run`]); a
//! word of the task that libtbb leaves alone says which context it is. So do the stages of a pipeline ([`pipeline`]), which
//! libtbb orders by itself. What a task is to its algorithm says the name of its class ([`abi::Role`]).
//!
//! **Order**: who waits joins the tasks of its gather, and takes over what was released where tasks report that they are
//! done: the latter is exact, the former what the graph shows. **Same thread**: what a program keeps for each thread
//! (`enumerable_thread_specific`, `combinable`) tasks use one after the other on a thread; they ask which thread they are on
//! ([`same_thread`]).

#![expect(clippy::multiple_unsafe_ops_per_block, reason = "a chain of pointers of one task has one argument")]

pub mod abi;
pub mod entry;
pub mod locks;
pub mod pipeline;
pub mod run;
pub mod same_thread;
pub mod table;

pub use abi::{find, owns};
