//! Who waited for whom, while the program ran: a graph whose nodes are what threads run.
//!
//! A program of long-lived threads ends when somebody ends it, so its span says little; what limits its throughput is the thread that
//! others wait for (Zhou, Gan, Ma, Wang: *wPerf: Generic Off-CPU Analysis to Identify Bottleneck Waiting Events*, OSDI 2018). While A waits for
//! B, B may wait for C; then so does A. So a wait of B counts once by itself, and once more for as long as each A that waits for B
//! meanwhile, and for those who wait for A, …: *cascaded redistribution* ([`spread`]).
//!
//! A wait ends when its waker wakes: from then on the thread is ready, and what it waits for is a processor. So of two threads no two waits
//! for each other overlap.
//!
//! Each thread keeps when it has waited last, and for whom. When a wait is over, those of its waker are looked at that lie within it, and
//! those of their wakers, …. All of them are over: a waker wakes after its own wait.
//!
//! **Bounds:** the last [`KEPT`] waits of a thread, [`DEEPEST`] wakers, [`MOST_STEPS`] waits in all; edges of
//! [`MAX_WAIT_EDGES`] pairs. **Cost:** where a thread blocks, some hundred nanoseconds, and a
//! few for each wait that is looked at.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::shared::Shared;
use workspan_wire::shm::{WaitEdge, MAX_THREADS, MAX_WAIT_EDGES, WAIT_MAIN, WAIT_OUTSIDE, WAIT_SITES};

/// Waits of a thread that are kept.
const KEPT: usize = 64;
/// Wakers of wakers that are looked at.
const DEEPEST: u32 = 16;
/// Waits that are looked at for one that is over.
const MOST_STEPS: u32 = 1_000;
/// In place of a slot: the outside world.
const OUTSIDE: u32 = u32::MAX;

/// A wait of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// The waiting thread's slot.
    pub slot: u32,
    /// From this tick on.
    pub from: u64,
    /// To this one.
    pub to: u64,
    /// The slot of who ended it; `None`: the outside world.
    pub by: Option<u32>,
    /// It was for a lock.
    pub lock: bool,
}

/// The waits of a thread that were last.
struct Timeline {
    /// How many there have been.
    count: AtomicU64,
    waits: [[AtomicU64; 3]; KEPT],
    /// What the thread runs, as in a [`WaitEdge`]; 0: not known.
    runs: AtomicU32,
}

static TIMELINES: [Timeline; MAX_THREADS] = [const {
    Timeline {
        count: AtomicU64::new(0),
        waits: [const { [const { AtomicU64::new(0) }; 3] }; KEPT],
        runs: AtomicU32::new(0),
    }
}; MAX_THREADS];

fn timeline(slot: u32) -> &'static Timeline {
    &TIMELINES[slot as usize % MAX_THREADS]
}

/// The thread in `slot` runs what is at this site from now on.
pub fn runs(slot: u32, site: u32) {
    timeline(slot).runs.store(WAIT_SITES + site, Ordering::Relaxed);
}

/// The thread in `slot` is the one that runs `main`.
pub fn runs_main(slot: u32) {
    timeline(slot).runs.store(WAIT_MAIN, Ordering::Relaxed);
}

/// A wait is over.
pub fn over(shared: Shared, wait: Waited) {
    if wait.to.wrapping_sub(wait.from) as i64 <= 0 {
        return;
    }
    remember(wait);
    spread(wait, &mut |waited, ticks, direct| count(shared, &waited, ticks, direct));
}

/// Others find it from now on.
pub fn remember(wait: Waited) {
    let own = timeline(wait.slot);
    let number = own.count.load(Ordering::Relaxed);
    let [from, to, by] = &own.waits[number as usize % KEPT];
    from.store(wait.from, Ordering::Relaxed);
    to.store(wait.to, Ordering::Relaxed);
    by.store(u64::from(wait.by.unwrap_or(OUTSIDE)) << 1 | u64::from(wait.lock), Ordering::Relaxed);
    own.count.store(number + 1, Ordering::Release);
}

/// Calls `edge` for `wait`, which is over, and for each wait that somebody has waited for within it: the wait, how long that was within, and
/// whether it is `wait` itself.
pub fn spread(wait: Waited, edge: &mut impl FnMut(Waited, i64, bool)) {
    let mut steps = MOST_STEPS;
    edge(wait, wait.to.wrapping_sub(wait.from) as i64, true);
    follow(wait, 0, &mut steps, edge);
}

fn follow(wait: Waited, depth: u32, steps: &mut u32, edge: &mut impl FnMut(Waited, i64, bool)) {
    let Some(by) = wait.by.filter(|by| *by != wait.slot && depth < DEEPEST) else { return };
    let theirs = timeline(by);
    let count = theirs.count.load(Ordering::Acquire);
    for number in (count.saturating_sub(KEPT as u64)..count).rev() {
        if *steps == 0 {
            return;
        }
        *steps -= 1;
        let [from, to, ended] =
            theirs.waits[number as usize % KEPT].each_ref().map(|word| word.load(Ordering::Relaxed));
        if to <= wait.from {
            return;
        }
        let part = Waited {
            slot: by,
            from: from.max(wait.from),
            to: to.min(wait.to),
            by: Some((ended >> 1) as u32).filter(|by| *by != OUTSIDE),
            lock: ended & 1 != 0,
        };
        if part.from < part.to {
            edge(part, part.to.wrapping_sub(part.from) as i64, false);
            follow(part, depth + 1, steps, edge);
        }
    }
}

fn count(shared: Shared, wait: &Waited, ticks: i64, direct: bool) {
    let runs = |slot: u32| timeline(slot).runs.load(Ordering::Relaxed);
    let (waiter, on) = (runs(wait.slot), wait.by.map_or(WAIT_OUTSIDE, runs));
    if waiter == 0 || on == 0 {
        return;
    }
    let Some(found) = edge(shared, u64::from(waiter) << 32 | u64::from(on)) else { return };
    let add = |to: &core::sync::atomic::AtomicI64| to.fetch_add(ticks, Ordering::Relaxed);
    if direct {
        found.count.fetch_add(1, Ordering::Relaxed);
        add(&found.waited);
        if wait.lock {
            add(&found.locked);
        }
    } else {
        add(&found.passed_on);
    }
}

/// The edge of this key. `None`: there are too many.
fn edge(shared: Shared, key: u64) -> Option<&'static WaitEdge> {
    let first = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
    (0..MAX_WAIT_EDGES).map(|way| shared.wait_edge((first + way) % MAX_WAIT_EDGES)).find(|edge| {
        let known = edge.key.load(Ordering::Relaxed);
        known == key
            || known == 0 && {
                let taken = edge.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed);
                taken.is_ok() || taken == Err(key)
            }
    })
}
