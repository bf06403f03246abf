//! The view model. Its JSON form is the interface for scripts: `docs/format/report.schema.json`.
//!
//! With several runs of a command, values are medians over the runs, and `spread` holds the extremes.

use schemars::JsonSchema;
use serde::Serialize;

pub use crate::events::Events;
pub use crate::place::Place;
pub use crate::ran::{Callee, Ran};
pub use crate::threads::{Bottleneck, ThreadNode, ThreadWaits, Threads};
pub use crate::what_if::Answer as WhatIf;

/// Version of the JSON form; fields may be added without a change, none removed or redefined.
pub const SCHEMA_VERSION: u32 = 1;

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Version of this form.
    pub schema_version: u32,
    /// What limits the program, in one line.
    pub verdict: Verdict,
    /// The whole program.
    pub program: Program,
    /// Top-level regions and the serial code between them, by falling share of the critical path.
    pub regions: Vec<Region>,
    /// Spawn sites, by falling share of the critical path.
    pub sites: Vec<Site>,
    /// Contexts: the tree of sites, parents first.
    pub contexts: Vec<Context>,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<Warning>,
    /// Extremes over the runs, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// How it was recorded.
    pub recorded: Recorded,
    /// Predicted effect of parallelising code, as requested with the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub what_if: Vec<WhatIf>,
    /// Events by site, if any were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
    /// Who waits for whom, if threads wait for others for long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<Threads>,
}

/// What limits the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// In one line, a number first.
    pub text: String,
    /// Work over span.
    pub parallelism: Option<f64>,
    /// Id of the site or region that the critical path mostly consists of.
    pub main: Option<String>,
    /// Its share of the critical path, 0 to 1.
    pub main_share: Option<f64>,
    /// `scales-well`, `limited` (by the first of `losses`), or `inconclusive`.
    pub outcome: String,
    /// If it is inconclusive: `never-forks`, `too-short`, `incomplete`, `only-bounds`, `uneven-loop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What follows `text`: speedup and losses in words.
    pub lines: Vec<String>,
    /// What to try next, in words; null if there is nothing to say.
    pub next: Option<String>,
    /// Number of processors that the verdict assumes.
    pub processors: u32,
    /// What is known of the time on them: `at-least` (bounds), `predicted` (simulated).
    pub basis: String,
    /// Time on them.
    pub time_ns: Option<i64>,
    /// Useful work over that time.
    pub speedup: Option<f64>,
    /// The same for the slowest schedule possible; with `even_iterations`, with the chunks of loops as they were seen.
    pub slowest: Option<f64>,
    /// True: `time_ns`, `speedup` and `losses` are those of loops whose iterations cost the same, since chunks alone were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub even_iterations: Option<bool>,
    /// Loss to linear speedup, by cause.
    pub losses: Vec<Loss>,
}

/// Processor time that is lost to one cause.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Loss {
    /// `parallelism`, `lock-contention`, `task-overhead`, `scheduling`, `work-inflation`, `algorithmic-overhead`.
    pub cause: String,
    /// Processor time lost.
    pub time_ns: i64,
    /// That, over all time of the processors. With the useful work's share all shares add up to 1.
    pub share: f64,
    /// In units of speedup: with `speedup`, all add up to the number of processors.
    pub speedup: f64,
    /// The sites behind most of it.
    pub parts: Vec<LossPart>,
}

/// A site's part of a loss.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LossPart {
    /// Id of the site or region; null for code of the main thread that is in none.
    pub id: Option<String>,
    /// `serial-start`, `serial-between`, `serial-end`, `lock`, `waits`, `shared-iterator`, `few-tasks`, `long-task`,
    /// `in-turn`, `chunks`, `own-code`, `small-tasks`.
    pub reason: String,
    /// In words.
    pub text: String,
    /// Processor time.
    pub time_ns: i64,
    /// That, over the loss.
    pub share: f64,
    /// Speedup if this were not lost.
    pub without: f64,
}

