//! The shared memory between a profiled program and `workspan`.
//!
//! `workspan` makes an anonymous file of [`SIZE`] bytes (sparse: only touched pages take memory), fills in
//! [`Config`], and names it to the program in the environment variable [`ENV`]. The collector maps it and keeps *all*
//! of its results there, so that they survive any end of the program: `exit`, `_exit`, a crash, `SIGKILL`.
//!
//! | offset | content |
//! |---|---|
//! | 0 | [`Header`] |
//! | [`SITE_INDEX`] | hash index of sites, `u32` each: 0 or site + 1 |
//! | [`SITES`] | [`SiteRecord`] × [`MAX_SITES`] |
//! | [`CONTEXT_INDEX`] | hash index of contexts, `u32` each: 0 or context + 1 |
//! | [`CONTEXTS`] | [`ContextRecord`] × [`MAX_CONTEXTS`] |
//! | [`MODULES`] | [`ModuleRecord`] × [`MAX_MODULES`] |
//! | [`THREADS`] | [`ThreadArea`] × [`MAX_THREADS`] |
//! | [`NODES`] | [`PathNode`] × [`MAX_NODES`] |
//! | [`CALLS`] | [`Call`] × [`MAX_CALLS`] |
//! | [`ACCOUNT_PAGES`] | [`AccountPage`] × [`MAX_ACCOUNT_PAGES`] |
//! | [`LOGS`] | [`ThreadLog`] × [`MAX_THREADS`]; untouched unless [`Config::log`] requests them |
//! | [`SEGMENTS`] | [`ThreadSegments`] × [`MAX_THREADS`]; untouched unless [`Config::segments`] requests them |
//!
//! The interpreter Miri, which runs the collector's tests, gets smaller tables.
//!
//! Fields in [`Cell`]s are written by one thread only; fields that several threads write are atomics. Times are in
//! *ticks* of the cycle counter (or of the virtual clock); [`Config::ticks_per_second`] converts.

use core::cell::Cell;
use core::mem::size_of;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

use super::events::{Events, ThreadEvents, MAX_EVENTS};
use super::histogram::BUCKETS;
use super::log::RECORD;
use super::segment::ThreadSegments;

pub use super::asked::Asked;
pub use super::config::Config;
pub use super::path::{Call, PathNode, AWAITED, NODE, NODE_ENTRIES, OWNED, PREFIXED};
pub use super::records::{ContextRecord, ModuleRecord, SiteRecord, FILE_BYTES, STACK_DEPTH, TYPE_BYTES};
pub use super::task::{Position, Spans, TaskCells, TaskState, CALL_WANTED};
pub use super::wait::{WaitEdge, MAX_WAIT_EDGES, WAIT_MAIN, WAIT_OUTSIDE, WAIT_SITES};

/// First eight bytes of the shared memory.
pub const MAGIC: u64 = u64::from_le_bytes(*b"wspanshm");
/// Version of everything in this module.
pub const WIRE_VERSION: u32 = 24;
/// Environment variable that holds the path of the shared memory.
pub const ENV: &str = "WORKSPAN_SHM";
/// Section of an executable that says "hooks are in": [`NOTE_MAGIC`], then the wire version, then the runtime's name
/// and version as text.
pub const NOTE_SECTION: &str = ".note.workspan";
/// First bytes of [`NOTE_SECTION`]'s description.
pub const NOTE_MAGIC: [u8; 8] = *b"WORKSPAN";
/// End of the runtime's name and version where only hooks for idle time are in.
pub const NOTE_IDLE_ONLY: &str = " (idle)";

