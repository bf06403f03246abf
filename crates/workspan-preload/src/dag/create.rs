//! Tasks are created.

use core::ptr;
use core::sync::atomic::Ordering;

use workspan_collect::beside;
use workspan_collect::path;
use workspan_collect::region;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::{ContextId, ROOT};
use workspan_wire::shm::{Latest, Thread, NODE, OWNED};

use super::alt_spans::AltSpans;
use super::complete::whole_child_path;
use super::frame::{Frame, Kind, Parent};
use super::state::{Base, Start};
use super::{call, latest, log, solo};

/// The own strand of `thread` gets a frame.
pub fn initial(thread: &'static Thread) -> Option<&'static Frame> {
    let kind = Kind { implicit: true, machinery: true, ..Kind::default() };
    let frame = Frame::new(thread, kind, Start::default())?;
    frame.begun_here(thread);
    Some(frame)
}

/// `creator`, whose strand is stopped, creates a task in `context` whose end goes to `report`, too; not `real`: what stands for a wait.
#[inline(always)]
pub fn task(
    thread: &'static Thread,
    creator: &'static Frame,
    context: ContextId,
    kind: Kind,
    report: *const Latest,
    real: bool,
) -> Option<&'static Frame> {
    let shared = Shared::of(thread);
    path::settle(thread);
    let mut charged = strand::context(thread);
    if charged == ROOT && context != ROOT {
        let to = shared.context(context).site.get().wrapping_add(1);
        charged = region::close_serial(shared, thread, strand::span(thread), to);
        if kind.direct && !kind.inline {
            beside::follows(shared, thread, to);
        } else {
            thread.task.last_region.set(to);
        }
    }
    let position = thread.task.position.get();
    let start = Start {
        span: strand::span(thread),
        alt: AltSpans::of(thread).burdened_by(kind.steal(thread)),
        path: lend(shared, thread, creator),
        since: position.since,
        forked_in: position.context,
        context,
    };
    let task = Frame::of_parent(thread, kind, start, Parent::of(creator, report, call::creates(shared, creator)))?;
    if log::on(thread) && real {
        log::created(thread, task, charged, context);
    }
    solo::increment(&creator.open);
    Some(task)
}

/// The context in which `task` begins.
pub fn begun_in(task: &Frame) -> ContextId {
    task.start.get().context
}

/// Where ends of tasks go that `creator` creates now, besides `creator` itself.
pub fn report_of(shared: Shared, creator: &Frame) -> *const Latest {
    // SAFETY: null or a group that is open.
    if let Some(group) = unsafe { creator.own_group.get().as_ref() } {
        return &group.ends;
    }
    if !creator.kind.get().implicit {
        return ptr::null();
    }
    match creator.team() {
        Some(team) => team.slot(creator.round.get()),
        None => &shared.header().detached,
    }
}

/// The creator's path as a child may use it.
#[inline(always)]
fn lend(shared: Shared, thread: &Thread, creator: &Frame) -> u32 {
    let position = thread.task.position.get();
    let node = position.path & NODE;
    let base = creator.base.get();
    if base.path & NODE == node && base.since == position.since && base.context == position.context {
        return node;
    }
    lend_another(shared, thread, creator)
}

/// The same where it is another one than that of the children before.
fn lend_another(shared: Shared, thread: &Thread, creator: &Frame) -> u32 {
    let position = thread.task.position.get();
    let node = position.path & NODE;
    let new = Base { path: node, since: position.since, context: position.context };
    // A path that the creator borrows itself stays as long as the creator has open children.
    let borrowed = node == creator.start.get().path;
    if creator.open.load(Ordering::Acquire) == 1 {
        settle_children(shared, creator);
        path::release(shared, creator.base.get().path);
        let path = if borrowed { node } else { path::own(shared, node) };
        creator.base.set(Base { path, ..new });
        return node;
    }
    // Children of before may still need theirs.
    path::own(shared, node)
}

/// All children have ended, and the base that they borrowed is about to go: the longest one's path becomes whole.
fn settle_children(shared: Shared, creator: &Frame) {
    let (span, path) = latest::seen(&creator.children);
    if span != i64::MIN && path & OWNED == 0 {
        let path = whole_child_path(shared, creator, span, path);
        creator.children.candidate.path.store(u64::from(path), Ordering::Release);
    }
}
