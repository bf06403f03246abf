//! The result as values.

use std::collections::BTreeMap;

use crate::paths::Paths;
use crate::source::Place;

/// Whether iterations of a loop could run in parallel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Parallel {
    /// As it is.
    Yes = 0,
    /// With private variables, reductions, or counters computed from the iteration's number.
    WithClauses = 1,
    /// Something forbids it.
    No = 2,
    /// No input has reached it, or none has reached a second iteration; or its module has no code for dependences.
    #[default]
    NotExecuted = 3,
}

impl Parallel {
    /// As in the report.
    pub fn name(self) -> &'static str {
        match self {
            Parallel::Yes => "yes",
            Parallel::WithClauses => "with-clauses",
            Parallel::No => "no",
            Parallel::NotExecuted => "not-executed",
        }
    }
}

/// What forbids parallel iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blocker {
    /// `RAW`, `WAR`, `WAW`, `control`, `io`, `state`, `black-box`, `unknown-call`.
    pub kind: String,
    /// Variable, or what takes its place.
    pub variable: String,
    /// The earlier access.
    pub source: Place,
    /// The later access.
    pub sink: Place,
    /// Least and greatest distance in iterations; nothing for control.
    pub distance: Option<(u64, u64)>,
    /// How often.
    pub count: u64,
}

/// A variable that has to be private.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Private {
    /// Variable.
    pub variable: String,
    /// The value of the last iteration is read afterwards.
    pub last: bool,
    /// Functions that the loop calls use it by its name, where no clause reaches.
    pub in_calls: bool,
    /// It is what the variable leads to, as a pointer does: a copy of the variable is none of that.
    pub reached: bool,
}

/// A loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loop {
    /// Place.
    pub place: Place,
    /// Its last line; 0: unknown.
    pub last_line: u32,
    /// Function.
    pub function: String,
    /// Executions.
    pub entries: u64,
    /// Iterations.
    pub iterations: u64,
    /// Instructions.
    pub work: u64,
    /// The verdict.
    pub parallel: Parallel,
    /// Variables that are accumulated.
    pub reductions: Vec<Reduction>,
    /// Private variables.
    pub private: Vec<Private>,
    /// Variables that advance by a step (0: not constant).
    pub inductions: Vec<(String, i64)>,
    /// What forbids it.
    pub blockers: Vec<Blocker>,
}

impl Loop {
    /// Sorts what is accumulated and what is private, and makes one of what is said twice of a variable.
    pub(crate) fn join_clauses(&mut self) {
        self.reductions.sort();
        // Some dependences, and some runs, have a single element.
        self.reductions.dedup_by(|later, first| {
            let is_same = later.operator == first.operator && later.variable == first.variable;
            if is_same {
                first.elements |= later.elements;
                first.part |= later.part;
                first.in_calls |= later.in_calls;
                first.reached &= later.reached;
            }
            is_same
        });
        self.private.sort();
        self.private.dedup_by(|later, first| {
            let is_same = later.variable == first.variable;
            if is_same {
                first.last |= later.last;
                first.in_calls |= later.in_calls;
                first.reached &= later.reached;
            }
            is_same
        });
    }
}

/// A variable that is accumulated.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reduction {
    /// As OpenMP writes it.
    pub operator: String,
    /// Variable.
    pub variable: String,
    /// Its elements are, each for itself.
    pub elements: bool,
    /// It is one element of an array, or what a pointer points to: no clause can name it.
    pub part: bool,
    /// Functions that the loop calls accumulate it: no clause reaches there.
    pub in_calls: bool,
    /// It is what the variable leads to, as a pointer does.
    pub reached: bool,
}

/// A place that calls a function of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Place.
    pub place: Place,
    /// Function that it is in.
    pub function: String,
    /// What is called.
    pub callee: String,
    /// Calls.
    pub count: u64,
    /// Instructions.
    pub work: u64,
    /// Something can run beside it.
    pub spawn: bool,
    /// The line that must wait for it; 0: the end of the function.
    pub sync: u32,
    /// Calls of the first thread that have been waited for.
    pub awaited: u64,
    /// Instructions between the end of each of these and what has waited for it.
    pub continuation: u64,
    /// The same as estimated by a [Markov chain](crate::chain); none where it cannot be.
    pub expected: Option<u64>,
    /// Instructions of the longest call of the first thread, and of the longest continuation.
    pub longest: (u64, u64),
}

/// A task model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Name.
    pub name: String,
    /// Instructions.
    pub work: u64,
    /// Instructions of the critical path.
    pub span: u64,
}

/// A dependence.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependence {
    /// Kind.
    pub kind: String,
    /// Variable.
    pub variable: String,
    /// The earlier place.
    pub source: Place,
    /// The later place.
    pub sink: Place,
    /// Function.
    pub function: String,
    /// The loop that carries it.
    pub carrier: Option<Place>,
    /// Least and greatest distance.
    pub distance: (u64, u64),
    /// How often.
    pub count: u64,
}

/// All.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Command and arguments of each run.
    pub runs: Vec<Vec<String>>,
    /// How the program ended: status, or 128 and the signal.
    pub status: i32,
    /// What is missing.
    pub problems: Vec<String>,
    /// Loops, in the order of the source.
    pub loops: Vec<Loop>,
    /// Calls, in the order of the source.
    pub calls: Vec<Call>,
    /// Calls of fewer instructions than this were no tasks in models whose tasks are calls.
    pub granularity: u64,
    /// Models.
    pub models: Vec<Model>,
    /// Dependences.
    pub dependences: Vec<Dependence>,
    /// Lines with code, by file, and whether they were executed.
    pub lines: BTreeMap<String, BTreeMap<u32, bool>>,
    /// Functions outside instrumented code, and how often they were called.
    pub boxes: Vec<(String, u64)>,
    /// Critical-path graphs.
    pub paths: Paths,
}
