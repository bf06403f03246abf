//! Bodies: what the program gives to the stages of a pipeline and to the nodes of a flow graph. Each is a region of the task that runs it, so
//! that a stage or a node that limits the program has a row and a name.
//!
//! A body is known by its function: that of the class through which libtbb calls it, into which it is inlined as a rule; or, if
//! it is a pointer to a function, that. Debug information says the line: addresses all over the function are looked up, and those of
//! functions of the program's own that it calls.
//!
//! **Table**: by function and name, append-only, no locks. **Cost**: two readings of the clock for each run of a body.

use core::cell::Cell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

use workspan_collect::exclude::exclude_next;
use workspan_collect::path;
use workspan_collect::region::{self, CallSite, Place, Region};
use workspan_collect::strand;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::abi::TypeInfo;
use super::{names, state};
use crate::dag::frame::Frame;
use crate::dag::task as rules;
use crate::ompt::events;
use crate::trampoline;

/// More have no rows.
const BODIES: usize = 512;
/// Places of the table that a body may take.
const WAYS: usize = 16;
/// Addresses all over a function.
const PROBES: usize = 12;
/// Calls that are followed through the headers.
const DEEPEST: usize = 4;
/// Bytes of a name.
const TEXT: usize = 320;

/// A body.
#[derive(Debug)]
pub struct Body {
    /// 0: free; 1: being written; 2: constant.
    state: AtomicU32,
    function: Cell<u64>,
    kind: Cell<SiteKind>,
    which: Cell<Which>,
    /// The function first; then, in the order in which they count less, its calls and its own code.
    calls: [Cell<u64>; PROBES + 2],
    length: Cell<u32>,
    text: [Cell<u8>; TEXT],
    text_length: Cell<u32>,
}

// SAFETY: written by whoever took it from free to being written, read when it is constant.
unsafe impl Sync for Body {}

/// Which of an algorithm's bodies it is, and how it may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    /// From 1; 0: they have no order.
    pub number: u32,
    /// How often at a time: 0 for any number.
    pub at_a_time: u32,
    /// One at a time, but in any order.
    pub any_order: bool,
}

static TABLE: [Body; BODIES] = [const {
    Body {
        state: AtomicU32::new(0),
        function: Cell::new(0),
        kind: Cell::new(SiteKind::Stage),
        which: Cell::new(Which { number: 0, at_a_time: 0, any_order: false }),
        calls: [const { Cell::new(0) }; PROBES + 2],
        length: Cell::new(0),
        text: [const { Cell::new(0) }; TEXT],
        text_length: Cell::new(0),
    }
}; BODIES];

/// The body that `function` runs, or what `pointer` points to if that is a function. `None`: there are too many.
///
/// # Safety
///
/// `info` is null, or describes the body's type.
pub unsafe fn of(
    thread: &Thread,
    (kind, which): (SiteKind, Which),
    function: u64,
    pointer: u64,
    info: *const TypeInfo,
) -> Option<&'static Body> {
    let key = |function: u64| function ^ u64::from(which.number) << 56 ^ u64::from(which.at_a_time) << 48;
    let first = |function: u64| (key(function).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize;
    let probed = |function: u64| (0..WAYS).map(move |way| &TABLE[(first(function) + way) % BODIES]);
    let known = |function: u64| {
        let same = |body: &&Body| {
            body.state.load(Ordering::Acquire) == 2
                && (body.function.get(), body.kind.get(), body.which.get()) == (function, kind, which)
        };
        probed(function).find(same)
    };
    if let Some(known) = known(pointer).or_else(|| known(function)) {
        return Some(known);
    }
    exclude_next(thread, || {
        let function = trampoline::function_at(pointer).unwrap_or(function);
        let free = |body: &&Body| body.state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let body = probed(function).find(free)?;
        body.function.set(function);
        body.kind.set(kind);
        body.which.set(which);
        body.look();
        // SAFETY: the caller's promise.
        body.write_text(unsafe { class_name(info) });
        body.state.store(2, Ordering::Release);
        Some(body)
    })
}

/// What the object at `at` has as its first word, if its class, which `info` describes, may be made of pointers to functions.
///
/// # Safety
///
/// As of [`of`]; memory at `at` may be read.
pub unsafe fn pointer(info: *const TypeInfo, at: *const u64) -> u64 {
    // SAFETY: the caller's promise.
    let class = unsafe { class_name(info) };
    if class.windows(2).any(|two| two == b"PF") {
        // SAFETY: the caller's promise.
        unsafe { at.read_unaligned() }
    } else {
        0
    }
}

/// # Safety
///
/// As of [`of`].
unsafe fn class_name(info: *const TypeInfo) -> &'static [u8] {
    // SAFETY: the caller's promise.
    let Some(info) = (unsafe { info.as_ref() }) else { return b"" };
    // SAFETY: a terminated text, a constant of the program.
    let name = unsafe { CStr::from_ptr(info.name) }.to_bytes();
    name.strip_prefix(b"*").unwrap_or(name)
}

