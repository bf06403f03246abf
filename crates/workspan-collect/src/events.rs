//! Events by context: page faults, switches, instructions, whatever the runner asks for ([`workspan_wire::events`]).
//!
//! A thread reads its counters where what it does begins to belong to another account: at a change of context, and where it
//! begins or ceases to wait. What has happened since the reading before is charged to the account that it was for, or to
//! nobody. So of strands of one context in a row none is read, and forks and joins within a region never are.
//!
//! Charged to nobody: what happens while a thread waits for work, and in the collector where it takes its time
//! ([`exclude_events`]). What a hook itself does besides, before and after a reading, is its contexts'.
//!
//! **Cost** where nothing is asked for: a bit in a word that is tested beside others, where strands begin that may be of
//! another context than the last ([`super::log::go`]). Where something is: a reading takes up to a microsecond, which is in
//! no strand.

use super::clock;
use super::counters::{self, Machine, Values};
use super::platform::ErrnoGuard;
use super::shared::{current_account, Shared};
use workspan_wire::events::MAX_EVENTS;
use workspan_wire::shm::{Account, Feature, Thread};

/// Not zero if `thread` counts.
#[inline(always)]
pub fn flag(thread: &Thread) -> u64 {
    u64::from(thread.features.get() & Feature::Events as u32)
}

/// Begins to count on the calling thread, which has been readied, if that is asked for.
pub fn start(shared: Shared, thread: &Thread) {
    if counters::asked(shared) == 0 {
        return;
    }
    let _errno = ErrnoGuard::new();
    if counters::open(&Machine, shared, thread) {
        thread.features.set(thread.features.get() | Feature::Events as u32);
        since(thread);
        turn(thread);
    }
}

/// The thread's strand may be of another context now, or waits, or goes on; it is stopped.
#[inline]
pub fn turn(thread: &Thread) {
    if flag(thread) != 0 {
        let waits = thread.task.waiting.get() != 0;
        let account = if waits { None } else { Some(current_account(thread)) };
        belongs_to(thread, account);
    }
}

/// Nobody is charged from now on.
pub fn nobody(thread: &Thread) {
    if flag(thread) != 0 {
        belongs_to(thread, None);
    }
}

#[cold]
#[inline(never)]
fn belongs_to(thread: &Thread, account: Option<&Account>) {
    let address = account.map_or(0, |account| account as *const Account as u64);
    if thread.events.account.get() == address {
        return;
    }
    clock::exclude_time(thread, || {
        charge(thread);
        thread.events.account.set(address);
        if account.is_some_and(is_new) {
            since(thread);
        }
    });
}

/// True if nothing was charged to `account` yet: then its memory has been touched for the first time just now, or nearly so,
/// which is no event of the program's.
fn is_new(account: &Account) -> bool {
    let last = &account.events[MAX_EVENTS - 1];
    last.set(last.get());
    account.self_work.get() == 0 && account.tasks.get() == 0
}

/// What happens in `work`, which is the collector's own, is charged to nobody.
pub fn exclude_events<R>(thread: &Thread, work: impl FnOnce() -> R) -> R {
    let account = match flag(thread) {
        0 => 0,
        _ => thread.events.account.get(),
    };
    if account == 0 {
        return work();
    }
    charge(thread);
    let result = work();
    since(thread);
    result
}

/// What is charged to `from` so far, and what has happened since, is `to`'s; then nobody is charged until the strand goes on.
pub fn hand_on(thread: &Thread, from: &Account, to: &Account) {
    if flag(thread) != 0 {
        belongs_to(thread, None);
        give(to, take(from));
    }
}

/// What is charged to `account`, which has nothing then: for a strand that goes on with another thread.
pub fn take(account: &Account) -> Values {
    let mut values = [0; MAX_EVENTS];
    values.iter_mut().zip(&account.events).for_each(|(value, cell)| *value = cell.replace(0));
    values
}

/// The opposite.
pub fn give(account: &Account, values: Values) {
    account.events.iter().zip(values).for_each(|(cell, value)| cell.set(cell.get().wrapping_add(value)));
}

/// The calling thread counts no more.
pub fn stop(thread: &Thread) {
    if flag(thread) != 0 {
        let _errno = ErrnoGuard::new();
        charge(thread);
        off(thread);
    }
}

fn off(thread: &Thread) {
    thread.features.set(thread.features.get() & !(Feature::Events as u32));
    counters::close(&Machine, thread);
}

/// Reads, and charges what has happened since the last reading to whom it belongs.
fn charge(thread: &Thread) {
    let account = thread.events.account.get();
    // SAFETY: 0, or the address of an account of this same thread within the shared memory, which is never unmapped.
    let account = unsafe { (account as *const Account).as_ref() };
    read(thread, |i, more| {
        if let Some(account) = account {
            account.events[i].set(account.events[i].get().wrapping_add(more));
        }
    });
}

/// Reads: what has happened until now is nobody's.
fn since(thread: &Thread) {
    read(thread, |_, _| {});
}

fn read(thread: &Thread, mut charge: impl FnMut(usize, u64)) {
    let _errno = ErrnoGuard::new();
    let shared = Shared::of(thread);
    let Some((values, times)) = counters::read(&Machine, shared, thread) else {
        // The program has closed what it has not opened.
        counters::lost(shared, thread);
        off(thread);
        return;
    };
    let mine = &thread.events;
    for (i, (last, value)) in mine.last.iter().zip(values).enumerate() {
        // Where nothing is asked for both are zero.
        charge(i, value.saturating_sub(last.replace(value)));
    }
    for ((sum, last), now) in [&mine.enabled, &mine.running].into_iter().zip(&mine.times).zip(times) {
        let more = now.saturating_sub(last.replace(now));
        sum.set(sum.get().wrapping_add(more));
    }
}
