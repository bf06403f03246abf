//! Waits of the program itself: a lock, a channel, a condition, the end of a thread.
//!
//! A strand that blocks goes on only because some other strand has come far enough. If we see which one, its absolute
//! span is what the waiting strand has to catch up with, `max(own, waker's)`, as at a join: how long it really took on this
//! machine does not matter. If we do not see it — input and output, timers — the time blocked is all we know, and counts
//! as span.
//!
//! Two observations, both made by the adapter's interposed functions:
//! * wake-ups by futex, which is what std's locks, channels, condition variables and parking amount to: the waker leaves
//!   its span and path under the futex's address ([`wake`]), the waiter finds them there ([`Wait::end`]);
//! * threads: a new one starts from its creator's span ([`Born`]), and joining one waits for its end ([`publish_end`],
//!   [`Wait::end_of_thread`]).
//!
//! **Locks.** Who takes a lock first is accident: the uniform span, which has only the order that the program demands, does not
//! wait for one ([`Wait::end_behind_lock`]). A wait by futex alone, as std's locks of Rust have it, is not known to be for a lock.
//!
//! **Bias:** a wait that did not happen, because what was waited for was there already, leaves no trace. Which strand a
//! lock makes wait is as observed in this run. Of several that one call wakes, one that looks while another has the entry in
//! its hands finds none: its time counts as blocked.
//!
//! **Cost:** some 50 ns on top of a system call. The tables are small and direct-mapped: an entry may be overwritten by
//! another address; then the time blocked counts. With the virtual clock, which is not to depend on what happens to
//! block, none of this applies.

use core::sync::atomic::Ordering;

use super::beside;
use super::clock;
use super::left::Table;
use super::log;
use super::origin::Identity;
use super::path;
use super::polls;
use super::region;
use super::shared::Shared;
use super::strand;
use super::tables::ROOT;
use super::thread;
use super::timed;
use super::tool;
use workspan_wire::log::Event;
use workspan_wire::shm::{Candidate, Ending, Position, Spans, Thread, NODE, OWNED, PREFIXED};

const SLOTS: usize = 256;
/// Of threads many may have ended before anybody joins the first.
const THREAD_SLOTS: usize = 1 << 10;

static WAKERS: Table<SLOTS> = Table::of([const { Candidate::none() }; SLOTS]);
static ENDED_THREADS: Table<THREAD_SLOTS> = Table::of([const { Candidate::none() }; THREAD_SLOTS]);

/// The calling thread in the middle of a strand of the program, with the real clock.
fn in_strand() -> Option<&'static Thread> {
    let thread = thread::hot_or_attach()?;
    (thread.task.waiting.get() == 0).then_some(thread)
}

/// The spans and a handle of its own for the path up to tick `now`; the strand goes on, unless the thread `ends`. `wakes`: where what it
/// leaves is looked for. `to`: the site + 1 that serial code leads to, if it is known.
fn snapshot(thread: &Thread, now: u64, wakes: Option<u64>, ends: bool, to: u32) -> (Spans, u32) {
    let shared = Shared::of(thread);
    let span = strand::stop(thread, now);
    if ends {
        // It was ended by who does not wait for it; who does all the same was blocked ([`polls::left_by_looker`]).
        log::exclude_blocked(thread, span, polls::unneeded(thread, now));
    }
    path::settle(thread);
    let mut context = strand::context(thread);
    let is_serial = context == ROOT;
    if is_serial {
        // What others go on from has to say where it has been.
        context = region::close_serial(shared, thread, span, to);
        if to != 0 {
            beside::follows(shared, thread, to);
        }
    } else {
        // Others go on with this behind them: it counts, even if the program ends before the strand does.
        strand::flush(thread);
    }
    if let Some(at) = wakes {
        polls::leave(thread, now, at);
    }
    if log::on(thread) {
        match wakes {
            Some(at) => log::meets(thread, Event::Wake, context, span, (at, span)),
            None if is_serial => log::strand(thread, Event::Cut, context, span),
            None => {}
        }
    }
    let position = thread.task.position.get();
    let mut path = path::own(shared, position.path);
    if span != position.since {
        path = path::add(shared, path, position.context, span - position.since);
    }
    log::go(thread, now);
    (strand::spans(thread), path)
}

/// What the strand of `thread`, up to tick `now`, leaves to who waits at `address`: its spans, and a handle of its own for its path.
/// The strand goes on.
///
/// A signal handler that posts a semaphore or writes to a pipe in the middle of a hook of this thread, and for whom somebody waits there,
/// may stop the strand twice: the time since its last event may count twice, and its path may lose a part. Handles of paths are numbers: no
/// memory of the program is touched.
pub fn leave_at(thread: &Thread, now: u64, address: u64) -> (Spans, u32) {
    snapshot(thread, now, Some(address), false, 0)
}

