//! What is wrong with an input that could be read in part.

use std::fmt;

/// A defect of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The file ends before its end mark.
    Truncated,
    /// A part does not match its checksum, or its contents make no sense.
    Damaged {
        /// Which part.
        part: String,
    },
    /// A part this version does not know; it was skipped.
    Unknown {
        /// Which part.
        part: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Truncated => write!(f, "the file is truncated: only what comes before is shown"),
            Problem::Damaged { part } => write!(f, "the section `{part}` is damaged and was skipped"),
            Problem::Unknown { part } => {
                write!(f, "the section `{part}` was written by a newer workspan and was skipped")
            }
        }
    }
}
