//! The view model of `workspan limits`.

use schemars::JsonSchema;
use serde::Serialize;

/// How parallel a program could be at most, by which dependences count.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Limits {
    /// Version of this form.
    pub schema_version: u32,
    /// In one line: the limits, and what sets them.
    pub text: String,
    /// False if the run was cut short: these are the limits of the part that was analysed.
    pub complete: bool,
    /// What was run, and how.
    pub conditions: Conditions,
    /// Instructions that ran and were analysed.
    pub instructions: u64,
    /// The seven models, in the order of the table that defines them.
    pub models: Vec<Model>,
    /// Variants of the models with control dependences.
    pub control: Vec<Model>,
    /// What `TruNam` gains without one kind of memory that is used again; empty if that was not analysed.
    pub names: Vec<Reuse>,
    /// `Tru` and `TruSp` if calls of the memory allocator may run in any order; empty if that was not analysed.
    pub allocator: Vec<Model>,
    /// Models in which instructions take as many cycles as on a processor; empty if that was not analysed.
    pub latency: Vec<Model>,
    /// `Tru` for a processor that looks a limited number of instructions ahead; empty if that was not analysed.
    pub windows: Vec<Window>,
    /// `Tru` for a processor that runs a limited number of instructions in a cycle; empty if that was not analysed.
    pub widths: Vec<Width>,
    /// How much of `Tru`'s parallelism a processor of just that width reaches; null if that was not analysed.
    pub smoothability: Option<Smoothability>,
    /// How long values in registers wait for their first use in `Tru`; null if that was not analysed.
    pub slack: Option<Slack>,
    /// Instructions by the cycle in which they run: parallelism over the run; empty if that was not analysed.
    pub profile: Vec<Profile>,
    /// Branches and indirect jumps that ran, and how many of them a simple predictor got wrong.
    pub branches: Branches,
    /// Source lines that critical paths run through, by model, most instructions first.
    pub lines: Vec<Line>,
    /// What holds the links of critical paths, by model, most instructions first.
    pub links: Vec<Link>,
    /// Variables that links of critical paths lead through, by model, most instructions first.
    pub variables: Vec<Variable>,
    /// What `workspan depend` found for the program, beside the limit that bounds it; null if its report was not given.
    pub depend: Option<Depend>,
    /// True if every instruction on a path is known; false if lines and links come from a sample.
    pub exact_paths: bool,
    /// What the analysis itself took.
    pub analysis: Analysis,
    /// What to know before relying on a number.
    pub warnings: Vec<String>,
}

/// What was run, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conditions {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Folder it ran in.
    pub directory: String,
    /// When, in seconds since 1970.
    pub made_at: u64,
    /// Version of workspan.
    pub made_by: String,
    /// The emulator that ran it, and its version; or what watched it instead.
    pub emulator: String,
    /// Region of interest that was analysed; null if it was everything.
    pub region: Option<String>,
    /// Exit status of the program; null if a signal or workspan ended it.
    pub exit_code: Option<i32>,
    /// Signal that ended the program.
    pub signal: Option<i32>,
    /// Threads that the program had, at most at one time.
    pub threads: u32,
    /// Processes that the program created; they were not analysed.
    pub children: u32,
}

/// What a model allows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// What counts in it, in words.
    pub meaning: String,
    /// Instructions of its graph: all that ran, but in the model without address calculations.
    pub instructions: u64,
    /// Instructions on the longest chain of dependences.
    pub critical_path: u64,
    /// `instructions` / `critical_path`; null if nothing ran.
    pub parallelism: Option<f64>,
}

/// Branches and indirect jumps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Branches {
    /// That ran.
    pub ran: u64,
    /// That the predictor got wrong; null if it was not asked.
    pub missed: Option<u64>,
}

/// `TruNam` without the dependences of one kind of memory that is used again.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reuse {
    /// `spill`: the same place in the frame of the same call; `stack`: of another call; `heap`: memory that the program
    /// requested from the system; `global`: variables.
    pub without: String,
    /// Instructions on the longest chain of the dependences that are left.
    pub critical_path: u64,
    /// Instructions over `critical_path`; null if nothing ran.
    pub parallelism: Option<f64>,
}