/// Most source places distinguished, serial code between regions included; further ones are counted in
/// [`Header::dropped_sites`].
pub const MAX_SITES: usize = if cfg!(miri) { 64 } else { 1 << 15 };
/// Most contexts (a site below a path of sites) distinguished; see [`Header::dropped_contexts`].
pub const MAX_CONTEXTS: usize = if cfg!(miri) { 64 } else { 1 << 16 };
/// Contexts for which every thread has an account in its own area; those of further ones are in pages.
pub const FIRST_CONTEXTS: usize = if cfg!(miri) { 32 } else { 2112 };
/// Accounts of an [`AccountPage`].
pub const PAGE_ACCOUNTS: usize = if cfg!(miri) { 8 } else { 256 };
/// Pages of accounts, of all threads; where none is left, the parent context is charged ([`Header::dropped_contexts`]).
pub const MAX_ACCOUNT_PAGES: usize = if cfg!(miri) { 6 } else { 1 << 10 };
/// Pages that a thread may have.
pub const THREAD_PAGES: usize = (MAX_CONTEXTS - FIRST_CONTEXTS).div_ceil(PAGE_ACCOUNTS);
/// Most files of code (the executable, shared libraries) distinguished; addresses in further ones stay unresolved.
pub const MAX_MODULES: usize = if cfg!(miri) { 4 } else { 64 };
/// Most threads alive at a time; see [`Header::dropped_threads`].
pub const MAX_THREADS: usize = if cfg!(miri) { 6 } else { 256 };
/// Most nodes of critical paths alive at a time; see [`Header::dropped_nodes`].
pub const MAX_NODES: usize = if cfg!(miri) { 1 << 10 } else { 1 << 20 };
/// Most calls at a time whose sums are not known, or not yet where they belong; see [`Header::dropped_nodes`].
pub const MAX_CALLS: usize = if cfg!(miri) { 1 << 8 } else { 1 << 20 };
/// Slots of the two hash indices.
pub const INDEX_SLOTS: usize = if cfg!(miri) { 256 } else { 1 << 17 };
/// Parallel regions open at a time that a thread can describe if the program is killed.
pub const OPEN_REGIONS: usize = 16;
/// Batches of tasks that a thread may add to.
pub const OPEN_BATCHES: usize = 8;
/// Entries of a thread's cache of region entries.
pub const REGION_CACHE: usize = 64;

/// Numbers that a tool sees of a thread's strands: those of slot *i* follow *i* times this, so that both can be read in a
/// decimal number.
pub const THREAD_STRANDS: u64 = 1_000_000_000_000;

/// Records that a thread's log holds until somebody takes them.
pub const LOG_RECORDS: usize = if cfg!(miri) { 1 << 10 } else { 1 << 16 };

/// Offset of the hash index of sites.
pub const SITE_INDEX: usize = 4096;
/// Offset of the sites.
pub const SITES: usize = SITE_INDEX + INDEX_SLOTS * 4;
/// Offset of the hash index of contexts.
pub const CONTEXT_INDEX: usize = page(SITES + MAX_SITES * size_of::<SiteRecord>());
/// Offset of the contexts.
pub const CONTEXTS: usize = CONTEXT_INDEX + INDEX_SLOTS * 4;
/// Offset of the modules.
pub const MODULES: usize = page(CONTEXTS + MAX_CONTEXTS * size_of::<ContextRecord>());
/// Offset of the threads.
pub const THREADS: usize = page(MODULES + MAX_MODULES * size_of::<ModuleRecord>());
/// Offset of the nodes of critical paths.
pub const NODES: usize = page(THREADS + MAX_THREADS * size_of::<ThreadArea>());
/// Offset of the calls.
pub const CALLS: usize = page(NODES + MAX_NODES * size_of::<PathNode>());
/// Offset of the pages of accounts.
pub const ACCOUNT_PAGES: usize = page(CALLS + MAX_CALLS * size_of::<Call>());
/// Offset of the logs.
pub const LOGS: usize = page(ACCOUNT_PAGES + MAX_ACCOUNT_PAGES * size_of::<AccountPage>());
/// Offset of the segments of serial code.
pub const SEGMENTS: usize = page(LOGS + MAX_THREADS * size_of::<ThreadLog>());
/// Offset of who waited for whom.
pub const WAIT_EDGES: usize = page(SEGMENTS + MAX_THREADS * size_of::<ThreadSegments>());
/// Size of the shared memory.
pub const SIZE: usize = page(WAIT_EDGES + MAX_WAIT_EDGES * size_of::<WaitEdge>());

const fn page(offset: usize) -> usize {
    (offset + 4095) & !4095
}

const _: () = assert!(size_of::<PathNode>() == 184 && size_of::<Call>() == 56);
const _: () = assert!(size_of::<Header>() <= SITE_INDEX);
const _: () = assert!(core::mem::offset_of!(Thread, skip) == 128);
const _: () = assert!(MAX_CONTEXTS <= 1 << super::log::CONTEXT_BITS);