impl Body {
    /// Where its code is.
    fn look(&self) {
        let function = self.function.get();
        let mut calls = [0; PROBES + 2];
        (calls[0], calls[1]) = (function, function);
        if let Some(code) = trampoline::code_of(function) {
            if let Some(called) = called_by(code, DEEPEST) {
                calls[1] = called;
            }
            let step = (code.len() as u64 / PROBES as u64).max(1);
            for (at, probe) in calls[2..].iter_mut().rev().enumerate() {
                *probe = function + (at as u64 * step).min(code.len() as u64 - 1);
            }
        } else {
            calls[2..].fill(function);
        }
        self.calls.iter().zip(calls).for_each(|(cell, call)| cell.set(call));
        self.length.set(calls.len() as u32);
    }

    /// The class, and behind it what is to be said of it.
    fn write_text(&self, class: &[u8]) {
        const ROOM: usize = TEXT - 64;
        let class = if class.len() > ROOM { &class[class.len() - ROOM..] } else { class };
        let Which { number, at_a_time, any_order } = self.which.get();
        let mut length = 0;
        let mut push = |text: &[u8]| {
            for byte in text {
                if let Some(cell) = self.text.get(length) {
                    cell.set(*byte);
                    length += 1;
                }
            }
        };
        push(class);
        push(if self.kind.get() == SiteKind::Stage { b" stage" } else { b" node" });
        if number > 0 {
            push(b" ");
            push(digits(number, &mut [0; 2]));
        }
        match (self.kind.get(), at_a_time) {
            (SiteKind::Stage, 0) => push(b", parallel"),
            (SiteKind::Stage, _) if any_order => push(b", serial, in any order"),
            (SiteKind::Stage, _) => push(b", serial"),
            (_, 0) => {}
            (_, 1) => push(b", one message at a time"),
            (_, many) => {
                push(b", ");
                push(digits(many, &mut [0; 2]));
                push(b" messages at a time");
            }
        }
        self.text_length.set(length as u32);
    }

    fn text(&'static self) -> &'static str {
        // SAFETY: constant; a cell is laid out as what it has.
        let bytes =
            unsafe { core::slice::from_raw_parts(self.text.as_ptr().cast::<u8>(), self.text_length.get() as usize) };
        core::str::from_utf8(bytes).unwrap_or("")
    }

    fn site(&'static self) -> CallSite {
        // SAFETY: as in `text`.
        let calls =
            unsafe { core::slice::from_raw_parts(self.calls.as_ptr().cast::<u64>(), self.length.get() as usize) };
        let place = Place::Called { calls, type_name: self.text(), whole: false };
        CallSite { kind: self.kind.get(), place, type_name: || "" }
    }
}

/// A number below 100.
fn digits(number: u32, to: &mut [u8; 2]) -> &[u8] {
    *to = [b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8];
    &to[usize::from(number < 10)..]
}

/// The first function of the program's own that `code` calls, perhaps through headers.
fn called_by(code: &'static [u8], deepest: usize) -> Option<u64> {
    const CALL: u8 = 0xe8;
    let target = |at: usize| {
        let distance: [u8; 4] = code.get(at + 1..at + 5)?.try_into().ok()?;
        let next = code.as_ptr() as u64 + at as u64 + 5;
        trampoline::function_at(next.wrapping_add_signed(i64::from(i32::from_le_bytes(distance))))
    };
    let called = || (0..code.len()).filter(|at| code[*at] == CALL).filter_map(target);
    let own = called().find(|function| !names::is_of_headers(*function));
    own.or_else(|| {
        let deeper = deepest.checked_sub(1)?;
        called().filter_map(trampoline::code_of).find_map(|code| called_by(code, deeper))
    })
}

/// A body that the calling thread runs; over with this, also if it throws an exception.
///
/// No call ([`crate::dag::call`]): what the body sends on is none of its own.
#[derive(Debug)]
pub struct Inside {
    frame: &'static Frame,
    region: Region,
}

/// The task of the calling thread begins to run `body`. `None`: nobody follows it.
pub fn enter(body: &'static Body) -> Option<Inside> {
    let (thread, frame) = state::current()?;
    if thread.task.waiting.get() != 0 || frame.is_initial() {
        return None;
    }
    let at = events::now(thread);
    rules::stop(thread, Some(at));
    path::settle(thread);
    let site = body.site();
    let target = region::target(thread, &site).filter(|target| target.context != strand::context(thread));
    let region = target.map(|target| region::enter_stopped(thread, at, &site, target));
    rules::go(thread, Some(at));
    Some(Inside { frame, region: region? })
}

impl Drop for Inside {
    fn drop(&mut self) {
        let Some((thread, here)) = state::current() else { return };
        if !core::ptr::eq(here, self.frame) || thread.task.waiting.get() != 0 {
            return;
        }
        let at = events::now(thread);
        rules::stop(thread, Some(at));
        region::leave_stopped(thread, at, self.region);
        rules::go(thread, Some(at));
    }
}
