//! Mutexes, read-write locks, spin locks, condition variables, semaphores, barriers.
//!
//! Tickets are drawn from counters found by an address's hash. Objects that share one are no harm: along each the order is
//! right, which is all that a ticket says.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use workspan_trace::control::{Kind, Operation};

use crate::event::{now, write};
use crate::platform::thread;
use crate::{c, entry, event, messengers, openmp, original, shared, tbb};

/// True if this thread's operations are recorded. Those of runtimes are their own business.
fn wanted() -> bool {
    let owned = |caller| openmp::owns(caller) || tbb::owns(caller) || messengers::owns(caller);
    event::wanted() && !owned(thread().caller.get())
}

const COUNTERS: usize = 4096;
static TICKETS: [AtomicU64; COUNTERS] = [const { AtomicU64::new(0) }; COUNTERS];

/// The next ticket of an object.
pub fn ticket(object: *const c_void) -> u64 {
    TICKETS[hash(object as u64) % COUNTERS].fetch_add(1, AcqRel)
}

fn hash(address: u64) -> usize {
    ((address >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}

/// Notes an operation.
pub fn sync(before: u64, after: u64, object: *const c_void, ticket: u64, operation: Operation) {
    write(Kind::Sync, [before, after, object as u64, ticket, operation as u64]);
}

/// Calls what may acquire an object, and notes it if it has.
pub fn acquire(object: *const c_void, operation: Operation, call: impl FnOnce() -> c_int) -> c_int {
    if !wanted() {
        return call();
    }
    let before = now();
    let result = call();
    if result == 0 || result == c::EOWNERDEAD {
        let after = now();
        sync(before, after, object, ticket(object), operation);
    }
    result
}

/// Calls what releases an object, and notes it.
pub fn release(object: *const c_void, operation: Operation, call: impl FnOnce() -> c_int) -> c_int {
    if !wanted() {
        return call();
    }
    let (before, ticket) = (now(), ticket(object));
    let result = call();
    // Of one that has failed, too, the ticket counts.
    sync(before, now(), object, ticket, operation);
    result
}

/// Calls what wakes others, and notes it before: who is woken may end the program before the call returns. What the call takes belongs to
/// what follows.
pub fn wakes(object: *const c_void, operation: Operation, call: impl FnOnce() -> c_int) -> c_int {
    if wanted() {
        let now = now();
        sync(now, now, object, ticket(object), operation);
    }
    call()
}

macro_rules! define {
    ($(#[$text:meta])* $kind:ident $operation:ident $symbol:ident $name:literal ($object:ident $(, $argument:ident: $type:ty)*)) => {
        entry! {
            $(#[$text])*
            fn $symbol($object: *mut c_void $(, $argument: $type)*) -> c_int {
                $kind($object, Operation::$operation, || {
                    original!($name, fn(*mut c_void $(, $type)*) -> c_int, $object $(, $argument)*)
                })
            }
        }
    };
}

type Time = *const c_void;
define!(/// Acquires.
    acquire Lock pthread_mutex_lock c"pthread_mutex_lock" (mutex));
define!(/// Acquires.
    acquire Lock pthread_mutex_trylock c"pthread_mutex_trylock" (mutex));
define!(/// Acquires.
    acquire Lock pthread_mutex_timedlock c"pthread_mutex_timedlock" (mutex, until: Time));
define!(/// Acquires.
    acquire Lock pthread_mutex_clocklock c"pthread_mutex_clocklock" (mutex, clock: c_int, until: Time));
define!(/// Releases.
    release Unlock pthread_mutex_unlock c"pthread_mutex_unlock" (mutex));
define!(/// Acquires.
    acquire Lock pthread_spin_lock c"pthread_spin_lock" (lock));
define!(/// Acquires.
    acquire Lock pthread_spin_trylock c"pthread_spin_trylock" (lock));
define!(/// Releases.
    release Unlock pthread_spin_unlock c"pthread_spin_unlock" (lock));
define!(/// Acquires.
    acquire ReadLock pthread_rwlock_rdlock c"pthread_rwlock_rdlock" (lock));
define!(/// Acquires.
    acquire ReadLock pthread_rwlock_tryrdlock c"pthread_rwlock_tryrdlock" (lock));
define!(/// Acquires.
    acquire ReadLock pthread_rwlock_timedrdlock c"pthread_rwlock_timedrdlock" (lock, until: Time));
define!(/// Acquires.
    acquire Lock pthread_rwlock_wrlock c"pthread_rwlock_wrlock" (lock));
define!(/// Acquires.
    acquire Lock pthread_rwlock_trywrlock c"pthread_rwlock_trywrlock" (lock));
define!(/// Acquires.
    acquire Lock pthread_rwlock_timedwrlock c"pthread_rwlock_timedwrlock" (lock, until: Time));
define!(/// Releases.
    release Unlock pthread_rwlock_unlock c"pthread_rwlock_unlock" (lock));
define!(/// Acquires.
    acquire Take sem_wait c"sem_wait" (semaphore));
define!(/// Acquires.
    acquire Take sem_trywait c"sem_trywait" (semaphore));
define!(/// Acquires.
    acquire Take sem_timedwait c"sem_timedwait" (semaphore, until: Time));
define!(/// Acquires.
    acquire Take sem_clockwait c"sem_clockwait" (semaphore, clock: c_int, until: Time));
define!(/// Releases.
    wakes Post sem_post c"sem_post" (semaphore));

entry! {
    /// Makes a semaphore. What other processes do with one that they share is not known.
    fn sem_init(semaphore: *mut c_void, shared: c_int, value: c_uint) -> c_int {
        let result = original!(c"sem_init", fn(*mut c_void, c_int, c_uint) -> c_int, semaphore, shared, value);
        if result == 0 && shared == 0 && wanted() {
            write(Kind::Semaphore, [semaphore as u64, value.into()]);
        }
        result
    }
}

entry! {
    /// Signals.
    fn pthread_cond_signal(condition: *mut c_void) -> c_int {
        wakes(
            condition,
            Operation::Signal,
            || original!(c"pthread_cond_signal" @ c"GLIBC_2.3.2", fn(*mut c_void) -> c_int, condition),
        )
    }
}

entry! {
    /// Signals all.
    fn pthread_cond_broadcast(condition: *mut c_void) -> c_int {
        wakes(
            condition,
            Operation::Broadcast,
            || original!(c"pthread_cond_broadcast" @ c"GLIBC_2.3.2", fn(*mut c_void) -> c_int, condition),
        )
    }
}

/// A wait is three operations: the mutex is released, the condition was signalled, the mutex is acquired.
pub fn wait_on(condition: *mut c_void, mutex: *mut c_void, call: impl FnOnce() -> c_int) -> c_int {
    if !wanted() {
        return call();
    }
    let (before, released) = (now(), ticket(mutex));
    let result = call();
    let after = now();
    sync(before, before, mutex, released, Operation::Unlock);
    if result == 0 {
        sync(before, after, condition, ticket(condition), Operation::Wait);
    }
    sync(after, after, mutex, ticket(mutex), Operation::Lock);
    result
}

entry! {
    /// Waits.
    fn pthread_cond_wait(condition: *mut c_void, mutex: *mut c_void) -> c_int {
        wait_on(
            condition,
            mutex,
            || original!(c"pthread_cond_wait" @ c"GLIBC_2.3.2", fn(*mut c_void, *mut c_void) -> c_int, condition, mutex),
        )
    }
}

entry! {
    /// Waits.
    fn pthread_cond_timedwait(condition: *mut c_void, mutex: *mut c_void, until: Time) -> c_int {
        wait_on(
            condition,
            mutex,
            || original!(c"pthread_cond_timedwait" @ c"GLIBC_2.3.2", fn(*mut c_void, *mut c_void, Time) -> c_int, condition, mutex, until),
        )
    }
}

entry! {
    /// Waits.
    fn pthread_cond_clockwait(condition: *mut c_void, mutex: *mut c_void, clock: c_int, until: Time) -> c_int {
        wait_on(condition, mutex, || {
            original!(
                c"pthread_cond_clockwait",
                fn(*mut c_void, *mut c_void, c_int, Time) -> c_int,
                condition,
                mutex,
                clock,
                until
            )
        })
    }
}

const BARRIERS: usize = 4096;
static ADDRESSES: [AtomicU64; BARRIERS] = [const { AtomicU64::new(0) }; BARRIERS];
static COUNTS: [AtomicU64; BARRIERS] = [const { AtomicU64::new(0) }; BARRIERS];
static ARRIVALS: [AtomicU64; BARRIERS] = [const { AtomicU64::new(0) }; BARRIERS];

fn barrier(address: u64) -> Option<usize> {
    let first = hash(address);
    (0..64).map(|step| (first + step) % BARRIERS).find(|place| {
        let found = ADDRESSES[*place].load(Acquire);
        found == address
            || found == 0
                && ADDRESSES[*place]
                    .compare_exchange(0, address, AcqRel, Acquire)
                    .map_or_else(|now| now == address, |_| true)
    })
}

/// Makes a barrier.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn pthread_barrier_init(
    object: *mut c_void,
    attributes: *const c_void,
    count: c_uint,
) -> c_int {
    let call = || {
        original!(c"pthread_barrier_init", fn(*mut c_void, *const c_void, c_uint) -> c_int, object, attributes, count)
    };
    let result = call();
    if result == 0 && shared::recording() {
        match barrier(object as u64) {
            Some(place) => {
                COUNTS[place].store(count.into(), Release);
                // Episodes are distinguished by arrivals, those of a former barrier here included.
                let former = ARRIVALS[place].load(Relaxed);
                ARRIVALS[place].store(former.next_multiple_of(u64::from(count).max(1)), Release);
            }
            None => {
                if let Some(header) = shared::header() {
                    header.untracked.fetch_add(1, Relaxed);
                }
            }
        }
    }
    result
}

entry! {
    /// Passes a barrier.
    fn pthread_barrier_wait(object: *mut c_void) -> c_int {
        let call = || original!(c"pthread_barrier_wait", fn(*mut c_void) -> c_int, object);
        let Some(place) = wanted().then(|| barrier(object as u64)).flatten() else {
            return call();
        };
        let (before, arrival) = (now(), ARRIVALS[place].fetch_add(1, AcqRel));
        let result = call();
        let count = COUNTS[place].load(Acquire);
        write(Kind::Barrier, [before, now(), object as u64, arrival, count]);
        result}
}
