//! One run of a program.

use crate::context::ContextId;
use crate::events::EventCounts;
use crate::histogram::Histogram;
use crate::units::Nanos;
use crate::wait::WaitFor;

/// Threads of the largest team of OpenMP: there is room for these, for the collector's own, and for one of the program besides.
pub const LARGEST_TEAM: u32 = 254;

/// What one run amounts to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Source of time.
    pub clock: Clock,
    /// How the program's process ended.
    pub exit: Exit,
    /// Whether that was seen from inside.
    pub ending: Ending,
    /// From the start of the collector to the end of the program.
    pub wall: Nanos,
    /// CPU time of the process, from the kernel.
    pub cpu: Nanos,
    /// Longest chain of strands.
    pub span: Nanos,
    /// The same if every iteration of a worksharing loop cost the same and could run by itself: the other end of a
    /// bracket, for runtimes that report chunks only. Zero if there are no such loops.
    pub uniform_span: Nanos,
    /// The same if all were stolen that can be, at `steal` each. Zero if that was not reported.
    pub burdened_span: Nanos,
    /// What a steal costs in burdened spans.
    pub steal: Nanos,
    /// Per context, in the order of the recording's tree.
    pub totals: Vec<Totals>,
    /// Per context: its share of the critical path. Sums to `span`, but for `lost_path`.
    pub critical: Vec<Nanos>,
    /// Part of the critical path whose context was lost.
    pub lost_path: Nanos,
    /// Regions that were still open at the end; after a clean end, those in which a thread still ran, one for each.
    pub open: Vec<OpenRegion>,
    /// Workers of the largest pool.
    pub workers: u32,
    /// Pools.
    pub pools: u32,
    /// Threads that ran strands.
    pub threads: u32,
    /// Cores as on which the runtime split its loops; `None` for the true number.
    pub logical_cores: Option<u32>,
    /// The program asked how many threads there are, if it did.
    pub asked: Option<AskedThreads>,
    /// Time workers waited for work.
    pub idle: Nanos,
    /// Time strands were ready without a CPU; in no other number.
    pub preempted: Nanos,
    /// Time strands were blocked; in span, not in work.
    pub blocked: Nanos,
    /// Time of interrupts that was taken out.
    pub interrupted: Nanos,
    /// Time that runtimes took when they were first used; in no other number.
    pub first_use: Nanos,
    /// Time spent in the collector; in no other number.
    pub collector: Nanos,
    /// Strands that met an interrupt.
    pub interrupts: u64,
    /// Cost of the runtime's own fork and join, calibrated, in picoseconds.
    pub join_cost_ps: i64,
    /// Cost of one hook, calibrated and taken out, in picoseconds.
    pub probe_cost_ps: i64,
    /// The same where hooks are batched: the mean.
    pub batched_probe_cost_ps: i64,
    /// Time that may be charged a few strands off, from batching.
    pub displaced: Nanos,
    /// What the machine allowed.
    pub features: Vec<Feature>,
    /// What did not fit.
    pub losses: Losses,
    /// Further processes of the same command that carry hooks.
    pub other_processes: u32,
    /// Events that were requested.
    pub events: Vec<EventCounts>,
    /// Which threads waited for which.
    pub waits: Vec<WaitFor>,
}

impl Run {
    /// Work of the whole program.
    pub fn work(&self) -> Nanos {
        self.totals.iter().map(|t| t.self_work).sum()
    }

    /// Of the time blocked: strands looked again and again.
    pub fn polled(&self) -> Nanos {
        self.totals.iter().map(|t| t.polled).sum()
    }

    /// Tasks created, those of a shared iterator's machinery excluded.
    pub fn tasks(&self) -> u64 {
        self.totals.iter().map(|t| t.tasks - t.machinery()).sum()
    }

    /// True if nothing is missing from the numbers.
    pub fn complete(&self) -> bool {
        self.ending == Ending::Clean && self.open.is_empty() && self.losses == Losses::default()
    }
}

/// The program asked how many threads there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedThreads {
    /// The least number that it was given.
    pub answer: u32,
    /// By which functions it asked.
    pub by: Vec<AskedBy>,
}

/// A function that says how many threads there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskedBy {
    /// Rayon's, also that of a pool.
    CurrentNumThreads,
    /// OpenMP's: members of the next team.
    OmpGetMaxThreads,
    /// OpenMP's: processors.
    OmpGetNumProcs,
    /// That of oneTBB, also that of an arena.
    MaxConcurrency,
}

