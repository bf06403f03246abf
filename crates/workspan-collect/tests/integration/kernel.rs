//! What hooks ask of the kernel, and what a forked child may do.

use std::ffi::{c_int, c_void, CString};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use tempfile::NamedTempFile;
use workspan_collect::platform;

extern "C" {
    fn pthread_self() -> u64;
    fn pthread_cancel(thread: u64) -> c_int;
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

extern "C-unwind" {
    fn pthread_create(
        thread: *mut u64,
        attributes: *const c_void,
        start: extern "C-unwind" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_join(thread: u64, result: *mut *mut c_void) -> c_int;
}

static CAME_THROUGH: AtomicBool = AtomicBool::new(false);

/// A thread that is to be ended at the next point where that may happen, in a hook.
extern "C-unwind" fn hook(_argument: *mut c_void) -> *mut c_void {
    // SAFETY: always succeeds.
    let this = unsafe { pthread_self() };
    // SAFETY: it is alive, and ends at a point of cancellation only.
    assert_eq!(unsafe { pthread_cancel(this) }, 0);
    platform::run_delay_nanos();
    platform::sleep_nanos(1_000);
    CAME_THROUGH.store(true, Ordering::Relaxed);
    ptr::null_mut()
}

#[test]
fn no_thread_is_cancelled_in_a_hook() {
    let (mut thread, mut result) = (0, ptr::null_mut());
    // SAFETY: the places are valid, and the function is of that type.
    assert_eq!(unsafe { pthread_create(&mut thread, ptr::null(), hook, ptr::null_mut()) }, 0);
    // SAFETY: joined once.
    assert_eq!(unsafe { pthread_join(thread, &mut result) }, 0);
    assert!(CAME_THROUGH.load(Ordering::Relaxed), "it was ended in the middle: {result:?}");
}

#[test]
fn a_forked_child_has_tables_of_its_own() {
    const LENGTH: usize = 8192;
    let file = NamedTempFile::new().expect("a file");
    file.as_file().set_len(LENGTH as u64).expect("room");
    let path = CString::new(file.path().as_os_str().as_bytes()).expect("no zeros");
    let at = NonNull::new(path.as_ptr().cast_mut()).expect("it is an address");
    let base = platform::map_shared(at, LENGTH).expect("it can be mapped");
    let [first, second] = [0, LENGTH - 1].map(|at| {
        // SAFETY: within the mapping.
        unsafe { base.as_ptr().add(at) }
    });
    // SAFETY: the mapping is ours.
    unsafe { first.write_volatile(1) };
    // SAFETY: the child does nothing but what may be done after a fork.
    let child = unsafe { fork() };
    if child == 0 {
        // SAFETY: the mapping is there, and the child has one thread.
        let apart = unsafe { platform::map_apart(at, base, LENGTH) };
        // SAFETY: still mapped.
        let same = unsafe { first.read_volatile() } == 1;
        // SAFETY: as above.
        unsafe { second.write_volatile(2) };
        // SAFETY: ends the child.
        unsafe { _exit(c_int::from(!(apart && same))) };
    }
    let mut status = 0;
    // SAFETY: our child, and a valid place.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    // SAFETY: the mapping is ours.
    assert_eq!(unsafe { second.read_volatile() }, 0);
}

#[test]
fn threads_that_sleep_are_not_runnable() {
    assert!(platform::is_runnable(platform::thread_id()));
    assert!(!platform::is_runnable(0));
    let (number, numbers) = mpsc::channel();
    let (lets, waits) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        number.send(platform::thread_id()).expect("somebody waits for it");
        waits.recv()
    });
    let tid = numbers.recv().expect("it comes");
    while platform::is_runnable(tid) {
        thread::yield_now();
    }
    drop(lets);
    thread.join().expect("it ends").expect_err("nothing was sent");
}
