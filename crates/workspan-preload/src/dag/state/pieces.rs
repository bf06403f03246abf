//! Worksharing constructs that a task takes part in.

use super::call::Part;
use crate::dag::alt_spans::AltSpans;

/// Loops of which the runtime hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers {
    /// Iterations of those met in this region; 0 for none.
    pub iterations: [u32; 3],
    /// One more than the member's number, if it has asked.
    pub number: u32,
}

/// What divides a loop into pieces besides its chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Divided {
    /// Nothing.
    #[default]
    No,
    /// Teams that are forked in chunks: it is a league's (`distribute`).
    ByTeams,
    /// The same, and in the running chunk, of several iterations, there was one: each is a piece.
    ByThese,
    /// Iterations wait for one another, and each is a piece.
    Across,
}

/// A loop or a set of sections that a task takes part in: pieces, one after the other here, logically in parallel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pieces {
    /// A loop is under way.
    pub active: bool,
    /// Chunks are the program's.
    pub whole: bool,
    /// The runtime will not report its end.
    pub inlined: bool,
    /// They are dealt out by a fixed rule, and `shared_out` is the number that the task gets.
    pub dealt: bool,
    /// What divides it besides its chunks.
    pub divided: Divided,
    /// Iterations that are shared out by a fixed rule, of all members; 0 if there is none.
    pub shared_out: u32,
    /// Its place is known.
    pub known: bool,
    /// Its site is already active around it.
    pub recursive: bool,
    /// Absolute span at the entry.
    pub entry: i64,
    /// The same under assumptions.
    pub entry_alt: AltSpans,
    /// Path at the entry; the frame's own handle.
    pub path: u32,
    /// Absolute span up to which it accounts.
    pub since: i64,
    /// Longest piece so far.
    pub best: i64,
    /// Its path.
    pub best_path: u32,
    /// Absolute span up to which that accounts.
    pub best_since: i64,
    /// Longest under assumptions.
    pub best_alt: AltSpans,
    /// Iterations of the running piece.
    pub iterations: u64,
    /// It has none: the member only finds that out.
    pub empty: bool,
    /// Constructs that the task has left.
    pub ordinal: u32,
    /// Its part of the construct's call.
    pub call: Part,
    /// What the task knows of loops whose headers the program has itself.
    pub headers: Headers,
}
