//! What can be wrong with an executable.

/// Why functions could not be named, or not all of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not an ELF file.
    #[error("not an executable: {0}")]
    NotAnExecutable(object::Error),
    /// A section of debug information cannot be read.
    #[error("cannot read section {name}: {reason}")]
    Section {
        /// Its name.
        name: &'static str,
        /// What is wrong.
        reason: object::Error,
    },
    /// Debug information of some compilation units makes no sense. The others were used.
    #[error("debug information of {units} compilation units is damaged")]
    Damaged {
        /// How many.
        units: usize,
    },
    /// The debug information would take more work than its size warrants, as no compiler's output does.
    #[error("debug information takes more work than its size warrants")]
    TooMuchWork,
}
