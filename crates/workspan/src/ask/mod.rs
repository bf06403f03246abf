//! Commands that answer from a recording: what limits a program, what would help, what to change.

pub mod advise;
pub mod calls;
pub mod evidence;
pub mod info;
pub mod parts;
pub mod predict;
pub mod query;
pub mod report;
pub mod simulated;
pub mod strands;
pub mod what_if;
