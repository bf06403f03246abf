//! Command lines of `workspan graph`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::DEFAULT_TOP;

/// Where task graphs are written and read unless another folder is named.
pub const DEFAULT_FOLDER: &str = "workspan.graph";

const GRAPH: &str = "\
A context is a thread, or a task of OpenMP, oneTBB or rayon. False sharing: contexts use different bytes of one cache \
line; true sharing: one writes bytes that another reads.

Examples:
  workspan build -- make -j
  workspan graph record -o run.graph -- ./prog args
  workspan graph report run.graph
  workspan graph report run.graph --html run.html
  workspan graph cache run.graph --json
  workspan graph races run.graph";

const MERGE: &str = "\
Example:
  workspan build -- mpicc -O2 prog.c -o prog
  mpirun -n 4 workspan graph record -o run.graph -- ./prog
  workspan graph merge -o all.graph run.?.graph
  workspan graph report all.graph";

/// `workspan graph`.
#[derive(Args, Clone, Debug)]
#[command(after_help = GRAPH)]
pub struct Graph {
    /// What to do.
    #[command(subcommand)]
    pub verb: GraphVerb,
}

/// Commands on task graphs.
#[derive(Clone, Debug, Subcommand)]
pub enum GraphVerb {
    /// Run a program that `workspan build` built, and write its task graph.
    Record(GraphRecord),
    /// Make one graph of the graphs of all ranks of a program on MPI.
    Merge(GraphMerge),
    /// Show how many tasks of each type there are, and what they executed and touched.
    Report(GraphReport),
    /// Show the misses of LRU caches of all sizes.
    Cache(GraphCache),
    /// Show data races: accesses that the graph leaves unordered.
    Races(GraphRaces),
    /// Show how many threads run at the same time, over time.
    Timeline(GraphTimeline),
    /// Show which instructions or allocations miss most in a cache of one size.
    Misses(GraphMisses),
    /// Show false sharing (one cache line, different bytes) or true sharing (the same bytes).
    Sharing(GraphSharing),
    /// Show how much memory tasks touch, by the call that created them, and which tasks feed which.
    WorkingSet(GraphWorkingSet),
    /// Show how parallel the program is while each basic block runs.
    Code(GraphCode),
    /// Show work, span and critical path, and which rank waits where for which.
    Waits(GraphWaits),
    /// Write the tasks in the format of another tool.
    Export(GraphExport),
}

/// How an answer is written.
#[derive(Args, Clone, Debug)]
pub struct Form {
    /// Show at most N rows.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// As JSON; lists all.
    #[arg(long, conflicts_with_all = ["csv", "html"])]
    pub json: bool,
    /// As CSV; lists all.
    #[arg(long, conflicts_with = "html")]
    pub csv: bool,
    /// Write a page with drawings to FILE, in place of the text.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// `workspan graph misses`.
#[derive(Args, Clone, Debug)]
pub struct GraphMisses {
    /// The graph.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// Size of the cache in KiB.
    #[arg(long, value_name = "KIB", default_value_t = 32)]
    pub size: u64,
    /// Bytes of a cache line.
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    pub line: u64,
    /// Lines of a set.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub ways: u64,
    /// Let all contexts share one cache, taking turns; default: each context has its own.
    #[arg(long)]
    pub shared: bool,
    /// Show the calls that allocated the memory, not the instructions.
    #[arg(long)]
    pub allocations: bool,
    /// How the answer is written.
    #[command(flatten)]
    pub form: Form,
}

/// `workspan graph sharing`.
#[derive(Args, Clone, Debug)]
pub struct GraphSharing {
    /// The graph.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// Bytes of a cache line.
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    pub line: u64,
    /// Show true sharing: the bytes that one context writes and another reads (default: false sharing).
    #[arg(long)]
    pub traffic: bool,
    /// How the answer is written.
    #[command(flatten)]
    pub form: Form,
}

/// `workspan graph working-set`.
#[derive(Args, Clone, Debug)]
pub struct GraphWorkingSet {
    /// The graph.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// Bytes of a cache line; a power of two.
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    pub line: u64,
    /// Show each work task by itself.
    #[arg(long, conflicts_with = "feeds")]
    pub tasks: bool,
    /// Show which task reads bytes that another has written.
    #[arg(long)]
    pub feeds: bool,
    /// How the answer is written.
    #[command(flatten)]
    pub form: Form,
}

/// `workspan graph code`.
#[derive(Args, Clone, Debug)]
pub struct GraphCode {
    /// The graph.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// How the answer is written.
    #[command(flatten)]
    pub form: Form,
}

/// `workspan graph waits`.
#[derive(Args, Clone, Debug)]
pub struct GraphWaits {
    /// The graph.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// How the answer is written.
    #[command(flatten)]
    pub form: Form,
}

/// Formats of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// GraphML, for yEd, Gephi and others.
    Graphml,
    /// A timeline for ui.perfetto.dev.
    Perfetto,
}

