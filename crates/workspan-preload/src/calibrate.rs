//! What a callback adds to a strand: measured when the runtime starts, on a spare slot, with the callbacks themselves; once as
//! they are while the program has one thread, and once with the locked instructions that they take from then on.

use core::cell::Cell;
use core::ffi::c_int;
use core::hint::black_box;
use core::ptr;
use core::sync::atomic::{AtomicI64, Ordering};

use workspan_collect::process;
use workspan_collect::shared::Shared;
use workspan_collect::thread::{self, Role};
use workspan_collect::{clock, log, path, platform, strand};
use workspan_wire::shm::{Thread, BATCH, MAX_THREADS};

use crate::dag::frame::{Frame, Kind};
use crate::dag::state::Start;
use crate::dag::{group, solo};
use crate::ompt::abi::{status, sync, task, Data, BEGIN};
use crate::ompt::{events, site, waits};

/// Tasks of one round.
const TASKS: u32 = 512;
/// Rounds, of which the fastest counts.
const ROUNDS: usize = 5;

/// What a callback takes, and a batch of them, once there are several threads.
static AMONG_OTHERS: [AtomicI64; 2] = [AtomicI64::new(0), AtomicI64::new(0)];

/// The calling thread, the only one so far, is about to create another.
pub fn several_threads() {
    let [each, batch] = [0, 1].map(|i| AMONG_OTHERS[i].load(Ordering::Relaxed));
    let Some(shared) = process::shared().filter(|_| each != 0) else {
        return;
    };
    let header = shared.header();
    header.probe_ticks.store(each, Ordering::Relaxed);
    header.batch_probe_ticks.store(batch, Ordering::Relaxed);
    if let Some(thread) = thread::hot() {
        thread.probe.set(if thread.batching.get() == 0 { each } else { batch });
    }
}

/// Measures the callbacks of OpenMP, and stores the result in the header.
pub fn run(shared: Shared) {
    run_with(shared, CALLBACKS, |_, root| {
        let root_data: Data = Cell::new(ptr::from_ref(root) as u64);
        one_task(black_box(&root_data));
    });
}

/// Measures so many hooks to a task of a root, and stores the result in the header.
pub fn run_with(shared: Shared, hooks: u32, one_task: impl Fn(&'static Thread, &'static Frame)) {
    let header = shared.header();
    if shared.is_virtual() {
        header.join_cost.store(header.config.virtual_task_cost.load(Ordering::Relaxed), Ordering::Relaxed);
        return;
    }
    let measured = || {
        // The runtime may have been started by the call that was just noted.
        let noted = site::noted();
        solo::as_if_over(|| store(&AMONG_OTHERS, measure(shared, hooks, &one_task)));
        let header = shared.header();
        store([&header.probe_ticks, &header.batch_probe_ticks], measure(shared, hooks, &one_task));
        site::note(noted);
    };
    match thread::current() {
        Some(thread) if thread.waiting.get() == 0 => {
            clock::uncounted(thread, || {
                measured();
                events::prepare(thread);
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
fn measure(shared: Shared, hooks: u32, one_task: &impl Fn(&'static Thread, &'static Frame)) -> Option<[i64; 2]> {
    let spare = shared.thread(MAX_THREADS - 1);
    thread::prepare(shared, spare, Role::Worker);
    spare.tiny.set(i64::MAX);
    spare.probe.set(0);
    let kind = Kind { implicit: true, machinery: true, ..Kind::default() };
    let root = Frame::new(spare, kind, Start::default())?;
    root.begun_here(spare);
    // Its tasks end there: not as the program's.
    group::open(spare, root);
    let mut fastest = [u64::MAX; 2];
    for _ in 0..ROUNDS {
        // A streak that is never long enough, or always is.
        for (fastest, streak_needed) in fastest.iter_mut().zip([u32::MAX, 0]) {
            spare.waiting.set(0);
            spare.streak.set(0);
            spare.skip.set(0);
            spare.batching.set(u32::from(streak_needed == 0));
            spare.streak_needed.set(streak_needed);
            log::rehearse(shared, spare);
            strand::go(spare, clock::set_anchor(spare, false));
            spare.collector.set(0);
            let from = platform::ticks();
            for _ in 0..TASKS {
                one_task(spare, root);
            }
            let took = platform::ticks().wrapping_sub(from);
            // What the hooks themselves have measured is in no strand.
            *fastest = (*fastest).min(took.wrapping_sub(spare.collector.get() as u64));
        }
    }
    spare.log.set(0);
    group::close(spare, root);
    path::release(shared, strand::path(spare));
    let [each, batched] = fastest.map(|ticks| ticks as i64 / i64::from(TASKS * hooks));
    Some([each, batched * i64::from(BATCH)])
}

/// Callbacks with a reading of the clock to a task.
const CALLBACKS: u32 = 4;
/// Flags of a task.
const CREATED: c_int = task::CALIBRATION as c_int;

fn one_task(root: &Data) {
    let made: Data = Cell::new(0);
    let nowhere = ptr::null();
    events::task_create(root, nowhere, &made, CREATED, 0, nowhere);
    events::task_schedule(root, status::YIELD, &made);
    events::task_schedule(&made, status::COMPLETE, root);
    waits::sync_region(sync::TASKWAIT, BEGIN, ptr::null(), root, nowhere);
    waits::sync_region(sync::TASKWAIT, BEGIN + 1, ptr::null(), root, nowhere);
}
