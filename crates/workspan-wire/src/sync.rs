//! What threads share, by way of one name: the models of the collectors (`crates/workspan-preload/tests/loom`) compile the
//! very text of our lock-free structures with other atomics and cells in this place, and try all orders of their steps.
//!
//! A file that a model compiles takes atomics and cells from here alone.

pub use core::cell::Cell;
pub use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
