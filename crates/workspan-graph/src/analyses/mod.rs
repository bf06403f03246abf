//! Consumers of a recording: one file each, and what several of them share.

pub mod allocations;
pub mod cache;
pub mod code;
pub(crate) mod contexts;
pub mod curve;
pub mod drawn;
pub(crate) mod loops;
pub mod misses;
pub mod moved;
pub mod now;
pub mod path;
pub mod races;
pub mod runtimes;
pub(crate) mod sets;
pub mod sharing;
pub(crate) mod streams;
pub mod summary;
pub mod timeline;
pub mod traffic;
pub mod waits;
pub(crate) mod windows;
pub mod working_set;
