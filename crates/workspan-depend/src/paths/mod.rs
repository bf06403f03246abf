//! Critical-path graphs: for each call site and each loop the lines that ran, what they cost, and the dependences between them.
//!
//! * [`walk`]: counts lines by context while the journal is gone through; `verdict::paths` puts what the tables know to the counts.
//! * [`level`]: the longest path of one body and of all iterations; [`evaluate`]: bodies within bodies, up to the whole program.
//! * [`change`]: what-if: dependences without which, lines of lower cost; [`form`]: as bytes; [`merge`]: several runs.
//!
//! **Argument:** a profile keeps no single execution, only sums, so a graph is one of *means*: a node weighs what its line cost for each
//! iteration on average, and the longest path through all iterations is what the means give. Where all iterations do the same, that is the span
//! itself; elsewhere it is an estimate (`docs/methods/dependences.md`).
//!
//! **Memory:** one number for each line in each context; contexts are call sites and depths of recursion, at most
//! [`CONTEXTS`](walk::CONTEXTS).

pub mod change;
pub mod evaluate;
pub mod form;
pub mod level;
pub mod merge;
mod structure;
pub mod walk;

#[cfg(test)]
mod tests;

use crate::source::Place;

/// Why a dependence does not hold a path: what the verdict takes it away for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Clause {
    /// It holds.
    #[default]
    None = 0,
    /// Counters and other variables that advance by a step: computed from the iteration's number.
    Linear = 1,
    /// Each iteration has its own copy.
    Private = 2,
    /// Copies are combined by an operator.
    Reduction = 3,
}

impl Clause {
    /// As in the report; empty: it holds.
    pub fn name(self) -> &'static str {
        match self {
            Clause::None => "",
            Clause::Linear => "linear",
            Clause::Private => "private",
            Clause::Reduction => "reduction",
        }
    }

    /// The clause of a number.
    pub fn of(number: u64) -> Option<Clause> {
        [Clause::None, Clause::Linear, Clause::Private, Clause::Reduction]
            .into_iter()
            .find(|each| *each as u64 == number)
    }
}

/// Instructions of one line, without a call or a branch between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// Segment, and line of the segment: the same in all runs of one program.
    pub id: (u32, u32),
    /// File and line.
    pub place: Place,
    /// Function.
    pub function: String,
    /// The innermost loop that it lies in: its number in [`Paths::loops`], + 1; 0: none.
    pub in_loop: u32,
    /// Instructions of one execution.
    pub cost: u32,
}

/// A loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loop {
    /// Number in the program.
    pub id: u32,
    /// Place.
    pub place: Place,
    /// Function.
    pub function: String,
    /// The loop around it, + 1; 0: none.
    pub parent: u32,
}

/// A dependence between pieces of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The earlier piece.
    pub from: u32,
    /// The later one.
    pub to: u32,
    /// `RAW`, `WAR`, `WAW`; `control`: the next iteration waits for a condition; `line`: the pieces of one line follow one another.
    pub kind: String,
    /// Variable.
    pub variable: String,
    /// The loop that carries it, + 1; 0: none.
    pub carrier: u32,
    /// Least and greatest distance.
    pub distance: (u64, u64),
    /// Sum of all distances.
    pub sum: u64,
    /// How often it was seen.
    pub count: u64,
    /// What takes it away.
    pub clause: Clause,
}

impl Edge {
    /// Adds what another one has seen between the same pieces.
    pub fn add(&mut self, other: &Edge) {
        self.distance = (self.distance.0.min(other.distance.0), self.distance.1.max(other.distance.1));
        self.sum = self.sum.saturating_add(other.sum);
        self.count = self.count.saturating_add(other.count);
    }
}

/// What ran of one function, called from one place, at one depth of recursion.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Context {
    /// The place of the call; line 0: where the program begins.
    pub call: Place,
    /// The function that is called.
    pub function: String,
    /// How often it was running, this call included; the deepest one stands for all below.
    pub depth: u32,
    /// Calls.
    pub entries: u64,
    /// Executions of pieces: number and count, in order.
    pub pieces: Vec<(u32, u64)>,
    /// Loops: number, executions, and iterations with the last look at the condition, in order.
    pub loops: Vec<(u32, u64, u64)>,
    /// Calls: piece, context, and how often, in order.
    pub calls: Vec<(u32, u32, u64)>,
}

/// All graphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Pieces that ran.
    pub pieces: Vec<Piece>,
    /// Loops that ran, and those around them.
    pub loops: Vec<Loop>,
    /// Dependences.
    pub edges: Vec<Edge>,
    /// Contexts; the program begins in those with no place of a call.
    pub contexts: Vec<Context>,
}
