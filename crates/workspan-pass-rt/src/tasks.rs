//! Tasks of runtimes whose entry points or hooks say what happens: each is a context.
//!
//! A task is created, begins on some thread and ends there; what the thread did before goes on after it. Who waits joins
//! one task, or all of a **gather**: a number that tasks were created with. For rayon these are functions with C's
//! conventions, which the hooks in its text call.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use workspan_trace::control::Kind;

use crate::event::{now, wanted, write};
use crate::platform::thread;
use crate::{ring, shared};

static GATHERS: AtomicU32 = AtomicU32::new(1);

/// A number for a gather.
pub fn gather() -> u32 {
    GATHERS.fetch_add(1, Relaxed)
}

/// Creates a task of a gather, or of none (0): its context + 1. 0: nobody records.
pub fn create(gather: u32) -> u32 {
    if !wanted() {
        return 0;
    }
    begin_thread();
    let before = now();
    let context = ring::new_context() + 1;
    write(Kind::Spawn, [before, now(), context.into(), gather.into()]);
    context
}

/// A thread that has written nothing yet has no context.
fn begin_thread() {
    if thread().context.get() == 0 {
        write(Kind::Gap, [now()]);
    }
}

fn switch(context: u32) {
    let thread = thread();
    if context != 0 && thread.context_now() != context {
        write(Kind::Switch, [now(), context.into()]);
        thread.current.set(context);
    }
}

/// A task that runs: what the thread did before.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    task: u32,
    below: u32,
    schedules: u32,
}

/// A task begins on the calling thread. `frame`: what lies below it on the stack is the task's own; 0: the code says.
pub fn begin(task: u32, frame: usize) -> Option<Begun> {
    if task == 0 || !shared::recording() {
        return None;
    }
    begin_thread();
    let thread = thread();
    let begun = Begun { task, below: thread.context_now(), schedules: thread.schedules.replace(0) };
    switch(task);
    write(Kind::Begin, [now(), 1]);
    if frame != 0 {
        write(Kind::Frame, [frame as u64]);
    }
    Some(begun)
}

/// A task ends.
pub fn end(begun: Begun) {
    // A task that it has run meanwhile and that did not come back here has been left by an exception.
    switch(begun.task);
    write(Kind::End, [now()]);
    thread().schedules.set(begun.schedules);
    switch(begun.below);
}

/// One task has ended, which the calling thread has waited for since `before`.
pub fn join(task: u32, before: u64) {
    if task != 0 && wanted() {
        write(Kind::Join, [before, now(), task.into()]);
    }
}

/// All tasks of a gather have ended, which the calling thread has waited for since `before`.
pub fn join_gather(gather: u32, before: u64) {
    if gather != 0 && wanted() {
        write(Kind::Gather, [before, now(), gather.into()]);
    }
}

/// For hooks in a runtime's text: [`gather`].
#[no_mangle]
pub extern "C" fn __workspan_task_gather() -> u32 {
    gather()
}

/// For hooks in a runtime's text: [`create`].
#[no_mangle]
pub extern "C" fn __workspan_task_create(gather: u32) -> u32 {
    create(gather)
}

/// For hooks in a runtime's text: [`begin`], with the caller's frame. Returns what ends it.
#[no_mangle]
#[unsafe(naked)]
pub extern "C" fn __workspan_task_begin(task: u32) -> u64 {
    extern "C" fn inner(task: u32, frame: usize) -> u64 {
        begin(task, frame).map_or(0, |begun| u64::from(begun.below) | u64::from(begun.schedules) << 32)
    }
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("lea rsi, [rsp + 8]", "jmp {inner}", inner = sym inner);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x1, sp", "b {inner}", inner = sym inner);
}

/// For hooks in a runtime's text: [`end`].
#[no_mangle]
pub extern "C" fn __workspan_task_end(task: u32, begun: u64) {
    if begun as u32 != 0 {
        end(Begun { task, below: begun as u32, schedules: (begun >> 32) as u32 });
    }
}

/// For hooks in a runtime's text: [`join`].
#[no_mangle]
pub extern "C" fn __workspan_task_join(task: u32) {
    join(task, now());
}

/// For hooks in a runtime's text: [`join_gather`].
#[no_mangle]
pub extern "C" fn __workspan_task_join_gather(gather: u32) {
    join_gather(gather, now());
}

/// The calling thread schedules from now on, or no more: the atomic operations of schedulers order nothing of the program.
#[no_mangle]
pub extern "C" fn __workspan_task_schedules(begins: bool) {
    let schedules = &thread().schedules;
    schedules.set(if begins { schedules.get() + 1 } else { schedules.get().saturating_sub(1) });
}
