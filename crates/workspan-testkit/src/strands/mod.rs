//! Runs strand by strand: made at random, evaluated by the definitions, or as many as one likes.
//!
//! * [`mod@random`]: a recording with all events, recursion, groups over several tasks, teams with rounds.
//! * [`dag`]: what rows amount to, from an explicit graph of strands and its longest path. It shares nothing with the
//!   analyses but the rows.
//! * [`calls`]: what they amount to by call site, instance by instance.
//! * [`mod@partners`]: which strands of two runs are the same, by explicit keys.
//! * [`stream`]: fork-join rows without end, in batches, to measure with.

pub mod calls;
pub mod dag;
pub mod partners;
pub mod random;
pub mod stream;

pub use dag::{evaluate, evaluate_burdened, Evaluated};
pub use partners::partners;
pub use random::{random, random_with_waits, RandomRun};
pub use stream::Stream;
