//! Who waits where, and what those who end the wait leave for them.
//!
//! A thread waits at one address at a time, so each has one place in a static table, by its slot: nothing is allocated, and a
//! thread that leaves a wait by `longjmp` leaves nothing behind that is not there any more. Those who wait are lists by
//! a hash of the address, in the order in which they came, under a lock that is held for a few dozen instructions and
//! that nobody waits for without bound: who does not get it does without ([`Header::unfollowed`]).
//!
//! A thread that waits with a limit also *watches* what what it waits for is guarded by, or counted in ([`watch`]): who changes that
//! leaves where it is.
//!
//! **Invariant:** of those who wait for the same lock only the first keeps what was left ([`pass`]), for all of them.
//!
//! [`Header::unfollowed`]: workspan_wire::shm::Header::unfollowed

use core::cell::Cell;
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use workspan_collect::path;
use workspan_collect::shared::Shared;
use workspan_collect::waits;
use workspan_wire::shm::{Spans, Thread, ThreadArea, MAX_THREADS, THREADS};

use crate::dag::patience::{patiently, BRIEF, TWO_SECONDS};

/// What somebody has left for who waits.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Its absolute spans.
    spans: Spans,
    /// A handle of its path.
    path: u32,
    /// By what the log knows it: the address, and who left it there. Two may leave something at one address where their spans are the same, and
    /// differ only in those without the order of locks.
    pub at: u64,
    /// The slot of the thread.
    pub slot: u32,
    /// When that was, in ticks.
    pub when: u64,
}

impl Left {
    /// By the strand of `thread`, at tick `now`, for who waits at `address`. The strand goes on.
    pub fn by(thread: &Thread, now: u64, address: u64) -> Left {
        let slot = Shared::of(thread).slot_of(thread);
        let at = marked(address, slot);
        let (spans, path) = waits::leave_at(thread, now, at);
        Left { spans, path, at, slot, when: now }
    }

    /// Under which address it left that.
    pub fn address(&self) -> u64 {
        marked(self.at, self.slot)
    }

    /// Its absolute span.
    pub fn actual(&self) -> u64 {
        self.spans.actual.cast_unsigned()
    }

    /// Spans and path, now the caller's.
    pub fn parts(self) -> (Spans, u32) {
        (self.spans, self.path)
    }

    /// The same with a handle of its own.
    pub fn copy(self, shared: Shared) -> Left {
        Left { path: path::own(shared, self.path), ..self }
    }

    /// The later of both, of which one is not needed any more.
    pub fn later(self, other: Left, shared: Shared) -> Left {
        let (later, sooner) = if self.spans.actual >= other.spans.actual { (self, other) } else { (other, self) };
        sooner.release(shared);
        let spans = Spans {
            uniform: later.spans.uniform.max(sooner.spans.uniform),
            burdened: later.spans.burdened.max(sooner.spans.burdened),
            ..later.spans
        };
        Left { spans, ..later }
    }

    /// Nobody needs it.
    pub fn release(self, shared: Shared) {
        path::release(shared, self.path);
    }
}

/// The address marked with the slot, where addresses have no bits; a marked one without that.
fn marked(address: u64, slot: u32) -> u64 {
    address ^ u64::from(slot) << 48
}

const BUCKETS: usize = 1024;

/// Addresses of one hash.
#[repr(align(64))]
#[derive(Debug)]
pub struct Bucket {
    /// Threads that wait.
    pub waiting: AtomicU32,
    /// How much a lock is fought for, now.
    pub heat: AtomicU32,
    /// Not 0 if a thread has waited for what a lock guards.
    pub guards: AtomicU32,
    /// Slot + 1 of who is at the list, with [`IN_VAIN`]; 0 for nobody.
    busy: AtomicU32,
    /// Slot + 1 of who came first; 0 for nobody.
    first: Cell<u32>,
}

// SAFETY: the cell is touched by whoever has taken `busy`.
unsafe impl Sync for Bucket {}

static TABLE: [Bucket; BUCKETS] = [const {
    Bucket {
        waiting: AtomicU32::new(0),
        heat: AtomicU32::new(0),
        guards: AtomicU32::new(0),
        busy: AtomicU32::new(0),
        first: Cell::new(0),
    }
}; BUCKETS];

