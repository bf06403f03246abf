//! What a callback adds to a strand: measured when the runtime starts, on a spare slot, with the runtime's own callbacks; once
//! as they are while the program has one thread, and once with the locked instructions that they take from then on.

use core::cell::Cell;
use core::hint::black_box;
use core::ptr;
use core::sync::atomic::{AtomicI64, Ordering};

use workspan_collect::exclude::exclude_running;
use workspan_collect::shared::Shared;
use workspan_collect::thread::{self, Role};
use workspan_collect::{clock, log, path, platform, strand};
use workspan_wire::shm::{BATCH, MAX_THREADS};

use crate::cost::AMONG_OTHERS;
use crate::dag::frame::{Frame, Kind};
use crate::dag::state::Start;
use crate::dag::{group, ready, solo};

/// Tasks of one round.
const TASKS: u32 = 512;
/// Rounds, of which the fastest counts.
const ROUNDS: usize = 5;

/// What the callbacks of a runtime do for a task.
#[derive(Debug)]
pub struct Rehearsal<F> {
    /// Creates a task, runs it and waits for it, below the task whose frame is in this word.
    pub task: F,
    /// Callbacks with a reading of the clock in that.
    pub readings: u32,
}

/// Measures, and stores the result in the header.
pub fn run(shared: Shared, rehearsal: &Rehearsal<impl Fn(&Cell<u64>)>) {
    let header = shared.header();
    if shared.is_virtual() {
        header.join_cost.store(header.config.virtual_task_cost.load(Ordering::Relaxed), Ordering::Relaxed);
        return;
    }
    let measured = || {
        solo::as_if_over(|| store(&AMONG_OTHERS, measure(shared, rehearsal)));
        let header = shared.header();
        store([&header.probe_ticks, &header.batch_probe_ticks], measure(shared, rehearsal));
    };
    match thread::current() {
        Some(thread) if thread.task.waiting.get() == 0 => {
            exclude_running(thread, || {
                measured();
                ready::ready(thread);
            });
            thread.probe.set(header.probe_ticks.load(Ordering::Relaxed));
        }
        _ => measured(),
    }
}

fn store<'a>(to: impl IntoIterator<Item = &'a AtomicI64>, found: Option<[i64; 2]>) {
    for (to, found) in to.into_iter().zip(found.unwrap_or_default()) {
        to.store(found, Ordering::Relaxed);
    }
}

/// What a callback takes, and a batch of them. `None`: no memory.
fn measure(shared: Shared, rehearsal: &Rehearsal<impl Fn(&Cell<u64>)>) -> Option<[i64; 2]> {
    let spare = shared.thread(MAX_THREADS - 1);
    thread::prepare(shared, spare, Role::Worker);
    spare.tiny.set(i64::MAX);
    spare.probe.set(0);
    let kind = Kind { implicit: true, machinery: true, ..Kind::default() };
    let root = Frame::new(spare, kind, Start::default())?;
    root.begun_here(spare);
    // Its tasks end there: not as the program's.
    group::open(spare, root);
    let word = Cell::new(ptr::from_ref(root) as u64);
    let mut fastest = [u64::MAX; 2];
    for _ in 0..ROUNDS {
        // A streak that is never long enough, or always is.
        for (fastest, streak_needed) in fastest.iter_mut().zip([u32::MAX, 0]) {
            spare.task.waiting.set(0);
            spare.streak.set(0);
            spare.skip.set(0);
            spare.batching.set(u32::from(streak_needed == 0));
            spare.streak_needed.set(streak_needed);
            log::rehearse(shared, spare);
            strand::go(spare, clock::set_anchor(spare, false));
            spare.collector.set(0);
            let from = platform::ticks();
            for _ in 0..TASKS {
                (rehearsal.task)(black_box(&word));
            }
            let took = platform::ticks().wrapping_sub(from);
            // What the hooks themselves have measured is in no strand.
            *fastest = (*fastest).min(took.wrapping_sub(spare.collector.get() as u64));
        }
    }
    spare.log.set(0);
    group::close(spare, root);
    path::release(shared, strand::path(spare));
    let [each, batched] = fastest.map(|ticks| ticks as i64 / i64::from(TASKS * rehearsal.readings));
    Some([each, batched * i64::from(BATCH)])
}
