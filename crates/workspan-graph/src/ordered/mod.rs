//! What comes before what: contexts and tasks, what waits join, what locks and atomic operations order.

pub mod causes;
pub(crate) mod four;
pub mod graph;
pub(crate) mod level;
pub(crate) mod levels;
pub mod messages;
pub(crate) mod names;
pub mod order;
pub(crate) mod permits;
pub mod ranks;
pub mod structure;
pub mod tables;
pub mod task;
pub mod walk;