/// A thread that waits.
struct Waiter {
    /// Bucket + 1 of the list that it is in; 0 for none; [`MOVING`].
    home: AtomicU32,
    address: Cell<u64>,
    /// Where it was, if it has been moved since: at a condition.
    condition: Cell<u64>,
    /// The mutex that it will want when it is woken; 0 for none.
    mutex: Cell<u64>,
    /// Slot + 1 of who came next.
    next: Cell<u32>,
    woken: Cell<Option<Left>>,
    passed: Cell<Option<Left>>,
    /// What it has left itself where threads meet, until all have come.
    arrived: Cell<Option<Left>>,
    /// Who moves it has not come back for two seconds. The thread's own.
    is_lost: Cell<bool>,
}

const MOVING: u32 = u32::MAX;

// SAFETY: cells are touched by whoever has taken the bucket of `home`; while it is in none, by its thread, and while it is
// moved by who moves it.
unsafe impl Sync for Waiter {}

/// By slot: where the thread waits; behind these, by slot: what it watches.
static WAITERS: [Waiter; 2 * MAX_THREADS] = [const {
    Waiter {
        home: AtomicU32::new(0),
        address: Cell::new(0),
        condition: Cell::new(0),
        mutex: Cell::new(0),
        next: Cell::new(0),
        woken: Cell::new(None),
        passed: Cell::new(None),
        arrived: Cell::new(None),
        is_lost: Cell::new(false),
    }
}; 2 * MAX_THREADS];

fn index(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % BUCKETS
}

/// That of `address`.
#[inline(always)]
pub fn bucket(address: u64) -> &'static Bucket {
    &TABLE[index(address)]
}

/// Which of the shared memory's threads this is.
pub fn slot(thread: &Thread) -> usize {
    let area = ptr::from_ref(thread) as usize - thread.base.get() as usize - THREADS;
    area / size_of::<ThreadArea>()
}

/// Somebody has waited for two seconds: those who come later wait for a moment only.
const IN_VAIN: u32 = 1 << 31;

/// How long somebody waits for who is in the way; briefly for who has not come back since, `in_vain`.
fn patience(in_vain: bool) -> u64 {
    if in_vain {
        BRIEF
    } else {
        TWO_SECONDS
    }
}

impl Bucket {
    /// Does `work` when nobody else is at the list. `None`: somebody always was.
    pub fn locked<R>(&self, thread: &Thread, work: impl FnOnce() -> R) -> Option<R> {
        let own = slot(thread) as u32 + 1;
        let take = || self.busy.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed);
        if take().is_err() && !self.locked_late(thread, own, || take().is_ok()) {
            return None;
        }
        let result = work();
        self.busy.store(0, Ordering::Release);
        Some(result)
    }

    /// Somebody was at the list when `thread`, which is `own`, came first.
    #[cold]
    fn locked_late(&self, thread: &Thread, own: u32, mut take: impl FnMut() -> bool) -> bool {
        let holder = self.busy.load(Ordering::Relaxed);
        // A signal's handler has interrupted this very thread there: no time would help.
        let found = holder & !IN_VAIN != own && patiently(patience(holder & IN_VAIN != 0), &mut take);
        if !found {
            // Who is there sets it to 0 when it leaves, if it ever does.
            self.busy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| (at != 0).then_some(at | IN_VAIN)).ok();
            Shared::of(thread).header().unfollowed.fetch_add(1, Ordering::Relaxed);
        }
        found
    }

    fn add(&self, at: usize) {
        let waiter = &WAITERS[at];
        waiter.next.set(0);
        waiter.home.store(self.number(), Ordering::Release);
        let mut end = &self.first;
        while let Some(other) = end.get().checked_sub(1) {
            end = &WAITERS[other as usize].next;
        }
        end.set(at as u32 + 1);
        self.waiting.fetch_add(1, Ordering::SeqCst);
    }

    fn remove(&self, at: usize) {
        let mut link = &self.first;
        while let Some(other) = link.get().checked_sub(1) {
            if other as usize == at {
                link.set(WAITERS[at].next.get());
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                return;
            }
            link = &WAITERS[other as usize].next;
        }
    }

    /// Removes who is at `at`. What was left for all who want the same lock goes to the next of them; a copy is returned.
    fn detach(&self, at: usize, shared: Shared) -> Option<Left> {
        let mut all = self.at(WAITERS[at].address.get());
        let mut passed = None;
        if let Some((first, carries)) = all.next() {
            if let Some(left) = carries.passed.get() {
                passed = Some(left.copy(shared));
                if first == at {
                    carries.passed.set(None);
                    match all.next() {
                        Some((_, next)) => next.passed.set(Some(left)),
                        None => left.release(shared),
                    }
                }
            }
        }
        self.remove(at);
        passed
    }

    fn number(&self) -> u32 {
        let from = ptr::from_ref(self) as usize - TABLE.as_ptr() as usize;
        (from / size_of::<Bucket>()) as u32 + 1
    }

    /// Those who wait at `address`, in the order in which they came.
    fn at(&self, address: u64) -> impl Iterator<Item = (usize, &'static Waiter)> {
        let mut next = self.first.get();
        core::iter::from_fn(move || {
            let at = next.checked_sub(1)? as usize;
            next = WAITERS[at].next.get();
            Some((at, &WAITERS[at]))
        })
        .filter(move |(_, waiter)| waiter.address.get() == address)
    }
}

