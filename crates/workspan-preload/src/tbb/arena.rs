//! Code that runs in another arena: on the calling thread, or, if the arena has no room for that, on a worker of the arena
//! while the calling thread sleeps.
//!
//! The code is part of the caller's strand, which moves to the worker then and back.

use core::cell::Cell;
use core::ffi::c_void;

use workspan_wire::shm::Thread;

use super::state;
use crate::dag::frame::Frame;
use crate::dag::task as rules;
use crate::ompt::events;

/// `tbb::detail::d1::delegate_base`.
#[repr(C)]
#[derive(Debug)]
pub struct Delegate {
    vtable: *const Functions,
}

/// Its virtual table: what it runs, and its destructors.
#[repr(C)]
#[derive(Debug)]
struct Functions {
    run: unsafe extern "C-unwind" fn(*const Delegate) -> bool,
    destroy: [unsafe extern "C-unwind" fn(*const Delegate); 2],
}

unsafe extern "C-unwind" fn nothing(_: *const Delegate) {}

static FUNCTIONS: Functions = Functions { run, destroy: [nothing, nothing] };

/// An arena that the calling thread has entered, or waits to enter; over with this, also if it throws an exception.
#[derive(Debug)]
pub struct Entered {
    thread: &'static Thread,
    caller: &'static Frame,
    /// Of its own, so that it may be moved before it is used.
    ours: Ours,
}

/// What libtbb runs in the place of the program's.
#[repr(C)]
#[derive(Debug)]
struct Ours {
    delegate: Delegate,
    program: *const Delegate,
    thread: &'static Thread,
    caller: &'static Frame,
    /// The strand has been on another thread.
    moved: Cell<bool>,
}

impl Entered {
    /// What libtbb is to run.
    pub fn delegate(&self) -> *const Delegate {
        (&raw const self.ours).cast()
    }
}

/// The calling thread is about to have `program` run in an arena. `None`: nobody follows it.
pub fn enter(program: *const Delegate) -> Option<Entered> {
    state::goes_on();
    let (thread, caller) = state::current()?;
    if thread.task.waiting.get() != 0 {
        return None;
    }
    let at = events::now(thread);
    rules::stop(thread, Some(at));
    rules::wait(thread, at);
    rules::go(thread, Some(at));
    let delegate = Delegate { vtable: &FUNCTIONS };
    let ours = Ours { delegate, program, thread, caller, moved: Cell::new(false) };
    Some(Entered { thread, caller, ours })
}

impl Drop for Entered {
    fn drop(&mut self) {
        let at = events::now(self.thread);
        if self.ours.moved.get() {
            rules::resume(self.thread, self.caller, Some(at));
        } else if !Frame::on(self.thread).is_some_and(|here| core::ptr::eq(here, self.caller)) {
            return state::lost(self.thread);
        }
        rules::wait_over(self.thread, at);
        rules::go(self.thread, Some(at));
    }
}

unsafe extern "C-unwind" fn run(delegate: *const Delegate) -> bool {
    // SAFETY: libtbb passes what it was given, which lives until it returns.
    let ours = unsafe { &*delegate.cast::<Ours>() };
    let here = Here::begin(ours);
    // SAFETY: the program's own, with a virtual table.
    let answer = unsafe { ((*(*ours.program).vtable).run)(ours.program) };
    drop(here);
    answer
}

/// The program's code runs on the calling thread, until this is dropped.
struct Here<'o> {
    ours: &'o Ours,
    thread: &'static Thread,
    /// What the calling thread did before, if it is not the caller's.
    below: Option<&'static Frame>,
}

impl<'o> Here<'o> {
    fn begin(ours: &'o Ours) -> Option<Here<'o>> {
        let (thread, here) = state::current()?;
        let at = events::now(thread);
        let mut below = None;
        if !core::ptr::eq(thread, ours.thread) {
            // The caller sleeps until this is over.
            rules::stop(thread, Some(at));
            rules::suspend(ours.thread, ours.caller, true);
            rules::suspend(thread, here, false);
            rules::resume(thread, ours.caller, Some(at));
            ours.moved.set(true);
            below = Some(here);
        }
        rules::wait_over(thread, at);
        rules::go(thread, Some(at));
        Some(Here { ours, thread, below })
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        let at = events::now(self.thread);
        rules::stop(self.thread, Some(at));
        rules::wait(self.thread, at);
        if let Some(below) = self.below {
            rules::suspend(self.thread, self.ours.caller, true);
            rules::resume(self.thread, below, Some(at));
        }
        rules::go(self.thread, Some(at));
    }
}

const _: () = assert!(size_of::<Delegate>() == size_of::<*const c_void>());