/// The whole program.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Program {
    /// Sum of all strands, in nanoseconds.
    pub work_ns: i64,
    /// Longest chain of strands.
    pub span_ns: i64,
    /// What one processor takes: the work, unless the program waits for the outside world.
    pub one_processor_ns: i64,
    /// Time on one processor over span.
    pub parallelism: Option<f64>,
    /// The same with only the order that the program demands: iterations of a loop cost the same, and nobody waits for a lock. Null if
    /// there are no loops of which only chunks are known, and no waits for locks.
    pub uniform: Option<Uniform>,
    /// The same if every possible steal on the critical path took place; null if not computed.
    pub burdened: Option<Burdened>,
    /// Cost of creating tasks over work.
    pub task_overhead: Option<f64>,
    /// Cost of creating tasks.
    pub overhead_ns: i64,
    /// Tasks created.
    pub tasks: u64,
    /// Serial code of the root strand.
    pub serial_ns: i64,
    /// Workers of the largest pool.
    pub workers: u32,
    /// Cores as on which the runtime split its loops; null for the true number.
    pub logical_cores: Option<u32>,
    /// The program asked how many threads there are; null if it did not.
    pub asked_threads: Option<AskedThreads>,
    /// From the start to the end of the program.
    pub wall_ns: i64,
    /// CPU time of the process, from the kernel.
    pub cpu_ns: i64,
    /// Time workers waited for work.
    pub idle_ns: i64,
    /// Time strands were ready without a CPU; in no other number.
    pub preempted_ns: i64,
    /// Time strands were blocked; in span, not in work.
    pub blocked_ns: i64,
    /// Of it: strands looked again and again whether another one had come so far. Absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polled_ns: Option<i64>,
    /// Time of interrupts; in no other number.
    pub interrupted_ns: i64,
    /// Time that the runtime took when it was first used: it looked at the machine, made its threads and tables, and got memory; in no other number. Absent if
    /// none was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_use_ns: Option<i64>,
    /// Time spent in the collector; in no other number.
    pub collector_ns: i64,
    /// False if something is missing from the numbers.
    pub complete: bool,
    /// Events that did not fit into the collector's tables.
    pub dropped: u64,
    /// Exit status of the program; null if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
}

/// The program asked how many threads there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AskedThreads {
    /// The least number that it was given.
    pub answer: u32,
    /// The functions by which it asked.
    pub by: Vec<String>,
}

/// The upper bound for loops: as if each iteration of a worksharing loop cost the same and could run by itself.
/// The runtime reports chunks only, so the truth lies between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Uniform {
    /// Span.
    pub span_ns: i64,
    /// Work over span.
    pub parallelism: Option<f64>,
}

/// If every possible steal on the critical path took place, each at the cost of `recorded.steal_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Burdened {
    /// Span.
    pub span_ns: i64,
    /// Work over span.
    pub parallelism: Option<f64>,
}

/// A top-level region, or serial code of the root strand.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Region {
    /// Stable between runs.
    pub id: String,
    /// `serial` or the kind of the construct.
    pub kind: String,
    /// Where it is; null for serial code.
    pub place: Option<Place>,
    /// The function around it.
    pub function: Option<String>,
    /// The name that the program gives a region that it marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The function in which its own code spent its time, by samples; absent if they were too few or named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran: Option<Ran>,
    /// For serial code: the region before it; null at the start of the program.
    pub from: Option<Place>,
    /// For serial code: the region after it; null at the end of the program.
    pub to: Option<Place>,
    /// Not serial: tasks or threads of `from` run beside it, which it has begun.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
    /// True for start-up: serial code before the first region.
    pub prefix: bool,
    /// True if it had not ended when the program did.
    pub open: bool,
    /// Times it was entered.
    pub instances: u64,
    /// Work, descendants included.
    pub work_ns: i64,
    /// Sum of the spans of its instances; at most the program's span.
    pub span_ns: i64,
    /// The sum alone, if it is more than that: instances ran beside each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances_span_ns: Option<i64>,
    /// Work over the sum of the spans: of one instance as of many beside each other.
    pub parallelism: Option<f64>,
    /// The same with only the order that the program demands: iterations of a loop cost the same, and nobody waits for a lock. Null if
    /// there are no loops of which only chunks are known, and no waits for locks.
    pub uniform: Option<Uniform>,
    /// The same if every possible steal on the critical path took place; null if not computed.
    pub burdened: Option<Burdened>,
    /// What it adds to the critical path, descendants included.
    pub critical_ns: i64,
    /// That, over the program's span.
    pub critical_share: Option<f64>,
    /// Cost of creating tasks inside.
    pub overhead_ns: i64,
    /// That, over its work.
    pub task_overhead: Option<f64>,
    /// Wall time of its instances.
    pub wall_ns: i64,
    /// Time workers waited meanwhile.
    pub idle_ns: i64,
}

