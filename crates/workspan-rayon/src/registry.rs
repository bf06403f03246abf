//! Hooks of pools and workers.

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

use super::link::Link;
use super::threads::Creating;
use workspan_collect::blocked::Blocked;
use workspan_collect::clock;
use workspan_collect::exclude::exclude_running;
use workspan_collect::handoff;
use workspan_collect::idle;
use workspan_collect::log;
use workspan_collect::platform;
use workspan_collect::process;
use workspan_collect::shared::Shared;
use workspan_collect::thread::{self, current, Role};
use workspan_collect::{strand, task};
use workspan_wire::shm::{BATCH, MAX_THREADS};

/// A strand that is handed to a pool, on the stack of the function that waits.
#[derive(Debug)]
pub struct Handoff(handoff::Handoff);

impl Handoff {
    /// Before the hand-over.
    pub fn new() -> Handoff {
        Handoff(handoff::Handoff::new())
    }

    /// For the job that carries it.
    pub fn link(&self) -> Link {
        Link::handoff(&self.0)
    }

    /// Before the job is injected.
    pub fn leave(&self) {
        if let Some((thread, now)) = thread::running() {
            self.0.leave(thread, now);
        }
    }

    /// After the job has ended.
    pub fn resume(&self) {
        if self.0.active() {
            if let Some((thread, now)) = thread::waking() {
                self.0.resume(thread, now);
            }
        }
    }
}

/// As long as what is returned lives, the calling thread creates a worker, not a thread of the program.
pub fn creating() -> Creating {
    Creating::new()
}

/// The calling thread becomes a worker of a pool.
pub fn worker_start() {
    thread::become_worker();
}

/// The worker's pool has ended.
pub fn worker_stop() {
    thread::detach();
}

/// A worker looks for work, or sleeps.
#[inline]
pub fn idle_begin() {
    idle::waits();
}

/// It has found some, or what it waited for has come.
#[inline]
pub fn idle_end() {
    idle::works();
}

/// A thread of no pool waits for one, as long as what is returned lives.
#[inline]
pub fn blocked() -> Blocked {
    Blocked::new()
}

/// A worker runs another job in the middle of its own.
pub fn yielded<R>(job: impl FnOnce() -> R) -> R {
    let Some((thread, now)) = thread::running() else {
        return job();
    };
    strand::stop(thread, now);
    let waited = thread.task.waiting.get() != 0;
    if !waited {
        task::enter_idle(thread, now);
    }
    let result = job();
    if let Some((thread, now)) = thread::waking() {
        if !waited {
            task::leave_idle(thread, now);
        }
        log::go(thread, now);
    }
    result
}

/// A pool of `workers` starts. The first time, `calibrate` is called with the three ways to run the same recursion: as
/// plain calls, with joins of rayon's own text, and with joins that carry hooks.
pub fn pool_start(workers: usize, calibrate: fn(&mut dyn FnMut(Variants))) {
    super::start::keep();
    static CALIBRATED: AtomicU32 = AtomicU32::new(0);
    let Some(shared) = process::shared() else {
        return;
    };
    if CALIBRATED.load(Ordering::Relaxed) == 1 {
        // The pool of the calibration itself.
        return;
    }
    let header = shared.header();
    header.pools.fetch_add(1, Ordering::Relaxed);
    shared.workers_at_least(u32::try_from(workers).unwrap_or(u32::MAX));
    if shared.is_idle_only() || CALIBRATED.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    let run = || calibrate(&mut |variants| measure(shared, variants));
    match current() {
        _ if shared.is_virtual() => {
            header.join_cost.store(header.config.virtual_task_cost.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        Some(thread) if thread.task.waiting.get() == 0 => {
            exclude_running(thread, run);
            thread.probe.set(header.probe_ticks.load(Ordering::Relaxed));
        }
        _ => run(),
    }
    CALIBRATED.store(2, Ordering::Release);
}

/// The same recursion three times; each returns the number of joins it made.
#[derive(Clone, Copy, Debug)]
pub struct Variants {
    /// Plain calls.
    pub serial: fn(u32) -> u32,
    /// Joins without hooks.
    pub native: fn(u32) -> u32,
    /// Joins with hooks.
    pub hooked: fn(u32) -> u32,
}

/// Depth of the recursion: 986 joins, some 10 µs without hooks.
const DEPTH: u32 = 15;
/// Rounds, of which the fastest counts.
const ROUNDS: usize = 7;

/// Finds out what a hook adds to a strand, batching or not, and what a join costs without hooks.
///
/// The hooks work on a spare slot with probe cost 0, so that nothing of this shows in the results.
fn measure(shared: Shared, variants: Variants) {
    let spare = shared.thread(MAX_THREADS - 1);
    thread::prepare(shared, spare, Role::Worker);
    spare.tiny.set(i64::MAX);
    spare.probe.set(0);
    let mut joins = 1;
    let mut fastest = [u64::MAX; 4];
    for _ in 0..ROUNDS {
        // (how, a streak that is never long enough, or always is)
        let runs = [
            (variants.serial, u32::MAX),
            (variants.native, u32::MAX),
            (variants.hooked, u32::MAX),
            (variants.hooked, 0),
        ];
        for (fastest, (run, streak_needed)) in fastest.iter_mut().zip(runs) {
            let ticks = thread::with_slot(spare, true, || {
                spare.task.waiting.set(0);
                spare.streak.set(0);
                spare.skip.set(0);
                spare.batching.set(u32::from(streak_needed == 0));
                spare.streak_needed.set(streak_needed);
                log::rehearse(shared, spare);
                strand::go(spare, clock::set_anchor(spare, false));
                let from = platform::ticks();
                joins = black_box(run(black_box(DEPTH)));
                platform::ticks().wrapping_sub(from)
            });
            *fastest = (*fastest).min(ticks);
        }
    }
    let [serial, native, hooked, batched] = fastest.map(|ticks| ticks as i64);
    let joins = i64::from(joins.max(1));
    let header = shared.header();
    // Three hooks to a join; a batch is taken out as a whole.
    let hooks = 3 * joins;
    header.probe_ticks.store((hooked - native).max(0) / hooks, Ordering::Relaxed);
    let batch = (batched - native).max(0) * i64::from(BATCH) / hooks;
    header.batch_probe_ticks.store(batch, Ordering::Relaxed);
    header.join_cost.store((native - serial).max(0) * 1024 / joins, Ordering::Relaxed);
}
