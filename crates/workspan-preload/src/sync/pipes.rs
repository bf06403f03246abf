//! Reading and writing pipes, event counters and pairs of sockets, by which threads of a program wake each other: event loops do
//! (libuv, mio), and pipelines of threads.
//!
//! A descriptor that the program did not make itself costs a load; one that it did, an attempt before it waits.

use core::ffi::{c_int, c_void};

use workspan_collect::outside;
use workspan_collect::platform::ErrnoGuard;

use super::descriptors::{self, filled, source};
use super::polls;
use super::shim::{entry, original};
use super::wait::{self, Ended, For};
use crate::tbb::site::Called;

type One = unsafe extern "C-unwind" fn(c_int) -> c_int;
type Two = unsafe extern "C-unwind" fn(c_int, c_int) -> c_int;
type Three = unsafe extern "C-unwind" fn(c_int, c_int, c_int) -> c_int;
type Pipe = unsafe extern "C-unwind" fn(*mut [c_int; 2]) -> c_int;
type Pipe2 = unsafe extern "C-unwind" fn(*mut [c_int; 2], c_int) -> c_int;
type Pair = unsafe extern "C-unwind" fn(c_int, c_int, c_int, *mut [c_int; 2]) -> c_int;
type Transfer = unsafe extern "C-unwind" fn(c_int, *mut c_void, usize) -> isize;

/// The descriptor is about to get something, or to be closed: who waits for that goes on behind the calling thread.
#[inline(always)]
fn fills(called: Called, descriptor: c_int) {
    if let Some(end) = filled(descriptor) {
        wait::wake(called, end.address(), 1);
        let poller = end.polled_by();
        if poller != 0 {
            wait::wake(called, poller, 1);
        }
    }
}

/// What `own` answers, which may wait for `descriptor`.
#[inline(always)]
fn reads(called: Called, descriptor: c_int, own: impl FnOnce() -> isize) -> isize {
    match source(descriptor) {
        None => {
            outside::call();
            own()
        }
        Some(end) => reads_from(called, descriptor, end.address(), own),
    }
}

#[cold]
fn reads_from(called: Called, descriptor: c_int, address: u64, own: impl FnOnce() -> isize) -> isize {
    if polls::is_readable(descriptor) {
        return own();
    }
    let Some(waiting) = wait::begin(called, For::ever(address)) else {
        return own();
    };
    let answer = own();
    let _errno = ErrnoGuard::new();
    // Whoever does not want to wait gets an error.
    waiting.end(if answer < 0 { Ended::AtOnce } else { Ended::Woken });
    answer
}

/// Functions of the C library that read from their first argument: each with the register for its return address.
macro_rules! readers {
    ($($name:ident, $symbol:literal, $register:literal, $here:ident($($argument:ident: $kind:ty),*);)*) => {$(
        entry!($name, $register, $here);
        unsafe extern "C-unwind" fn $here(from: c_int, $($argument: $kind,)* called: Called) -> isize {
            type Own = unsafe extern "C-unwind" fn(c_int, $($kind),*) -> isize;
            // SAFETY: the caller's own.
            reads(called, from, || unsafe { original!($symbol as Own)(from, $($argument),*) })
        }
    )*};
}

readers! {
    read, c"read", "rcx", read_here(to: *mut c_void, size: usize);
    __read_chk, c"__read_chk", "r8", read_checked(to: *mut c_void, size: usize, room: usize);
    readv, c"readv", "rcx", readv_here(parts: *mut c_void, count: c_int);
    recv, c"recv", "r8", recv_here(to: *mut c_void, size: usize, flags: c_int);
    recvmsg, c"recvmsg", "rcx", recvmsg_here(message: *mut c_void, flags: c_int);
}

