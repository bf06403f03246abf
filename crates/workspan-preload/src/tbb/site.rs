//! Where the program calls an entry point: the innermost call of its own code in the stack.
//!
//! The call comes from a header's template, inlined into the program's function or not. If not, the stack is unwound once,
//! up to the first function that is none of the headers' ([`names`]) or to the task's own begin. Where each of these return
//! addresses lies on the stack depends on nothing but the first of them, as far as the functions have frames of fixed size:
//! so the next time a few words are compared, and the stack is unwound only if they differ.
//!
//! For a thread whose function runs whatever it is given ([`crate::trampoline`]) the place is one call further up: that of the
//! function which creates it.
//!
//! **Table**: chains, by the first address; append-only, no locks. **Cost** of a known one: as many loads and comparisons as
//! it has addresses.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use workspan_collect::exclude::exclude_next;
use workspan_collect::platform;
use workspan_collect::region::{self, CallSite, Place};
use workspan_collect::strand;
use workspan_collect::tables::{ContextId, Target};
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::class::{self, Class};
use super::{library, names};
use crate::trampoline;

/// Calls in a chain: more than templates nest.
const DEEPEST: usize = 24;
/// Chains that are known at a time.
const CHAINS: usize = 4096;
/// Places of the table that a chain may take.
const WAYS: usize = 16;
/// Words of the stack above an entry point in which a chain's addresses lie.
const REACH: usize = 2048;

/// Return addresses of a call and the calls around it.
struct Chain {
    /// 0: free; 1: being written; 2: constant.
    state: AtomicU32,
    length: Cell<u32>,
    up_to: Cell<UpTo>,
    /// The call in the program's own code first, the entry point's last: one byte into the call's instruction.
    calls: [Cell<u64>; DEEPEST],
    /// The same order: how many words above the entry point's own return address it lies.
    words: [Cell<u32>; DEEPEST],
}

// SAFETY: written by whoever took it from free to being written, read when it is constant.
unsafe impl Sync for Chain {}

static TABLE: [Chain; CHAINS] = [const {
    Chain {
        state: AtomicU32::new(0),
        length: Cell::new(0),
        up_to: Cell::new(UpTo::Program),
        calls: [const { Cell::new(0) }; DEEPEST],
        words: [const { Cell::new(0) }; DEEPEST],
    }
}; CHAINS];

/// How far a chain leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UpTo {
    /// The innermost call of the program's own code.
    Program,
    /// The one around that, if the function that makes the innermost one names this function in its code.
    Caller(u64),
}

/// Where an entry point finds its return address: on the stack.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Called(pub *const u64);

/// The site of a construct of `kind` by the call of an entry point. `None`: the table is full.
pub fn of(thread: &Thread, kind: SiteKind, called: Called, class: &'static Class) -> Option<CallSite> {
    named(thread, kind, called, class.name)
}

/// Where a task of `class` leads that is created here by the call of an entry point. `None`: a table is full.
///
/// A task that the same instruction creates in the same context leads to the same place, if that instruction is the
/// program's own: then nothing is looked up again.
#[inline]
pub fn target(thread: &Thread, class: &'static Class, called: Called) -> Option<Target> {
    // SAFETY: the entry point's caller has pushed it.
    let returns_to = unsafe { called.0.read() };
    let from = strand::context(thread);
    let known = LAST.with(|last| {
        let same = last.returns_to.get() == returns_to && ptr::eq(last.class.get(), class) && last.from.get() == from;
        same.then(|| Target { context: last.to.get(), recursive: last.recursive.get() })
    });
    known.or_else(|| look_up(thread, class, called))
}

#[inline(never)]
fn look_up(thread: &Thread, class: &'static Class, called: Called) -> Option<Target> {
    let site = of(thread, class.kind, called, class)?;
    let target = region::target(thread, &site)?;
    if matches!(site.place, Place::Called { calls: [_], .. }) {
        LAST.with(|last| {
            // SAFETY: as in `target`.
            last.returns_to.set(unsafe { called.0.read() });
            last.class.set(class);
            last.from.set(strand::context(thread));
            last.to.set(target.context);
            last.recursive.set(target.recursive);
        });
    }
    Some(target)
}

