//! Threads that look again and again whether something has come, by calls that an adapter sees: [`super::polls`].
//!
//! * **Yields:** what lies between two of them, and is shorter than [`LOOK_NANOS`], is a look. It lasts as long as other threads of the
//!   program run meanwhile, not those of other programs.
//! * **Sleeps** were blocked anyway; what they show is that a thread only looked. A row of them may be a wait for another strand
//!   ([`super::timed`]).
//!
//! **Bias:** a thread that yields after each few microseconds of work seems to look.

use core::cell::Cell;

use super::clock;
use super::platform;
use super::polls;
use super::ticks::ticks_of;
use workspan_wire::shm::Thread;

/// Nanoseconds between two yields that do nothing but look.
const LOOK_NANOS: u64 = 5_000;
/// Nanoseconds after which it is looked again how much others run.
const WINDOW_NANOS: u64 = 1_000_000;
/// Nanoseconds of windows that show how much: the kernel notes CPU time of threads that run every few milliseconds.
const SHOWS_NANOS: u64 = 20_000_000;
/// Nanoseconds between sleeps that do no more than look, and show.
const SHOW_NANOS: u64 = 200_000;
/// The same as a share of the sleep, ...
const SHOW_SHARE: i64 = 10;
/// ... and of all sleeps, or looks, in a row.
const ROW_SHARE: i64 = 64;

/// Cost of a strand in which there has been no look yet: none goes on with it.
const NO_LOOK: i64 = i64::MAX;

/// The wait by looks that a thread is in, or was in last.
#[derive(Clone, Copy, Debug)]
struct Looks {
    /// The tick of the last look, and the cost of its strand then, or [`NO_LOOK`].
    at: u64,
    cost: i64,
    /// Of the task, which changes where strands end.
    work: i64,
    /// How long it has taken.
    waited: i64,
    /// What of that has been counted.
    counted: i64,
    /// What of the time was none of the thread's own when it last began to yield or sleep.
    away: i64,
    /// Where the window began: tick, CPU time of the process and of the thread.
    window: (u64, u64, u64),
    /// Ticks of windows before, and those that others ran meanwhile.
    windows: (i64, i64),
    /// When the last sleep was over, and how long it took.
    slept: (u64, i64),
}

std::thread_local! {
    static LOOKS: Cell<Looks> = const {
        Cell::new(Looks { at: 0, cost: 0, work: -1, waited: 0, counted: 0, away: 0, window: (0, 0, 0), windows: (0, 0), slept: (0, 0) })
    };
}

/// True if a yield of the calling thread at tick `now` goes on with the wait by looks that it is in.
pub fn goes_on(thread: &Thread, now: u64) -> bool {
    let looks = LOOKS.get();
    let since = cost(thread, now).wrapping_sub(looks.cost);
    looks.work == thread.task.work.get() && (0..ticks_of(thread, LOOK_NANOS)).contains(&since)
}

/// True if the calling thread, at tick `now`, is in the strand in which it looked last, and has had a processor for two windows at most since; in
/// between it may have lost it.
pub fn has_just_looked(thread: &Thread, now: u64) -> bool {
    let looks = LOOKS.get();
    let own = || platform::thread_cpu_nanos().wrapping_sub(looks.window.2);
    goes_on(thread, now) || looks.work == thread.task.work.get() && own() <= 2 * WINDOW_NANOS
}

/// True if the calling thread looked for the last time before tick `when`, in the strand that it is in.
pub fn has_looked_before(thread: &Thread, when: u64) -> bool {
    let looks = LOOKS.get();
    looks.work == thread.task.work.get() && when.wrapping_sub(looks.at) as i64 >= 0
}

/// Ticks that the calling thread, at tick `now`, has worked since its last look; `None` if it has come to another strand.
pub fn worked_since(thread: &Thread, now: u64) -> Option<i64> {
    let looks = LOOKS.get();
    (looks.work == thread.task.work.get()).then(|| cost(thread, now).saturating_sub(looks.cost).max(0))
}

fn cost(thread: &Thread, now: u64) -> i64 {
    now.wrapping_sub(thread.start.get()) as i64
}

/// The wait by looks that the calling thread was in last is over, and it is known which strand has ended it: what has been counted of
/// it is none.
pub fn was_ended(thread: &Thread) {
    let looks = LOOKS.get();
    polls::count(thread, -looks.counted);
    polls::forget();
    LOOKS.set(Looks { work: -1, waited: 0, counted: 0, ..looks });
}

/// The calling thread was about to sleep for what it looks for, and was let go on at once: what it looks at has changed, perhaps not yet as it
/// wants. If it looks on, that is one row, though its strand has begun anew.
pub fn may_go_on(thread: &Thread) {
    LOOKS.set(Looks { work: thread.task.work.get(), cost: NO_LOOK, ..LOOKS.get() });
}