/// The same of those that write to it.
macro_rules! writers {
    ($($name:ident, $symbol:literal, $register:literal, $here:ident($($argument:ident: $kind:ty),*);)*) => {$(
        entry!($name, $register, $here);
        unsafe extern "C-unwind" fn $here(to: c_int, $($argument: $kind,)* called: Called) -> isize {
            type Own = unsafe extern "C-unwind" fn(c_int, $($kind),*) -> isize;
            fills(called, to);
            // SAFETY: the caller's own.
            unsafe { original!($symbol as Own)(to, $($argument),*) }
        }
    )*};
}

writers! {
    write, c"write", "rcx", write_here(from: *mut c_void, size: usize);
    writev, c"writev", "rcx", writev_here(parts: *mut c_void, count: c_int);
    send, c"send", "r8", send_here(from: *mut c_void, size: usize, flags: c_int);
    sendmsg, c"sendmsg", "rcx", sendmsg_here(message: *mut c_void, flags: c_int);
}

entry!(eventfd_read, "rdx", eventfd_read_here);
unsafe extern "C-unwind" fn eventfd_read_here(from: c_int, value: *mut u64, called: Called) -> c_int {
    // SAFETY: the caller's own; as the C library's function does.
    let read = reads(called, from, || unsafe { original!(c"read" as Transfer)(from, value.cast(), 8) });
    if read == 8 {
        0
    } else {
        -1
    }
}

entry!(eventfd_write, "rdx", eventfd_write_here);
unsafe extern "C-unwind" fn eventfd_write_here(to: c_int, mut value: u64, called: Called) -> c_int {
    fills(called, to);
    // SAFETY: eight bytes on this stack; as the C library's function does.
    let written = unsafe { original!(c"write" as Transfer)(to, (&raw mut value).cast(), 8) };
    if written == 8 {
        0
    } else {
        -1
    }
}

/// `learn` gets to know the two descriptors that a function of the C library has stored, if it has.
///
/// # Safety
///
/// `made` is where it stores them, if it answers 0.
unsafe fn made_two(answer: c_int, made: *const [c_int; 2], learn: fn(c_int, c_int)) -> c_int {
    if answer == 0 {
        // SAFETY: by the contract.
        let [one, other] = unsafe { made.read() };
        learn(one, other);
    }
    answer
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn pipe(made: *mut [c_int; 2]) -> c_int {
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pipe" as Pipe)(made) };
    // SAFETY: as above.
    unsafe { made_two(answer, made, descriptors::made_pipe) }
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn pipe2(made: *mut [c_int; 2], flags: c_int) -> c_int {
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pipe2" as Pipe2)(made, flags) };
    // SAFETY: as above.
    unsafe { made_two(answer, made, descriptors::made_pipe) }
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    made: *mut [c_int; 2],
) -> c_int {
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"socketpair" as Pair)(domain, kind, protocol, made) };
    // SAFETY: as above.
    unsafe { made_two(answer, made, descriptors::made_pair) }
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn eventfd(value: c_int, flags: c_int) -> c_int {
    // SAFETY: the caller's own.
    let made = unsafe { original!(c"eventfd" as Two)(value, flags) };
    descriptors::made_counter(made);
    made
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn dup(descriptor: c_int) -> c_int {
    // SAFETY: the caller's own.
    let made = unsafe { original!(c"dup" as One)(descriptor) };
    descriptors::duplicated(descriptor, made);
    made
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn dup2(descriptor: c_int, to: c_int) -> c_int {
    // SAFETY: the caller's own.
    let made = unsafe { original!(c"dup2" as Two)(descriptor, to) };
    descriptors::duplicated(descriptor, made);
    made
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn dup3(descriptor: c_int, to: c_int, flags: c_int) -> c_int {
    // SAFETY: the caller's own.
    let made = unsafe { original!(c"dup3" as Three)(descriptor, to, flags) };
    descriptors::duplicated(descriptor, made);
    made
}

entry!(close, "rsi", close_here);
unsafe extern "C-unwind" fn close_here(descriptor: c_int, called: Called) -> c_int {
    // Who reads from the other end finds that nothing more will come.
    fills(called, descriptor);
    descriptors::closed(descriptor);
    // SAFETY: the caller's own.
    unsafe { original!(c"close" as One)(descriptor) }
}
