//! What the calling thread does, as far as entry points need to know.

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::shared::Shared;
use workspan_collect::{platform, process, thread};
use workspan_wire::shm::Thread;

use super::site::Called;
use crate::dag::create;
use crate::dag::frame::Frame;
use crate::dag::gather::{self, Gather};
use crate::{samples, threads};

std::thread_local! {
    static HERE: Here = const {
        Here {
            allocated: Cell::new(false),
            since: Cell::new(0),
            left: Cell::new(0),
            measured: Cell::new(0),
            next: Cell::new(ptr::null()),
            between: Cell::new(Between { waiter: ptr::null(), since: 0, passed: 0, known: 0 }),
            called: Cell::new(None),
        }
    };
}

/// The first thread that was met; 0 before.
static FIRST: AtomicU64 = AtomicU64::new(0);

struct Here {
    /// The last entry point was the one that allocates tasks.
    allocated: Cell<bool>,
    /// When it was called; 0 if this one is not sampled.
    since: Cell<u64>,
    /// Creations until the next sample.
    left: Cell<u32>,
    /// Samples so far.
    measured: Cell<u32>,
    /// Of the tasks that the thread has created and that have not begun, the last: what it runs next if it waits now and nobody takes it
    /// away. Until it begins, it leads to the one before ([`Frame::interrupts`]).
    next: Cell<*const Frame>,
    between: Cell<Between>,
    /// Where the program calls a pipeline that has run nothing yet.
    called: Cell<Option<Called>>,
}

/// What libtbb takes for a wait in which the thread runs one task that it has created last: before the task and after it.
#[derive(Clone, Copy, Debug)]
struct Between {
    /// Whose wait is measured; null for none.
    waiter: *const Frame,
    /// Tick at which the thread went to libtbb.
    since: u64,
    /// Ticks that it was there before.
    passed: i64,
    /// The mean of recent ones, in ticks.
    known: i64,
}

/// The calling thread is about to run a pipeline that the program calls there; `None`: what it runs first is known.
pub fn calls(pipeline: Option<Called>) {
    let _ = HERE.try_with(|here| here.called.set(pipeline));
}

/// Where the program calls the pipeline that is about to run its first task; `None`: that is known. libtbb's own call of its entry point lies
/// below all that a pipeline keeps on the stack.
pub fn called() -> Option<Called> {
    HERE.try_with(|here| here.called.take()).ok().flatten()
}

/// The calling thread and what runs on it. `None`: nobody follows it.
#[inline]
pub fn current() -> Option<(&'static Thread, &'static Frame)> {
    let thread = thread::current()?;
    match Frame::on(thread) {
        Some(frame) => Some((thread, frame)),
        // Its own strand.
        None => Some((thread, first(thread)?)),
    }
}

