//! What the model says: pure functions from [`workspan_model`] values to results.
//!
//! **Invariant:** no input or output, no serialisation, no clock, no threads; total: an incomplete run gives a result
//! that says so, not an error.
//!
//! * [`mod@profile`]: work, span, parallelism and overhead of the program, its regions and its sites (TaskProf ch. 3).
//! * [`mod@locks`]: what one lock was held bounds the span.
//! * [`mod@verdict`]: what limits the program, in one value.
//! * [`mod@warnings`]: what a reader must know before believing a number.

pub mod locks;
pub mod profile;
pub mod spread;
pub mod verdict;
pub mod warnings;

pub use locks::bounded_by_locks;
pub use profile::{profile, Profile};
pub use spread::Spread;
pub use verdict::{verdict, Verdict};
pub use warnings::{warnings, Warning};