/// First page: what the runner requests and what the collector says about itself.
#[derive(Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// [`WIRE_VERSION`] of the runner.
    pub wire_version: AtomicU32,
    /// 0 until a process claims the memory, then its process id.
    pub owner: AtomicU32,
    /// Requested by the runner before the program starts.
    pub config: Config,
    /// [`WIRE_VERSION`] of the collector, 0 until it has attached.
    pub collector_version: AtomicU32,
    /// Further processes that found the memory claimed.
    pub other_processes: AtomicU32,
    /// Cycle counter and nanoseconds of `CLOCK_MONOTONIC` when the collector started.
    pub started: Instant,
    /// The same when the program ran its exit handlers; zero if it never did.
    pub finished: Instant,
    /// How the program ended: an [`Ending`].
    pub ending: AtomicU32,
    /// Load address of the executable, to turn addresses into file offsets.
    pub load_base: AtomicU64,

    /// Threads ever attached.
    pub threads: AtomicU32,
    /// Slots of [`THREADS`] in use or used before.
    pub thread_slots: AtomicU32,
    /// Records of [`SITES`] in use.
    pub sites: AtomicU32,
    /// Records of [`CONTEXTS`] in use.
    pub contexts: AtomicU32,
    /// Records of [`MODULES`] in use.
    pub modules: AtomicU32,
    /// Pages of [`ACCOUNT_PAGES`] in use.
    pub account_pages: AtomicU32,
    /// Nodes of [`NODES`] handed out so far.
    pub nodes: AtomicU32,
    /// Free list of nodes: low half the first free node + 1, high half a counter against ABA.
    pub free_nodes: AtomicU64,

    /// Sites that did not fit.
    pub dropped_sites: AtomicU64,
    /// Contexts that did not fit: their time is charged to the parent context.
    pub dropped_contexts: AtomicU64,
    /// Threads that did not fit: their time is missing.
    pub dropped_threads: AtomicU64,
    /// Segments of critical paths that found no node: their share is shown as unknown. Calls on them that found no place.
    pub dropped_nodes: AtomicU64,

    /// 1 once no more is to be logged: the runner cannot keep it, or does not take it any more.
    pub log_stopped: AtomicU32,
    /// Threads that gave up logging because nobody made room.
    pub log_given_up: AtomicU32,
    /// Of a tool that the environment names: 1 loaded; 2 it cannot be loaded, or is none; 3 no memory; 4 it declined.
    pub tool: AtomicU32,
    /// Children that the program has forked.
    pub forks: AtomicU32,
    /// Tasks that were not reported to the tool, for want of room.
    pub dropped_tool_tasks: AtomicU64,

    /// Calibrated cost, in ticks, that the hooks add to a strand; already taken out of all numbers.
    pub probe_ticks: AtomicI64,
    /// What the hooks of a whole batch add.
    pub batch_probe_ticks: AtomicI64,
    /// Calibrated cost of one fork and join of the runtime itself, in 1/1024 ticks.
    pub join_cost: AtomicI64,
    /// [`Feature`] bits of what the machine allows.
    pub features: AtomicU32,
    /// Workers of the largest pool.
    pub workers: AtomicU32,
    /// Pools started.
    pub pools: AtomicU32,
    /// Longest finish among tasks and threads that nobody joins.
    pub detached: Latest,

    /// Calls of [`CALLS`] handed out so far.
    pub calls: AtomicU32,
    /// 1 while a thread folds what lies behind nodes that several hold.
    pub folding: AtomicU32,
    /// Free list of calls, as that of nodes.
    pub free_calls: AtomicU64,

    /// Absolute span to which the root strand has come, as of its last region.
    pub root_span: AtomicI64,
    /// Times a thread went on without its turn ([`Config::logical_cores`]).
    pub impatient: AtomicU64,
    /// Events that were skipped, as what they are about was in another thread's hands for longer than anybody waits.
    pub unfollowed: AtomicU64,
    /// Waits of a loop's iterations for others that are in no order, since there was no room for it.
    pub unordered: AtomicU64,
    /// Interface version of a oneTBB that the program has and the collector does not know; 0 for none.
    pub unknown_tbb: AtomicU64,
    /// Functions by which the program has asked how many threads there are: bits of [`Asked`].
    pub asked_by: AtomicU32,
    /// `u32::MAX` less the least number that it was given; 0 if it has not asked.
    pub asked_least: AtomicU32,
    /// Bytes of [`Header::executable`]; 0 where the process runs the file that the runner has started.
    pub executable_len: AtomicU32,
    /// Path of the file that the process runs, where a wrapper has started it.
    pub executable: [Cell<u8>; FILE_BYTES],

    /// Events that are counted by context.
    pub events: Events,
}

