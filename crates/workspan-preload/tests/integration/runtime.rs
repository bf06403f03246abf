//! A runtime of tasks, as small as can be: a queue that all threads of a team share, which they empty wherever they wait. It
//! reports of tasks what an OpenMP runtime reports, in the same order, and orders no more than such a runtime does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use workspan_collect::region;
use workspan_collect::shared::Shared;
use workspan_preload::dag::depend::{self, Use};
use workspan_preload::dag::frame::{Frame, Kind};
use workspan_preload::dag::team::{self, Team};
use workspan_preload::dag::{create, task};
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use crate::machine::{self, call_site, now};
use crate::program::{Node, Step};

/// A task.
struct Task<'p> {
    frame: &'static Frame,
    body: &'p Node,
    /// Tasks of its creator's that have not ended, this one included.
    siblings: Arc<AtomicUsize>,
    /// What is chained to it: none yet, the next, or that it has ended.
    next: Mutex<Next<'p>>,
}

// SAFETY: a frame is handed from thread to thread with its task, as a runtime does.
unsafe impl Send for Task<'_> {}
// SAFETY: as above.
unsafe impl Sync for Task<'_> {}

enum Next<'p> {
    None,
    Waits(Arc<Task<'p>>),
    Ended,
}

/// The queue of a team.
pub(crate) struct Queue<'p> {
    ready: Mutex<Vec<Arc<Task<'p>>>>,
    /// Tasks that have not ended, and members that have not arrived.
    open: AtomicUsize,
}

impl<'p> Queue<'p> {
    pub(crate) fn new(members: usize) -> Queue<'p> {
        Queue { ready: Mutex::default(), open: AtomicUsize::new(members) }
    }

    /// Runs a task, if there is one, in the place of `waiting`, which waits on `thread`.
    fn help(&self, thread: &'static Thread, waiting: &'static Frame) {
        let next = self.ready.lock().expect("nobody panics").pop();
        match next {
            Some(next) => self.run(thread, waiting, &next),
            None => thread::yield_now(),
        }
    }

    fn run(&self, thread: &'static Thread, waiting: &'static Frame, next: &Arc<Task<'p>>) {
        let at = Some(now(thread));
        task::stop(thread, at);
        task::suspend(thread, waiting, false);
        task::wait_over(thread, now(thread));
        next.frame.interrupts(Some(waiting));
        task::begin(thread, next.frame);
        task::go(thread, at);
        self.body(thread, next.frame, next.body);
        let at = Some(now(thread));
        task::stop(thread, at);
        task::end_complete(thread, next.frame);
        task::resume(thread, waiting, at);
        task::go(thread, at);
        let chained = std::mem::replace(&mut *next.next.lock().expect("nobody panics"), Next::Ended);
        if let Next::Waits(chained) = chained {
            self.ready.lock().expect("nobody panics").push(chained);
        }
        next.siblings.fetch_sub(1, Ordering::Release);
        self.open.fetch_sub(1, Ordering::Release);
    }

    fn body(&self, thread: &'static Thread, frame: &'static Frame, body: &'p Node) {
        const ADDRESS: u64 = 0x1000;
        let children = Arc::new(AtomicUsize::new(0));
        let mut chain: Option<Arc<Task<'p>>> = None;
        for (number, step) in body.0.iter().enumerate() {
            match step {
                Step::Work(ticks) => machine::work(thread, *ticks),
                Step::Create { body, chained } => {
                    let at = Some(now(thread));
                    task::stop(thread, at);
                    let copy = u8::try_from(number % 4).expect("small");
                    let target = region::target(thread, &call_site(SiteKind::ScopeSpawn, copy)).expect("there is room");
                    let kind = Kind { recursive: target.recursive, ..Kind::default() };
                    let report = create::report_of(Shared::of(thread), frame);
                    let new = create::task(thread, frame, target.context, kind, report, true).expect("there is memory");
                    task::go(thread, at);
                    if *chained {
                        depend::depend(thread, frame, new, ADDRESS, Use::Write);
                    }
                    children.fetch_add(1, Ordering::Relaxed);
                    self.open.fetch_add(1, Ordering::Relaxed);
                    let siblings = Arc::clone(&children);
                    let new = Arc::new(Task { frame: new, body, siblings, next: Mutex::new(Next::None) });
                    let before = if *chained { chain.replace(Arc::clone(&new)) } else { None };
                    self.release(before.as_deref(), new);
                }
                Step::Wait => {
                    if frame.has_open_children() {
                        let at = now(thread);
                        task::stop(thread, Some(at));
                        task::wait(thread, at);
                        while children.load(Ordering::Acquire) > 0 {
                            self.help(thread, frame);
                        }
                    }
                    let at = now(thread);
                    task::stop(thread, Some(at));
                    task::wait_over(thread, at);
                    task::wait_children(thread, frame);
                    task::go(thread, Some(at));
                }
            }
        }
    }

    /// `new` may run once `before` has ended.
    fn release(&self, before: Option<&Task<'p>>, new: Arc<Task<'p>>) {
        if let Some(before) = before {
            let mut next = before.next.lock().expect("nobody panics");
            if matches!(*next, Next::None) {
                *next = Next::Waits(new);
                return;
            }
        }
        self.ready.lock().expect("nobody panics").push(new);
    }

    /// A member of the team, with what it is to run: to the end of the team's last barrier.
    pub(crate) fn member(&self, thread: &'static Thread, team: &'static Team, size: u32, number: u32, body: &'p Node) {
        let at = now(thread);
        let frame = team::member(thread, team, size, number).expect("there is memory");
        task::wait_over(thread, at);
        task::begin(thread, frame);
        task::go(thread, Some(at));
        self.body(thread, frame, body);
        let at = now(thread);
        task::stop(thread, Some(at));
        team::barrier(thread, frame, team, true);
        task::wait(thread, at);
        self.open.fetch_sub(1, Ordering::Release);
        while self.open.load(Ordering::Acquire) > 0 {
            self.help(thread, frame);
        }
        let at = now(thread);
        task::stop(thread, Some(at));
        task::end_member(thread, frame);
        task::wait(thread, at);
    }
}
