//! Threads that the program itself creates: each starts from its creator's span, and whoever joins it goes on after its end.
//!
//! `pthread_create` and `pthread_join` are defined here first, and go on to the C library's own. Threads of the OpenMP
//! runtime, which runs tasks on them, are left alone.

use core::ffi::{c_int, c_void};
use core::mem;
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::beside;
use workspan_collect::exclude::exclude_next;
use workspan_collect::interposed::{Arguments, Create, Join, Life, Original, Start};
#[cfg(target_arch = "x86_64")]
use workspan_collect::outside;
use workspan_collect::region::{self, CallSite, Place};
use workspan_collect::segment;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::ROOT;
use workspan_collect::thread;
use workspan_collect::wait_graph::{self, Waited};
use workspan_collect::waits::{publish_end_at, Born, Wait};
use workspan_wire::shm::{Thread, MAX_THREADS};
use workspan_wire::site::SiteKind;

use crate::cost;
use crate::dag::frame::Frame;
use crate::dag::{create as tasks, marked, range, solo, task, token};
#[cfg(target_arch = "x86_64")]
use crate::lingering;
use crate::modules::{is_workers, of_the_runtime};
#[cfg(target_arch = "x86_64")]
use crate::queues;
#[cfg(target_arch = "x86_64")]
use crate::sync;
#[cfg(target_arch = "x86_64")]
use crate::tbb;
#[cfg(target_arch = "x86_64")]
use crate::trampoline;

extern "C" {
    fn pthread_self() -> u64;
}

/// By slot: the C library's number of the thread that is there, or was last.
static IDS: [AtomicU64; MAX_THREADS] = [const { AtomicU64::new(0) }; MAX_THREADS];
/// By slot: the tick at which that ended.
static ENDS: [AtomicU64; MAX_THREADS] = [const { AtomicU64::new(0) }; MAX_THREADS];

/// Waits in the kernel where memory is mapped for a thread: its creator for the stack and its guard, itself where it allocates first. Each
/// mapping may be waited for several times.
#[cfg(target_arch = "x86_64")]
const MAPPINGS: u64 = 16;

const EAGAIN: c_int = 11;
const ESRCH: c_int = 3;

/// What a thread of the program, or a worker of its runtime, does around what it was created for.
struct Lives {
    /// None: it is a worker.
    born: Option<Born>,
    /// Where it is created, or what it runs.
    site: Option<CallSite>,
    /// Whose serial code has created it.
    creator: beside::Owner,
}

impl Life for Lives {
    fn run(self, body: impl FnOnce() -> *mut c_void) -> *mut c_void {
        #[cfg(target_arch = "x86_64")]
        let is_followed = self.born.is_some();
        #[cfg(target_arch = "x86_64")]
        outside::maps(MAPPINGS);
        match self.born {
            Some(born) => born.start(),
            None => thread::become_worker(),
        }
        // Goes behind what follows.
        #[cfg(target_arch = "x86_64")]
        let _begun = thread::current().filter(|_| is_followed).and_then(lingering::begins);
        let _end = Over { own: self.site.and_then(|site| enter(&site)), creator: self.creator };
        body()
    }
}

/// A followed thread ends when this goes: by a return, `pthread_exit`, or when it is cancelled.
struct Over {
    own: Option<&'static Frame>,
    creator: beside::Owner,
}

impl Drop for Over {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        sync::wait::ends();
        if let Some(own) = self.own {
            leave(own);
        }
        beside::ends(self.creator);
        publish_end();
    }
}

/// There are, or are about to be, other threads than the calling one.
pub fn several() {
    if solo::enter_multithreaded() {
        cost::several_threads();
    }
}

/// C11's own way to create a thread, which does not lead through `pthread_create`.
///
/// # Safety
///
/// As for the C library's.
#[cfg(target_arch = "x86_64")]
#[no_mangle]
#[unsafe(naked)]
pub unsafe extern "C" fn thrd_create() {
    // Where the return address lies.
    core::arch::naked_asm!("mov rcx, rsp", "jmp {create}", create = sym create_c11)
}

/// # Safety
///
/// As for the C library's.
#[cfg(not(target_arch = "x86_64"))]
#[no_mangle]
pub unsafe extern "C" fn thrd_create(id: *mut u64, start: Start, argument: *mut c_void) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { create_c11(id, start, argument, core::ptr::null()) }
}

