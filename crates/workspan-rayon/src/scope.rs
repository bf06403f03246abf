//! Hooks of `scope`, `spawn` and `broadcast`.

use core::marker::PhantomData;
use core::panic::Location;
use core::ptr;

use super::link::{touch_account, Link};
use workspan_collect::group::{self, Group, TaskLink};
use workspan_collect::region::{self, CallSite, Place};
use workspan_collect::tables::{ContextId, Target};
use workspan_collect::task::Suspended;
use workspan_collect::thread::{self, current};
use workspan_wire::site::SiteKind;

/// A scope's tasks, where the scope lives.
#[derive(Debug)]
pub struct Scope(Group);

impl Scope {
    /// A scope without tasks.
    pub fn new() -> Scope {
        Scope(Group::new())
    }

    /// The body begins.
    pub fn enter(&self) {
        if let Some(thread) = current() {
            self.0.enter(thread);
        }
    }

    /// The body has ended; the thread waits for the tasks.
    pub fn body_done(&self) {
        if let Some((thread, now)) = thread::running() {
            self.0.body_done(thread, now);
        }
    }

    /// All tasks have ended.
    pub fn exit(&self) {
        if let Some((thread, now)) = thread::waking() {
            self.0.exit(thread, now);
        }
    }

    /// A task is created at the caller's caller, of the scope at address `scope`.
    #[track_caller]
    pub fn spawn<S>(&self, scope: &S, type_name: fn() -> &'static str) -> Within<S> {
        let owner = (scope as *const S).cast();
        Within(create(Some(&self.0), owner, SiteKind::ScopeSpawn, Location::caller(), type_name, 1), PhantomData)
    }

    /// A task is created at the caller's caller; `copies` of it will run.
    #[track_caller]
    pub fn broadcast(&self, type_name: fn() -> &'static str, copies: usize) -> Task {
        Task(create(Some(&self.0), ptr::null(), SiteKind::ScopeSpawn, Location::caller(), type_name, copies))
    }

    /// `copies` of a task that belongs to the current region itself.
    pub fn tasks(&self, copies: usize) -> Task {
        let link = thread::running().map(|(thread, now)| {
            let target = Target { context: thread.task.position.get().context, recursive: true };
            TaskLink::create(thread, now, Some(&self.0), ptr::null(), target, copies)
        });
        Task(link.unwrap_or(TaskLink::inactive(ptr::null())))
    }
}

/// A detached task is created at the caller's caller; `copies` of it will run.
#[track_caller]
pub fn spawn(type_name: fn() -> &'static str, copies: usize) -> Task {
    Task(create(None, ptr::null(), SiteKind::Spawn, Location::caller(), type_name, copies))
}

fn create(
    group: Option<&Group>,
    owner: *const (),
    kind: SiteKind,
    location: &'static Location<'static>,
    type_name: fn() -> &'static str,
    copies: usize,
) -> TaskLink {
    let Some((thread, now)) = thread::running() else {
        return TaskLink::inactive(owner);
    };
    let site = CallSite { kind, place: Place::Location(location), type_name };
    let target = match region::target(thread, &site) {
        Some(target) => target,
        None => Target { context: thread.task.position.get().context, recursive: true },
    };
    TaskLink::create(thread, now, group, owner, target, copies)
}

/// A task on its way to its start.
#[derive(Clone, Copy, Debug)]
pub struct Task(TaskLink);

impl Task {
    /// For a stack job that runs it.
    pub fn link(&self) -> Link {
        Link::task(&self.0)
    }

    /// To be dropped when the task has been created.
    pub fn creation(&self) -> Creation {
        Creation(self.0.context())
    }

    /// Runs it.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        run(&self.0, body)
    }
}

/// A task on its way to its start that knows its scope, a `S`. It stands in the job where rayon has the scope's address,
/// and takes no more room than that: there may be millions of them.
#[derive(Debug)]
pub struct Within<S>(TaskLink, PhantomData<*const S>);

impl<S> Clone for Within<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Within<S> {}

// SAFETY: stands for a reference to `S`, and a word that any thread may use.
unsafe impl<S: Sync> Send for Within<S> {}
// SAFETY: as above.
unsafe impl<S: Sync> Sync for Within<S> {}

impl<S> Within<S> {
    /// The scope.
    ///
    /// # Safety
    ///
    /// The scope has not ended, nor has the task.
    pub unsafe fn as_ref(&self) -> &S {
        // SAFETY: the address of the scope that the task was created in, which waits for it.
        unsafe { &*self.0.owner().cast() }
    }

    /// To be dropped when the task has been created.
    pub fn creation(&self) -> Creation {
        Creation(self.0.context())
    }

    /// Runs it.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        run(&self.0, body)
    }
}

fn run<R>(link: &TaskLink, body: impl FnOnce() -> R) -> R {
    /// Ends the task also if the body panics.
    struct End<'a> {
        link: &'a TaskLink,
        begun: bool,
        suspended: Suspended,
    }
    impl Drop for End<'_> {
        fn drop(&mut self) {
            let running = if self.begun { thread::running() } else { None };
            match running {
                Some((thread, now)) => self.link.end(thread, now, &self.suspended),
                None => self.link.lost(),
            }
        }
    }
    let mut end = End { link, begun: false, suspended: Suspended::default() };
    if let Some(context) = link.context() {
        touch_account(context);
        if let Some((thread, now)) = thread::waking() {
            end.begun = link.begin(thread, now, &mut end.suspended);
        }
    }
    body()
}

/// The creation of a task in a context, until dropped.
#[derive(Debug)]
pub struct Creation(Option<ContextId>);

impl Drop for Creation {
    fn drop(&mut self) {
        if let Some(context) = self.0 {
            if let Some((thread, now)) = thread::running() {
                group::created(thread, context, now);
            }
        }
    }
}
