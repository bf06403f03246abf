//! The process: finding the shared memory before `main`, and the end of the program.
//!
//! The collector is awake only if the environment names a shared memory ([`shm::ENV`]) that no other process has
//! claimed. Otherwise every hook returns at once.
//!
//! At the end there is nothing to save: all results are in shared memory already. The exit handler only notes *how* the
//! program ended, so that a report can say whether it is complete.

use core::ffi::{c_char, CStr};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::memory;
pub use super::memory::shared;
use super::platform::{self, interrupt_witness, steady_counter, switch_witness};
use super::root::end_root;
use super::shared::Shared;
use super::strand;
use super::tables::{self, ROOT};
use super::text::copy_text;
use super::thread::{self, Role};
use super::tool;
use super::wait_graph;
use workspan_wire::shm::{self, Ending, Feature};

/// Path of the shared memory, for forked children: the program may change its environment.
static PATH: Path = Path([const { AtomicU8::new(0) }; 256]);

struct Path([AtomicU8; 256]);

impl Path {
    /// Keeps `path`, unless it is too long.
    fn keep(&self, path: NonNull<c_char>) {
        // SAFETY: a terminated text of the environment; there is one thread before `main`.
        let path = unsafe { CStr::from_ptr(path.as_ptr()) }.to_bytes_with_nul();
        if path.len() <= self.0.len() {
            self.0.iter().zip(path).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        }
    }

    fn get(&self) -> NonNull<c_char> {
        NonNull::from(&self.0).cast()
    }
}

/// Number of cores as on which the runtime is to split its loops, if one was requested.
pub fn logical_cores() -> Option<usize> {
    match shared()?.header().config.logical_cores.load(Ordering::Relaxed) {
        0 => None,
        n => Some(n as usize),
    }
}

/// Wakes the collector up if a runner requests it. Called once, by the main thread, before `main`.
pub fn start() {
    start_where(|_| true);
}

/// The same where the hooks can do nothing else.
pub fn start_if_idle_only() {
    start_where(Shared::is_idle_only);
}

fn start_where(wanted: fn(Shared) -> bool) {
    let Some(path) = platform::environment(b"WORKSPAN_SHM\0") else {
        return;
    };
    let Some(base) = platform::map_shared(path, shm::SIZE) else {
        return;
    };
    // SAFETY: a fresh mapping of `SIZE` bytes, page-aligned, never unmapped; the runner made it zeroed.
    let shared = unsafe { Shared::new(base) };
    let header = shared.header();
    if header.magic.load(Ordering::Acquire) != shm::MAGIC
        || header.wire_version.load(Ordering::Relaxed) != shm::WIRE_VERSION
    {
        header.collector_version.store(shm::WIRE_VERSION, Ordering::Release);
        return;
    }
    if !wanted(shared) {
        return;
    }
    if header.owner.compare_exchange(0, platform::process_id(), Ordering::AcqRel, Ordering::Relaxed).is_err() {
        header.other_processes.fetch_add(1, Ordering::Relaxed);
        return;
    }
    if !shared.is_idle_only() {
        tables::make_root(shared);
        detect_features(shared);
    }
    header.load_base.store(platform::load_base(), Ordering::Relaxed);
    name_executable(shared);
    PATH.keep(path);
    memory::wake(shared);
    platform::on_fork(fork_parent, fork_child);
    header.started.ticks.store(platform::ticks(), Ordering::Relaxed);
    header.started.nanos.store(platform::monotonic_nanos(), Ordering::Relaxed);
    header.collector_version.store(shm::WIRE_VERSION, Ordering::Release);
    tool::start(shared);
    ready(shared);
    if let Some(main) = thread::attach(shared, Role::Main) {
        wait_graph::runs_main(shared.slot_of(main));
    }
}

/// Has the first critical paths' memory at hand, so that no strand waits for the kernel to provide it.
fn ready(shared: Shared) {
    // Some 700 nodes, and a few more calls: what some hundred tasks have.
    for (table, bytes) in [(shm::NODES, 128 << 10), (shm::CALLS, 48 << 10)] {
        platform::populate(shared.address() + table as u64, bytes);
    }
}