/// The later of two, of which the other is released.
fn later(shared: Shared, one: Option<Left>, other: Option<Left>) -> Option<Left> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let (later, earlier) = if one.spans.actual >= other.spans.actual { (one, other) } else { (other, one) };
            earlier.release(shared);
            Some(Left { spans: later.spans.later(earlier.spans), ..later })
        }
        (one, None) => one,
        (None, other) => other,
    }
}

/// `thread` is about to wait at `address`, and then for `mutex` if that is not 0. False: nobody will know.
pub fn enter(thread: &Thread, address: u64, mutex: u64) -> bool {
    let at = slot(thread);
    if WAITERS[at].home.load(Ordering::Acquire) != 0 {
        // It has left its last wait behind without a word.
        let (woken, passed) = part(thread);
        [woken, passed].into_iter().flatten().for_each(|left| left.release(Shared::of(thread)));
        // Nobody is in two lists.
        if WAITERS[at].home.load(Ordering::Acquire) != 0 {
            return false;
        }
    }
    let waiter = &WAITERS[at];
    waiter.address.set(address);
    waiter.condition.set(0);
    waiter.mutex.set(mutex);
    let bucket = bucket(address);
    bucket.locked(thread, || bucket.add(at)).is_some()
}

/// `thread` does not wait any more. Returns what who woke it has left for it, and what those have who gave its lock back since.
pub fn part(thread: &Thread) -> (Option<Left>, Option<Left>) {
    let shared = Shared::of(thread);
    let at = slot(thread);
    let waiter = &WAITERS[at];
    let mut found = (None, None);
    // Once more if it has been moved meanwhile; at most one signal moves it.
    loop {
        let read = || waiter.home.load(Ordering::Acquire);
        let mut home = MOVING;
        let mut has_come = || {
            home = read();
            home != MOVING
        };
        if !has_come() && !patiently(patience(waiter.is_lost.get()), has_come) {
            waiter.is_lost.set(true);
            Shared::of(thread).header().unfollowed.fetch_add(1, Ordering::Relaxed);
            break;
        }
        if home == 0 {
            return found;
        }
        let bucket = &TABLE[home as usize - 1];
        let left = bucket.locked(thread, || {
            if waiter.home.load(Ordering::Relaxed) != home {
                return None;
            }
            let passed = bucket.detach(at, shared);
            if let Some(arrived) = waiter.arrived.take() {
                arrived.release(shared);
            }
            waiter.home.store(0, Ordering::Release);
            Some((waiter.woken.take(), passed))
        });
        match left {
            Some(Some(left)) => {
                found = left;
                break;
            }
            // Moved meanwhile.
            Some(None) => {}
            None => break,
        }
    }
    found
}