/// The calling thread is about to wake who waits at `address`.
///
/// Not from a signal handler that interrupts a hook on the same thread: the strand would be stopped twice. std's `unpark`, `notify`
/// and `unlock`, by which a handler would come here, are not among what a handler may call (`signal-safety(7)`). What it may do, to write
/// to a pipe or to post a semaphore, does not come here; for what that does see [`leave_at`].
pub fn wake(address: u64) {
    if let Some(thread) = in_strand() {
        let now = clock::read(thread);
        timed::decide(thread, now, false);
        wake_at(thread, now, address);
    }
}

/// The same of the strand of `thread` at tick `now`.
pub fn wake_at(thread: &Thread, now: u64, address: u64) {
    let (spans, path) = snapshot(thread, now, Some(address), false, 0);
    WAKERS.put(Shared::of(thread), address, spans, path);
}

/// Nobody will wait at `address` any more.
pub fn forget(thread: &Thread, address: u64) {
    if let Some((_, path)) = WAKERS.take(address) {
        path::release(Shared::of(thread), path);
    }
}

/// A wait of the running strand.
#[derive(Debug)]
pub struct Wait {
    thread: &'static Thread,
    since: u64,
}

impl Wait {
    /// The calling thread is about to wait. `None`: nobody follows it.
    pub fn begin() -> Option<Wait> {
        let thread = in_strand()?;
        let now = clock::read(thread);
        timed::decide(thread, now, false);
        Some(Wait::begin_at(thread, now))
    }

    /// The strand of `thread` is about to wait at tick `now`.
    pub fn begin_at(thread: &'static Thread, now: u64) -> Wait {
        strand::stop(thread, now);
        thread.task.waiting.set(1);
        Wait { thread, since: now }
    }

    /// The wait at futex `address` is over; `woken`: by a wake-up, not by time or a signal.
    pub fn end(self, address: u64, woken: bool) {
        let now = clock::wake(self.thread);
        self.end_at(now, address, woken);
    }

    /// The wait is over, as time was: whether that was for nothing but time shows later.
    pub fn end_by_time(self) {
        let (thread, now) = (self.thread, clock::wake(self.thread));
        timed::passed(thread, self.end_undecided(now));
    }

    /// The same as [`Wait::end`] at tick `now`.
    pub fn end_at(self, now: u64, address: u64, woken: bool) {
        let shared = Shared::of(self.thread);
        let waker = if woken { WAKERS.take(address) } else { None };
        if let Some((spans, path)) = waker {
            timed::forget();
            // Others may have been woken by the same call.
            WAKERS.put_back(shared, address, spans, path::own(shared, path));
        }
        self.resume(now, address, waker, false);
    }

    /// The wait for the end of the thread `id` is over.
    pub fn end_of_thread(self, id: u64) {
        let now = clock::wake(self.thread);
        self.end_of_thread_at(now, id);
    }

    /// The same at tick `now`. Returns how long it took.
    pub fn end_of_thread_at(self, now: u64, id: u64) -> i64 {
        let took = now.wrapping_sub(self.since) as i64;
        let ended = ENDED_THREADS.take_near(id);
        self.resume(now, id, ended, false);
        took
    }

    /// The wait at `at` is over at tick `now`: some strand has left this there ([`leave_at`]); `None`: it was for the outside
    /// world. Returns how long it took.
    pub fn end_behind(self, now: u64, at: u64, left: Option<(Spans, u32)>) -> i64 {
        let took = now.wrapping_sub(self.since) as i64;
        self.resume(now, at, left, false);
        took
    }

    /// The wait for a lock is over at tick `now`: whoever had it has left this at `at`.
    pub fn end_behind_lock(self, now: u64, at: u64, left: (Spans, u32)) -> i64 {
        let took = now.wrapping_sub(self.since) as i64;
        self.resume(now, at, Some(left), true);
        took
    }

    /// The wait is over at tick `now`, by a strand of which nothing is known but that it came early enough. Returns how long it took.
    pub fn end_unknown(self, now: u64) -> i64 {
        let Wait { thread, since } = self;
        let took = now.wrapping_sub(since) as i64;
        thread.task.waiting.set(0);
        thread.waited.set(thread.waited.get() + took);
        log::go(thread, now);
        took
    }

    /// The wait ended by time: whether for nothing but time, or in the middle of a wait for a strand, is not known yet. Returns how
    /// long it took.
    pub fn end_undecided(self, now: u64) -> i64 {
        let Wait { thread, since } = self;
        thread.task.waiting.set(0);
        log::go(thread, now);
        now.wrapping_sub(since) as i64
    }