/// What a thread's last creation of a task found.
struct Last {
    /// 0: nothing.
    returns_to: Cell<u64>,
    class: Cell<*const Class>,
    from: Cell<ContextId>,
    to: Cell<ContextId>,
    recursive: Cell<bool>,
}

std::thread_local! {
    static LAST: Last = const {
        Last {
            returns_to: Cell::new(0),
            class: Cell::new(ptr::null()),
            from: Cell::new(0),
            to: Cell::new(0),
            recursive: Cell::new(false),
        }
    };
}

/// The same as [`of`] with the name of a class; empty if there is none.
pub fn named(thread: &Thread, kind: SiteKind, called: Called, type_name: &'static str) -> Option<CallSite> {
    let calls = calls(thread, called, UpTo::Program)?;
    // A thread has no class to be known by, and `std::thread::scope` has all that the program creates in it inlined.
    let whole = kind == SiteKind::Thread;
    Some(CallSite { kind, place: Place::Called { calls, type_name, whole }, type_name: || "" })
}

/// The call of the function that creates a thread here to run `start`. `None`: nothing calls it that does not call itself, it
/// runs other functions, too, or the table is full.
pub fn creator(thread: &Thread, called: Called, start: u64) -> Option<CallSite> {
    let [caller, _] = calls(thread, called, UpTo::Caller(start))? else { return None };
    Some(CallSite { kind: SiteKind::Thread, place: Place::Address(*caller), type_name: || "" })
}

fn calls(thread: &Thread, called: Called, up_to: UpTo) -> Option<&'static [u64]> {
    // SAFETY: the entry point's caller has pushed it.
    let innermost = unsafe { called.0.read() }.wrapping_sub(1);
    let slot = (innermost.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % CHAINS;
    for way in 0..WAYS {
        let chain = &TABLE[(slot + way) % CHAINS];
        if chain.state.load(Ordering::Acquire) != 2 {
            break;
        }
        if chain.up_to.get() == up_to && chain.is(innermost, called) {
            return Some(chain.calls());
        }
    }
    exclude_next(thread, || add(slot, called, up_to))
}

impl Chain {
    #[inline]
    fn is(&self, innermost: u64, called: Called) -> bool {
        let length = self.length.get() as usize;
        if self.calls[length - 1].get() != innermost {
            return false;
        }
        (0..length - 1).rev().all(|at| {
            // SAFETY: at most `REACH` words above: the stack of a program's thread begins higher up than that, or else
            // ends with what the C library keeps there.
            let here = unsafe { called.0.add(self.words[at].get() as usize).read() };
            here.wrapping_sub(1) == self.calls[at].get()
        })
    }

