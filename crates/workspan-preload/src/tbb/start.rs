//! libtbb is met for the first time: whether this version is known, and what its hooks cost. What it does when the program first uses it
//! (it looks at the machine, loads its allocator, makes an arena) is nobody's work, and happens once.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use workspan_collect::exclude::exclude_running;
use workspan_collect::shared::Shared;
use workspan_collect::{first_use, platform, process, thread};

use super::abi::VERSIONS;
use super::{calibrate, class, library, run};
use crate::dag::clock;
use crate::modules;
use crate::sync::caller;

const NOT_MET: u8 = 0;
const MEETING: u8 = 1;
const WATCHED: u8 = 2;
const LEFT_ALONE: u8 = 3;

std::thread_local! {
    /// The thread is the one that meets it, and calls it meanwhile.
    static MEETS: Cell<bool> = const { Cell::new(false) };
}

static STATE: AtomicU8 = AtomicU8::new(NOT_MET);

/// True if its tasks are to be followed.
#[inline(always)]
pub fn watched() -> bool {
    match STATE.load(Ordering::Acquire) {
        WATCHED => true,
        LEFT_ALONE => false,
        _ => meet(),
    }
}

#[cold]
fn meet() -> bool {
    let Some(shared) = process::shared() else {
        // Nobody watches this process, or not yet.
        process::count_forked();
        return false;
    };
    if shared.is_idle_only() {
        return false;
    }
    let first = STATE.compare_exchange(NOT_MET, MEETING, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    if !first {
        return !MEETS.get() && met_by_another();
    }
    MEETS.set(true);
    let watched = judge(shared);
    MEETS.set(false);
    watched
}

/// Another thread meets it just now: an algorithm that began before that is over would not be followed, and its tasks would.
fn met_by_another() -> bool {
    const TURNS: u32 = 1_000_000;
    extern "C" {
        fn sched_yield() -> c_int;
    }
    let wait = || {
        for _ in 0..TURNS {
            if STATE.load(Ordering::Acquire) != MEETING {
                break;
            }
            // SAFETY: always may be called.
            unsafe { sched_yield() };
        }
    };
    match thread::hot().filter(|thread| thread.task.waiting.get() == 0) {
        Some(thread) => exclude_running(thread, wait),
        None => wait(),
    }
    STATE.load(Ordering::Acquire) == WATCHED
}

/// An entry point that starts libtbb where it is the first: its first call.
#[derive(Debug)]
pub struct First(AtomicBool);

impl First {
    /// Before the first call.
    pub const fn new() -> First {
        First(AtomicBool::new(true))
    }

    /// The entry point's `work`, which is in no strand the first time.
    #[inline(always)]
    pub fn call<R>(&self, work: impl FnOnce() -> R) -> R {
        if !self.0.load(Ordering::Relaxed) {
            return work();
        }
        self.0.store(false, Ordering::Relaxed);
        // What the collector does then ends strands itself.
        watched();
        once(work)
    }
}

/// Starts libtbb, where the entry point that is the first runs the program's own code: that starts only then.
pub fn begin() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    if BEGUN.load(Ordering::Relaxed) || BEGUN.swap(true, Ordering::Relaxed) {
        return;
    }
    // What the collector does then ends strands itself.
    watched();
    let current = library::find(c"_ZN3tbb6detail2r115current_contextEv");
    if !current.is_null() {
        // SAFETY: libtbb defines it with this signature.
        let current: extern "C" fn() -> *const c_void =
            unsafe { mem::transmute::<*mut c_void, extern "C" fn() -> *const c_void>(current) };
        once(|| current());
    }
}

/// Work of libtbb that is done once: in no strand. What it calls on the way is part of it.
fn once<R>(work: impl FnOnce() -> R) -> R {
    static INSIDE: AtomicBool = AtomicBool::new(false);
    let thread = thread::current().filter(|thread| thread.task.waiting.get() == 0);
    let thread = thread.filter(|thread| !Shared::of(thread).is_virtual());
    match thread.filter(|_| !INSIDE.swap(true, Ordering::Relaxed)) {
        Some(thread) => {
            let result = first_use::exclude(thread, work);
            INSIDE.store(false, Ordering::Relaxed);
            result
        }
        None => work(),
    }
}

fn judge(shared: Shared) -> bool {
    let version = library::find(c"TBB_runtime_interface_version");
    let found = if version.is_null() {
        -1
    } else {
        // SAFETY: libtbb defines it with this signature.
        let version: extern "C" fn() -> c_int =
            unsafe { mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(version) };
        version()
    };
    if !VERSIONS.contains(&found) {
        shared.header().unknown_tbb.store(u64::from(found.unsigned_abs()), Ordering::Relaxed);
        STATE.store(LEFT_ALONE, Ordering::Release);
        return false;
    }
    if let Some(module) = platform::module_of(version as u64) {
        library::is_at(module.base);
        modules::are_workers(module.base);
        caller::forget();
    }
    class::run_by(run::execute, run::cancel);
    clock::use_virtual(shared.is_virtual());
    calibrate::run(shared);
    // What the program may change; it will be no fewer than this.
    let threads = library::find(c"_ZN3tbb6detail2r115max_concurrencyEPKNS0_2d115task_arena_baseE");
    if !threads.is_null() {
        // SAFETY: libtbb defines it with this signature; null is the calling thread's arena.
        let threads: extern "C" fn(*const c_void) -> c_int =
            unsafe { mem::transmute::<*mut c_void, extern "C" fn(*const c_void) -> c_int>(threads) };
        let threads = once(|| threads(core::ptr::null()));
        shared.workers_at_least(u32::try_from(threads).unwrap_or(1));
    }
    STATE.store(WATCHED, Ordering::Release);
    true
}
