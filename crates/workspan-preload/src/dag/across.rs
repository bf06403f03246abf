//! Loops whose iterations wait for one another, as far as chunks and teams know of them; what their iterations do is in
//! [`super::iterations`].

use core::cell::Cell;
use core::sync::atomic::Ordering;

use workspan_collect::shared::{current_account, Shared};
use workspan_wire::shm::Thread;

use super::alt_spans::AltSpans;
use super::frame::Frame;
use super::lock;
use super::state::across::{Across, Part};
use super::state::pieces::{Divided, Pieces};
use super::state::team::Team;

/// Which of its worksharing constructs `task` is about to enter; `None`: it is in one.
pub(super) fn next(task: &Frame) -> Option<u32> {
    let pieces = task.known_extra().map_or_else(Pieces::default, |extra| extra.pieces.get());
    (!pieces.active).then_some(pieces.ordinal)
}

/// Which one it is in, if that is such a loop.
fn here(task: &Frame) -> Option<u32> {
    let pieces = task.known_extra()?.pieces.get();
    (pieces.divided == Divided::Across).then_some(pieces.ordinal)
}

/// `task` is about to enter a loop, with `count` iterations that the runtime distributes. Returns by what the log knows the loop if
/// it is such a one, else 0.
pub fn enter(thread: &Thread, task: &Frame, count: u64) -> u64 {
    let Some((across, known)) = next(task).and_then(|ordinal| find(task, ordinal)) else { return 0 };
    known.set(Part { each: across.used() == 1 || across.all() == count, ..known.get() });
    begin(thread, known);
    across.identity()
}

/// A chunk of such a loop begins; the strand is stopped.
pub(super) fn chunk(thread: &Thread, task: &Frame) {
    if let Some((across, known)) = part(task) {
        leave_order(thread, task, across, known);
        begin(thread, known);
    }
}

fn begin(thread: &Thread, known: &Cell<Part>) {
    known.set(Part { begun: thread.task.work.get(), met: false, posted: false, ..known.get() });
}

/// The last chunk of such a loop has ended; the strand is stopped.
pub(super) fn chunks_end(thread: &Thread, task: &Frame) {
    if let Some((across, known)) = part(task) {
        leave_order(thread, task, across, known);
    }
}

/// The strand of `task`, which is stopped, has left the code between sinks and source.
pub(super) fn leave_order(thread: &Thread, task: &Frame, across: &Across, known: &Cell<Part>) {
    let Part { inside, shown, uniform, burdened, .. } = known.get();
    if inside {
        known.set(Part { inside: false, ..known.get() });
        if shown {
            let account = current_account(thread);
            let beyond = AltSpans::of(thread).beyond(AltSpans { uniform, burdened });
            account.uniform_span.set(account.uniform_span.get() + beyond.uniform);
            account.burdened_span.set(account.burdened_span.get() + beyond.burdened);
        }
        lock::given_back(thread, task, across.identity());
    }
}

/// `task` leaves such a loop, its `ordinal`-th construct.
pub(super) fn leave(thread: &Thread, task: &Frame, ordinal: u32) {
    let Some(slot) = task.team().map(|team| &team.across) else { return };
    if let Some(across) = Across::known(slot, ordinal) {
        // SAFETY: met there by `begins`, and this construct is over for it.
        unsafe { Across::leave(across, Shared::of(thread), slot) };
    }
}

/// The team is over: not all members have left all such loops.
pub(super) fn finish(thread: &Thread, team: &Team) {
    // SAFETY: all members have ended.
    unsafe { Across::clear(&team.across, Shared::of(thread)) };
}

/// Such a loop that `task` is in, and what it knows of it.
pub(super) fn part(task: &Frame) -> Option<(&'static Across, &'static Cell<Part>)> {
    find(task, here(task)?)
}

/// The same of its `ordinal`-th construct, which it has not left.
fn find(task: &Frame, ordinal: u32) -> Option<(&'static Across, &'static Cell<Part>)> {
    let across = Across::known(&task.team()?.across, ordinal)?;
    // SAFETY: not given back before this member has left it.
    let across = unsafe { across.as_ref() };
    Some((across, across.part(task.number())))
}

/// A wait of iterations is not known.
#[cold]
pub(super) fn missed(thread: &Thread) {
    Shared::of(thread).header().unordered.fetch_add(1, Ordering::Relaxed);
}
