//! The verdict: how parallel the program is, what a number of processors would lose, and to what.
//!
//! * [`mod@headline`]: parallelism, and what the critical path mostly consists of.
//! * [`mod@evidence`]: what the run would take on P processors, and who makes the others wait: from totals
//!   ([`bounds`]), or from a schedule of all strands ([`simulated()`]).
//! * [`mod@loops`]: what that is if the iterations of loops cost the same.
//! * [`mod@order`]: what it is in the best order of locks.
//! * [`mod@losses`]: the processors' time, split into work and causes of loss.
//! * [`mod@charged`]: whom code under locks counts for, and how many threads run at a time.
//! * [`mod@reasons`]: why a site makes others wait.
//!
//! **Invariant:** useful time and losses add up to `P · T_P`, to the nanosecond; so do the parts of a loss. What there is no
//! evidence for is no loss.

mod charged;
mod evidence;
mod headline;
mod loops;
mod losses;
mod order;
mod reasons;
mod simulated;

pub use evidence::{bounds, Basis, Blame, Code, Evidence, Loops};
pub use headline::{forks, headline, Contributor, Headline};
pub use loops::{any_order_of_locks, even_loops, EvenLoops};
pub use losses::{judge, Cause, Judged, Loss, Outcome, Part, Why};
pub use order::{best_order, BestOrder};
pub use reasons::{Reason, Unit};
pub use simulated::{simulated, OfEven};

/// Processors that a program is judged on unless others are requested.
pub const PROCESSORS: u32 = 16;
