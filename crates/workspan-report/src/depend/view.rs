//! What anybody sees of a dependence profile.

use schemars::JsonSchema;
use serde::Serialize;

use super::graphs::view::CriticalPaths;
use super::points::rename;
pub use super::points::{Distance, Point};

/// `workspan depend --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Depend {
    /// Command and arguments of the first run.
    pub command: Vec<String>,
    /// Command and arguments of each run that the profile was made of.
    pub runs: Vec<Vec<String>>,
    /// Processors that speedups are predicted for.
    pub processors: u32,
    /// Instructions that starting and ending a parallel loop is assumed to cost.
    pub overhead: u64,
    /// Predicted speedup of the program if every loop that can run in parallel does, outer ones before inner ones.
    pub speedup: f64,
    /// How the program ended: its status, or 128 plus the signal.
    pub status: i32,
    /// False if part of the run is missing.
    pub complete: bool,
    /// What is missing, and what was not judged.
    pub warnings: Vec<String>,
    /// Loops, in the order of the source.
    pub loops: Vec<Loop>,
    /// Places that call functions of the program, in the order of the source.
    pub calls: Vec<Call>,
    /// The least size of a call that is worth a spawn.
    pub spawn_threshold: Threshold,
    /// Calls of fewer instructions than this were no tasks in the models whose tasks are calls (`--granularity`); 0: all were.
    pub granularity: u64,
    /// Work and span under each task model.
    pub models: Vec<Model>,
    /// How much of the code this input has reached.
    pub coverage: Coverage,
    /// Functions outside instrumented code that were called.
    pub black_boxes: Vec<BlackBox>,
    /// All dependences between places of one function.
    pub dependences: Vec<Dependence>,
    /// Critical paths, with lines as nodes and dependences as edges.
    pub critical_paths: CriticalPaths,
}

impl Depend {
    /// The same for a reader in `folder`: files below it are called as from there ([`crate::place::below`]).
    #[must_use]
    pub fn read_in(&self, folder: &str) -> Depend {
        let mut found = self.clone();
        for each in &mut found.loops {
            let ends = each.blockers.iter_mut().flat_map(|blocker| [&mut blocker.source, &mut blocker.sink]);
            let files = ends.chain(&mut each.inside).map(|point| &mut point.file).chain([&mut each.file]);
            files.for_each(|file| rename(file, folder));
        }
        for each in &mut found.dependences {
            let points = [&mut each.source, &mut each.sink].into_iter().chain(&mut each.carried_by);
            points.for_each(|point| rename(&mut point.file, folder));
        }
        found.calls.iter_mut().for_each(|call| rename(&mut call.file, folder));
        found.critical_paths.read_in(folder);
        found.coverage.unreached.iter_mut().for_each(|lines| rename(&mut lines.file, folder));
        found
    }
}

/// A loop.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Loop {
    /// Source file.
    pub file: String,
    /// Line of the statement.
    pub line: u32,
    /// Column of the statement.
    pub column: u32,
    /// Last line; 0: unknown.
    pub last_line: u32,
    /// Function.
    pub function: String,
    /// Executions.
    pub entries: u64,
    /// Iterations in all executions.
    pub iterations: u64,
    /// Instructions in it.
    pub work: u64,
    /// `yes`, `with-clauses`, `no` or `not-executed`.
    pub parallel: &'static str,
    /// Variables that are accumulated.
    pub reductions: Vec<Reduction>,
    /// Variables that each thread needs a copy of.
    pub private: Vec<String>,
    /// Those of them whose last value is read after the loop.
    pub lastprivate: Vec<String>,
    /// Counters that have to be computed from the iteration's number.
    pub linear: Vec<Linear>,
    /// What forbids parallel iterations.
    pub blockers: Vec<Blocker>,
    /// Predicted speedup of the whole program if this loop ran in parallel; if it cannot, what it would give without its blockers.
    pub speedup: f64,
    /// The loop around it that can run in parallel, too: then that one is enough.
    pub inside: Option<Point>,
    /// What to write; empty if it cannot run in parallel.
    pub change: String,
}