/// Source of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Clock {
    /// Cycle counter, corrected for preemption.
    Real = 0,
    /// Ticks reported by the program: work and span are exact and repeatable.
    Virtual = 1,
}

/// How the program ended, as far as the collector saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Ending {
    /// No exit handler ran: killed, crashed, `_exit` or `exec`.
    Unseen = 0,
    /// The root thread ended outside any parallel region.
    Clean = 1,
    /// `exit` was called inside a parallel region or on another thread.
    InsideRegion = 2,
}

/// Bits of [`Header::features`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Feature {
    /// Restartable sequences report that the thread was switched out.
    SwitchWitness = 1,
    /// A segment selector reports that an interrupt came.
    InterruptWitness = 2,
    /// The kernel reports how long a thread waited for a CPU.
    RunDelay = 4,
    /// The cycle counter runs at a constant rate on all CPUs.
    SteadyCounter = 8,
    /// Of a thread only: it counts events by context.
    Events = 1 << 16,
}

/// A reading of both clocks.
#[derive(Debug)]
#[repr(C)]
pub struct Instant {
    /// Cycle counter.
    pub ticks: AtomicU64,
    /// `CLOCK_MONOTONIC`.
    pub nanos: AtomicU64,
}

/// Longest chain so far among several: its end (absolute span) and its path. Updated with one 128-bit compare and
/// swap, hence the alignment.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Candidate {
    /// Absolute span at its end; `i64::MIN` for none.
    pub span: AtomicI64,
    /// Path (low 32 bits).
    pub path: AtomicU64,
}

impl Candidate {
    /// No chain: anything is longer.
    pub const fn none() -> Candidate {
        Candidate { span: AtomicI64::new(i64::MIN), path: AtomicU64::new(0) }
    }
}

/// The same, beside the longest if every iteration of a loop cost the same ([`Spans::uniform`]), and the longest
/// with steals ([`Spans::burdened`]).
#[derive(Debug)]
#[repr(C)]
pub struct Latest {
    /// Longest chain.
    pub candidate: Candidate,
    /// Absolute span at the end of the longest with uniform loops; `i64::MIN` or 0 for none.
    pub uniform: AtomicI64,
    /// The same with steals.
    pub burdened: AtomicI64,
}

/// Everything about one thread.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct ThreadArea {
    /// State of the running strand.
    pub thread: Thread,
    /// Totals of the first contexts.
    pub accounts: [Account; FIRST_CONTEXTS],
    /// Where those of the others are, [`PAGE_ACCOUNTS`] together: the page's number from 1, 0 for none yet, [`NO_PAGE`].
    pub pages: [Cell<u32>; THREAD_PAGES],
}

/// In place of a context: there is none.
pub const NO_HOME: u32 = u32::MAX;

/// In place of a page's number: there was none left.
pub const NO_PAGE: u32 = u32::MAX;

/// Totals of some contexts on one thread.
#[derive(Debug)]
#[repr(C)]
pub struct AccountPage {
    /// By context.
    pub accounts: [Account; PAGE_ACCOUNTS],
}

/// Tasks that ended at hooks which left the reading of the counter out.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Unread {
    /// Those of the running batch.
    pub tasks: u32,
    /// Histogram bucket of the mean cost.
    pub bucket: u32,
    /// Mean cost of those of the batch before.
    pub mean: i64,
}

