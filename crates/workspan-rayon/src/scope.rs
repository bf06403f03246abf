//! Hooks of `scope`, `spawn` and `broadcast`.

use core::panic::Location;

use super::link::{touch_account, Link};
use workspan_collect::group::{Group, TaskLink};
use workspan_collect::region::{self, CallSite, Place};
use workspan_collect::task::Suspended;
use workspan_collect::thread::{self, current};
use workspan_wire::shm::Thread;
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

    /// A task is created at the caller's caller; `copies` of it will run.
    #[track_caller]
    pub fn spawn(&self, type_name: fn() -> &'static str, copies: usize) -> Task {
        create(Some(&self.0), SiteKind::ScopeSpawn, Location::caller(), type_name, copies)
    }

    /// `copies` of a task that belongs to the current region itself.
    pub fn tasks(&self, copies: usize) -> Task {
        let link = thread::running().map(|(thread, now)| {
            let context = thread.position.get().context;
            TaskLink::create(thread, now, Some(&self.0), context, true, copies)
        });
        Task(link.unwrap_or(TaskLink::INACTIVE))
    }
}

/// A detached task is created at the caller's caller; `copies` of it will run.
#[track_caller]
pub fn spawn(type_name: fn() -> &'static str, copies: usize) -> Task {
    create(None, SiteKind::Spawn, Location::caller(), type_name, copies)
}

fn create(
    group: Option<&Group>,
    kind: SiteKind,
    location: &'static Location<'static>,
    type_name: fn() -> &'static str,
    copies: usize,
) -> Task {
    let Some((thread, now)) = thread::running() else {
        return Task(TaskLink::INACTIVE);
    };
    let site = CallSite { kind, place: Place::Location(location), type_name };
    let (context, recursive) = match region::target(thread, &site) {
        Some(target) => (target.context, target.recursive),
        None => (thread.position.get().context, true),
    };
    Task(TaskLink::create(thread, now, group, context, recursive, copies))
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
        Creation(self.0)
    }

    /// Runs it.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        /// Ends the task also if the body panics.
        struct End<'a>(&'a TaskLink, Option<Suspended>);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                if let Some(suspended) = self.1.take() {
                    if let Some((thread, now)) = thread::running() {
                        self.0.end(thread, now, suspended);
                    }
                }
            }
        }
        let begin = |(thread, now): (&'static Thread, u64)| self.0.begin(thread, now);
        let suspended = if self.0.active() {
            touch_account(self.0.context());
            thread::waking().map(begin)
        } else {
            None
        };
        let _end = End(&self.0, suspended);
        body()
    }
}

/// The creation of a task, until dropped.
#[derive(Debug)]
pub struct Creation(TaskLink);

impl Drop for Creation {
    fn drop(&mut self) {
        if self.0.active() {
            if let Some((thread, now)) = thread::running() {
                self.0.created(thread, now);
            }
        }
    }
}