/// The calling thread, in the middle of a strand at tick `now`, calls `sched_yield`, which is `own`.
pub fn yields<R>(thread: &Thread, now: u64, own: impl FnOnce() -> R) -> R {
    let goes_on = goes_on(thread, now);
    let mut looks = LOOKS.get();
    let cost = |now: u64| cost(thread, now);
    if !goes_on {
        let begun = window(now);
        // It may only have lost the processor between two looks.
        let is_same = looks.work == thread.task.work.get() && begun.2.wrapping_sub(looks.window.2) <= 2 * WINDOW_NANOS;
        if !is_same {
            looks.counted = 0;
        }
        if !is_same || own_since_look(thread, &looks, begun) > looks.waited / ROW_SHARE + ticks_of(thread, LOOK_NANOS) {
            looks.waited = 0;
        }
        looks.window = begun;
    }
    let result = own();
    let end = clock::read(thread);
    // Between sleeps that is none of the thread's own time.
    looks.slept.0 = looks.slept.0.wrapping_add(end.wrapping_sub(now));
    if goes_on {
        let polled = (cost(end) - looks.cost).max(0);
        thread.start.set(thread.start.get().wrapping_add(polled as u64));
        let elapsed = end.wrapping_sub(looks.at) as i64;
        let counted = while_others_ran(thread, elapsed, looks.windows);
        polls::count(thread, counted);
        looks.counted += counted;
        // Off the processor it has waited for whoever ran there.
        let off = while_others_ran(thread, (elapsed - polled).max(0), looks.windows);
        thread.preempted.set((thread.preempted.get() - off).max(0));
        looks.waited += elapsed;
        if end.wrapping_sub(looks.window.0) as i64 > ticks_of(thread, WINDOW_NANOS) {
            let next = window(end);
            looks.windows = with(thread, looks.windows, looks.window, next);
            looks.window = next;
        }
        polls::looked(thread, looks.waited, end);
    }
    let (work, away) = (thread.task.work.get(), polls::away(thread));
    LOOKS.set(Looks { at: end, cost: cost(end), work, away, ..looks });
    result
}

/// Ticks of processor time, at least, that `thread` took from its last look to `now`.
fn own_since_look(thread: &Thread, looks: &Looks, now: (u64, u64, u64)) -> i64 {
    let own = ticks_of(thread, now.2.wrapping_sub(looks.window.2));
    own - looks.at.wrapping_sub(looks.window.0) as i64
}

fn window(now: u64) -> (u64, u64, u64) {
    (now, platform::process_cpu_nanos(), platform::thread_cpu_nanos())
}

/// The windows before, and that from `since` to `now`. Of those long ago less counts.
fn with(thread: &Thread, before: (i64, i64), since: (u64, u64, u64), now: (u64, u64, u64)) -> (i64, i64) {
    let own = now.2.wrapping_sub(since.2);
    let others = now.1.wrapping_sub(since.1).saturating_sub(own);
    let (all, ran) = (before.0 + now.0.wrapping_sub(since.0) as i64, before.1 + ticks_of(thread, others));
    match all > 8 * ticks_of(thread, SHOWS_NANOS) {
        true => (all / 2, ran / 2),
        false => (all, ran),
    }
}

/// The part of `elapsed` ticks in which others ran, as windows have it.
fn while_others_ran(thread: &Thread, elapsed: i64, (all, ran): (i64, i64)) -> i64 {
    if all < ticks_of(thread, SHOWS_NANOS) || ran >= all {
        return elapsed;
    }
    (i128::from(elapsed) * i128::from(ran) / i128::from(all)) as i64
}

/// True if the calling thread, which is about to sleep at tick `now`, has only looked since it slept last.
pub fn sleeps_again(thread: &Thread, now: u64) -> bool {
    let Looks { slept: (_, slept), waited, .. } = LOOKS.get();
    slept != 0 && is_look(thread, worked_since_sleep(thread, now), slept, waited)
}

/// True if a thread that sleeps again after `between` ticks of its own has only looked: it slept for `slept` before, and has waited by sleeps for
/// `waited` in all. A machine may take more from it now and then than it says.
fn is_look(thread: &Thread, between: i64, slept: i64, waited: i64) -> bool {
    between < (slept / SHOW_SHARE).max(waited / ROW_SHARE).max(ticks_of(thread, SHOW_NANOS))
}

/// Ticks of its own from when the calling thread slept last to tick `now`, a recent one.
fn worked_since_sleep(thread: &Thread, now: u64) -> i64 {
    let Looks { slept: (woke, _), away, .. } = LOOKS.get();
    now.wrapping_sub(woke) as i64 - (polls::away(thread) - away)
}

/// The calling thread, `thread`, has slept, and goes on at tick `now`.
pub fn woke(thread: &Thread, now: u64) {
    let looks = LOOKS.get();
    polls::look_ends(thread, looks.slept.0, now);
    LOOKS.set(Looks { at: now, slept: (now, looks.slept.1), away: polls::away(thread), ..looks });
}

/// True if the calling thread slept last so shortly before tick `when` that it may have found then what others had left until `when`: they
/// say what they have come to only after it shows, and may lack a processor between both.
pub fn slept_shortly_before(thread: &Thread, when: u64) -> bool {
    worked_since_sleep(thread, when) < LOOKS.get().slept.1.max(ticks_of(thread, SHOWS_NANOS))
}

/// It is known who has ended the sleeps of the calling thread up to its last.
pub fn sleeps_were_ended(thread: &Thread) {
    let looks = LOOKS.get();
    let (woke, slept) = looks.slept;
    polls::slept(thread, slept, slept, woke);
    LOOKS.set(Looks { waited: slept, ..looks });
}

/// The calling thread, in the middle of a strand at tick `now`, sleeps, which is `own`.
pub fn sleeps<R>(thread: &Thread, now: u64, own: impl FnOnce() -> R) -> R {
    let looks = LOOKS.get();
    let result = own();
    let end = platform::ticks();
    let slept = end.wrapping_sub(now);
    // That a processor was late, for the look or before it, is no work.
    let away = polls::away(thread);
    let late = (away - looks.away).max(0);
    let between = (now.wrapping_sub(looks.at) as i64 - late).max(0);
    let slept = slept as i64;
    let goes_on = looks.at != 0 && is_look(thread, between, slept, looks.waited);
    let waited = if goes_on { looks.waited + between } else { 0 } + slept;
    // Two make a row.
    if goes_on {
        polls::slept(thread, waited, slept, end);
    }
    LOOKS.set(Looks { at: end, work: -1, waited, away, slept: (end, slept), ..looks });
    result
}