#[cold]
fn first(thread: &'static Thread) -> Option<&'static Frame> {
    if Shared::of(thread).is_idle_only() {
        return None;
    }
    let known = FIRST.compare_exchange(0, thread as *const Thread as u64, Ordering::Relaxed, Ordering::Relaxed);
    if known.is_err_and(|first| first != thread as *const Thread as u64) {
        // Whoever created the thread may not have come by here.
        threads::several();
    }
    create::initial(thread)
}

/// Something is not where it should be on `thread`: what runs there counts for what ran before.
#[cold]
pub fn lost(thread: &Thread) {
    Shared::of(thread).header().unfollowed.fetch_add(1, Ordering::Relaxed);
}

/// A task is about to be allocated.
#[inline]
pub fn allocates() {
    let _ = HERE.try_with(|here| {
        here.allocated.set(true);
        let left = here.left.get();
        if left != 0 {
            here.since.set(0);
            return here.left.set(left - 1);
        }
        let measured = here.measured.get();
        here.measured.set(measured.wrapping_add(1));
        here.left.set(samples::distance(measured) - 1);
        here.since.set(platform::ticks());
    });
}

/// Another entry point is called. Returns when the task was allocated, if that is measured.
#[inline]
pub fn goes_on() -> u64 {
    HERE.try_with(|here| {
        here.allocated.set(false);
        here.since.replace(0)
    })
    .unwrap_or(0)
}

/// Ticks that all creations have taken for which this one, which began at `since`, stands. `None` if the thread was, by the
/// looks of it, interrupted.
pub fn cost(thread: &Thread, since: u64) -> Option<i64> {
    if since == 0 {
        return None;
    }
    let ticks = platform::ticks().wrapping_sub(since) as i64;
    (ticks < thread.short.get() * 10).then(|| ticks * i64::from(samples::MEAN))
}

/// The calling thread has created `task`.
#[inline]
pub fn created(task: &Frame) {
    let _ = HERE.try_with(|here| {
        // SAFETY: null, or a frame, which is memory for ever.
        task.interrupts(unsafe { here.next.replace(task).as_ref() });
    });
}

/// True if the task that the calling thread is to run next is the one that `gather` has left.
#[inline]
pub fn has_next(gather: &Gather) -> bool {
    let next = HERE.try_with(|here| here.next.get()).unwrap_or(ptr::null());
    // SAFETY: null, or a task that the calling thread has created, which may have been taken away and be gone: frames are memory for
    // ever, and of this one nothing is read but whom it reports to.
    gather.has_one() && unsafe { next.as_ref() }.is_some_and(|next| gather::is_of(next, gather))
}

/// `task` begins on the calling thread. True if it is the one that was to run next.
#[inline]
pub fn begins(task: &Frame) -> bool {
    HERE.try_with(|here| {
        let is_next = ptr::eq(here.next.get(), task);
        if is_next {
            here.next.set(task.interrupted().map_or(ptr::null(), ptr::from_ref));
        }
        is_next
    })
    .unwrap_or(false)
}

/// `waiter` begins to wait at tick `now` for the task that the calling thread runs next.
pub fn measure(waiter: &Frame, now: u64) {
    let _ = HERE.try_with(|here| {
        here.between.set(Between { waiter, since: now, passed: 0, ..here.between.get() });
    });
}

/// In the wait of `waiter` that task begins at tick `now`.
pub fn measure_begin(waiter: &Frame, now: u64) {
    let _ = HERE.try_with(|here| {
        let between = here.between.get();
        if ptr::eq(between.waiter, waiter) && between.passed == 0 {
            here.between.set(Between { passed: now.wrapping_sub(between.since) as i64, ..between });
        }
    });
}

/// That task has ended at tick `now`.
pub fn measure_end(waiter: &Frame, now: u64) {
    let _ = HERE.try_with(|here| {
        let between = here.between.get();
        if ptr::eq(between.waiter, waiter) && between.passed != 0 {
            here.between.set(Between { since: now, ..between });
        }
    });
}

/// The wait of `waiter` is over at tick `now`.
pub fn measured(thread: &Thread, waiter: &Frame, now: u64) {
    let _ = HERE.try_with(|here| {
        let between = here.between.get();
        if !ptr::eq(between.waiter, waiter) || between.passed == 0 {
            return;
        }
        // Two hooks with their readings are in it.
        let hooks = 2 * Shared::of(thread).header().probe_ticks.load(Ordering::Relaxed);
        let all = between.passed + now.wrapping_sub(between.since) as i64;
        let known = match (all - hooks).max(0) {
            interrupted if interrupted > thread.short.get() => between.known,
            ticks if between.known == 0 => ticks,
            ticks => between.known + (ticks - between.known) / 8,
        };
        here.between.set(Between { waiter: ptr::null(), since: 0, passed: 0, known });
    });
}

/// Ticks that libtbb takes for a brief wait.
#[inline]
pub fn between() -> i64 {
    HERE.try_with(|here| here.between.get().known).unwrap_or(0)
}

/// The number of threads as for which an algorithm is to split its range, if a task of it has just been allocated: then it
/// is the algorithm that requests it, not the program.
pub fn threads_to_split_for() -> Option<i32> {
    let asks = HERE.try_with(|here| here.allocated.get()).unwrap_or(false);
    if !asks {
        return None;
    }
    process::logical_cores().and_then(|cores| i32::try_from(cores).ok())
}
