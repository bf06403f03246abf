//! What is wrong with strands that could be read in part.

use std::fmt;

/// Why the strands of a run are not all there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Whoever wrote them was killed.
    Unfinished,
    /// Whoever wrote them said so.
    Partial {
        /// Why.
        reason: String,
    },
    /// A file makes no sense; what comes before is used.
    Damaged {
        /// Which file.
        file: String,
        /// Strands that come before.
        after: u64,
    },
    /// There are fewer than were written.
    Missing {
        /// That there are.
        found: u64,
        /// That were written.
        written: u64,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unfinished => write!(f, "the strands were never finished: only those that were kept are used"),
            Problem::Partial { reason } => write!(f, "strands are missing: {reason}"),
            Problem::Damaged { file, after } => {
                write!(f, "`{file}` is damaged: only the first {after} strands are used")
            }
            Problem::Missing { found, written } => write!(f, "{} of {written} strands are missing", written - found),
        }
    }
}
