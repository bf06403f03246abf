//! Commands that compare runs: before against after, few workers against many; and gates on what they find.

pub mod diff;
pub mod differential;
pub mod gate;
pub mod inflation;
mod memory;
pub mod merge;