    fn calls(&'static self) -> &'static [u64] {
        // SAFETY: constant; a cell is laid out as what it has.
        unsafe { core::slice::from_raw_parts(self.calls.as_ptr().cast::<u64>(), self.length.get() as usize) }
    }
}

/// What is found while the stack is unwound.
struct Unwound {
    called: Called,
    /// Innermost first; the second: on how many words above.
    calls: [(u64, u32); DEEPEST],
    length: usize,
    up_to: UpTo,
    /// Where the function of the innermost call begins.
    creator: u64,
    ours: u64,
    theirs: u64,
}

#[repr(C)]
struct Unwinder {
    _private: [u8; 0],
}

extern "C" {
    fn _Unwind_Backtrace(step: extern "C" fn(*mut Unwinder, *mut c_void) -> c_int, data: *mut c_void) -> c_int;
    fn _Unwind_GetIP(at: *mut Unwinder) -> u64;
    fn _Unwind_GetCFA(at: *mut Unwinder) -> u64;
    fn _Unwind_GetRegionStart(at: *mut Unwinder) -> u64;
}

const GO_ON: c_int = 0;
const STOP: c_int = 5;

extern "C" fn step(at: *mut Unwinder, data: *mut c_void) -> c_int {
    // SAFETY: what `add` passed, which nobody else uses meanwhile.
    let unwound = unsafe { &mut *data.cast::<Unwound>() };
    // SAFETY: the unwinder's own.
    let [address, stack] = unsafe { [_Unwind_GetIP(at), _Unwind_GetCFA(at)] };
    // The stack as it is in this function; below it lies the return address into it.
    let word = stack.wrapping_sub(8).wrapping_sub(unwound.called.0 as u64) / 8;
    if stack.wrapping_sub(8) < unwound.called.0 as u64 {
        return GO_ON;
    }
    let call = address.wrapping_sub(1);
    let module = platform::module_of(call);
    let base = module.map_or(0, |module| module.base);
    // Where a thread begins: no code of the program's own is further up.
    let begins = module.is_some_and(|module| is_named(module.path, b"/libc.so"));
    if unwound.length == DEEPEST || word as usize >= REACH || begins {
        return STOP;
    }
    // libtbb calls itself, too, on behalf of the program: it is known by that call, and has its place further up.
    if word != 0 && (base == unwound.ours || base == unwound.theirs) {
        // SAFETY: the unwinder's own.
        let function = unsafe { _Unwind_GetRegionStart(at) };
        // Where the task begins; elsewhere the entry point of an arena leads back to the headers.
        return if class::is_runner(function) { STOP } else { GO_ON };
    }
    if let UpTo::Caller(start) = unwound.up_to {
        // SAFETY: the unwinder's own.
        let function = unsafe { _Unwind_GetRegionStart(at) };
        if unwound.length > 0 {
            // Recursion has no caller that is worth a name.
            if function != unwound.creator && function != start {
                unwound.calls[unwound.length] = (call, word as u32);
                unwound.length += 1;
            }
            return STOP;
        }
        unwound.creator = function;
        (unwound.calls[0], unwound.length) = ((call, word as u32), 1);
        return if trampoline::names(function, call, start) { GO_ON } else { STOP };
    }
    unwound.calls[unwound.length] = (call, word as u32);
    unwound.length += 1;
    if base == unwound.theirs || names::is_of_headers(call) {
        GO_ON
    } else {
        STOP
    }
}

fn is_named(path: &[u8], name: &[u8]) -> bool {
    path.windows(name.len()).any(|part| part == name)
}

#[cold]
fn add(slot: usize, called: Called, up_to: UpTo) -> Option<&'static [u64]> {
    let ours = platform::module_of(step as *const () as u64).map_or(1, |module| module.base);
    let theirs = library::base();
    let mut unwound = Unwound { called, calls: [(0, 0); DEEPEST], length: 0, up_to, creator: 0, ours, theirs };
    // SAFETY: the function has the expected type, and what it is given lives until the return.
    unsafe { _Unwind_Backtrace(step, (&raw mut unwound).cast()) };
    // SAFETY: as in `calls`.
    let innermost = unsafe { called.0.read() }.wrapping_sub(1);
    if unwound.length == 0 || unwound.calls[0].0 != innermost {
        // There is nothing to unwind by.
        (unwound.calls[0], unwound.length) = ((innermost, 0), 1);
    }
    // The outermost is to be the program's, inlined into a header's function or not.
    let is_library = |call| platform::module_of(call).is_some_and(|module| is_named(module.path, b"/libstdc++.so"));
    while up_to == UpTo::Program && unwound.length > 1 && is_library(unwound.calls[unwound.length - 1].0) {
        unwound.length -= 1;
    }
    let found = &unwound.calls[..unwound.length];
    let outermost = found.len() - 1;
    for way in 0..WAYS {
        let chain = &TABLE[(slot + way) % CHAINS];
        if chain.state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            // A function whose frame has no fixed size lies elsewhere each time: it is the same place.
            let same = || chain.calls().iter().eq(found.iter().rev().map(|(call, _)| call));
            if chain.state.load(Ordering::Acquire) == 2 && chain.up_to.get() == up_to && same() {
                return Some(chain.calls());
            }
            continue;
        }
        for (at, (call, word)) in found.iter().rev().enumerate() {
            chain.calls[at].set(*call);
            chain.words[at].set(if outermost == 0 { 0 } else { *word });
        }
        chain.length.set(found.len() as u32);
        chain.up_to.set(up_to);
        chain.state.store(2, Ordering::Release);
        return Some(chain.calls());
    }
    None
}