/// A spawn site.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Site {
    /// Stable between runs.
    pub id: String,
    /// File as the compiler saw it; empty if it is not known.
    pub file: String,
    /// Line, from 1; 0 if it is not known.
    pub line: u32,
    /// Column, from 1; 0 if it is not known.
    pub column: u32,
    /// For want of file and line: a function, or a file of code, and how far behind its beginning the place is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Another site has the same line: as text, the column says which it is.
    #[serde(skip)]
    #[schemars(skip)]
    pub with_column: bool,
    /// The function around it.
    pub function: Option<String>,
    /// The name that the program gives a region that it marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Kind of the construct.
    pub kind: String,
    /// For a site in a dependency: the place in the workspace that led there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Place>,
    /// Times the construct ran, recursion included.
    pub instances: u64,
    /// Tasks it created.
    pub tasks: u64,
    /// Work of its outermost instances.
    pub work_ns: i64,
    /// Sum of their spans; at most the program's span.
    pub span_ns: i64,
    /// The sum alone, if it is more than that: instances ran beside each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances_span_ns: Option<i64>,
    /// Work over the sum of the spans: of one instance as of many beside each other.
    pub parallelism: Option<f64>,
    /// The same with only the order that the program demands: iterations of a loop cost the same, and nobody waits for a lock. Null if
    /// there are no loops of which only chunks are known, and no waits for locks.
    pub uniform: Option<Uniform>,
    /// The same if every possible steal on the critical path took place; null if not computed.
    pub burdened: Option<Burdened>,
    /// Time its strands waited for a lock that others held; in no other number.
    pub contended_ns: i64,
    /// Time of strands of the site itself.
    pub self_ns: i64,
    /// What strands of the site itself add to the critical path. With the serial rows' these add up to the span.
    pub critical_ns: i64,
    /// That, over the program's span.
    pub critical_share: Option<f64>,
    /// Cost of creating its tasks.
    pub overhead_ns: i64,
    /// That, over the program's work.
    pub overhead_share: Option<f64>,
    /// Cost of creating tasks below it, its own included.
    pub overhead_total_ns: i64,
    /// Time its strands were blocked.
    pub blocked_ns: i64,
    /// Of it: they looked again and again. Absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polled_ns: Option<i64>,
    /// Sizes of its tasks: what they ran themselves. Null if it created none.
    pub task_ns: Option<TaskSizes>,
    /// How many of its tasks were of which size, without sizes that none has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub task_sizes: Vec<SizeBucket>,
}

/// Tasks of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SizeBucket {
    /// Smallest size, in nanoseconds.
    pub from_ns: i64,
    /// First size above.
    pub to_ns: i64,
    /// Tasks.
    pub tasks: u64,
}

/// Sizes of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskSizes {
    /// Mean, exact.
    pub mean: i64,
    /// Median, within a quarter.
    pub p50: i64,
    /// 90th percentile, within a quarter.
    pub p90: i64,
}

/// A site below the sites around it. Recursion is folded.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Context {
    /// Position in the list of the context around it; null for those at the top.
    pub parent: Option<usize>,
    /// Id of the site or region.
    pub id: String,
    /// Name to show.
    pub label: String,
    /// Time of strands in exactly this context.
    pub self_ns: i64,
    /// What they add to the critical path.
    pub critical_ns: i64,
}

/// A caveat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warning {
    /// Stable word.
    pub code: String,
    /// In words, with what to do.
    pub message: String,
}

/// Extremes over several runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Number of runs.
    pub runs: usize,
    /// Work.
    pub work_ns: Extremes<i64>,
    /// Span.
    pub span_ns: Extremes<i64>,
    /// Parallelism.
    pub parallelism: Extremes<f64>,
    /// Wall time.
    pub wall_ns: Extremes<i64>,
}

/// Smallest and largest value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ExtremesOf_{T}")]
pub struct Extremes<T> {
    /// Smallest.
    pub min: T,
    /// Largest.
    pub max: T,
}

/// How it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Recorded {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Seconds since 1970.
    pub at: u64,
    /// Version of workspan.
    pub workspan: String,
    /// Name and version of the runtime.
    pub runtime: String,
    /// Number of runs.
    pub runs: usize,
    /// Source of time: `real` or `virtual`.
    pub clock: String,
    /// Processor.
    pub processor: String,
    /// Processors online.
    pub cpus: u32,
    /// Operating system.
    pub system: String,
    /// Cost of one fork and join of the runtime, calibrated, in picoseconds.
    pub join_cost_ps: i64,
    /// Cost of one hook of the collector, calibrated and excluded, in picoseconds.
    pub probe_cost_ps: i64,
    /// Cost of a steal in burdened spans; null if these were not computed.
    pub steal_ns: Option<i64>,
    /// How that is known: `measured` where the program ran, `assumed`, or `recorded`, as requested with the run.
    pub steal_from: Option<String>,
}
