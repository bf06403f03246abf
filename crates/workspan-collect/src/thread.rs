//! Threads: where a hook finds its thread's state, and how a thread joins and leaves.
//!
//! A thread-local pointer leads to the thread's slot in shared memory. It is null in every case that is not the common
//! one — collector asleep, virtual clock, thread not yet attached, no slot left — so the hot path tests one register.

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::batch;
use super::clock;
use super::events;
use super::idle;
use super::log;
use super::memory;
use super::pause;
use super::platform::{self, switch_witness};
pub use super::role::Role;
use super::root;
use super::sampled;
use super::segment;
use super::shared::Shared;
use super::spare;
use super::strand;
use super::tables::ROOT;
use super::ticks::ticks_of;
use super::waiting;
use workspan_wire::shm::{Account, Ending, Feature, Position, Spans, TaskState, Thread, MAX_THREADS, PREFIXED};

std::thread_local! {
    /// The state of a thread on the hot path; null otherwise.
    static HOT: Cell<*const Thread> = const { Cell::new(ptr::null()) };
    /// The state of any attached thread; null before, [`GONE`] after.
    static ANY: Cell<*const Thread> = const { Cell::new(ptr::null()) };
    /// Detaches the thread when it ends.
    static LEAVE: Leave = const { Leave };
}

/// Called by a thread that is followed, at its end: 0 or the address of a function.
static AT_END: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// From now on `work` is called for every thread that ends, however it does (`pthread_exit` included), before its slot may
/// be another's.
pub fn at_end(work: fn(&Thread)) {
    AT_END.store(work as *mut (), Ordering::Release);
}

fn tell_end(thread: &Thread) {
    let work = AT_END.load(Ordering::Acquire);
    if !work.is_null() {
        // SAFETY: not null, so stored by `at_end`, from a function of this type.
        let work: fn(&Thread) = unsafe { core::mem::transmute::<*mut (), fn(&Thread)>(work) };
        work(thread);
    }
}

/// In place of a state: never to be attached (again).
const GONE: *const Thread = ptr::NonNull::<Thread>::dangling().as_ptr();

struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        detach();
    }
}

/// A thread as a hook finds it.
pub type Now = (&'static Thread, u64);

/// The calling thread and the tick now, in the middle of a strand. `None`: nothing is recorded here.
#[inline(always)]
pub fn running() -> Option<Now> {
    let hot = HOT.get();
    if hot.is_null() {
        return running_other();
    }
    // SAFETY: `HOT` is null or points to this thread's slot in shared memory, which is never unmapped.
    let thread = unsafe { &*hot };
    Some((thread, clock::read(thread)))
}

/// The same for the hooks of joins, which may do without a reading ([`clock::read_often`]).
#[inline(always)]
pub fn often() -> Option<(&'static Thread, Option<u64>)> {
    let hot = HOT.get();
    if hot.is_null() {
        return match running_other() {
            Some((thread, now)) => Some((thread, Some(now))),
            None => None,
        };
    }
    // SAFETY: as in `running`.
    let thread = unsafe { &*hot };
    Some((thread, clock::read_often(thread)))
}

/// The calling thread and the tick now, when no strand runs on it. `None`: nothing is recorded here.
#[inline(always)]
pub fn waking() -> Option<Now> {
    let hot = HOT.get();
    if hot.is_null() {
        return running_other();
    }
    // SAFETY: as in `running`.
    let thread = unsafe { &*hot };
    Some((thread, clock::wake(thread)))
}

/// The same of a thread that has slept since tick `since`, and holds a lock of the program now ([`clock::wake_holding`]).
#[inline(always)]
pub fn waking_holding(since: u64) -> Option<Now> {
    match hot() {
        Some(thread) => Some((thread, clock::wake_holding(thread, since))),
        None => running_other(),
    }
}

/// The calling thread, without a look at the clock; on the hot path only.
#[inline(always)]
pub fn hot() -> Option<&'static Thread> {
    let hot = HOT.get();
    if hot.is_null() {
        return None;
    }
    // SAFETY: as in `running`.
    Some(unsafe { &*hot })
}

/// The calling thread and the tick now, in the middle of a strand, if it is attached already: attaching may allocate.
#[inline]
pub fn attached() -> Option<Now> {
    let any = ANY.get();
    if any.is_null() || any == GONE {
        return None;
    }
    running()
}