/// A variable that is accumulated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Reduction {
    /// As OpenMP writes it: `+`, `*`, `min`, `max`, `&`, `|`, `^`, `&&`, `||`.
    pub operator: String,
    /// Variable.
    pub variable: String,
    /// It is an array, and its elements are accumulated, each for itself: every thread needs a copy of it.
    pub elements: bool,
}

/// A counter.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Linear {
    /// Variable.
    pub variable: String,
    /// What each iteration adds; 0: not constant.
    pub step: i64,
}

/// What forbids parallel iterations.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Blocker {
    /// `RAW`, `WAR`, `WAW`; `control`: how many iterations there are is decided on the way; `io`, `state`, `black-box`, `unknown-call`.
    pub kind: String,
    /// Variable, or what takes its place.
    pub variable: String,
    /// The earlier access.
    pub source: Point,
    /// The later access.
    pub sink: Point,
    /// Iterations between them; null for control.
    pub distance: Option<Distance>,
    /// How often it was seen.
    pub count: u64,
}

/// A place that calls a function of the program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Call {
    /// Source file.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Function that it is in.
    pub function: String,
    /// What is called.
    pub callee: String,
    /// Calls.
    pub count: u64,
    /// Instructions in them.
    pub work: u64,
    /// True if other work could run beside it.
    pub spawn: bool,
    /// What has to wait for it.
    pub sync: Sync,
    /// Instructions of one call, the mean.
    pub mean_length: f64,
    /// Instructions that run after a call before something waits for it, the mean; null: no call has ended.
    pub mean_continuation: Option<f64>,
    /// The same, estimated from how often lines follow one another (a Markov chain); null: not to be estimated.
    pub expected_continuation: Option<f64>,
    /// Instructions of the longest call.
    pub longest: u64,
    /// Instructions of the longest continuation.
    pub longest_continuation: u64,
    /// `yes`: mean length and mean continuation reach the spawn threshold; `large-ones`: only those of large calls do, as in recursion, so
    /// that a cut-off is needed; `no`.
    pub worth_spawning: &'static str,
}

/// The least size of a call that is worth a spawn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Threshold {
    /// In instructions.
    pub instructions: u64,
    /// Where it comes from: `assumed`, `--spawn-threshold`, or `measured` and the runtime.
    pub basis: String,
}

/// What has to wait for a call.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Sync {
    /// The first line that depends on it; null: the end of the function.
    pub line: Option<u32>,
}

/// A task model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Model {
    /// `base`, `exact`, `no-control`, `loops`, `parallel-loops`, `reductions`, `hoist`, `lines`, `everything`.
    pub name: String,
    /// Instructions.
    pub work: u64,
    /// Instructions of the critical path.
    pub span: u64,
    /// Work divided by span.
    pub parallelism: f64,
}

/// How much of the code was executed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Coverage {
    /// Lines with code.
    pub lines: u64,
    /// Lines that were executed.
    pub executed: u64,
    /// Lines that no run has reached.
    pub unreached: Vec<Unreached>,
}

/// Consecutive lines with code that no run has reached.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Unreached {
    /// Source file.
    pub file: String,
    /// First line.
    pub first: u32,
    /// Last line.
    pub last: u32,
}

/// A function outside instrumented code.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlackBox {
    /// Its name.
    pub function: String,
    /// Calls.
    pub calls: u64,
}

/// A dependence.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Dependence {
    /// `RAW`, `WAR` or `WAW`.
    pub kind: String,
    /// Variable, or what takes its place.
    pub variable: String,
    /// Function.
    pub function: String,
    /// The earlier place.
    pub source: Point,
    /// The later place.
    pub sink: Point,
    /// The loop that carries it; null: none does.
    pub carried_by: Option<Point>,
    /// Iterations between them.
    pub distance: Distance,
    /// How often it was seen.
    pub count: u64,
}