/// True if this process runs the file that the runner has started; none if the runner has not said which that is.
pub fn is_target() -> Option<bool> {
    let wanted = platform::environment(b"WORKSPAN_TARGET\0")?;
    // SAFETY: a terminated text of the environment; there is one thread before `main`.
    let wanted = unsafe { CStr::from_ptr(wanted.as_ptr()) }.to_bytes();
    Some(platform::executable(&mut [0; platform::MOST_PATH]) == wanted)
}

/// Of a program that a wrapper has started the runner knows no path.
fn name_executable(shared: Shared) {
    if is_target() != Some(false) {
        return;
    }
    let mut room = [0; platform::MOST_PATH];
    let path = platform::executable(&mut room);
    // Half a path leads to another file.
    if path.len() <= shm::FILE_BYTES {
        let header = shared.header();
        header.executable_len.store(copy_text(&header.executable, path), Ordering::Relaxed);
    }
}

/// Notes how the program ended. Called by the exit handler, on whichever thread called `exit`.
pub fn finish() {
    let Some(shared) = shared() else {
        return;
    };
    let header = shared.header();
    if header.ending.load(Ordering::Relaxed) != Ending::Unseen as u32 {
        return;
    }
    let main = shared.thread(0);
    // Whoever accounts for idle time alone knows of no regions.
    let mut ending = if shared.is_idle_only() { Ending::Clean } else { Ending::InsideRegion };
    if let Some((thread, now)) = thread::running() {
        if ptr::eq(thread, main) && strand::context(thread) == ROOT && thread.task.waiting.get() == 0 {
            ending = Ending::Clean;
        }
        if thread.task.waiting.get() == 0 {
            end_root(shared, thread, now);
            strand::go(thread, now);
        }
    }
    header.finished.ticks.store(platform::ticks(), Ordering::Relaxed);
    header.finished.nanos.store(platform::monotonic_nanos(), Ordering::Relaxed);
    header.ending.store(ending as u32, Ordering::Release);
    thread::forget();
    tool::finish();
}

/// This process was forked, and has not been counted.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Counts a child: in the parent, which may end before the child does anything.
extern "C" fn fork_parent() {
    if let Some(shared) = shared() {
        shared.header().forks.fetch_add(1, Ordering::Relaxed);
    }
}

/// In a forked child the tables belong to the parent: the collector goes back to sleep.
///
/// What is under way on the stack that the child goes on with still ends there: a task releases its batch and its path,
/// frames close. So the child gets a copy of the tables in place of the parent's. There is none to be had only if the
/// runner has ended, who alone reads them, or if the process has taken another user's place.
extern "C" fn fork_child() {
    FORKED.store(true, Ordering::Relaxed);
    if let Some(base) = memory::sleep() {
        // SAFETY: `start` has mapped it, and a forked child has one thread.
        if unsafe { platform::map_apart(PATH.get(), base, shm::SIZE) } {
            // SAFETY: as in `shared`.
            let copy = unsafe { Shared::new(base) };
            // Nobody takes what the child would log: it does not wait for that.
            copy.header().log_stopped.store(1, Ordering::Relaxed);
        }
    }
    thread::forget();
}

/// A forked child does what its parent would be profiled for: it is counted, once, as a process that is not.
pub fn count_forked() {
    if FORKED.swap(false, Ordering::Relaxed) {
        // Finds the memory claimed by the parent.
        start();
    }
}

fn detect_features(shared: Shared) {
    let header = shared.header();
    let disabled = header.config.disabled.load(Ordering::Relaxed);
    let mut features = 0;
    let mut offer = |feature: Feature, there: bool| {
        if there && disabled & feature as u32 == 0 {
            features |= feature as u32;
        }
    };
    offer(Feature::SteadyCounter, steady_counter());
    if !shared.is_virtual() {
        offer(Feature::SwitchWitness, switch_witness::word() != 0);
        offer(Feature::RunDelay, platform::run_delay_nanos().is_some());
        if disabled & Feature::InterruptWitness as u32 == 0 {
            // A page that nobody has touched yet: the last one of the shared memory.
            let untouched = &shared.node(shm::MAX_NODES as u32 - 1).holders;
            let works = interrupt_witness::works(|| untouched.store(0, Ordering::Relaxed));
            offer(Feature::InterruptWitness, works);
        }
    }
    header.features.store(features, Ordering::Relaxed);
}
