//! Limits of parallelism: how long is the longest chain of instructions that must run one after the other?
//!
//! A program's *dynamic dependence graph* has a node for each instruction that ran, and an edge from each instruction to
//! those that need it first. With one cycle for each, and as many processors as one likes, the program takes as long as the
//! longest path. Which edges count is the matter of a [`model::Model`] (Mak, table 3.1); `docs/methods/limits.md` has the
//! definitions.
//!
//! The graph is never built: [`engine::Engine`] keeps, for each register and each word of memory, the depth of whoever
//! wrote it last, in all models at once. What comes in is a trace ([`workspan_wire::trace`]): [`program::Program`] turns
//! code into [`op::Op`]s when it first appears ([`x86`]), and [`stream::Stream`] feeds what ran to the engine.
//!
//! **Invariants.** Pure: no files, clocks, threads. No trace makes it panic. Memory is that of the cells
//! ([`shadow::Shadow`]), which is bounded, and a few hundred bytes for each instruction of the program's code.

#![expect(clippy::cast_possible_truncation, reason = "indices below bounds, and depths that are kept in 32 bits")]

mod addresses;
pub mod cell;
mod cold;
pub mod engine;
pub mod frames;
pub mod heap;
pub mod latency;
pub mod merge;
pub mod model;
pub mod op;
mod pack;
pub mod path;
pub mod profile;
pub mod program;
mod ready;
pub mod result;
pub mod roi;
pub mod row;
mod sample;
pub mod shadow;
mod step;
pub mod stream;
pub mod system;
mod values;
pub mod window;
pub mod x86;

pub use engine::{Engine, Settings};
pub use model::Model;
pub use result::Limits;
pub use stream::Stream;