/// `workspan graph export`.
#[derive(Args, Clone, Debug)]
pub struct GraphExport {
    /// The graph.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// The format.
    #[arg(short, long, value_enum)]
    pub format: GraphFormat,
    /// Write to FILE; default: standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Of a graph for drawing, write the N tasks that come first.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub limit: usize,
}

/// `workspan graph record`.
#[derive(Args, Clone, Debug)]
pub struct GraphRecord {
    /// Write the graph to FOLDER; a former one is kept as FOLDER.old. Under mpirun each rank writes its own: NAME.RANK.graph.
    #[arg(short, long, value_name = "FOLDER", default_value = DEFAULT_FOLDER)]
    pub output: PathBuf,
    /// Queue up to N MiB of events for the file; when the queue is full, the program waits.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub buffer: u32,
    /// Record the accesses to one in N cache lines, N a power of two from 2 to 32: smaller graphs of long runs. Tasks and
    /// their counts stay exact; every number that comes from the sample says so.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=32))]
    pub sample: Option<u32>,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `workspan graph merge`.
#[derive(Args, Clone, Debug)]
#[command(after_help = MERGE)]
pub struct GraphMerge {
    /// Write the merged graph to FOLDER; a former one is kept as FOLDER.old.
    #[arg(short, long, value_name = "FOLDER", default_value = DEFAULT_FOLDER)]
    pub output: PathBuf,
    /// Merge even if ranks are missing.
    #[arg(long)]
    pub partial: bool,
    /// The graphs of the ranks, in any order.
    #[arg(required = true, value_name = "GRAPH")]
    pub ranks: Vec<PathBuf>,
}

/// `workspan graph report`.
#[derive(Args, Clone, Debug)]
pub struct GraphReport {
    /// Graph to read: the folder that `graph record` wrote.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// How the answer is written.
    #[command(flatten)]
    pub form: Form,
}

/// `workspan graph cache`.
#[derive(Args, Clone, Debug)]
pub struct GraphCache {
    /// Graph to read: the folder that `graph record` wrote.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// Size of a cache line, in bytes; a power of two.
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    pub line: u64,
    /// Lines in a set (associativity); a power of two.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub ways: u64,
    /// Let all threads share one cache, taking turns; default: each thread has its own.
    #[arg(long)]
    pub shared: bool,
    /// Simulate excerpts of the run, or one set in N of the larger caches, N a power of two from 2 to 1024, and report the error; where
    /// the error exceeds 1 % of the accesses, simulate everything.
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// How the answer is written.
    #[command(flatten)]
    pub form: Form,
}

/// `workspan graph races`.
#[derive(Args, Clone, Debug)]
pub struct GraphRaces {
    /// Graph to read: the folder that `graph record` wrote.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// How the answer is written.
    #[command(flatten)]
    pub form: Form,
}

/// `workspan graph timeline`.
#[derive(Args, Clone, Debug)]
pub struct GraphTimeline {
    /// Graph to read: the folder that `graph record` wrote.
    #[arg(default_value = DEFAULT_FOLDER)]
    pub folder: PathBuf,
    /// Divide the run into N intervals.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub intervals: u32,
    /// How the answer is written.
    #[command(flatten)]
    pub form: Form,
}
