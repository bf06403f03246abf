//! A wait, from the moment at which it may block to its end; and what ends it.

use core::cell::Cell;

use workspan_collect::clock;
use workspan_collect::looks;
use workspan_collect::process;
use workspan_collect::shared::Shared;
use workspan_collect::thread;
use workspan_collect::wait_graph::{self, Waited};
use workspan_collect::waits::Wait;
use workspan_wire::shm::Thread;

use super::caller;
use super::sleeps;
use super::timer;
use super::waiters::{self, bucket};
use crate::dag::{range, token};
use crate::queues;
use crate::tbb::site::Called;

std::thread_local! {
    /// The thread is in a hook of this module: what a signal handler does meanwhile is not followed.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread in the middle of a strand, where `work` is done; if it is called by the program.
pub fn in_strand<R>(called: Called, work: impl FnOnce(&'static Thread, u64) -> R) -> Option<R> {
    process::shared()?;
    if BUSY.get() {
        return None;
    }
    // SAFETY: the entry point's caller has pushed it.
    if caller::is_runtime(unsafe { called.0.read() }) {
        return None;
    }
    followed(work)
}

/// The calling thread in the middle of a strand, where `work` is done.
pub fn in_task<R>(work: impl FnOnce(&'static Thread, u64) -> R) -> Option<R> {
    if BUSY.get() {
        return None;
    }
    followed(work)
}

fn followed<R>(work: impl FnOnce(&'static Thread, u64) -> R) -> Option<R> {
    let (thread, now) = thread::attached().filter(|(thread, _)| thread.task.waiting.get() == 0)?;
    BUSY.set(true);
    super::lookers::settle(thread, now);
    let result = work(thread, now);
    BUSY.set(false);
    Some(result)
}

/// The calling thread, or the program on it, ends.
pub fn ends() {
    let _leaving = sleeps::may_leave();
    if let Some((thread, now)) = thread::attached().filter(|(thread, _)| thread.task.waiting.get() == 0) {
        super::lookers::settle(thread, now);
        let now = timer::decide(thread, now, true);
        sleeps::leave(thread, now);
        waiters::unwatch(thread);
    }
}

/// The strand of `thread` waits from tick `now` on, for the end of a thread. Returns the tick from which on it does.
pub fn stops(thread: &'static Thread, now: u64) -> u64 {
    let now = timer::decide(thread, now, false);
    sleeps::leave(thread, now);
    now
}

/// The calling thread is in a hook, while `work` is done.
pub fn in_hook(work: impl FnOnce()) {
    BUSY.set(true);
    work();
    BUSY.set(false);
}

/// How a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By another strand: if nobody knows which, the time is blocked.
    Woken,
    /// There was nothing to wait for any more.
    AtOnce,
    /// By time.
    TimedOut,
}

/// What a thread is about to wait for.
#[derive(Clone, Copy, Debug)]
pub struct For {
    /// Where who wakes it will look for it.
    pub address: u64,
    /// The mutex that it will want then; 0 for none.
    pub mutex: u64,
    /// It waits for so long at most.
    pub limited: bool,
    /// It sleeps until then, and holds a lock after it.
    pub to_hold: bool,
}

impl For {
    /// What is at `address`, for as long as it takes.
    pub fn ever(address: u64) -> For {
        For { address, mutex: 0, limited: false, to_hold: false }
    }

    /// The lock at `address`, asleep.
    pub fn lock(address: u64) -> For {
        For { to_hold: true, ..For::ever(address) }
    }
}

/// A wait of the calling thread.
#[derive(Debug)]
pub struct Waiting {
    thread: &'static Thread,
    address: u64,
    mutex: u64,
    /// The tick at which it began, if the thread sleeps and will hold a lock.
    to_hold: Option<u64>,
    /// It has looked for the same until then.
    has_looked: bool,
    wait: Option<Wait>,
}

/// The calling thread is about to wait. `None`: nobody follows it.
pub fn begin(called: Called, wanted: For) -> Option<Waiting> {
    let leaving = sleeps::may_leave();
    in_strand(called, |thread, now| {
        let For { address, mutex, limited, to_hold } = wanted;
        let has_looked = looks::has_just_looked(thread, now);
        sleeps::leave(thread, now);
        drop(leaving);
        waiters::enter(thread, address, mutex);
        let now = timer::decide(thread, now, false);
        if limited {
            let watched = if mutex == 0 { address } else { mutex };
            timer::found_wanting(thread, watched);
            waiters::watch(thread, watched);
        }
        let now = thread::running().map_or(now, |(_, now)| now);
        let mut waiting = begun(thread, now, address);
        (waiting.mutex, waiting.to_hold, waiting.has_looked) = (mutex, to_hold.then_some(now), has_looked);
        waiting
    })
}

/// The calling thread is about to take a lock that is fought for, or may have to wait under it.
#[cold]
pub fn before_lock(called: Called) {
    in_strand(called, clock::look_early);
}

/// The calling thread has given a lock back.
#[inline(always)]
pub fn after_lock() {
    if clock::is_due() {
        in_task(clock::catch_up);
    }
}

/// The calling thread waits on, for what `mutex` guards: whoever had that before has not changed it as it wants.
#[inline(always)]
pub fn found_wanting(called: Called, mutex: u64) {
    if bucket(mutex).waiting.load(core::sync::atomic::Ordering::SeqCst) != 0 {
        in_strand(called, |thread, _| timer::found_wanting(thread, mutex));
    }
}

/// The calling thread has taken what is counted at `address` without waiting.
#[inline(always)]
pub fn taken(called: Called, address: u64) {
    if bucket(address).waiting.load(core::sync::atomic::Ordering::SeqCst) != 0 {
        taken_after(called, address);
    }
}

#[cold]
fn taken_after(called: Called, address: u64) {
    in_strand(called, |thread, now| {
        timer::goes_on(thread, now, address);
    });
}

/// The calling thread arrives where a round of `size` meets. The last goes on behind all others, and they behind it.
pub fn arrive(called: Called, address: u64, size: usize) -> Option<Waiting> {
    in_strand(called, |thread, now| {
        let left = queues::left_by(thread, now, waiters::place(thread));
        if !waiters::enter(thread, address, 0) {
            left.release(Shared::of(thread));
        } else if waiters::arrive(thread, address, size, left) {
            while let Some(left) = waiters::next_arrived(thread, address) {
                Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts()));
            }
            waiters::meet(thread, address, queues::left_by(thread, now, address));
        }
        begun(thread, thread::running().map_or(now, |(_, now)| now), address)
    })
}

fn begun(thread: &'static Thread, now: u64, address: u64) -> Waiting {
    if token::held(thread) {
        token::give(thread);
    }
    Waiting { thread, address, mutex: 0, to_hold: None, has_looked: false, wait: Some(Wait::begin_at(thread, now)) }
}

impl Waiting {
    /// It is over. Returns the ticks that it took, if another strand has ended it.
    pub fn end(mut self, ended: Ended) -> i64 {
        BUSY.set(true);
        let took = self.over(ended);
        BUSY.set(false);
        took
    }

    fn over(&mut self, ended: Ended) -> i64 {
        let Some(wait) = self.wait.take() else { return 0 };
        let woken = self.to_hold.map_or_else(thread::waking, thread::waking_holding);
        let now = woken.map_or(0, |(_, now)| now);
        if ended == Ended::TimedOut {
            self.give_up();
            timer::passed(self.thread, wait.end_undecided(now));
            return 0;
        }
        let mut left = waiters::part(self.thread);
        if matches!(left, (None, None)) && ended == Ended::Woken {
            left = waiters::claim(self.thread, self.address, self.mutex);
        }
        if !matches!(left, (None, None)) {
            timer::forget(self.thread);
            if self.has_looked {
                looks::was_ended(self.thread);
            }
        }
        let by = left.0.or(left.1);
        let lock = left.0.is_none();
        let took = match (left, ended) {
            ((Some(woken), None), _) => wait.end_behind(now, woken.at, Some(woken.parts())),
            ((None, Some(passed)), _) => {
                range::lock_waited();
                wait.end_behind_lock(now, passed.at, passed.parts())
            }
            ((Some(woken), Some(passed)), _) => {
                range::lock_waited();
                let took = wait.end_behind(now, woken.at, Some(woken.parts()));
                Wait::begin_at(self.thread, now).end_behind_lock(now, passed.at, passed.parts());
                took
            }
            // Somebody who hands out work, or nobody that is known.
            ((None, None), Ended::AtOnce) => {
                let took = wait.end_unknown(now);
                if self.has_looked {
                    looks::may_go_on(self.thread);
                }
                return took;
            }
            ((None, None), _) => wait.end_behind(now, self.address, None),
        };
        let shared = Shared::of(self.thread);
        let from = now.wrapping_sub(took as u64);
        let slot = shared.slot_of(self.thread);
        wait_graph::over(
            shared,
            Waited { slot, from, to: now, by: by.map(|left| left.slot), lock: lock && by.is_some() },
        );
        if by.is_some() {
            took
        } else {
            0
        }
    }

    /// Time was over. If its place was woken all the same, another thread was.
    fn give_up(&self) {
        let (woken, passed) = waiters::part(self.thread);
        if let Some(left) = passed {
            left.release(Shared::of(self.thread));
        }
        if let Some(left) = woken {
            waiters::wake(self.thread, self.address, 1, left);
        }
    }
}

/// The thread is cancelled, or an exception passes.
impl Drop for Waiting {
    fn drop(&mut self) {
        if self.wait.is_some() {
            self.over(Ended::AtOnce);
        }
    }
}

/// The calling thread is about to wake `number` of those who wait at `address`.
#[inline(always)]
pub fn wake(called: Called, address: u64, number: u32) {
    if bucket(address).waiting.load(core::sync::atomic::Ordering::SeqCst) != 0 {
        wake_some(called, address, number);
    }
}

#[cold]
fn wake_some(called: Called, address: u64, number: u32) {
    in_strand(called, |thread, now| {
        let now = timer::decide(thread, now, false);
        let left = queues::left_by(thread, now, address);
        waiters::leave_to_watchers(thread, address, &left);
        waiters::wake(thread, address, number, left);
    });
}
