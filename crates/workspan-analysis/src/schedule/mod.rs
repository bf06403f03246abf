//! Schedules: what a run takes on any number of processors.
//!
//! * [`Graph`]: the strands of a run, and what comes before what; built from rows in one pass.
//! * [`fn@greedy`]: a list scheduler, to which nothing costs anything: what a runtime can hope for.
//! * [`fn@stealing`]: randomised work stealing, as runtimes do it, in which steals cost.
//!
//! Both are simulations by events: no thread, no clock, and for the same input and seed the same result.
//!
//! Definitions: `docs/methods/predict.md`. Sources: TaskProf 8.2; Brent; Blumofe and Leiserson.

mod build;
mod events;
mod fold;
mod grain;
mod graph;
mod greedy;
mod parts;
mod scratch;
mod stealing;
mod taken;
mod waiting;
mod workers;

pub use build::BuildOptions;
pub use grain::Grain;
pub use graph::Graph;
pub use greedy::greedy;
pub(crate) use greedy::greedy_with_waiting;
pub use parts::MOST_PROCESSORS;
pub use stealing::{stealing, Policy, Stealing};
pub use taken::Schedule;
pub(crate) use waiting::Charged;