/// The calling thread, attached if need be, without a look at the clock; with the real clock only.
pub fn hot_or_attach() -> Option<&'static Thread> {
    if HOT.get().is_null() && ANY.get().is_null() {
        // Where idle time alone is accounted for, a thread that never waits for a pool is not followed.
        let shared = memory::shared().filter(|shared| !shared.is_idle_only())?;
        attach(shared, Role::External);
    }
    hot()
}

/// The calling thread, without a look at the clock.
#[inline(always)]
pub fn current() -> Option<&'static Thread> {
    match hot() {
        Some(thread) => Some(thread),
        None => running_other().map(|(thread, _)| thread),
    }
}

#[cold]
#[inline(never)]
fn running_other() -> Option<Now> {
    let any = ANY.get();
    if any == GONE {
        return None;
    }
    if any.is_null() {
        let shared = memory::shared()?;
        let thread = attach(shared, Role::External)?;
        return Some((thread, now(thread)));
    }
    // SAFETY: neither null nor `GONE`, so it points to this thread's slot, which is never unmapped.
    let thread = unsafe { &*any };
    Some((thread, thread.virtual_now.get()))
}

fn now(thread: &Thread) -> u64 {
    if HOT.get().is_null() {
        thread.virtual_now.get()
    } else {
        clock::read(thread)
    }
}

/// Attaches the calling thread. `None`: asleep, ended before, or no slot left (counted).
pub fn attach(shared: Shared, role: Role) -> Option<&'static Thread> {
    if !ANY.get().is_null() {
        return None;
    }
    // A thread whose destructors already run cannot register one more: it stays outside.
    if role != Role::Main && LEAVE.try_with(|_| ()).is_err() {
        ANY.set(GONE);
        return None;
    }
    // The program has ended: nobody waits for what a thread does now.
    if shared.header().ending.load(Ordering::Relaxed) != Ending::Unseen as u32 {
        ANY.set(GONE);
        return None;
    }
    let Some(thread) = claim(shared) else {
        shared.header().dropped_threads.fetch_add(1, Ordering::Relaxed);
        ANY.set(GONE);
        return None;
    };
    if shared.is_idle_only() {
        // To every other hook the thread is gone.
        ANY.set(GONE);
        idle::begin(thread, shared.address(), role);
        return None;
    }
    prepare(shared, thread, role);
    log::start(shared, thread, role);
    events::start(shared, thread);
    sampled::start(shared);
    ANY.set(thread);
    spare::keep_in(thread);
    let real = !shared.is_virtual();
    if real {
        clock::set_anchor(thread, true);
        strand::go(thread, clock::wake(thread));
        HOT.set(thread);
    }
    Some(thread)
}

/// Detaches the calling thread: its root strand, if it has one, ends here.
pub fn detach() {
    idle::end();
    let any = ANY.replace(GONE);
    spare::keep_in(ptr::null());
    if any.is_null() || any == GONE {
        return;
    }
    // SAFETY: neither null nor `GONE`, so it points to this thread's slot, which is never unmapped.
    let thread = unsafe { &*any };
    let at = now(thread);
    HOT.set(ptr::null());
    if thread.task.waiting.get() == 0 {
        root::end_root(Shared::of(thread), thread, at);
    } else {
        waiting::leave_idle(thread, at);
    }
    events::stop(thread);
    sampled::stop();
    batch::close_all(thread);
    switch_witness::disarm(thread.switch_witness.get());
    thread.lived.set(thread.lived.get() + at.wrapping_sub(thread.born.get()) as i64);
    tell_end(thread);
    thread.state.store(2, Ordering::Release);
}

/// Forgets the calling thread's slot without touching it: in a forked child.
pub fn forget() {
    HOT.set(ptr::null());
    ANY.set(GONE);
    spare::keep_in(ptr::null());
    sampled::forget();
    idle::forget();
}

/// Makes the calling thread record into `thread` while `work` runs; for calibration and tests.
pub fn with_slot<R>(thread: &'static Thread, real: bool, work: impl FnOnce() -> R) -> R {
    struct Restore(*const Thread, *const Thread, *const Thread);
    impl Drop for Restore {
        fn drop(&mut self) {
            HOT.set(self.0);
            ANY.set(self.1);
            spare::keep_in(self.2);
        }
    }
    let hot = HOT.replace(if real { thread } else { ptr::null() });
    let _restore = Restore(hot, ANY.replace(thread), spare::keep_in(thread));
    work()
}

