//! The view model of `workspan scale`.

use schemars::JsonSchema;
use serde::Serialize;

/// Speedups of a program, factored.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scale {
    /// Version of this form.
    pub schema_version: u32,
    /// In one line, a number first.
    pub text: String,
    /// False if it was interrupted: what had been measured by then.
    pub complete: bool,
    /// What was run, and how.
    pub conditions: Conditions,
    /// T_s: time of the sequential baseline.
    pub baseline: Time,
    /// T_elision; null if there was no such program.
    pub elision: Option<Time>,
    /// What was measured with P workers, by rising P.
    pub points: Vec<Point>,
    /// The gap at the largest P by cause.
    pub causes: Causes,
    /// What the curves say, in words.
    pub reading: Vec<String>,
    /// How each curve ends.
    pub shapes: Vec<Shape>,
    /// Idle time and work inflation by top-level region, at the largest P; empty if they were not requested.
    pub regions: Vec<Region>,
    /// Work inflation by spawn site.
    pub sites: Vec<Site>,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<String>,
}

/// What was run, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conditions {
    /// The command and its arguments; `{P}` and `{workers}` are not yet replaced.
    pub command: Vec<String>,
    /// The sequential baseline; null: the program itself with one worker.
    pub baseline: Option<Vec<String>>,
    /// The program without its parallel constructs; null if there is none.
    pub elision: Option<Vec<String>>,
    /// Folder it ran in.
    pub directory: String,
    /// When, in seconds since 1970.
    pub made_at: u64,
    /// Version of workspan.
    pub made_by: String,
    /// Name and version of the runtime.
    pub runtime: String,
    /// Processor, as the system calls it.
    pub processor: String,
    /// Processors online.
    pub cpus: u32,
    /// Operating system and its version.
    pub system: String,
    /// Runs of each kind that were requested.
    pub repeat: u32,
    /// Rounds that were run before, and not counted.
    pub warm_up: u32,
    /// True if each run was kept on as many processors as it has workers.
    pub pinned: bool,
}

/// A time over several runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Time {
    /// Mean, in nanoseconds.
    pub mean_ns: i64,
    /// Half the width of its 95 % interval; null with a single run.
    pub error_ns: Option<i64>,
    /// Smallest.
    pub low_ns: i64,
    /// Largest.
    pub high_ns: i64,
    /// Each run, in the order in which they ran.
    pub runs_ns: Vec<i64>,
}

/// What was measured with P workers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// P.
    pub workers: u32,
    /// T_P.
    pub time: Time,
    /// I_P, of all workers together.
    pub idle: Time,
    /// T_1 of the same work.
    pub one_worker: Time,
    /// W_P = P·T_P − I_P.
    pub work: Time,
    /// F_P = W_P − T_1, in nanoseconds.
    pub inflation_ns: i64,
    /// I_P over P·T_P.
    pub idle_share: Option<f64>,
    /// W_P over T_1.
    pub inflation: Option<f64>,
    /// The curves.
    pub speedups: Speedups,
}

/// Speedups over the baseline; null where a time is not above zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Speedups {
    /// P.
    pub linear: f64,
    /// P·T_s / T_elision.
    pub elision: Option<Speedup>,
    /// P·T_s / T_1.
    pub maximal: Option<Speedup>,
    /// P·T_s / (T_1 + I_P).
    pub idle_specific: Option<Speedup>,
    /// P·T_s / (P·T_P − I_P).
    pub inflation_specific: Option<Speedup>,
    /// T_s / T_P.
    pub actual: Option<Speedup>,
}

/// A ratio of means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Speedup {
    /// The value.
    pub value: f64,
    /// Half the width of its 95 % interval; null if a time is of a single run.
    pub error: Option<f64>,
}

/// The gap P·T_P − T_s by cause, in nanoseconds; they add up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Causes {
    /// P.
    pub workers: u32,
    /// P·T_P, the time that the workers had.
    pub available_ns: i64,
    /// All of the gap.
    pub total_ns: i64,
    /// More work than the baseline's.
    pub algorithmic_ns: i64,
    /// The cost of creating tasks; part of the former, and 0 here, if neither an elision nor a profile reports it.
    pub task_overhead_ns: i64,
    /// Idle time for want of parallelism; all idle time if no profile reports the span.
    pub parallelism_ns: i64,
    /// The rest of the idle time.
    pub scheduling_ns: i64,
    /// Workers had work but no processor, beyond that with one worker: blocked, or others were at work there. A lower bound.
    pub no_processor_ns: i64,
    /// The same work takes longer on several workers.
    pub inflation_ns: i64,
}

/// How a curve ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shape {
    /// Its name in `speedups`.
    pub curve: String,
    /// `straight`, `bends`, `flattens` or `falls`.
    pub shape: String,
    /// From this P,
    pub from: u32,
    /// to this.
    pub to: u32,
}

/// A top-level region, or serial code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Region {
    /// Id of its site.
    pub id: String,
    /// Its place.
    pub name: String,
    /// True for serial code.
    pub serial: bool,
    /// Work with one worker, in nanoseconds.
    pub one_worker_ns: i64,
    /// Work with P.
    pub work_ns: i64,
    /// What workers waited meanwhile.
    pub idle_ns: i64,
    /// `work_ns` − `one_worker_ns`.
    pub inflation_ns: i64,
}

/// The strands of a spawn site itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Site {
    /// Its id.
    pub id: String,
    /// Its place.
    pub name: String,
    /// Their work with one worker, in nanoseconds.
    pub one_worker_ns: i64,
    /// With P.
    pub work_ns: i64,
    /// `work_ns` − `one_worker_ns`.
    pub inflation_ns: i64,
}
