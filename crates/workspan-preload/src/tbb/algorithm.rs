//! Algorithms: the caller runs one task, and waits until that and all that it led to are done.
//!
//! An algorithm is a region of the caller, from its first task to the end of the wait. `parallel_invoke` spawns some of its
//! tasks before it runs the last one: the region begins with the first of these.

use workspan_collect::strand;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::abi::{Context, Task};
use super::class::{self, hand_over, Class, Role};
use super::site::{self, Called};
use super::{context, state};
use crate::dag::frame::{Frame, Kind};
use crate::dag::gather::{self, Gather};
use crate::dag::{marked, task as rules};
use crate::ompt::events;

/// An algorithm that runs; over with this, also if it throws an exception.
#[derive(Debug)]
pub struct Running(Option<Open>);

#[derive(Clone, Copy, Debug)]
struct Open {
    caller: &'static Frame,
    /// None: who waits for the algorithm waits for what is run here, too.
    gather: Option<&'static Gather>,
    region: bool,
    /// The context whose word has the gather.
    by: Option<&'static Context>,
}

/// The calling thread is about to run `task` and to wait for it and all others of `context`.
///
/// # Safety
///
/// What a program passes to libtbb.
pub unsafe fn begin(task: *const Task, context: *const Context, called: Called) -> Running {
    state::goes_on();
    let Some((thread, caller)) = state::current() else { return Running(None) };
    if thread.task.waiting.get() != 0 {
        return Running(None);
    }
    // SAFETY: the program's own, alive until the wait is over.
    let (task, context) = unsafe { (&*task, &*context) };
    // SAFETY: a task has a virtual table.
    let Some(class) = (unsafe { class::of(thread, task.vtable.get()) }) else { return Running(None) };
    let called = match class.kind {
        SiteKind::ParallelPipeline => state::called().unwrap_or(called),
        _ => called,
    };
    let at = events::now(thread);
    rules::stop(thread, Some(at));
    let open = match class.role {
        Role::Single => alone(thread, caller, task, class, context, called),
        Role::Beside | Role::Several => match caller.take_prepared() {
            Some(gather) => Some(Open { caller, gather: Some(gather), region: true, by: None }),
            None => region(thread, caller, class, context, called, at),
        }
        .inspect(|open| first(thread, open, task, class)),
        Role::Inner if gather::of(thread, caller).is_some() => {
            let open = Open { caller, gather: None, region: false, by: None };
            first(thread, &open, task, class);
            Some(open)
        }
        Role::Splits | Role::Inner => {
            region(thread, caller, class, context, called, at).inspect(|open| first(thread, open, task, class))
        }
    };
    rules::go(thread, Some(at));
    Running(open)
}

/// The calling thread, which is `caller`, runs a pipeline whose first task libtbb keeps to itself: it waits from here on for the tasks of
/// `context`, which what is returned gathers. That task's stages have tasks of their own ([`gather::create_at_begin`]).
pub fn begin_pipeline(
    thread: &'static Thread,
    caller: &'static Frame,
    context: &'static Context,
    called: Called,
) -> Option<(Running, &'static Gather)> {
    if thread.task.waiting.get() != 0 {
        return None;
    }
    let at = events::now(thread);
    rules::stop(thread, Some(at));
    let site = site::named(thread, SiteKind::ParallelPipeline, called, "");
    let region = site.is_some();
    if let Some(site) = site {
        marked::begin(thread, caller, at, &site);
    }
    let gather = context::gather(thread, caller, context);
    if let Some(gather) = gather {
        gather.hold();
        gather::begins(thread, gather);
        // What it spawns between stages is the pipeline's.
        caller.set_prepared(thread, gather);
    }
    rules::wait(thread, at);
    rules::go(thread, Some(at));
    Some((Running(Some(Open { caller, gather, region, by: Some(context) })), gather?))
}

/// A region begins, and what it will wait for.
fn region(
    thread: &'static Thread,
    caller: &'static Frame,
    class: &'static Class,
    context: &Context,
    called: Called,
    at: u64,
) -> Option<Open> {
    let site = site::of(thread, class.kind, called, class);
    let region = site.is_some();
    if let Some(site) = site {
        marked::begin(thread, caller, at, &site);
    }
    let gather = gather::open(thread, caller, context as *const Context as u64)?;
    if class.kind == SiteKind::ParallelPipeline {
        gather::begins(thread, gather);
    }
    Some(Open { caller, gather: Some(gather), region, by: None })
}

/// The task that the caller runs itself.
fn first(thread: &'static Thread, open: &Open, task: &Task, class: &'static Class) {
    let kind = Kind { recursive: true, inline: true, part: class.parts, ..Kind::default() };
    let gather = open.gather.or_else(|| gather::of(thread, open.caller));
    if let Some(frame) = gather::create(thread, open.caller, gather, strand::context(thread), kind) {
        hand_over(task, class, frame);
    }
}

/// The program runs a task of a group and waits for the group.
fn alone(
    thread: &'static Thread,
    caller: &'static Frame,
    task: &Task,
    class: &'static Class,
    context: &'static Context,
    called: Called,
) -> Option<Open> {
    let gather = context::gather(thread, caller, context)?;
    gather.hold();
    let here = strand::context(thread);
    let target = site::target(thread, class, called);
    let (of, recursive) = target.map_or((here, true), |target| (target.context, target.recursive));
    let kind = Kind { recursive, inline: true, ..Kind::default() };
    if let Some(frame) = gather::create(thread, caller, Some(gather), of, kind) {
        hand_over(task, class, frame);
    }
    Some(Open { caller, gather: Some(gather), region: false, by: Some(context) })
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(open) = self.0 else { return };
        let Some((thread, here)) = state::current() else { return };
        if !core::ptr::eq(here, open.caller) {
            return state::lost(thread);
        }
        open.caller.take_prepared();
        if let (Some(by), Some(gather)) = (open.by, open.gather) {
            if context::taken(by, gather) {
                gather::release(thread, gather);
            }
        }
        // Still waiting.
        let whole = open.gather.filter(|gather| gather::settle(thread, gather));
        let at = events::now(thread);
        rules::stop(thread, Some(at));
        rules::wait_over(thread, at);
        if let Some(gather) = whole {
            gather::join(thread, here, gather);
        }
        if open.region {
            marked::end(thread, here, at);
        }
        if let Some(gather) = open.gather {
            gather::release(thread, gather);
        }
        rules::go(thread, Some(at));
    }
}

/// A task that is to be spawned beside the one that the caller will run: the algorithm begins here if it has not yet.
pub fn prepare(
    thread: &'static Thread,
    caller: &'static Frame,
    class: &'static Class,
    context: &Context,
    called: Called,
    at: Option<u64>,
) -> Option<&'static Gather> {
    if let Some(prepared) = caller.prepared() {
        return Some(prepared);
    }
    let at = at.unwrap_or_else(|| events::now(thread));
    let open = region(thread, caller, class, context, called, at)?;
    caller.set_prepared(thread, open.gather?);
    open.gather
}

/// True if `gather` is that of an algorithm that the running task prepares.
pub fn is_prepared(thread: &Thread, gather: Option<&'static Gather>) -> bool {
    let prepared = Frame::on(thread).and_then(Frame::prepared);
    prepared.zip(gather).is_some_and(|(prepared, gather)| core::ptr::eq(prepared, gather))
}
