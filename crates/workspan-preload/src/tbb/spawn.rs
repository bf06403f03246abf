//! Tasks are created.

use workspan_collect::log;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::ContextId;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::abi::{Context, Task};
use super::class::{self, hand_over, Class, Role};
use super::site::{self, Called};
use super::{algorithm, context, fold, limiter, node, stage, state};
use crate::dag::create as dag_create;
use crate::dag::frame::{Frame, Kind};
use crate::dag::gather::{self, Gather};
use crate::dag::{log as dag_log, task as rules};
use crate::ompt::events;

/// The calling thread spawns `task` into `context`; null: nobody waits for it.
///
/// # Safety
///
/// What a program passes to libtbb.
#[inline]
pub unsafe fn spawned(task: *const Task, context: *const Context, called: Called) {
    let since = state::goes_on();
    let Some((thread, creator)) = state::current() else { return };
    // SAFETY: the program's own task, alive until it has run, and its context.
    let (task, context) = unsafe { (&*task, context.as_ref()) };
    // libtbb puts a task back that it was about to run, where one comes that is more urgent. SAFETY: as above.
    if unsafe { class::is_handed_over(task) } {
        return;
    }
    let at = events::tick(thread);
    rules::stop(thread, at);
    // SAFETY: a task has a virtual table.
    if let Some(class) = unsafe { class::of(thread, task.vtable.get()) } {
        if class.is_in_graph() {
            // SAFETY: the class says so; its graph waits for it.
            unsafe { limiter::spawned(thread, task, class) };
        }
        let made = create(thread, creator, task, class, context, called, at);
        if let Some(cost) = made.and_then(|_| state::cost(thread, since)) {
            let within = made.unwrap_or_default();
            let account = Shared::of(thread).account(thread, within);
            account.overhead.set(account.overhead.get() + cost);
            if log::on(thread) {
                dag_log::overhead(thread, cost);
            }
        }
    }
    rules::go(thread, at);
}

/// What `task`, which runs, returned to run next: it is part of what `task` is part of.
///
/// # Safety
///
/// As of [`spawned`], with the context in which `task` runs.
pub unsafe fn follows(thread: &'static Thread, creator: &'static Frame, task: *const Task) {
    // SAFETY: the program's own task.
    let task = unsafe { &*task };
    // SAFETY: a task has a virtual table.
    if let Some(class) = unsafe { class::of(thread, task.vtable.get()) } {
        let kind = Kind { recursive: true, part: class.parts, ..Kind::default() };
        let gather = gather::of(thread, creator);
        let fresh = gather.filter(|_| stage::has_run_last(creator));
        if let Some(frame) = fresh.and_then(|gather| gather::create_at_begin(thread, creator, gather, kind)) {
            return known(frame, task, class);
        }
        give(thread, creator, gather, task, class, strand::context(thread), kind);
    }
}

fn create(
    thread: &'static Thread,
    creator: &'static Frame,
    task: &Task,
    class: &'static Class,
    context: Option<&Context>,
    called: Called,
    at: Option<u64>,
) -> Option<ContextId> {
    let mine = gather::of(thread, creator);
    let within = context.zip(mine).is_some_and(|(context, mine)| mine.key() == context as *const Context as u64);
    let gather = match (class.role, context) {
        (_, None) => None,
        // A task that a task of the same algorithm splits off.
        (Role::Splits | Role::Inner, _) if within => mine,
        // Of an algorithm whose tasks are spawned by several.
        (Role::Beside | Role::Several, _) if within && creator.creates_siblings() => mine,
        (Role::Beside | Role::Several, Some(context)) => {
            algorithm::prepare(thread, creator, class, context, called, at)
        }
        (_, Some(context)) => context::gather(thread, creator, context),
    };
    // What a node sends to others is the graph's, and not the body's that sends it.
    let here = if node::is_in(creator) { dag_create::begun_in(creator) } else { strand::context(thread) };
    let mut kind =
        Kind { recursive: true, siblings: class.role == Role::Several, part: class.parts, ..Kind::default() };
    let mut of = here;
    if class.role == Role::Single && class.kind != SiteKind::FlowGraph || !is_inside(thread, gather, mine) {
        if let Some(target) = site::target(thread, class, called) {
            (of, kind.recursive) = (target.context, target.recursive);
        }
    }
    let fresh = gather.filter(|_| class.kind == SiteKind::ParallelPipeline && stage::has_run(creator));
    if let Some(frame) = fresh.and_then(|gather| gather::create_at_begin(thread, creator, gather, kind)) {
        known(frame, task, class);
        return Some(of);
    }
    give(thread, creator, gather, task, class, of, kind)
}

/// The creator's own place is that of the task, too.
fn is_inside(thread: &Thread, gather: Option<&'static Gather>, mine: Option<&'static Gather>) -> bool {
    let same = match (gather, mine) {
        (Some(gather), Some(mine)) => core::ptr::eq(gather, mine),
        _ => false,
    };
    same || algorithm::is_prepared(thread, gather)
}

/// `task` becomes known.
fn give(
    thread: &'static Thread,
    creator: &'static Frame,
    gather: Option<&'static Gather>,
    task: &Task,
    class: &'static Class,
    of: ContextId,
    kind: Kind,
) -> Option<ContextId> {
    let frame = gather::create(thread, creator, gather, of, kind)?;
    if class.folds {
        fold::split(thread, creator, frame, task);
    }
    known(frame, task, class);
    Some(of)
}

fn known(frame: &'static Frame, task: &Task, class: &'static Class) {
    hand_over(task, class, frame);
    state::created(frame);
}