/// Readies a slot for a thread of `role`.
pub fn prepare(shared: Shared, thread: &Thread, role: Role) {
    let header = shared.header();
    let features = header.features.load(Ordering::Relaxed);
    thread.base.set(shared.address());
    thread.tid.set(platform::thread_id());
    thread.features.set(features);
    thread.probe.set(header.probe_ticks.load(Ordering::Relaxed));
    thread.born.set(platform::ticks());
    thread.displaced.set(0);
    pause::start(thread);
    thread.skip.set(0);
    thread.batching.set(0);
    thread.streak.set(0);
    thread.streak_needed.set(clock::STREAK);
    thread.tiny.set(ticks_of(thread, clock::TINY_NANOS));
    thread.short.set(ticks_of(thread, clock::SHORT_NANOS));
    thread.long.set(ticks_of(thread, clock::LONG_NANOS));
    let witness = if features & Feature::SwitchWitness as u32 != 0 { switch_witness::word() } else { 0 };
    thread.switch_witness.set(witness);
    thread.is_worker.set(u32::from(role == Role::Worker));
    thread.open_len.set(0);
    thread.frame.set(0);
    thread.blocks.set(0);
    segment::start(shared, thread);
    thread.batches.iter().for_each(|batch| batch.set(0));
    thread.log.set(0);
    thread.tool.set(0);
    // A thread that the program starts begins, as far as Workspan knows, when the root strand has come this far.
    let begun = if role == Role::External { root_span(shared) } else { 0 };
    let path = if begun == 0 { 0 } else { PREFIXED };
    thread.task.set(TaskState {
        position: Position { path, context: ROOT, since: begun },
        offsets: Spans::all(begun),
        prefix: begun,
        prefix_context: ROOT,
        waiting: u32::from(role == Role::Worker),
        ..TaskState::default()
    });
    thread.steal.set(header.config.steal_ticks.load(Ordering::Relaxed));
    strand::set_context(shared, thread, ROOT);
    let start = thread.virtual_now.get();
    thread.start.set(start);
    if shared.is_virtual() {
        thread.born.set(start);
    }
    thread.idle_since.set(thread.born.get());
    have_at_hand(thread);
}

/// Touches what hooks will read of the thread's own memory, so that no strand waits for the kernel to provide it.
fn have_at_hand(thread: &Thread) {
    const ACCOUNTS: usize = 8;
    if thread.lived.get() == 0 {
        let bytes = (size_of::<Thread>() + ACCOUNTS * size_of::<Account>()) as u64;
        platform::populate(ptr::from_ref(thread) as u64, bytes);
    }
    for entry in &thread.cache {
        entry.location.set(0);
    }
}

/// The calling thread becomes a worker of a pool: whatever strand it ran until now has ended.
pub fn become_worker() {
    if ANY.get().is_null() {
        if let Some(shared) = memory::shared() {
            attach(shared, Role::Worker);
        }
        return;
    }
    let Some((thread, at)) = running() else {
        idle::become_worker();
        return;
    };
    if thread.task.waiting.get() == 0 {
        root::end_root(Shared::of(thread), thread, at);
        waiting::enter_idle(thread, at);
    }
    thread.is_worker.set(1);
    thread.idle_since.set(at);
}

/// Of the root strand's own cells nobody else may read, and their sum would be no span while a task takes the strand's place
/// on its thread; so it publishes how far it has come, once for each region.
fn root_span(shared: Shared) -> i64 {
    shared.header().root_span.load(Ordering::Relaxed)
}

/// Takes a slot: a new one, else one whose thread has ended (its totals go on).
fn claim(shared: Shared) -> Option<&'static Thread> {
    let header = shared.header();
    header.threads.fetch_add(1, Ordering::Relaxed);
    let used = header.thread_slots.load(Ordering::Relaxed) as usize;
    for thread in (0..used.min(MAX_THREADS)).map(|slot| shared.thread(slot)) {
        let state = &thread.state;
        if state.load(Ordering::Relaxed) == 2
            && state.compare_exchange(2, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            return Some(thread);
        }
    }
    // The last slot is for calibration.
    for slot in 0..MAX_THREADS - 1 {
        let thread = shared.thread(slot);
        if thread.state.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            header.thread_slots.fetch_max(slot as u32 + 1, Ordering::Relaxed);
            return Some(thread);
        }
    }
    None
}