    /// Goes on, after what was left under `at`, if anything was; `lock`: which of both came first is accident.
    fn resume(self, now: u64, at: u64, after: Option<(Spans, u32)>, lock: bool) {
        let thread = self.thread;
        let shared = Shared::of(thread);
        if let Some((spans, path)) = after {
            let (waited, less) = (now.wrapping_sub(self.since) as i64, spans.actual - strand::span(thread));
            if less > 0 && polls::was_ended_by(at, waited, less) {
                path::release(shared, path);
                self.end_unknown(now);
                return;
            }
        }
        let blocked = now.wrapping_sub(self.since) as i64;
        thread.task.waiting.set(0);
        let unknown = after.is_none() && ended(shared);
        if after.is_some() || unknown {
            // Whatever it took: the strand goes on behind another one.
            thread.waited.set(thread.waited.get() + blocked);
        } else {
            strand::count_blocked(thread, blocked);
        }
        // Behind a looker that was waited for all the same: the row that follows was blocked for as long as this raises the span.
        let logged = after.filter(|_| log::on(thread) && !polls::left_by_looker(at));
        if let Some((waker, _)) = logged {
            let span = strand::span(thread);
            let mut context = strand::context(thread);
            if let Some(charged) = region::close_beside(shared, thread) {
                context = charged;
            } else if context == ROOT && !log::is_first(thread) {
                // Whoever reads the log may let the thread go on elsewhere, where nothing says what this code was.
                context = region::close_serial(shared, thread, span, 0);
            }
            log::raised(thread, (waker.actual - span).max(0));
            match lock {
                true => log::meets_at_lock(thread, context, span, (at, waker.actual)),
                false => log::meets(thread, Event::Await, context, span, (at, waker.actual)),
            }
        } else if !log::on(thread) {
            region::close_beside(shared, thread);
        }
        match after {
            Some((spans, path)) => {
                if spans.actual > strand::span(thread) {
                    path::settle(thread);
                    let position = thread.task.position.get();
                    path::release(shared, position.path);
                    thread.task.position.set(Position { path, since: spans.actual, ..position });
                } else {
                    path::release(shared, path);
                }
                let free = Spans { uniform: strand::spans(thread).uniform, ..spans };
                strand::raise(thread, if lock { free } else { spans });
            }
            None if unknown => {}
            None => strand::lengthen(thread, blocked),
        }
        if logged.is_some() {
            log::mark(thread);
            return log::go(thread, now);
        }
        strand::go(thread, now);
    }
}

/// True from the end of the program on. Destructors of libraries still wake threads then, to end them, and nobody is followed any
/// more who does so: pools of threads that had nothing to do have not waited for the outside world.
fn ended(shared: Shared) -> bool {
    shared.header().ending.load(Ordering::Acquire) != Ending::Unseen as u32
}

/// Where a new thread of the program starts.
#[derive(Clone, Copy, Debug)]
pub struct Born {
    span: i64,
    /// The same with only the order that the program demands.
    uniform: i64,
    /// The same with steals: another thread is one.
    burdened: i64,
    path: u32,
    identity: Identity,
}

impl Born {
    /// The calling thread is about to create a thread. `None`: nobody follows it.
    pub fn here() -> Option<Born> {
        let thread = in_strand()?;
        let now = clock::read(thread);
        timed::decide(thread, now, false);
        Some(Born::at(thread, now))
    }

    /// The strand of `thread` is about to create a thread at tick `now`.
    pub fn at(thread: &'static Thread, now: u64) -> Born {
        Born::of_site(thread, now, 0)
    }

    /// The same, at the site `to` (+ 1): if that is serial code, what follows runs beside the thread.
    pub fn of_site(thread: &'static Thread, now: u64, to: u32) -> Born {
        let (Spans { actual: span, uniform, .. }, path) = snapshot(thread, now, None, false, to);
        let mut identity = Identity::NONE;
        if log::on(thread) {
            identity = log::task_identity(thread, tool::Kind::Thread, ROOT);
            log::with(thread, ROOT, 1, identity.log);
            log::strand(thread, Event::Spawn, strand::context(thread), span);
            log::go_on(thread);
        }
        Born { span, uniform, burdened: strand::burdened(thread) + thread.steal.get(), path, identity }
    }

    /// The calling thread is the new one.
    pub fn start(self) {
        if let Some(thread) = thread::hot_or_attach().or_else(thread::current) {
            debug_assert_eq!(self.path & (PREFIXED | !(NODE | OWNED)), 0);
            thread.task.position.set(Position { path: self.path, since: self.span, ..thread.task.position.get() });
            strand::set_span(thread, self.span);
            thread.task.offsets.uniform.set(self.uniform - thread.task.work.get());
            strand::set_burdened(thread, self.burdened);
            if log::on(thread) {
                log::piece(thread, Event::Born, ROOT, self.span, self.identity.log);
                if tool::on(thread) {
                    tool::begin(thread, self.identity.tool, tool::now(thread));
                }
                log::mark(thread);
                log::go_on(thread);
            }
        }
    }
}

/// The calling thread, whose id is `id`, has done what it was created for: leaves its end to whoever joins it.
pub fn publish_end(id: u64) {
    if let Some(thread) = in_strand() {
        let now = clock::read(thread);
        timed::decide(thread, now, true);
        publish_end_at(thread, now, id);
    }
    thread::detach();
}

/// The same for `thread` at tick `now`; the thread stays attached.
pub fn publish_end_at(thread: &'static Thread, now: u64, id: u64) {
    let (spans, path) = snapshot(thread, now, Some(id), true, 0);
    ENDED_THREADS.put_near(Shared::of(thread), id, spans, path);
}
