//! Waits that end by time, of which it is not known yet whether they were for nothing but time.
//!
//! A thread that waits for another one with a limit, again and again, waits for that one: progress displays and polling loops
//! do. A thread that waits for nothing but time, and then works, was blocked. Which of the two it was shows afterwards: if the next
//! wait ends by another strand and next to nothing was done before it, the time does not count ([`forget`]); it does as soon as the
//! thread has worked for a tenth of it ([`decide`]). A thread that ends was blocked if it has hardly worked at all, and nobody has
//! changed what it waited for ([`touched`]): not an idle thread of a pool. What it waited for may have come between two waits, though, where
//! nobody sees that; so it has looked to its end, too, and who joins it without much of a wait goes on by itself ([`polls`]).
//!
//! **Rows of sleeps**, between which a thread only looks, are such waits, too ([`slept`]): they do not count if it is known who has ended
//! them ([`was_ended`]), and do as soon as anything else is seen of the thread.
//!
//! **Cost:** where a wait begins, or a strand wakes another, one test.

use core::cell::Cell;

use super::log;
use super::polls;
use super::strand;
use super::ticks::{nanos_of, ticks_of};
use workspan_wire::shm::Thread;

/// A share of the time waited that, worked, shows that it was time that was waited for.
const SHARE: i64 = 10;
/// Less work shows nothing.
const LEAST_NANOS: u64 = 1_000_000;

/// Undecided waits of a thread.
#[derive(Clone, Copy, Debug)]
struct Undecided {
    /// There are some.
    any: bool,
    /// When the thread was born: another may have been attached since.
    born: u64,
    /// Their ticks: none with the virtual clock.
    waited: i64,
    /// Those of the last of them.
    last: i64,
    /// Somebody has changed what it waits for meanwhile, though not as it wants.
    touched: bool,
    /// It has slept.
    asleep: bool,
    /// Its work when the first of them ended.
    work: i64,
}

const NONE: Undecided = Undecided { any: false, born: 0, waited: 0, last: 0, touched: false, asleep: false, work: 0 };

std::thread_local! {
    static UNDECIDED: Cell<Undecided> = const { Cell::new(NONE) };
}

/// True if there are undecided waits of `thread`, the calling one.
pub fn pending(thread: &Thread) -> bool {
    let Undecided { any, born, .. } = UNDECIDED.get();
    any && born == thread.born.get()
}

/// True if these are sleeps of `thread`, the calling one.
pub fn is_asleep(thread: &Thread) -> bool {
    pending(thread) && UNDECIDED.get().asleep
}

/// True if nobody is known yet who has ended them.
pub fn is_unexplained(thread: &Thread) -> bool {
    is_asleep(thread) && UNDECIDED.get().waited > 0
}

/// How long they took.
pub fn unexplained_nanos(thread: &Thread) -> u64 {
    nanos_of(thread, UNDECIDED.get().waited.max(0).cast_unsigned())
}

/// `thread` has slept for so long, and has only looked before.
pub fn slept(thread: &Thread, ticks: i64) {
    passed(thread, ticks);
    UNDECIDED.set(Undecided { asleep: true, ..UNDECIDED.get() });
}

/// The sleeps of `thread` were a wait for another strand, so far.
pub fn was_ended(thread: &Thread) {
    forget();
    slept(thread, 0);
}

/// `thread` has waited for so long, and time was over.
pub fn passed(thread: &Thread, ticks: i64) {
    let before = match pending(thread) {
        true => UNDECIDED.get(),
        false => Undecided { any: true, born: thread.born.get(), work: thread.task.work.get(), ..NONE },
    };
    UNDECIDED.set(Undecided { waited: before.waited + ticks, last: ticks, ..before });
}

/// Somebody has changed what the calling thread waits for, though not as it wants.
pub fn touched() {
    UNDECIDED.set(Undecided { touched: true, ..UNDECIDED.get() });
}

/// It was another strand that the calling thread waited for.
pub fn forget() {
    UNDECIDED.set(NONE);
}

/// The strand of `thread`, at tick `now`, is about to fork: it goes on to work, and what it has waited for was time.
pub fn works(thread: &Thread, now: u64) {
    if pending(thread) {
        let waited = UNDECIDED.get().waited;
        forget();
        was_blocked(thread, now, waited);
    }
}

/// The strand of `thread` is at tick `now`; `ends`: nothing will show any more. Returns whether it is decided now.
pub fn decide(thread: &Thread, now: u64, ends: bool) -> bool {
    if !pending(thread) {
        return false;
    }
    let Undecided { waited, last, touched, asleep, work, .. } = UNDECIDED.get();
    if asleep {
        sleeps_end(thread, now);
        return true;
    }
    let worked = thread.task.work.get() - work + now.wrapping_sub(thread.start.get()) as i64;
    let is_worker = touched || thread.task.work.get() > waited / SHARE;
    let was_time = !(ends && is_worker) && (ends || worked > (waited / SHARE).max(ticks_of(thread, LEAST_NANOS)));
    if !was_time && !ends {
        return false;
    }
    forget();
    if was_time && waited > 0 {
        if ends {
            polls::slept(thread, waited, last, now);
        }
        was_blocked(thread, now, waited);
    }
    true
}

/// The row of sleeps of `thread`, if it is in one, is over at tick `now`, and nobody is known who has ended it.
pub fn sleeps_end(thread: &Thread, now: u64) {
    if is_asleep(thread) {
        let waited = UNDECIDED.get().waited;
        forget();
        if waited > 0 {
            was_blocked(thread, now, waited);
        }
    }
}

/// The strand of `thread`, at tick `now`, has been blocked for so long before.
fn was_blocked(thread: &Thread, now: u64, ticks: i64) {
    strand::stop(thread, now);
    strand::count_blocked(thread, ticks);
    strand::lengthen(thread, ticks);
    log::go(thread, now);
}
