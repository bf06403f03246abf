//! Threads that look again and again whether something has come: by `sched_yield`, or by short sleeps. See [`workspan_collect::looks`],
//! and [`sleeps`] for who ends sleeps.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::Ordering;

use workspan_collect::platform;
use workspan_collect::shared::Shared;
use workspan_collect::tables::ROOT;
use workspan_collect::wait_graph::{self, Waited};
use workspan_collect::waits::Wait;
use workspan_collect::{looks, outside, strand, thread, timed};
use workspan_wire::shm::Thread;

use super::lookers;
use super::shim::{entry, original};
use super::sleeps;
use super::timer;
use super::wait;
use super::waiters::{self, Left};
use crate::dag::frame::Frame;
use crate::dag::token;
use crate::ompt::events;
use crate::tbb::site::Called;

type Yield = unsafe extern "C-unwind" fn() -> c_int;
type Micros = unsafe extern "C-unwind" fn(c_uint) -> c_int;
type Sleep = unsafe extern "C-unwind" fn(*const c_void, *mut c_void) -> c_int;
type Clocked = unsafe extern "C-unwind" fn(c_int, c_int, *const c_void, *mut c_void) -> c_int;

/// The calling thread in the middle of a strand of the program, with the real clock.
#[inline(always)]
fn in_strand(called: Called) -> Option<(&'static Thread, u64)> {
    thread::hot()?;
    wait::in_strand(called, |thread, now| (thread, now))
}

#[inline(always)]
fn sleep(called: Called, own: impl FnOnce() -> c_int) -> c_int {
    // A look at the kernel's clocks may take long on a busy machine.
    let entered = platform::ticks();
    let leaving = sleeps::may_leave();
    outside::call();
    let Some((thread, now)) = in_strand(called) else {
        drop(leaving);
        return own();
    };
    if token::held(thread) {
        token::give(thread);
    }
    if looks::sleeps_again(thread, entered) && is_alone(thread) {
        drop(leaving);
        return sleeps_again(called, own);
    }
    wait::in_strand(called, |thread, now| {
        timed::sleeps_end(thread, now);
        sleeps::leave(thread, now);
    });
    drop(leaving);
    looks::sleeps(thread, now, own)
}

/// True outside of tasks of runtimes: there strands end without a word about sleeps.
fn is_alone(thread: &Thread) -> bool {
    match Frame::on(thread) {
        Some(frame) => frame.is_initial(),
        None => strand::context(thread) == ROOT,
    }
}

/// The calling thread has only looked since it slept last, and sleeps again.
#[cold]
fn sleeps_again(called: Called, own: impl FnOnce() -> c_int) -> c_int {
    let begun = wait::in_strand(called, |thread, now| {
        // What was left in the middle of a row may be what the thread is about to find.
        if !timed::pending(thread) {
            waiters::watch(thread, sleeps::place());
        }
        (thread, now, Wait::begin_at(thread, now))
    });
    let Some((thread, from, wait)) = begun else { return own() };
    let result = looks::sleeps(thread, from, own);
    let woken = thread::waking().map_or(from, |(_, now)| now);
    looks::woke(thread, woken);
    wait::in_hook(|| {
        let left = waiters::left_to_watcher(thread, sleeps::place());
        let by = left.map(|left| left.slot);
        match left {
            Some(left) => {
                sleeps::were_ended(thread);
                wait.end_behind(woken, left.at, Some(left.parts()));
            }
            None => timed::slept(thread, wait.end_undecided(woken)),
        }
        let shared = Shared::of(thread);
        wait_graph::over(shared, Waited { slot: shared.slot_of(thread), from, to: woken, by, lock: false });
    });
    result
}

/// Where the return address lies, and the registers that calls keep.
///
/// # Safety
///
/// As for the C library's.
#[no_mangle]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn sched_yield() {
    core::arch::naked_asm!(
        "mov rdi, rsp",
        "mov rsi, rbx",
        "mov rdx, rbp",
        "mov rcx, r12",
        "mov r8, r13",
        "mov r9, r14",
        "movq xmm0, r15",
        "jmp {to}",
        to = sym sched_yield_here
    )
}

unsafe extern "C-unwind" fn sched_yield_here(
    called: Called,
    rbx: u64,
    rbp: u64,
    r12: u64,
    r13: u64,
    r14: u64,
    r15: f64,
) -> c_int {
    // SAFETY: always may be called.
    let own = || unsafe { original!(c"sched_yield" as Yield)() };
    match in_strand(called) {
        Some((thread, _)) if token::held(thread) => events::pass_turn(thread, own),
        Some((thread, now)) => {
            if !looks::goes_on(thread, now) {
                lookers::begins(thread, called, [rbx, rbp, r12, r13, r14, r15.to_bits()]);
                waiters::watch_if_free(thread, lookers::place());
                lookers::looked();
            }
            let result = looks::yields(thread, now, own);
            if let Some(left) = waiters::left_to_watcher(thread, lookers::place()) {
                ended_by(called, left);
            }
            result
        }
        None => own(),
    }
}

/// A thread has woken nobody while the calling one looked: it looked for that. Waits of C++'s atomics, barriers and latches yield some
/// times before they sleep, and are woken as if they slept.
#[cold]
fn ended_by(called: Called, left: Left) {
    let mut left = Some(left);
    wait::in_strand(called, |thread, now| {
        if let Some(left) = left.take() {
            looks::was_ended(thread);
            Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts()));
        }
    });
    if let (Some(left), Some(shared)) = (left, workspan_collect::process::shared()) {
        left.release(shared);
    }
}

/// The calling thread wakes `number` of those who wait at `address`, and those who look at it.
#[inline(always)]
pub fn woken(called: Called, address: u64, number: u32) {
    if number > 0 && waiters::bucket(lookers::place()).waiting.load(Ordering::SeqCst) != 0 {
        wake_lookers(called, address);
    }
}

#[cold]
fn wake_lookers(called: Called, address: u64) {
    let sleeps = waiters::bucket(address).waiting.load(Ordering::SeqCst) != 0;
    wait::in_strand(called, |thread, now| {
        // What it has slept for itself is on the path of whoever looks.
        let now = timer::decide(thread, now, false);
        let left = Left::by(thread, now, address);
        waiters::leave_to_some_watchers(thread, lookers::place(), &left, |slot| match sleeps {
            true => lookers::holds(slot, address),
            false => lookers::may_look_at(slot, address),
        });
        left.release(Shared::of(thread));
    });
}

entry!(usleep, "rsi", usleep_here);
unsafe extern "C-unwind" fn usleep_here(micros: c_uint, called: Called) -> c_int {
    // SAFETY: the caller's own.
    sleep(called, || unsafe { original!(c"usleep" as Micros)(micros) })
}

entry!(nanosleep, "rdx", nanosleep_here);
unsafe extern "C-unwind" fn nanosleep_here(time: *const c_void, left: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    sleep(called, || unsafe { original!(c"nanosleep" as Sleep)(time, left) })
}

entry!(clock_nanosleep, "r8", clock_nanosleep_here);
unsafe extern "C-unwind" fn clock_nanosleep_here(
    clock: c_int,
    flags: c_int,
    time: *const c_void,
    left: *mut c_void,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    sleep(called, || unsafe { original!(c"clock_nanosleep" as Clocked)(clock, flags, time, left) })
}
