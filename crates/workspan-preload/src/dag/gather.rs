//! Tasks that somebody waits for together, wherever they were created: what a `task_group`, an algorithm or a flow graph of
//! oneTBB waits for.
//!
//! Unlike those of a taskgroup ([`super::group`]), they may be created by any task, and several of these waits may
//! overlap. So each task reports its own end here, and passes nothing on for others ([`Kind::direct`]).
//!
//! **Who waits** may come here before the last task has reported: a runtime lets waiters go from within a task, some
//! instructions before the task returns to the hooks. [`settle`] waits for these.
//!
//! **In the log** a gather is a group of the task that opened it, as long as it closes gathers in the order in which it
//! opened them; one that is closed too early there closes those within as well, and one that another task waits for ends
//! with the task that opened it: the log may then have more order than there was.
//!
//! [`Kind::direct`]: super::frame::Kind::direct

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use workspan_collect::beside;
use workspan_collect::log::mark;
use workspan_collect::path::{self, Tail};
use workspan_collect::region;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::{ContextId, ROOT};
use workspan_wire::shm::{Position, Thread, NODE, OWNED};

use super::alt_spans::AltSpans;
use super::frame::{Frame, Kind, Parent};
use super::lent::is_at;
pub use super::lent::of;
use super::patience::{self, patiently};
pub use super::state::gather::Gather;
use super::state::{Base, Start};
use super::{call, create, latest, log, pool, solo, task};

const HOLDER: u64 = 1 << 32;
const TASKS: u64 = HOLDER - 1;

impl Gather {
    /// By what the runtime knows it.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// One holder more.
    pub fn hold(&self) {
        solo::more(&self.open, HOLDER);
    }

    /// True if there is a task that has not reported, and no other.
    #[inline(always)]
    pub fn has_one(&self) -> bool {
        self.open.load(Ordering::Acquire) & TASKS == 1
    }

    /// True as long as tasks have not reported.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire) & TASKS != 0
    }
}

/// Begins one, which `opener` opens and the caller holds. `None`: no memory.
pub fn open(thread: &Thread, opener: &Frame, key: u64) -> Option<&'static Gather> {
    let at = pool::take::<Gather>(thread)?;
    path::settle(thread);
    let Position { path, since, context } = thread.task.position.get();
    let gather = Gather {
        ends: latest::none(),
        open: AtomicU64::new(HOLDER),
        base: Base { path: solo::own(Shared::of(thread), path), since, context },
        key,
        logged: Cell::new(0),
        outer: Cell::new(ptr::null()),
        begin: Cell::new(None),
        beside: AtomicU32::new(0),
    };
    // SAFETY: a fresh block, large and aligned enough.
    unsafe { at.write(gather) };
    // SAFETY: just written; blocks are never unmapped, and this one is not given back before nobody holds it.
    let gather = unsafe { &*at };
    if log::on(thread) {
        if let Some(extra) = opener.extra(thread) {
            gather.hold();
            gather.logged.set(ptr::from_ref(opener) as u64);
            gather.outer.set(extra.gathers.replace(gather));
            log::group(thread);
        }
    }
    Some(gather)
}

/// `creator`, whose strand is stopped, creates a task of `gather` in `context`; `None`: one that nobody waits for.
#[inline(always)]
pub fn create(
    thread: &'static Thread,
    creator: &'static Frame,
    gather: Option<&'static Gather>,
    context: ContextId,
    kind: Kind,
) -> Option<&'static Frame> {
    let kind = Kind { direct: true, ..kind };
    let report = gather.map_or(&Shared::of(thread).header().detached, |gather| &gather.ends);
    let task = create::task(thread, creator, context, kind, report, true)?;
    if let Some(gather) = gather {
        solo::more(&gather.open, 1);
        if context != ROOT && strand::context(thread) == ROOT && !kind.inline {
            begins_beside(thread, gather);
        }
    }
    Some(task)
}

/// The serial code of `thread` has created a task of `gather`.
#[inline(never)]
fn begins_beside(thread: &Thread, gather: &Gather) {
    if gather.beside.load(Ordering::Relaxed) == 0 {
        gather.beside.store(beside::begins(Shared::of(thread), thread), Ordering::Relaxed);
    }
}

/// `gather`, just opened by the strand, which is stopped, has tasks that depend on it alone ([`create_at_begin`]).
pub fn begins(thread: &Thread, gather: &Gather) {
    let Base { path, since, context } = gather.base;
    let start = Start {
        span: strand::span(thread),
        alt: AltSpans::of(thread),
        path: path & NODE,
        since,
        forked_in: context,
        context: strand::context(thread),
    };
    let identity = if log::on(thread) { log::chunks(thread, start.context) } else { 0 };
    gather.begin.set(Some((start, identity)));
}