/// What a window of instructions allows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Window {
    /// Instructions that are looked at.
    pub window: u64,
    /// Cycles that the run takes.
    pub critical_path: u64,
    /// Instructions in a cycle; null if nothing ran.
    pub parallelism: Option<f64>,
}

/// What a number of instructions in a cycle allows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Width {
    /// Instructions that may run in one cycle.
    pub width: u64,
    /// Instructions that are looked at.
    pub window: u64,
    /// Cycles that the run takes.
    pub critical_path: u64,
    /// Instructions in a cycle; null if nothing ran.
    pub parallelism: Option<f64>,
}

/// How evenly parallelism is spread: 1 if a processor of that width takes no longer than one without limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Smoothability {
    /// The smallest width that is not less than the parallelism of the same window without a limit.
    pub width: u64,
    /// Instructions that are looked at.
    pub window: u64,
    /// Cycles without a limit over cycles with that width.
    pub value: f64,
}

/// How long values in registers wait for their first use.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Slack {
    /// Values that were used.
    pub used: u64,
    /// Values that nobody used.
    pub unused: u64,
    /// Values by the cycles that they waited.
    pub waits: Vec<Waits>,
}

/// Values that waited about as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Waits {
    /// The fewest cycles.
    pub from: u64,
    /// The most cycles.
    pub to: u64,
    /// Values.
    pub values: u64,
}

/// Parallelism over the run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Profile {
    /// The model.
    pub model: String,
    /// Cycles that a bar stands for; the last one may stand for fewer.
    pub cycles: u64,
    /// Instructions of each bar.
    pub instructions: Vec<u64>,
    /// Standard deviation of the bars over their mean: 0 if parallelism is the same all the time.
    pub burstiness: f64,
    /// Instructions in a cycle of the highest bar.
    pub highest: f64,
}

/// A source line on the critical path of a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// The model.
    pub model: String,
    /// File; the executable or library if the line is not known.
    pub file: String,
    /// Line; 0 if it is not known.
    pub line: u32,
    /// Function; null if it is not known.
    pub function: Option<String>,
    /// Instructions of the line on the path.
    pub instructions_on_path: f64,
    /// Their share of the path, from 0 to 1.
    pub share: f64,
    /// What holds most of them.
    pub link: String,
    /// The variable through which most of the values in memory pass that its instructions wait for; null if there are none.
    pub variable: Option<String>,
}

/// A variable that links of the critical path of a model lead through.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Variable {
    /// The model.
    pub model: String,
    /// Name of a global or static variable; `[heap]` for memory that belongs to no file, `[data of FILE]` where the file
    /// has no symbol.
    pub variable: String,
    /// `memory-value` if instructions wait for its value, `memory-name` if they store another one.
    pub link: String,
    /// Instructions on the path that it holds.
    pub instructions_on_path: f64,
    /// Their share of the path, from 0 to 1.
    pub share: f64,
}

/// What holds links of the critical path of a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Link {
    /// The model.
    pub model: String,
    /// `register`, `stack-pointer`, `address`, `stack-value`, `memory-value`, `stack-name`, `memory-name`, `control` or `begin`.
    pub link: String,
    /// Instructions on the path that it holds.
    pub instructions_on_path: f64,
    /// Their share of the path, from 0 to 1.
    pub share: f64,
}

/// Parallelism of the program's calls as tasks, and its bound.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Depend {
    /// The command that `workspan depend` ran.
    pub command: Vec<String>,
    /// Work over span in its task model `exact`.
    pub parallelism: f64,
    /// The model that has no dependence which calls as tasks do not have; null if it was not analysed.
    pub model: Option<String>,
    /// That model's parallelism.
    pub bound: Option<f64>,
    /// False if `parallelism` exceeds `bound`: the two commands saw different code, input or regions. Null without a bound.
    pub within: Option<bool>,
}

/// What the analysis itself took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Analysis {
    /// From the start of the program to the end of the analysis, in nanoseconds.
    pub wall_ns: u64,
    /// Memory for depths and paths, in bytes.
    pub memory_bytes: u64,
    /// True if memory was used up, so that some dependences may be there that the program does not have.
    pub coarse: bool,
}
