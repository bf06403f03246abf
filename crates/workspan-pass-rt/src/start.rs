//! Beginning: the shared memory is claimed, the modules are described. And the other process after a `fork`.

use core::ffi::{c_int, c_void, CStr};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use workspan_trace::control::FIRST_SEGMENT;
use workspan_trace::shm::{Header, MAGIC, SIZE};
use workspan_trace::VERSION;

use crate::platform::{thread, ticks, RATE};
use crate::{c, messengers, modules, openmp, ring, shared, tbb, threads};

const VARIABLE: &CStr = c"WORKSPAN_TRACE";

/// Runs before the constructors of everything that is linked with this library.
extern "C" fn start(_: c_int, _: *const c_void, _: *const c_void) {
    let errno = c::errno();
    if attach() {
        let thread = thread();
        thread.context.set(ring::new_context() + 1);
        // SAFETY: registers a function that lasts.
        unsafe { c::pthread_atfork(None, None, Some(forked)) };
        modules::register_all();
        if shared::header().is_some_and(|header| header.other_version.load(Relaxed) != 0) {
            // Part of the program writes events that mean something else: nothing is recorded, and `workspan` says why.
            give_up();
            c::set_errno(errno);
            return;
        }
        openmp::find();
        tbb::find();
        messengers::find();
        threads::first();
    }
    c::set_errno(errno);
}

#[used]
#[link_section = ".init_array"]
static START: extern "C" fn(c_int, *const c_void, *const c_void) = start;

/// Maps the shared memory, if there is one, and nobody else has claimed it.
fn attach() -> bool {
    // SAFETY: a text that ends in a zero; nobody changes the environment before `main`.
    let path = unsafe { c::getenv(VARIABLE.as_ptr()) };
    if path.is_null() {
        return false;
    }
    // SAFETY: a text of the environment.
    let file = unsafe { c::open(path, c::O_RDWR | c::O_CLOEXEC) };
    if file < 0 {
        return false;
    }
    // SAFETY: new memory.
    let memory = unsafe { c::mmap(null_mut(), SIZE, c::PROT_READ_WRITE, c::MAP_SHARED | c::MAP_NORESERVE, file, 0) };
    // SAFETY: ours.
    unsafe { c::close(file) };
    if memory as isize == -1 {
        return false;
    }
    // SAFETY: just mapped, and as long as that.
    let header = unsafe { &*memory.cast::<Header>() };
    if claim(header) {
        header.next_id.store(FIRST_SEGMENT, Relaxed);
        let since = ticks();
        header.start.store(since, Relaxed);
        header.rate.store(RATE, Relaxed);
        shared::begin(memory.cast(), since);
        return true;
    }
    // SAFETY: nobody has a reference into it.
    unsafe { c::munmap(memory, SIZE) };
    false
}

/// The process is not recorded after all.
fn give_up() {
    if let Some(header) = shared::header() {
        header.claimed.store(0, Relaxed);
    }
    shared::forget();
}

fn claim(header: &Header) -> bool {
    if header.magic.load(Acquire) != MAGIC {
        return false;
    }
    if header.version.load(Relaxed) != VERSION {
        header.other_version.store(VERSION, Relaxed);
        return false;
    }
    // SAFETY: takes nothing.
    let process = unsafe { c::getpid() }.cast_unsigned();
    let claimed = header.claimed.compare_exchange(0, process, AcqRel, Relaxed).is_ok();
    if !claimed {
        header.refused.fetch_add(1, Relaxed);
    }
    claimed
}

/// The child after `fork` records nothing: the buffer is its parent's.
extern "C" fn forked() {
    if let Some(header) = shared::header() {
        header.refused.fetch_add(1, Relaxed);
    }
    shared::forget();
    let thread = thread();
    thread.chunk.set(0);
    thread.silent.set(true);
    thread.limit.set(null_mut());
    thread.next.set(null_mut());
}