/// `creator`, whose strand is stopped, creates a task of `gather` that does not depend on it: it begins where `gather` was opened, if
/// [`begins`] has noted where that was.
pub fn create_at_begin(
    thread: &'static Thread,
    creator: &'static Frame,
    gather: &'static Gather,
    kind: Kind,
) -> Option<&'static Frame> {
    let (start, identity) = gather.begin.get()?;
    let kind = Kind { direct: true, ..kind };
    let shared = Shared::of(thread);
    let start = Start { alt: start.alt.burdened_by(kind.steal(thread)), path: solo::own(shared, start.path), ..start };
    let task =
        Frame::of_parent(thread, kind, start, Parent::of(creator, &gather.ends, call::creates(shared, creator)))?;
    if log::on(thread) {
        log::is_chunk(thread, task, start.context, identity);
    }
    solo::increment(&creator.open);
    solo::more(&gather.open, 1);
    Some(task)
}

/// True if `task` reports to `gather`.
#[inline(always)]
pub fn is_of(task: &Frame, gather: &Gather) -> bool {
    ptr::eq(task.report.get(), &gather.ends)
}

/// A task has ended, and reported to `gather`, which it no longer keeps.
pub fn left(gather: &'static Gather, thread: &Thread) {
    if solo::less(&gather.open, 1) {
        free(thread, gather);
    }
}

/// One holder less; whoever is the last frees it.
pub fn release(thread: &Thread, gather: &'static Gather) {
    release_some(thread, gather, 1);
}

/// As many holders less.
pub fn release_some(thread: &Thread, gather: &'static Gather, holders: u64) {
    if solo::less(&gather.open, holders * HOLDER) {
        free(thread, gather);
    }
}

fn free(thread: &Thread, gather: &'static Gather) {
    let shared = Shared::of(thread);
    beside::ends(gather.beside.load(Ordering::Relaxed));
    solo::release(shared, latest::seen(&gather.ends).1);
    solo::release(shared, gather.base.path);
    // SAFETY: made by `open`, and nobody holds it.
    unsafe { pool::give(thread, ptr::from_ref(gather)) };
}

/// Somebody has waited in vain: what the program waits for is not what is gathered.
static IN_VAIN: AtomicBool = AtomicBool::new(false);

/// Waits until all tasks have reported. The runtime says that they are done, so it is a matter of nanoseconds, unless a
/// thread lost its CPU there. After half a second it gives up rather than hang, and from then on sooner. False, which is
/// counted, if so.
#[must_use]
pub fn settle(thread: &Thread, gather: &Gather) -> bool {
    let patience = if IN_VAIN.load(Ordering::Relaxed) { patience::BRIEF } else { patience::HALF_A_SECOND };
    if patiently(patience, || !gather.is_open()) {
        return true;
    }
    IN_VAIN.store(true, Ordering::Relaxed);
    Shared::of(thread).header().unfollowed.fetch_add(1, Ordering::Relaxed);
    false
}

/// All tasks of `gather` have reported; the strand of `waiter`, stopped, goes on after the latest.
pub fn join(thread: &'static Thread, waiter: &Frame, gather: &Gather) {
    let logged = log::on(thread);
    beside::ends(gather.beside.swap(0, Ordering::Relaxed));
    if logged {
        close_in_log(thread, waiter, gather);
    } else {
        region::close_beside(Shared::of(thread), thread);
    }
    AltSpans::seen(&gather.ends).join(thread);
    let (span, path) = latest::seen(&gather.ends);
    if span > strand::span(thread) {
        go_on_after(thread, gather, span, path);
    }
    if logged {
        mark(thread);
    }
}

/// The latest task has ended at `span`, later than the strand, which is stopped.
fn go_on_after(thread: &'static Thread, gather: &Gather, span: i64, path: u32) {
    let shared = Shared::of(thread);
    path::settle(thread);
    let path = if path & OWNED != 0 {
        path::own(shared, path)
    } else {
        // The task did not touch the path on which it began: in this context, or nearly so.
        let base = gather.base;
        let position = thread.task.position.get();
        if is_at(&base, position.path, position.since, position.context) {
            strand::set_span(thread, span);
            return;
        }
        path::add(shared, base.path & NODE, base.context, span - base.since)
    };
    task::join(thread, Tail { span, path, since: span }, AltSpans::NEVER);
}

/// In the log the group of `gather` ends, and all within.
fn close_in_log(thread: &Thread, waiter: &Frame, gather: &Gather) {
    if gather.logged.get() == ptr::from_ref(waiter) as u64 {
        let context = region::close_beside(Shared::of(thread), thread).unwrap_or(strand::context(thread));
        while let Some(inner) = close_innermost(thread, waiter, context) {
            if ptr::eq(inner, gather) {
                return;
            }
        }
    }
}

/// `task`, whose strand is stopped, is about to end: in the log, so do groups that it has opened and not waited for.
pub fn abandon_in_log(thread: &Thread, task: &Frame) {
    while close_innermost(thread, task, strand::context(thread)).is_some() {}
}

/// In the log the innermost group of `task` ends; its strand was charged to `context`. Returns whose it was, which may be gone.
fn close_innermost(thread: &Thread, task: &Frame, context: ContextId) -> Option<*const Gather> {
    let extra = task.known_extra()?;
    // SAFETY: null or a gather, which is held as long as it is a group of this task's log.
    let inner: &'static Gather = unsafe { extra.gathers.get().as_ref() }?;
    extra.gathers.set(inner.outer.get());
    inner.logged.set(0);
    log::wait_in(thread, context);
    mark(thread);
    release(thread, inner);
    Some(inner)
}
