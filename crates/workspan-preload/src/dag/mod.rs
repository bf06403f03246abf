//! Work and span of programs whose tasks are objects: any acyclic order of tasks, on any threads.

pub mod alt_spans;
pub mod call;
pub mod clock;
pub mod create;
pub mod depend;
pub mod frame;
pub mod gather;
pub mod group;
pub mod kind;
pub mod lent;
pub mod lock;
pub mod log;
pub mod marked;
pub mod pieces;
pub mod pool;
pub mod range;
pub mod rare;
pub mod ready;
pub mod share;
pub mod solo;
pub mod state;
pub mod task;
pub mod taskloop;
pub mod team;
pub mod token;
pub mod turn;
