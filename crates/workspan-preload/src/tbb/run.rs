//! Tasks run, or are cancelled: what libtbb calls in the place of a task's own functions.

use workspan_collect::exclude::exclude_next;
use workspan_collect::shared::current_account;
use workspan_collect::strand;
use workspan_collect::thread;
use workspan_wire::shm::Thread;

use super::abi::{Execution, Task};
use super::{class, fold, limiter, node, spawn, state, wait};
use crate::dag::frame::Frame;
use crate::dag::{gather, task as rules};
use crate::ompt::events;

/// In the place of `execute`.
///
/// # Safety
///
/// As libtbb calls it: with a task that has the stand-in of its class.
pub unsafe extern "C-unwind" fn execute(task: *const Task, how: *const Execution) -> *const Task {
    // SAFETY: the caller's promise.
    let (class, begun) = unsafe { begin(task) };
    // SAFETY: the task's own function.
    let own = || unsafe { ((*class.original).execute)(task, how) };
    let next = match class.is_in_graph() && begun.0.is_some() {
        // SAFETY: the class says so, and the task has not run.
        true => unsafe { in_graph(task, class, own) },
        false => own(),
    };
    begun.end(next);
    next
}

/// What `own` returns, which runs `task`.
///
/// # Safety
///
/// `task` is of this class, whose tasks have nodes, and has not run.
#[inline(never)]
unsafe fn in_graph(task: *const Task, class: &'static class::Class, own: impl FnOnce() -> *const Task) -> *const Task {
    limiter::begins(task);
    if class.forwards {
        // SAFETY: the caller's promise.
        return unsafe { limiter::forwards(task, class, own) };
    }
    // SAFETY: the caller's promise.
    let within = class.has_body.then(|| unsafe { node::enter(task, class) });
    let next = own();
    drop(within);
    next
}

/// In the place of `cancel`.
///
/// # Safety
///
/// As of [`execute`].
pub unsafe extern "C-unwind" fn cancel(task: *const Task, how: *const Execution) -> *const Task {
    // SAFETY: the caller's promise.
    let (class, begun) = unsafe { begin(task) };
    // SAFETY: the task's own function.
    let next = unsafe { ((*class.original).cancel)(task, how) };
    begun.end(next);
    next
}

/// A task that runs on the calling thread; ends with this, also if its code threw an exception.
struct Begun(Option<&'static Frame>);

impl Begun {
    #[inline]
    fn end(mut self, next: *const Task) {
        if let Some(frame) = self.0.take() {
            end(frame, next);
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(frame) = self.0 {
            end(frame, core::ptr::null());
        }
    }
}

/// # Safety
///
/// As of [`execute`].
#[inline]
unsafe fn begin(task: *const Task) -> (&'static class::Class, Begun) {
    // SAFETY: alive until it has run.
    let task = unsafe { &*task };
    // SAFETY: it has the stand-in.
    let class = unsafe { class::of_stand_in(task.vtable.get()) };
    let frame = task.word().replace(0);
    task.vtable.set(class.original);
    // SAFETY: 0, or the frame that the task was given when it was spawned, which has not ended.
    let frame: Option<&'static Frame> = unsafe { (frame as *const Frame).as_ref() };
    (class, Begun(frame.and_then(begin_on)))
}

/// `frame` begins on the calling thread. `None`: nobody follows that.
#[inline]
pub fn begin_on(frame: &'static Frame) -> Option<&'static Frame> {
    let (thread, below) = state::current()?;
    let is_next = state::begins(frame);
    if below.waits_briefly().is_some() && (!is_next || below.has_brief_run()) {
        wait::deepen(thread, below);
    }
    if thread.task.waiting.get() != 0 {
        // No strand runs before the clock is read.
        replace(thread, below, frame);
        let at = events::now(thread);
        rules::wait_over(thread, at);
        rules::go_late(thread, at);
        if is_next {
            state::measure_begin(below, at);
        }
    } else {
        let at = events::tick(thread);
        rules::stop(thread, at);
        replace(thread, below, frame);
        rules::go(thread, at);
    }
    Some(frame)
}

/// `frame` begins in the place of `below`, whose strand is stopped.
#[inline(always)]
fn replace(thread: &'static Thread, below: &'static Frame, frame: &'static Frame) {
    rules::suspend(thread, below, false);
    frame.interrupts(Some(below));
    rules::begin(thread, frame);
    if current_account(thread).tasks.get() == 0 {
        // Nothing of the kind has ended here: its account has no memory yet.
        exclude_next(thread, || strand::touch_account(thread, strand::context(thread)));
    }
}

/// `frame`, which the calling thread runs, is over.
pub fn over(frame: &'static Frame) {
    end(frame, core::ptr::null());
}

/// Not inlined: a task that was suspended ends on another thread than it began on, and where a thread has its variables is not known
/// before then.
#[inline(never)]
fn end(frame: &'static Frame, next: *const Task) {
    let Some(thread) = thread::current() else { return };
    if !Frame::on(thread).is_some_and(|here| core::ptr::eq(here, frame)) {
        return state::lost(thread);
    }
    let Some(below) = frame.interrupted() else { return };
    fold::ends(frame);
    let at = if below.waits() || frame.is_inline() { Some(events::now(thread)) } else { events::tick(thread) };
    rules::stop(thread, at);
    if !next.is_null() {
        // SAFETY: what the task's own function returned.
        unsafe { spawn::follows(thread, frame, next) };
    }
    finish(thread, frame, below, at);
}

fn finish(thread: &'static Thread, frame: &'static Frame, below: &'static Frame, at: Option<u64>) {
    if workspan_collect::log::on(thread) {
        gather::abandon_in_log(thread, frame);
    }
    let gather = gather::of(thread, frame);
    let waits_now = frame.is_inline();
    rules::end_complete(thread, frame);
    if let Some(gather) = gather {
        gather::left(gather, thread);
    }
    rules::resume(thread, below, at);
    if let (true, Some(at)) = (waits_now, at) {
        // What called it does nothing but wait for the others from here on.
        rules::wait(thread, at);
    }
    rules::go(thread, at);
    match (below.waits_briefly(), at) {
        (Some(brief), _) if brief.is_open() => wait::goes_on(thread, below),
        (Some(_), _) => below.brief_has_run(),
        (None, Some(at)) if thread.task.waiting.get() != 0 => state::measure_end(below, at),
        _ => {}
    }
}