impl AskedBy {
    /// All of them.
    pub const ALL: [AskedBy; 4] =
        [AskedBy::CurrentNumThreads, AskedBy::OmpGetMaxThreads, AskedBy::OmpGetNumProcs, AskedBy::MaxConcurrency];

    /// As it is in a source.
    pub fn name(self) -> &'static str {
        match self {
            AskedBy::CurrentNumThreads => "rayon::current_num_threads",
            AskedBy::OmpGetMaxThreads => "omp_get_max_threads",
            AskedBy::OmpGetNumProcs => "omp_get_num_procs",
            AskedBy::MaxConcurrency => "tbb::this_task_arena::max_concurrency",
        }
    }
}

/// Source of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Cycle counter, corrected.
    #[default]
    Real,
    /// Ticks reported by the program.
    Virtual,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Default for Exit {
    fn default() -> Exit {
        Exit::Code(0)
    }
}

/// How the program ended, seen from inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// The root strand ended outside any region.
    #[default]
    Clean,
    /// `exit` was called inside a region or on another thread.
    InsideRegion,
    /// No exit handler ran.
    Unseen,
}

/// Totals of one context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Time of strands in exactly this context.
    pub self_work: Nanos,
    /// Outermost instances that have ended.
    pub instances: u64,
    /// Their work, descendants included.
    pub work: Nanos,
    /// Sum of their spans.
    pub span: Nanos,
    /// The same of those that ended on the critical path.
    pub on_path: OnPath,
    /// Instances of any nesting.
    pub entries: u64,
    /// Tasks created, those of a shared iterator's machinery included ([`Totals::machinery`]).
    pub tasks: u64,
    /// Of `tasks`: items of a shared iterator, which cost no creation.
    pub items: u64,
    /// What these tasks ran themselves.
    pub task_work: Nanos,
    /// Cost of creating tasks, where it is measured one by one.
    pub overhead: Nanos,
    /// Time strands were blocked.
    pub blocked: Nanos,
    /// Of it: they looked again and again.
    pub polled: Nanos,
    /// Wall time of instances entered from serial code.
    pub wall: Nanos,
    /// As `span`, with uniform loops ([`Run::uniform_span`]).
    pub uniform_span: Nanos,
    /// As `span`, with steals ([`Run::burdened_span`]).
    pub burdened_span: Nanos,
    /// Time strands waited for a lock that others held; in no other number.
    pub contended: Nanos,
    /// For code under a lock: which lock, as far as it is only one.
    pub lock: Lock,
    /// Sizes of the tasks.
    pub sizes: Histogram,
}

/// What outermost instances on the critical path amount to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnPath {
    /// How many they are.
    pub instances: u64,
    /// Their work, descendants included (Cilkprof ch. 2: work on span).
    pub work: Nanos,
    /// Sum of their spans (span on span).
    pub span: Nanos,
}

/// The lock that a context's code holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lock {
    /// None.
    #[default]
    None,
    /// Several, one at a time.
    Several,
    /// Always this one; the number distinguishes locks of a run.
    One(u64),
}

impl Totals {
    /// Of `tasks`: those that take turns at a shared iterator. They cost their creation and are next to empty: what a
    /// program calls its tasks are the items.
    pub fn machinery(&self) -> u64 {
        if self.items > 0 {
            self.tasks.saturating_sub(self.items)
        } else {
            0
        }
    }
}

/// A region that was open when the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRegion {
    /// Its context.
    pub context: ContextId,
    /// True if no instance of the same site was around it.
    pub outermost: bool,
    /// The longest chain seen so far inside.
    pub span: Nanos,
}

/// What a machine allows the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// To see that a thread was switched out.
    SwitchWitness,
    /// To see that an interrupt came.
    InterruptWitness,
    /// To distinguish waiting for a CPU from waiting for something else.
    RunDelay,
    /// A cycle counter of constant rate.
    SteadyCounter,
}

/// Events that did not fit into the collector's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Source places.
    pub sites: u64,
    /// Contexts.
    pub contexts: u64,
    /// Threads.
    pub threads: u64,
    /// Segments of critical paths.
    pub path_nodes: u64,
}

impl Losses {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.sites + self.contexts + self.threads + self.path_nodes
    }
}
