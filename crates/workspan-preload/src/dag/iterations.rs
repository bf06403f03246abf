//! Loops whose iterations wait for one another: `ordered(n)` with `depend(sink)` and `depend(source)`, `doacross` in OpenMP 5.2.
//!
//! An iteration that comes to its source leaves its spans and its path; one that waits for it goes on after them. So the order
//! between iterations is that of the program, whichever members run them, and when. The table has a place for each iteration, up to a number of them,
//! and is given back when all members have left the loop.
//!
//! **Each iteration is a piece**, also one of a larger chunk: between the source of one iteration and where the next one
//! waits or has its source, one ends and the other begins. Nobody says where. The next one begins as much before that as the chunk's first
//! iteration took up to there, but not before the source: even iterations are divided as they are.

use core::cell::Cell;
use core::sync::atomic::Ordering;

use workspan_collect::region::CallSite;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::waits::{self, Wait};
use workspan_wire::shm::Thread;

use super::across::{leave_order, missed, next, part};
use super::alt_spans::AltSpans;
use super::frame::Frame;
use super::state::across::{Across, Part};
pub use super::state::across::{Dimension, Nest};
use super::{lock, pieces, token};

/// `task`, whose strand is stopped, is about to enter such a loop.
pub fn begins(thread: &Thread, task: &Frame, nest: Nest<'_>) {
    pieces::leave_inlined(thread, task);
    let Some(team) = task.team().filter(|_| task.is_member()) else { return };
    let size = team.size.load(Ordering::Relaxed).max(1);
    let ordinal = next(task);
    let Some(ordinal) = ordinal else { return missed(thread) };
    // Who is behind may need the turn of this thread to leave the loop before.
    let gives = Across::is_taken(&team.across, ordinal) && token::held(thread);
    if gives {
        token::give(thread);
    }
    let met = Across::meet(&team.across, ordinal, size, nest);
    if gives {
        token::take(thread);
    }
    if met.is_none() {
        missed(thread);
    }
}

/// `task`, whose strand is stopped, comes to where an iteration waits, or to its source.
pub fn meets(thread: &Thread, task: &Frame) {
    let Some((_, known)) = part(task) else { return };
    let part = known.get();
    let work = thread.task.work.get();
    let first = if part.met { part.first } else { work - part.begun };
    if part.posted {
        pieces::divide(thread, task, first.min(work - part.source).max(0));
    }
    known.set(Part { met: true, posted: false, first, ..part });
}

/// `task`, whose strand stopped at tick `now`, has waited at `site` for the iteration of these values, and goes on after it, if there is one.
pub fn sink(thread: &'static Thread, task: &Frame, now: u64, values: *const i64, site: &CallSite) {
    let Some((across, known)) = part(task) else { return };
    if let Some(number) = across.number(of_values(across, values)) {
        behind(thread, across, now, number);
    }
    enter_order(thread, task, across, known, site);
}

/// True if `task` is in a loop of which what its iterations do in their order is known.
pub fn takes_turns(task: &Frame) -> bool {
    part(task).is_some()
}

/// `task`, whose strand stopped at tick `now`, has waited at `site` for its turn in the order of the iterations.
pub fn turn(thread: &'static Thread, task: &Frame, now: u64, site: &CallSite) {
    let Some((across, known)) = part(task) else { return };
    if let Some(before) = across.turns().checked_sub(1) {
        behind(thread, across, now, before);
    }
    enter_order(thread, task, across, known, site);
}

/// `task`, whose strand stopped at tick `now`, lets the next one have its turn.
pub fn turn_ends(thread: &'static Thread, task: &Frame, now: u64) {
    let Some((across, known)) = part(task).filter(|(_, known)| known.get().inside) else { return };
    leave_at(thread, task, now, (across, known), across.turns());
    across.next_turn();
    known.set(Part { posted: true, source: thread.task.work.get(), ..known.get() });
}

fn behind(thread: &'static Thread, across: &Across, now: u64, number: u64) {
    match across.look(Shared::of(thread), number) {
        Some(left) => {
            thread.start.set(now);
            Wait::begin_at(thread, now).end_behind(now, across.label(number), Some(left));
        }
        None => missed(thread),
    }
}

fn leave_at(thread: &Thread, task: &Frame, now: u64, (across, known): (&Across, &Cell<Part>), number: u64) {
    thread.start.set(now);
    let (spans, path) = waits::leave_at(thread, now, across.label(number));
    across.put(Shared::of(thread), number, spans, path);
    leave_order(thread, task, across, known);
}

fn enter_order(thread: &Thread, task: &Frame, across: &Across, known: &Cell<Part>, site: &CallSite) {
    if !known.get().inside {
        let before = strand::context(thread);
        lock::in_order(thread, task, across.identity(), site);
        let shown = strand::context(thread) != before;
        let AltSpans { uniform, burdened } = AltSpans::of(thread);
        known.set(Part { inside: true, shown, uniform, burdened, ..known.get() });
    }
}

/// `task`, whose strand stopped at tick `now`, has come to the source of the iteration of these values.
pub fn source(thread: &'static Thread, task: &Frame, now: u64, values: *const i64) {
    let Some((across, known)) = part(task) else { return };
    let values = of_values(across, values);
    let Some(number) = across.number(values) else { return };
    leave_at(thread, task, now, (across, known), number);
    let part = known.get();
    let posted = part.each || across.is_last_inside(values);
    known.set(Part { posted, source: thread.task.work.get(), ..part });
}

fn of_values(across: &Across, values: *const i64) -> &[i64] {
    // SAFETY: the program passes one for each loop of the nest.
    unsafe { core::slice::from_raw_parts(values, across.used()) }
}
