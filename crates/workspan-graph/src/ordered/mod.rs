//! What comes before what: contexts and tasks, what waits join, what locks and atomic operations order.

pub mod causes;
pub mod graph;
pub(crate) mod level;
pub mod messages;
pub mod order;
pub mod ranks;
pub mod structure;
pub mod task;