/// `start` returns an `int`, which comes in the register that a pointer would come in, and of which whoever joins reads no more.
unsafe extern "C" fn create_c11(id: *mut u64, start: Start, argument: *mut c_void, called: *const u64) -> c_int {
    const ERROR: c_int = 2;
    const NO_MEMORY: c_int = 3;
    const ENOMEM: c_int = 12;
    // SAFETY: the caller's own arguments.
    match unsafe { create(id, core::ptr::null(), start, argument, called) } {
        0 => 0,
        ENOMEM => NO_MEMORY,
        _ => ERROR,
    }
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn thrd_join(id: u64, result: *mut c_int) -> c_int {
    const ERROR: c_int = 2;
    let mut returned = core::ptr::null_mut();
    // SAFETY: the caller's own thread.
    if unsafe { pthread_join(id, &raw mut returned) } != 0 {
        return ERROR;
    }
    // SAFETY: null or the caller's own.
    if let Some(result) = unsafe { result.as_mut() } {
        *result = returned as usize as c_int;
    }
    0
}

/// The calling thread in the middle of a strand.
fn in_strand() -> Option<(&'static Thread, u64)> {
    thread::running().filter(|(thread, _)| thread.task.waiting.get() == 0)
}

/// # Safety
///
/// As for the C library's.
#[cfg(target_arch = "x86_64")]
#[no_mangle]
#[unsafe(naked)]
pub unsafe extern "C" fn pthread_create() {
    // Where the return address lies.
    core::arch::naked_asm!("mov r8, rsp", "jmp {create}", create = sym create)
}

/// # Safety
///
/// As for the C library's.
#[cfg(not(target_arch = "x86_64"))]
#[no_mangle]
pub unsafe extern "C" fn pthread_create(
    id: *mut u64,
    attributes: *const c_void,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { create(id, attributes, start, argument, core::ptr::null()) }
}

/// The place of a thread: the function that it runs; or, if that is of the standard library, where it is created; or, if it
/// runs whatever it is given, that function, or who has it created.
fn site_of(thread: &Thread, start: Start, argument: *const c_void, called: *const u64) -> Option<CallSite> {
    let function = start as usize as u64;
    #[cfg(target_arch = "x86_64")]
    if exclude_next(thread, || tbb::names::is_function_of_headers(function)) {
        return tbb::site::named(thread, SiteKind::Thread, tbb::site::Called(called), "");
    }
    #[cfg(target_arch = "x86_64")]
    if exclude_next(thread, || trampoline::runs_what_it_is_given(function)) {
        if let Some(given) = exclude_next(thread, || trampoline::function_at(argument as u64)) {
            return Some(CallSite { kind: SiteKind::Thread, place: Place::Address(given), type_name: || "" });
        }
        if let Some(site) = tbb::site::creator(thread, tbb::site::Called(called), function) {
            return Some(site);
        }
    }
    let _ = (thread, argument, called);
    Some(CallSite { kind: SiteKind::Thread, place: Place::Address(function), type_name: || "" })
}

unsafe extern "C" fn create(
    id: *mut u64,
    attributes: *const c_void,
    start: Start,
    argument: *mut c_void,
    called: *const u64,
) -> c_int {
    static ORIGINAL: Original = Original::new(c"pthread_create");
    let original = ORIGINAL.get();
    if original.is_null() {
        return EAGAIN;
    }
    // SAFETY: the C library defines it with this signature.
    let original: Create = unsafe { mem::transmute::<*mut c_void, Create>(original) };
    several();
    let worker = is_workers(start as usize as u64);
    let strand = if workspan_collect::process::shared().is_none() || worker || of_the_runtime(start as usize as u64) {
        None
    } else {
        in_strand()
    };
    let arguments = Arguments { id, attributes, start, argument };
    let of_strand = |(thread, now)| {
        #[cfg(target_arch = "x86_64")]
        let now = sync::timer::decide(thread, now, false);
        // What this takes is excluded from what begins behind the strand that ends here.
        #[cfg(target_arch = "x86_64")]
        exclude_next(thread, || {
            outside::is_seen();
            outside::maps(MAPPINGS);
        });
        let site = site_of(thread, start, argument, called);
        let shared = Shared::of(thread);
        let of_serial_code = site.filter(|_| strand::context(thread) == ROOT);
        let target = of_serial_code.and_then(|site| region::target(thread, &site));
        let to = target.map_or(0, |target| shared.context(target.context).site.get().wrapping_add(1));
        let creator = if to == 0 { 0 } else { beside::begins(shared, thread) };
        Lives { born: Some(Born::of_site(thread, now, to)), site, creator }
    };
    match strand {
        // SAFETY: the caller's own arguments, and the C library's function.
        Some(strand) => unsafe { arguments.create_followed(original, || of_strand(strand)) },
        // SAFETY: as above.
        None if worker => unsafe {
            arguments.create_followed(original, || Lives { born: None, site: None, creator: 0 })
        },
        // SAFETY: as above.
        None => unsafe { arguments.create(original) },
    }
}

/// A followed thread has done what it was created for.
fn publish_end() {
    if let Some((thread, now)) = in_strand() {
        #[cfg(target_arch = "x86_64")]
        queues::thread_ends(thread, now);
        if let Some(end) = ENDS.get(Shared::of(thread).slot_of(thread) as usize) {
            end.store(now, Ordering::Relaxed);
        }
        // SAFETY: always succeeds.
        publish_end_at(thread, now, unsafe { pthread_self() });
        range::thread_ends(thread);
        if token::held(thread) {
            token::give(thread);
        }
    }
    thread::detach();
}

/// What the calling thread, which begins, runs is the region of `site`.
fn enter(site: &CallSite) -> Option<&'static Frame> {
    let (thread, now) = in_strand()?;
    beside::reset(Shared::of(thread), thread);
    let frame = Frame::on(thread).or_else(|| tasks::initial(thread))?;
    task::stop(thread, Some(now));
    marked::begin(thread, frame, now, site);
    segment::settle(thread, strand::context(thread));
    let shared = Shared::of(thread);
    let slot = shared.slot_of(thread);
    wait_graph::runs(slot, shared.context(strand::context(thread)).site.get());
    if let Some(known) = IDS.get(slot as usize) {
        // SAFETY: always succeeds.
        known.store(unsafe { pthread_self() }, Ordering::Relaxed);
    }
    task::go(thread, Some(now));
    Some(frame)
}