/// `left` is what the first `number` who wait at `address`, and have not been woken yet, go on behind.
pub fn wake(thread: &Thread, address: u64, number: u32, left: Left) {
    let shared = Shared::of(thread);
    let bucket = bucket(address);
    let mut still = number;
    while still > 0 {
        let moved = bucket.locked(thread, || {
            let (at, waiter) = bucket.at(address).find(|(_, waiter)| waiter.woken.get().is_none())?;
            waiter.woken.set(Some(left.copy(shared)));
            let mutex = waiter.mutex.get();
            if mutex != 0 {
                bucket.remove(at);
                waiter.home.store(MOVING, Ordering::Relaxed);
                waiter.condition.set(address);
                waiter.address.set(mutex);
            }
            Some((at, mutex))
        });
        let Some(Some((at, mutex))) = moved else { break };
        if mutex != 0 {
            let to = self::bucket(mutex);
            if to.locked(thread, || to.add(at)).is_none() {
                // It is in no list: what was left for it is lost.
                WAITERS[at].woken.set(None);
                WAITERS[at].home.store(0, Ordering::Release);
            }
        }
        still -= 1;
    }
    left.release(shared);
}

/// `thread` was woken at `address`, and its place was not: whom the kernel wakes is not always who came first. Whoever's place was
/// woken instead gives up what was left there, and waits as before. `mutex`: as for [`enter`]. Returns what [`part`] does.
pub fn claim(thread: &Thread, address: u64, mutex: u64) -> (Option<Left>, Option<Left>) {
    let shared = Shared::of(thread);
    let bucket = self::bucket(if mutex == 0 { address } else { mutex });
    let is_of = |waiter: &Waiter| mutex == 0 || waiter.condition.get() == address;
    let found = bucket.locked(thread, || {
        let mut all = bucket.at(if mutex == 0 { address } else { mutex });
        let (at, waiter) = all.find(|(_, waiter)| waiter.woken.get().is_some() && is_of(waiter))?;
        let woken = waiter.woken.take();
        if mutex == 0 {
            return Some((None, (woken, None)));
        }
        let passed = bucket.detach(at, shared);
        waiter.home.store(MOVING, Ordering::Relaxed);
        waiter.condition.set(0);
        waiter.address.set(address);
        Some((Some(at), (woken, passed)))
    });
    let Some(Some((at, found))) = found else { return (None, None) };
    if let Some(at) = at {
        let back = self::bucket(address);
        if back.locked(thread, || back.add(at)).is_none() {
            WAITERS[at].home.store(0, Ordering::Release);
        }
    }
    found
}

/// In a list, what is watched is none of the addresses at which threads wait.
fn watched(address: u64) -> u64 {
    !address
}

/// From now on, whoever changes what is guarded by, or counted at `address` leaves where it is for `thread`. What was left before is forgotten.
pub fn watch(thread: &Thread, address: u64) {
    let at = MAX_THREADS + slot(thread);
    let waiter = &WAITERS[at];
    if waiter.home.load(Ordering::Relaxed) != 0 {
        if waiter.address.get() == watched(address) {
            if let Some(left) = left_to_watcher(thread, address) {
                left.release(Shared::of(thread));
            }
            return;
        }
        unwatch(thread);
        if waiter.home.load(Ordering::Relaxed) != 0 {
            return;
        }
    }
    waiter.address.set(watched(address));
    let bucket = bucket(address);
    bucket.locked(thread, || bucket.add(at));
}

/// The same, unless the thread watches something else.
pub fn watch_if_free(thread: &Thread, address: u64) {
    let waiter = &WAITERS[MAX_THREADS + slot(thread)];
    if waiter.home.load(Ordering::Relaxed) == 0 || waiter.address.get() == watched(address) {
        watch(thread, address);
    }
}

/// What was left for `thread`, which watches `address`, since this was called last.
pub fn left_to_watcher(thread: &Thread, address: u64) -> Option<Left> {
    let waiter = &WAITERS[MAX_THREADS + slot(thread)];
    if waiter.home.load(Ordering::Relaxed) == 0 || waiter.address.get() != watched(address) {
        return None;
    }
    bucket(address).locked(thread, || waiter.woken.take()).flatten()
}

