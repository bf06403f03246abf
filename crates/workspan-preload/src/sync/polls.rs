//! Waits for several descriptors at once, of which a thread of the program may fill one: `poll` and `epoll`. See [`super::pipes`].

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use workspan_collect::outside;
use workspan_collect::platform::ErrnoGuard;

use super::descriptors::{address_of_set, source};
use super::shim::{entry, original};
use super::wait::{self, Ended, For};
use crate::tbb::site::Called;

type Poll = unsafe extern "C-unwind" fn(*mut Asked, u64, c_int) -> c_int;
type Ppoll = unsafe extern "C-unwind" fn(*mut Asked, u64, *const Time, *const c_void) -> c_int;
type Checked = unsafe extern "C-unwind" fn(*mut Asked, u64, c_int, usize) -> c_int;
type Wait = unsafe extern "C-unwind" fn(c_int, *mut c_void, c_int, c_int) -> c_int;
type Masked = unsafe extern "C-unwind" fn(c_int, *mut c_void, c_int, c_int, *const c_void) -> c_int;
type Control = unsafe extern "C-unwind" fn(c_int, c_int, c_int, *mut c_void) -> c_int;

/// `struct pollfd`.
#[repr(C)]
#[derive(Debug)]
pub struct Asked {
    descriptor: c_int,
    events: i16,
    found: i16,
}

/// `struct timespec`.
#[repr(C)]
#[derive(Debug)]
pub struct Time {
    seconds: i64,
    nanos: i64,
}

/// Polls of more descriptors at once are not followed: it would cost more than the wait.
const MOST: u64 = 64;

/// True if `descriptor` has something to read, or never will have: who reads does not wait.
pub fn is_readable(descriptor: c_int) -> bool {
    let _errno = ErrnoGuard::new();
    let mut asked = Asked { descriptor, events: READABLE, found: 0 };
    // SAFETY: one entry, which is ours; it does not wait.
    unsafe { original!(c"poll" as Poll)(&raw mut asked, 1, 0) != 0 }
}

const READABLE: i16 = 1;

/// Where who polls these waits, if a thread of the program may fill one, which finds them there.
///
/// # Safety
///
/// There are `count` at `asked`.
#[inline(always)]
unsafe fn address_of(asked: *const Asked, count: u64) -> Option<u64> {
    if count > MOST {
        return None;
    }
    let waits_at = asked as u64;
    let mut any = None;
    for number in 0..count as usize {
        // SAFETY: by the contract.
        let asked = unsafe { asked.add(number) };
        // SAFETY: as above.
        let Asked { descriptor, events, .. } = unsafe { asked.read() };
        if let Some(end) = source(descriptor).filter(|_| events & READABLE != 0) {
            end.set_polled_by(waits_at);
            any = Some(waits_at);
        }
    }
    any
}

/// What `own` answers, given the milliseconds for which it may wait, at `address`; below 0 without a limit.
#[inline(always)]
fn by_millis(called: Called, address: Option<u64>, millis: c_int, own: impl Fn(c_int) -> c_int) -> c_int {
    match address {
        Some(address) if millis != 0 => waits(called, at(address, millis > 0), || own(0), || own(millis)),
        _ => {
            outside::call();
            own(millis)
        }
    }
}

/// What `own` answers, which waits for what is `wanted`, unless `ready` finds that at once.
#[cold]
fn waits(called: Called, wanted: For, ready: impl FnOnce() -> c_int, own: impl FnOnce() -> c_int) -> c_int {
    let found = ready();
    if found != 0 {
        return found;
    }
    let Some(waiting) = wait::begin(called, wanted) else {
        return own();
    };
    let answer = own();
    let _errno = ErrnoGuard::new();
    waiting.end(match answer {
        0 => Ended::TimedOut,
        1.. => Ended::Woken,
        _ => Ended::AtOnce,
    });
    answer
}

fn at(address: u64, limited: bool) -> For {
    For { limited, ..For::ever(address) }
}

entry!(poll, "rcx", poll_here);
unsafe extern "C-unwind" fn poll_here(asked: *mut Asked, count: u64, millis: c_int, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = |millis| unsafe { original!(c"poll" as Poll)(asked, count, millis) };
    // SAFETY: as above.
    by_millis(called, unsafe { address_of(asked, count) }, millis, own)
}

entry!(__poll_chk, "r8", poll_checked);
unsafe extern "C-unwind" fn poll_checked(
    asked: *mut Asked,
    count: u64,
    millis: c_int,
    room: usize,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    let own = |millis| unsafe { original!(c"__poll_chk" as Checked)(asked, count, millis, room) };
    // SAFETY: as above.
    by_millis(called, unsafe { address_of(asked, count) }, millis, own)
}

entry!(ppoll, "r8", ppoll_here);
unsafe extern "C-unwind" fn ppoll_here(
    asked: *mut Asked,
    count: u64,
    time: *const Time,
    mask: *const c_void,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    let own = |time| unsafe { original!(c"ppoll" as Ppoll)(asked, count, time, mask) };
    // SAFETY: as above.
    let Some(address) = (unsafe { address_of(asked, count) }) else {
        outside::call();
        return own(time);
    };
    let none = Time { seconds: 0, nanos: 0 };
    waits(called, at(address, !time.is_null()), || own(&raw const none), || own(time))
}

/// Sets of descriptors, by number, in which there has been one that a thread of the program may fill.
static SETS: [AtomicU32; 128] = [const { AtomicU32::new(0) }; 128];

fn bit(set: c_int) -> Option<(&'static AtomicU32, u32)> {
    let set = u32::try_from(set).ok()?;
    Some((SETS.get(set as usize / 32)?, 1 << (set % 32)))
}

/// Where who waits by this set waits, if it has, or has had, such a descriptor.
fn address_of_concerned(set: c_int) -> Option<u64> {
    let (word, bit) = bit(set)?;
    (word.load(Ordering::Relaxed) & bit != 0).then(|| address_of_set(set))
}

entry!(epoll_wait, "r8", epoll_wait_here);
unsafe extern "C-unwind" fn epoll_wait_here(
    set: c_int,
    found: *mut c_void,
    most: c_int,
    millis: c_int,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    let own = |millis| unsafe { original!(c"epoll_wait" as Wait)(set, found, most, millis) };
    by_millis(called, address_of_concerned(set), millis, own)
}

entry!(epoll_pwait, "r9", epoll_pwait_here);
unsafe extern "C-unwind" fn epoll_pwait_here(
    set: c_int,
    found: *mut c_void,
    most: c_int,
    millis: c_int,
    mask: *const c_void,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    let own = |millis| unsafe { original!(c"epoll_pwait" as Masked)(set, found, most, millis, mask) };
    by_millis(called, address_of_concerned(set), millis, own)
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn epoll_ctl(
    set: c_int,
    operation: c_int,
    descriptor: c_int,
    event: *mut c_void,
) -> c_int {
    const REMOVE: c_int = 2;
    if let Some(end) = source(descriptor) {
        if operation == REMOVE {
            end.set_polled_by(0);
        } else if let Some((word, bit)) = bit(set) {
            end.set_polled_by(address_of_set(set));
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }
    // SAFETY: the caller's own.
    unsafe { original!(c"epoll_ctl" as Control)(set, operation, descriptor, event) }
}
