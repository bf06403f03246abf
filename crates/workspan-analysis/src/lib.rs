//! What the model says: pure functions from [`workspan_model`] values to results.
//!
//! **Invariant:** no input or output, no serialisation, no clock, no threads; total: an incomplete run gives a result
//! that says so, not an error.
//!
//! * [`mod@profile`]: work, span, parallelism and overhead of the program, its regions and its sites (TaskProf ch. 3).
//! * [`mod@measured`]: no time is below zero, though more was taken out than there was.
//! * [`mod@locks`]: what one lock was held bounds the span.
//! * [`mod@verdict`]: what limits the program, and what a number of processors would lose to what.
//! * [`mod@strands`]: the same from a run that was recorded strand by strand, and by region of the source.
//! * [`mod@what_if`]: what parallelising parts of the program would give (TaskProf 4.2).
//! * [`mod@advise`]: which parts must be parallelised, and whose tasks have the wrong size (TaskProf 4.3).
//! * [`mod@schedule`]: what a run takes on any number of processors, by simulation.
//! * [`mod@predict`]: bounds, and times on this number of processors, with what is idle there (TaskProf 8.2).
//! * [`mod@calls`]: work and span of each call site, in all and on the critical path (Cilkprof ch. 2).
//! * [`mod@laws`]: speedup, parallelism, and what work and span say about them on any number of processors.
//! * [`mod@timeline`]: how many strands ran at each moment.
//! * [`mod@diff`]: two recordings side by side.
//! * [`mod@differential`]: the same node by node, and what the critical path of the new one cost before (TaskProf ch. 5).
//! * [`mod@events`]: what else was counted, by site; in one recording, and in two.
//! * [`mod@factored`]: what of a parallel run is overhead, idle time and work inflation (Acar et al. 2).
//! * [`mod@warnings`]: what a reader must know before believing a number.

pub mod advise;
pub mod calls;
pub mod diff;
pub mod differential;
pub mod events;
pub mod factored;
pub mod laws;
pub mod locks;
pub mod measured;
pub mod predict;
pub mod profile;
pub mod schedule;
pub mod spread;
pub mod strands;
pub mod throughput;
pub mod timeline;
pub mod verdict;
pub mod warnings;
pub mod what_if;

pub use advise::{advise, Advice, Finding, Goal};
pub use calls::{calls, Calls};
pub use diff::{diff, Diff};
pub use differential::{differential, Differential};
pub use laws::Bounds;
pub use locks::bounded_by_locks;
pub use predict::{predict, Prediction};
pub use profile::{profile, Profile};
pub use spread::Spread;
pub use strands::{replay, Replayed, Rows};
pub use throughput::{throughput, Throughput};
pub use timeline::{timeline, Timeline};
pub use verdict::{judge, Judged};
pub use warnings::{warnings, Warning};
pub use what_if::{what_if, Scenario, WhatIf};
