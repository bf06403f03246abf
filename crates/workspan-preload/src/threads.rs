//! Threads that the program itself creates: each starts from its creator's span, and whoever joins it goes on after its end.
//!
//! `pthread_create` and `pthread_join` are defined here first, and go on to the C library's own. Threads of the OpenMP
//! runtime, which runs tasks on them, are left alone.

use core::ffi::{c_int, c_void};
use core::mem;
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::exclude::exclude_next;
use workspan_collect::platform;
use workspan_collect::region::{CallSite, Place};
use workspan_collect::thread;
use workspan_collect::waits::{publish_end_at, Born, Wait};
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use crate::cost;
use crate::dag::frame::Frame;
use crate::dag::{create as tasks, marked, solo, task, token};
use crate::original::Original;
#[cfg(target_arch = "x86_64")]
use crate::tbb;

/// Load address of the OpenMP runtime.
static RUNTIME: AtomicU64 = AtomicU64::new(0);
/// Load address of a runtime that does not report its workers itself.
static POOL: AtomicU64 = AtomicU64::new(0);

/// `address` lies in the OpenMP runtime.
pub fn leave_alone(address: u64) {
    if let Some(module) = platform::module_of(address) {
        RUNTIME.store(module.base, Ordering::Relaxed);
    }
}

/// Threads that begin in the module that is loaded at `base` are workers.
pub fn are_workers(base: u64) {
    POOL.store(base, Ordering::Relaxed);
}

/// True if code at `address` is the OpenMP runtime's.
pub fn of_the_runtime(address: u64) -> bool {
    lies_in(address, &RUNTIME)
}

fn lies_in(address: u64, base: &AtomicU64) -> bool {
    let base = base.load(Ordering::Relaxed);
    base != 0 && platform::module_of(address).is_some_and(|module| module.base == base)
}

extern "C" {
    fn pthread_self() -> u64;
    fn malloc(size: usize) -> *mut c_void;
    fn free(at: *mut c_void);
}

const EAGAIN: c_int = 11;
const ESRCH: c_int = 3;

type Start = extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(*mut u64, *const c_void, Start, *mut c_void) -> c_int;
type Join = unsafe extern "C-unwind" fn(u64, *mut *mut c_void) -> c_int;

/// What a new thread is to do, and where it starts.
struct Task {
    start: Start,
    argument: *mut c_void,
    /// None: it is a worker.
    born: Option<Born>,
    /// Where it is created, or what it runs.
    site: Option<CallSite>,
}

/// There are, or are about to be, other threads than the calling one.
pub fn several() {
    if solo::over() {
        cost::several_threads();
    }
}

/// C11's own way to create a thread, which does not lead through `pthread_create`. Such a thread is not followed from its begin.
///
/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C" fn thrd_create(id: *mut u64, start: *mut c_void, argument: *mut c_void) -> c_int {
    const THRD_ERROR: c_int = 2;
    type Create = unsafe extern "C" fn(*mut u64, *mut c_void, *mut c_void) -> c_int;
    static ORIGINAL: Original = Original::new(c"thrd_create");
    let original = ORIGINAL.get();
    if original.is_null() {
        return THRD_ERROR;
    }
    // SAFETY: the C library defines it with this signature.
    let original: Create = unsafe { mem::transmute::<*mut c_void, Create>(original) };
    several();
    // SAFETY: the caller's own arguments.
    unsafe { original(id, start, argument) }
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

/// The place of a thread: the function that it runs; or, if that is of the standard library, where it is created.
fn site_of(thread: &Thread, start: Start, called: *const u64) -> Option<CallSite> {
    let function = start as usize as u64;
    #[cfg(target_arch = "x86_64")]
    if tbb::names::is_function_of_headers(function) {
        return tbb::site::named(thread, SiteKind::Thread, tbb::site::Called(called), "");
    }
    let _ = (thread, called);
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
    let worker = lies_in(start as usize as u64, &POOL);
    let strand = if workspan_collect::process::shared().is_none() || worker || of_the_runtime(start as usize as u64) {
        None
    } else {
        in_strand()
    };
    let (born, site) = match strand {
        Some((thread, now)) => {
            let born = Born::at(thread, now);
            (Some(born), exclude_next(thread, || site_of(thread, start, called)))
        }
        None if worker => (None, None),
        // SAFETY: the caller's own arguments.
        None => return unsafe { original(id, attributes, start, argument) },
    };
    // SAFETY: any size may be asked for.
    let task = unsafe { malloc(size_of::<Task>()) }.cast::<Task>();
    if task.is_null() {
        // SAFETY: as above; the thread is then not followed.
        return unsafe { original(id, attributes, start, argument) };
    }
    // SAFETY: fresh memory of the right size, aligned for anything.
    unsafe { task.write(Task { start, argument, born, site }) };
    // SAFETY: the caller's arguments, but for start and argument, which are a pair of ours.
    let answer = unsafe { original(id, attributes, run, task.cast()) };
    if answer != 0 {
        // SAFETY: no thread was made, so nobody else has it.
        unsafe { free(task.cast()) };
    }
    answer
}

/// What a followed thread runs.
extern "C-unwind" fn run(task: *mut c_void) -> *mut c_void {
    // SAFETY: the argument that `pthread_create` above passes, for this thread alone.
    let Task { start, argument, born, site } = unsafe { task.cast::<Task>().read() };
    // SAFETY: allocated by `malloc` there, and not needed any more.
    unsafe { free(task) };
    match born {
        Some(born) => born.start(),
        None => thread::become_worker(),
    }
    let own = site.and_then(|site| enter(&site));
    let result = start(argument);
    if let Some(own) = own {
        leave(own);
    }
    if let Some((thread, now)) = in_strand() {
        // SAFETY: always succeeds.
        publish_end_at(thread, now, unsafe { pthread_self() });
        if token::held(thread) {
            token::give(thread);
        }
    }
    thread::detach();
    result
}

/// What the calling thread, which begins, runs is the region of `site`.
fn enter(site: &CallSite) -> Option<&'static Frame> {
    let (thread, now) = in_strand()?;
    let frame = Frame::on(thread).or_else(|| tasks::initial(thread))?;
    task::stop(thread, Some(now));
    marked::begin(thread, frame, now, site);
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
    let strand = if workspan_collect::process::shared().is_none() { None } else { in_strand() };
    let wait = strand.map(|(thread, now)| {
        if token::held(thread) {
            token::give(thread);
        }
        Wait::begin_at(thread, now)
    });
    // SAFETY: the caller's own arguments.
    let answer = unsafe { original(id, result) };
    if let Some(wait) = wait {
        let now = thread::waking().map_or(0, |(_, now)| now);
        wait.end_of_thread_at(now, id);
    }
    answer
}