/// It has run it; `frame` is its own strand's.
fn leave(frame: &'static Frame) {
    let Some((thread, now)) = in_strand() else { return };
    task::stop(thread, Some(now));
    marked::end(thread, frame, now);
    if Frame::on(thread).is_some_and(|here| core::ptr::eq(here, frame)) {
        frame.retire(thread);
    }
    task::go(thread, Some(now));
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn pthread_join(id: u64, result: *mut *mut c_void) -> c_int {
    static ORIGINAL: Original = Original::new(c"pthread_join");
    let original = ORIGINAL.get();
    if original.is_null() {
        return ESRCH;
    }
    // SAFETY: the C library defines it with this signature.
    let original: Join = unsafe { mem::transmute::<*mut c_void, Join>(original) };
    #[cfg(target_arch = "x86_64")]
    let leaving = sync::sleeps::may_leave();
    let strand = if workspan_collect::process::shared().is_none() { None } else { in_strand() };
    let wait = strand.map(|(thread, now)| {
        if token::held(thread) {
            token::give(thread);
        }
        #[cfg(target_arch = "x86_64")]
        let now = sync::wait::stops(thread, now);
        #[cfg(target_arch = "x86_64")]
        drop(leaving);
        Wait::begin_at(thread, now)
    });
    // SAFETY: the caller's own arguments.
    let answer = unsafe { original(id, result) };
    if let Some(wait) = wait {
        let now = thread::waking().map_or(0, |(_, now)| now);
        let took = wait.end_of_thread_at(now, id);
        let known = IDS.iter().position(|known| known.load(Ordering::Relaxed) == id);
        if let (Some((thread, _)), Some(by)) = (strand, known) {
            let shared = Shared::of(thread);
            let (slot, from) = (shared.slot_of(thread), now.wrapping_sub(took as u64));
            let to = ENDS[by].load(Ordering::Relaxed).min(now);
            wait_graph::over(shared, Waited { slot, from, to, by: Some(by as u32), lock: false });
        }
    }
    answer
}