/// `thread` watches nothing any more.
pub fn unwatch(thread: &Thread) {
    let at = MAX_THREADS + slot(thread);
    let waiter = &WAITERS[at];
    let home = waiter.home.load(Ordering::Relaxed);
    if home == 0 {
        return;
    }
    // Nobody moves it.
    let bucket = &TABLE[home as usize - 1];
    let left = bucket.locked(thread, || {
        bucket.remove(at);
        waiter.home.store(0, Ordering::Relaxed);
        waiter.woken.take()
    });
    if let Some(left) = left.flatten() {
        left.release(Shared::of(thread));
    }
}

/// True if somebody waits at `address`, or somebody but `thread` watches it.
pub fn concerns(thread: &Thread, address: u64) -> bool {
    let own = MAX_THREADS + slot(thread);
    let bucket = bucket(address);
    let found = bucket
        .locked(thread, || bucket.at(address).next().is_some() || bucket.at(watched(address)).any(|(at, _)| at != own));
    found == Some(true)
}

/// `left` is for all but `thread` that watch `address`; it stays the caller's.
pub fn leave_to_watchers(thread: &Thread, address: u64, left: &Left) {
    leave_to_some_watchers(thread, address, left, |_| true);
}

/// The same for those whose slot is `wanted`.
pub fn leave_to_some_watchers(thread: &Thread, address: u64, left: &Left, wanted: impl Fn(usize) -> bool) {
    let shared = Shared::of(thread);
    let own = MAX_THREADS + slot(thread);
    let bucket = bucket(address);
    bucket.locked(thread, || {
        for (_, waiter) in bucket.at(watched(address)).filter(|(at, _)| *at != own && wanted(*at - MAX_THREADS)) {
            waiter.woken.set(later(shared, waiter.woken.take(), Some(left.copy(shared))));
        }
    });
}

/// `left` is what whoever gets the lock at `address` next, of those who wait, goes on behind, besides what others leave.
pub fn pass(thread: &Thread, address: u64, left: Left) {
    let shared = Shared::of(thread);
    let bucket = bucket(address);
    let kept = bucket.locked(thread, || {
        let Some((_, first)) = bucket.at(address).next() else { return false };
        first.passed.set(later(shared, first.passed.get(), Some(left)));
        true
    });
    if kept != Some(true) {
        left.release(shared);
    }
}

/// Where `thread` leaves what only the last of a round looks for.
pub fn place(thread: &Thread) -> u64 {
    ptr::from_ref(&WAITERS[slot(thread)]) as u64
}

/// `thread`, which waits at `address`, has left this for the others of a round of `size`. True if it is the last of them.
pub fn arrive(thread: &Thread, address: u64, size: usize, left: Left) -> bool {
    let bucket = bucket(address);
    let kept = bucket.locked(thread, || {
        WAITERS[slot(thread)].arrived.set(Some(left));
        bucket.at(address).filter(waits_in_round).count() >= size
    });
    if kept.is_none() {
        left.release(Shared::of(thread));
    }
    kept == Some(true)
}

fn waits_in_round((_, waiter): &(usize, &Waiter)) -> bool {
    waiter.woken.get().is_none() && waiter.arrived.get().is_some()
}

/// `thread` is the last of a round at `address`: what another one has left, each once.
pub fn next_arrived(thread: &Thread, address: u64) -> Option<Left> {
    let (own, bucket) = (slot(thread), bucket(address));
    let next = || bucket.at(address).filter(waits_in_round).find(|(at, _)| *at != own);
    bucket.locked(thread, || next().and_then(|(_, waiter)| waiter.arrived.take())).flatten()
}

/// `thread` is the last of a round at `address`, and all others go on behind `left`.
pub fn meet(thread: &Thread, address: u64, left: Left) {
    let shared = Shared::of(thread);
    let (own, bucket) = (slot(thread), bucket(address));
    bucket.locked(thread, || {
        let waits = |(at, waiter): &(usize, &Waiter)| *at != own && waiter.woken.get().is_none();
        bucket.at(address).filter(waits).for_each(|(_, waiter)| waiter.woken.set(Some(left.copy(shared))));
    });
    left.release(shared);
}