/// State of a thread. The first three cache lines are what a fork and join touches.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Thread {
    /// When the running strand began, in ticks; probe cost already added.
    pub start: Cell<u64>,
    /// Ticks that the hooks since the last reading of the counter add to a strand.
    pub probe: Cell<i64>,
    /// The task that runs.
    pub task: TaskCells,

    /// Low half: hooks of joins that pass before the counter is read again. High half: tasks that ended meanwhile.
    pub skip: Cell<u64>,
    /// Ticks between two readings above which a streak ends; while batching, above which batching ends.
    pub tiny: Cell<i64>,
    /// Hooks in a row that found next to no time to have passed.
    pub streak: Cell<u32>,
    /// Length of a streak that is needed to start batching.
    pub streak_needed: Cell<u32>,
    /// 1 while the counter is read for one hook in [`BATCH`] only.
    pub batching: Cell<u32>,
    /// Whether a tool listens: 0 none, 1 it is called, 2 as if, for calibration.
    pub tool: Cell<u32>,
    /// Address of the account of the current context.
    pub account: Cell<u64>,
    /// What a steal costs in burdened spans, in ticks.
    pub steal: Cell<i64>,
    /// Tasks of the running batch.
    pub unread: Cell<Unread>,
    /// Address of this thread's log; 0 if nothing is logged, 1 if only a tool listens.
    pub log: Cell<u64>,
    /// Ticks of the running hook that belong to no strand: it waited for room in the log, or saw something for the first
    /// time.
    pub excluded: Cell<u64>,

    /// Address of the witness of switches; 0 for none.
    pub switch_witness: Cell<u64>,
    /// Address of this shared memory.
    pub base: Cell<u64>,
    /// Ticks below which no interrupt can hide in a strand.
    pub short: Cell<i64>,
    /// Ticks above which a strand always consults the kernel's clocks.
    pub long: Cell<i64>,
    /// 0 free, 1 live, 2 ended.
    pub state: AtomicU32,
    /// The kernel's thread id.
    pub tid: Cell<u32>,
    /// 1 for a thread of a pool.
    pub is_worker: Cell<u32>,
    /// Regions open on this thread.
    pub open_len: Cell<u32>,
    /// [`Feature`] bits in use.
    pub features: Cell<u32>,
    /// The context of the thread's own serial code; [`NO_HOME`] if nobody wants to know when it ran.
    pub home: Cell<u32>,
    /// When the open segment of serial code began, in ticks; 0 if none is open.
    pub segment_since: Cell<u64>,
    /// Virtual clock of this thread.
    pub virtual_now: Cell<u64>,
    /// Address of what the adapter knows of the running task, in the program's own memory; 0 for none.
    pub frame: Cell<u64>,
    /// Address of the adapter's list of free blocks for tasks, in the program's own memory; 0 before it is looked up.
    pub blocks: Cell<u64>,
    /// What it keeps of tables.
    pub spare: super::stash::Spare,

    /// State at the last look at the kernel's clocks.
    pub anchor: Anchor,

    /// When the thread last stopped running strands.
    pub idle_since: Cell<u64>,
    /// Ticks the thread waited: a worker for work, another thread for a pool.
    pub waited: Cell<i64>,
    /// Of them: as a worker.
    pub idle: Cell<i64>,
    /// Ticks this slot's ended threads lived.
    pub lived: Cell<i64>,
    /// Ticks a strand was ready but had no CPU (excluded from all numbers).
    pub preempted: Cell<i64>,
    /// Ticks a strand was blocked (in span, not in work).
    pub blocked: Cell<i64>,
    /// Ticks of interrupts taken out.
    pub interrupted: Cell<i64>,
    /// Ticks that runtimes took when they were first used (excluded from all numbers).
    pub first_use: Cell<i64>,
    /// Strands that met an interrupt.
    pub interrupts: Cell<u64>,
    /// Looks at the kernel's clocks.
    pub resyncs: Cell<u64>,
    /// Ticks spent in the collector outside the calibrated hooks.
    pub collector: Cell<i64>,
    /// Ticks that passed unexpectedly while batching, and so may be charged a few strands off.
    pub displaced: Cell<i64>,
    /// Cycle counter when the thread was attached.
    pub born: Cell<u64>,
    /// Ticks that may be taken out of strands for pauses, as of `due_since`.
    pub due: Cell<i64>,
    /// CPU time of the thread then, in nanoseconds.
    pub due_since: Cell<u64>,

    /// `work` where the logged part of the strand begins.
    pub log_work: Cell<i64>,
    /// Offset of the actual span there.
    pub log_offset: Cell<i64>,
    /// The tick at which that part began; 0 if nothing of it has run yet.
    pub log_begin: Cell<u64>,
    /// Records up to which the log is known to have room.
    pub log_room: Cell<u64>,
    /// The identity that this thread gave last.
    pub log_identity: Cell<u64>,
    /// What a tool is shown of the task that runs; 0 for none.
    pub tool_task: Cell<u64>,
    /// The number by which a tool sees the strand that runs.
    pub strand_number: Cell<u64>,
    /// The number that this thread gave a strand last ([`THREAD_STRANDS`]).
    pub strand_count: Cell<u64>,

    /// What the tasks have in common that this thread creates: addresses in the program's own memory, by
    /// `context % OPEN_BATCHES`; 0 for none.
    pub batches: [Cell<u64>; OPEN_BATCHES],

    /// Regions open on this thread, outermost first.
    pub open: [OpenRegion; OPEN_REGIONS],
    /// Cache of region entries.
    pub cache: [RegionCacheEntry; REGION_CACHE],

    /// What counts events.
    pub events: ThreadEvents,
}

