//! What tests of work and span need: programs made at random, and an oracle that knows what they amount to.
//!
//! * [`program`]: a fork-join program as a tree, and a generator. `programs/random` runs such a tree on rayon.
//! * [`oracle`]: evaluates the same tree serially, by the definitions, knowing nothing of any collector.
//! * [`strands`]: runs that are recorded strand by strand, made at random, and their oracle.
//! * [`waits`]: threads that wait for each other at random times, and an oracle of who waits for whom.
//! * [`patience`]: waiting, for a limited time.

pub mod oracle;
pub mod patience;
pub mod program;
pub mod random;
pub mod strands;
pub mod waits;

pub use oracle::{evaluate, Answer, SiteAnswer};
pub use program::{generate, Node, ScopeKind};
