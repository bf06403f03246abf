//! Tasks run, or are cancelled: what libtbb calls in the place of a task's own functions. What the thread is in the midst of.

use core::cell::Cell;
use core::ffi::c_void;

use super::abi::{hand_over, Context, Execution, Task, CANCEL, EXECUTE};
use super::{same_thread, table};
use crate::platform::thread;
use crate::tasks::{self, Begun};

type Function = unsafe extern "C-unwind" fn(*const Task, *const Execution) -> *const Task;

/// A task that runs on the calling thread; ends with this, also if its code throws an exception.
#[derive(Debug)]
pub struct Running {
    begun: Option<Begun>,
    /// Its gather.
    pub gather: u32,
    /// Its context of libtbb.
    pub key: *const Context,
    /// It spawns tasks that belong beside it.
    pub siblings: bool,
    /// Context and gather of an algorithm that it prepares.
    prepared: Cell<(usize, u32)>,
    below: *const c_void,
}

impl Running {
    /// A context begins on the calling thread; to be entered where it will stay.
    pub fn new(task: u32, gather: u32, key: *const Context, siblings: bool) -> Running {
        same_thread::leave();
        let begun = tasks::begin(task, 0);
        Running { begun, gather, key, siblings, prepared: Cell::new((0, 0)), below: thread().running.get() }
    }

    /// It is what runs from now on.
    pub fn enter(&self) {
        thread().running.set((self as *const Running).cast());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        thread().running.set(self.below);
        same_thread::leave();
        if let Some(begun) = self.begun {
            tasks::end(begun);
        }
    }
}

/// What runs on the calling thread; nothing: the thread's own code.
pub fn running() -> Option<&'static Running> {
    // SAFETY: null, or what `enter` has set, which lives until it is dropped; the reference does not outlive the entry point.
    unsafe { thread().running.get().cast::<Running>().as_ref() }
}

/// Context and gather of the algorithm that the calling thread prepares.
pub fn prepared() -> &'static Cell<(usize, u32)> {
    match running() {
        Some(running) => &running.prepared,
        None => &thread().prepared,
    }
}

/// The functions that tasks get.
pub fn runners() -> [usize; 2] {
    [execute as *const () as usize, cancel as *const () as usize]
}

unsafe extern "C-unwind" fn execute(task: *const Task, how: *const Execution) -> *const Task {
    // SAFETY: as libtbb calls it.
    unsafe { run(task, how, EXECUTE) }
}

unsafe extern "C-unwind" fn cancel(task: *const Task, how: *const Execution) -> *const Task {
    // SAFETY: as libtbb calls it.
    unsafe { run(task, how, CANCEL) }
}

/// # Safety
/// As libtbb calls it: with a task that has a stand-in for its virtual table.
unsafe fn run(task: *const Task, how: *const Execution, number: usize) -> *const Task {
    // SAFETY: alive until it has run.
    let (spawned, key) = unsafe { (&*task, (*how).context) };
    let word = spawned.word().replace(0);
    let stand_in = spawned.table.get();
    let own = table::original(stand_in).unwrap_or(stand_in);
    spawned.table.set(own);
    // SAFETY: a function of the task's own virtual table, of this type.
    let function = unsafe { core::mem::transmute::<usize, Function>(*own.add(number)) };
    let running = Running::new(word as u32, (word >> 32) as u32 & 0x7fff_ffff, key, word >> 63 != 0);
    running.enter();
    // SAFETY: the task's own function.
    let next = unsafe { function(task, how) };
    // SAFETY: null, or a task of the program's, to be run next: it is part of what this one is part of.
    if let (Some(next), Some(_)) = (unsafe { next.as_ref() }, running.begun) {
        if table::original(next.table.get()).is_none() {
            hand_over(next, tasks::create(running.gather), running.gather, running.siblings, runners());
        }
    }
    drop(running);
    next
}
