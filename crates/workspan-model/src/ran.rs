//! What serial code did, by samples of the running program.

use crate::site::SiteId;

/// The function in which most samples of a row of serial code lie, or of a thread's own code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The row's site.
    pub site: SiteId,
    /// The innermost function that most of its samples have in common.
    pub function: String,
    /// Its file; empty if it is not known.
    pub file: String,
    /// First and last line in it that were seen at work; 0 if they are not known.
    pub lines: (u32, u32),
    /// Samples of the row.
    pub samples: u64,
    /// Those in the function, or in what it called.
    pub within: u64,
    /// The functions that it called, with the samples in each: the most first, and no more than [`Ran::CALLEES`].
    pub callees: Vec<(String, u64)>,
    /// Threads that ran the row.
    pub threads: u32,
    /// The only one was that which runs `main`.
    pub main_thread: bool,
}

impl Ran {
    /// Fewer samples than this are named with the function that they show.
    pub const FEW: u64 = 6;
    /// Callees that are kept.
    pub const CALLEES: usize = 3;
}
