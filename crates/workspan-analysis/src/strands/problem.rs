//! What is wrong with rows. They may come from a file that was cut off, or made by anybody.

use std::fmt;

pub use workspan_model::nesting::MOST_OPEN;

/// A rule that a row breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// An end, a join, a wait of something that has not begun: skipped. One end is the root's.
    NotOpen,
    /// Something ends while what began within it is open: that ends there, too.
    StillOpen,
    /// The rows end while tasks, forks, groups or teams are open: all of it ends there. So it is with a program that was
    /// killed or called `exit` within them.
    Unfinished,
    /// A context that the recording does not have: the root's.
    UnknownContext,
    /// A task names a group that is not open, or lies outside the team around it: the outermost within it.
    UnknownGroup,
    /// A task comes after one that its creator has not created: skipped.
    UnknownTask,
    /// A wait for what nobody did before: skipped.
    UnknownLabel,
    /// More nested constructs than [`MOST_OPEN`]: what is deeper is code of the innermost of them.
    TooDeep,
}

/// Number of problems.
const KINDS: usize = 8;

impl Problem {
    /// All of them.
    pub const ALL: [Problem; KINDS] = [
        Problem::NotOpen,
        Problem::StillOpen,
        Problem::Unfinished,
        Problem::UnknownContext,
        Problem::UnknownGroup,
        Problem::UnknownTask,
        Problem::UnknownLabel,
        Problem::TooDeep,
    ];
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Problem::NotOpen => "ends of what has not begun",
            Problem::StillOpen => "ends of what has open parts",
            Problem::Unfinished => "constructs open at the end",
            Problem::UnknownContext => "rows of unknown contexts",
            Problem::UnknownGroup => "tasks of unknown groups",
            Problem::UnknownTask => "tasks after unknown tasks",
            Problem::UnknownLabel => "waits for what nobody did",
            Problem::TooDeep => "constructs nested too deep",
        })
    }
}

/// How many rows have which problem, and which row was the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    counts: [u64; KINDS],
    first: Option<u64>,
}

impl Problems {
    /// Counts one at a row, counted from 0.
    pub(super) fn add(&mut self, problem: Problem, row: u64) {
        self.counts[problem as usize] += 1;
        if problem != Problem::Unfinished {
            self.first.get_or_insert(row);
        }
    }

    /// How many there are of one kind.
    pub fn count(&self, problem: Problem) -> u64 {
        self.counts[problem as usize]
    }

    /// Kinds that occur, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Problem, u64)> + '_ {
        Problem::ALL.into_iter().map(|problem| (problem, self.count(problem))).filter(|(_, count)| *count > 0)
    }

    /// The first row with one, counted from 0, but for what is open at the end.
    pub fn first(&self) -> Option<u64> {
        self.first
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.counts == [0; KINDS]
    }
}