impl Thread {
    /// True if its hooks write every strand down, or call a tool.
    #[inline(always)]
    pub fn is_logged(&self) -> bool {
        self.log.get() != 0
    }
}

/// What a thread logs ([`super::log`]): a ring that the thread fills and the runner empties.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct ThreadLog {
    /// Records written so far; written by the thread.
    pub published: AtomicU64,
    _apart: [Cell<u64>; 7],
    /// Records taken so far; written by the runner.
    pub taken: AtomicU64,
    _aside: [Cell<u64>; 7],
    /// Record `i` is at `i % LOG_RECORDS`.
    pub records: [[Cell<u64>; 2]; LOG_RECORDS],
}

const _: () = assert!(size_of::<[Cell<u64>; 2]>() == RECORD);

/// While batching, one hook in this number of reads the counter.
pub const BATCH: u32 = 16;

/// What the kernel's clocks said at a known tick.
#[derive(Debug)]
#[repr(C)]
pub struct Anchor {
    /// Cycle counter.
    pub ticks: Cell<u64>,
    /// CPU time of the thread, in nanoseconds.
    pub cpu: Cell<u64>,
    /// Voluntary context switches.
    pub voluntary: Cell<u64>,
    /// Page faults.
    pub faults: Cell<u64>,
    /// Time waited for a CPU, in nanoseconds.
    pub run_delay: Cell<u64>,
}

/// A parallel region that has been entered and not yet left.
#[derive(Debug)]
#[repr(C)]
pub struct OpenRegion {
    /// Its context.
    pub context: Cell<u32>,
    /// 1 if it is an outermost instance of its site.
    pub outermost: Cell<u32>,
    /// Absolute span at its entry.
    pub span: Cell<i64>,
}

/// "Entering the region at `location` from `from` leads to `to`."
#[derive(Debug)]
#[repr(C)]
pub struct RegionCacheEntry {
    /// Address of the source location; 0 for none.
    pub location: Cell<u64>,
    /// Context at the entry.
    pub from: Cell<u32>,
    /// Context inside.
    pub to: Cell<u32>,
    /// 1 if the site is already active around it.
    pub recursive: Cell<u32>,
    _pad: Cell<u32>,
}

/// Totals of one context on one thread.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Account {
    /// Ticks of strands in exactly this context.
    pub self_work: Cell<i64>,
    /// Outermost instances that have ended.
    pub instances: Cell<u64>,
    /// Their work, descendants included.
    pub work: Cell<i64>,
    /// Sum of their spans.
    pub span: Cell<i64>,
    /// Instances of any nesting that have been entered.
    pub entries: Cell<u64>,
    /// Tasks created.
    pub tasks: Cell<u64>,
    /// Ticks that ended tasks ran themselves, nested tasks excluded.
    pub task_work: Cell<i64>,
    /// Measured cost of creating tasks, where it is measured one by one.
    pub overhead: Cell<i64>,
    /// Ticks strands of this context were blocked.
    pub blocked: Cell<i64>,
    /// Of it: they looked again and again.
    pub polled: Cell<i64>,
    /// Wall ticks of instances entered from the root strand.
    pub wall: Cell<i64>,
    /// Longest strand that met no interrupt.
    pub clean_max: Cell<i64>,
    /// Of `tasks`: items of a shared iterator, which cost no creation.
    pub items: Cell<u64>,
    /// As `span`, if every iteration of a loop cost the same.
    pub uniform_span: Cell<i64>,
    /// As `span`, if all were stolen that can be.
    pub burdened_span: Cell<i64>,
    /// Ticks that strands waited for a lock which others held; in no other number.
    pub contended: Cell<i64>,
    /// For code under a lock: the lock's address; 1 if there are several.
    pub lock: Cell<u64>,
    /// Undisturbed strands of about the length of the longest.
    pub clean_peers: Cell<u32>,
    _pad: Cell<u32>,
    /// Sizes of ended tasks, by [`super::histogram::bucket`].
    pub sizes: [Cell<u32>; BUCKETS],

    /// Events of strands in exactly this context.
    pub events: [Cell<u64>; MAX_EVENTS],
}
