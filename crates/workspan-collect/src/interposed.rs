//! Functions of the C library that an adapter defines first: the next definition to go on to, and threads that are followed
//! from their creation to their end.

use core::ffi::{c_char, c_int, c_void, CStr};
use core::mem::{self, offset_of};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::platform;
use super::run_delay;
use super::thread;
use super::waits::Born;

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlclose(handle: *mut c_void) -> c_int;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn malloc(size: usize) -> *mut c_void;
    fn free(at: *mut c_void);
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;

/// The next definition of a function, looked up once.
#[derive(Debug)]
pub struct Original {
    name: &'static CStr,
    /// Of the symbol; empty for whichever is the default.
    version: &'static CStr,
    at: AtomicPtr<c_void>,
}

impl Original {
    /// Where in it the address is, for entry points that look at nothing else.
    pub const AT: usize = offset_of!(Original, at);

    /// Not looked up yet.
    pub const fn new(name: &'static CStr) -> Original {
        Original { name, version: c"", at: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The same of a function of which a library may have several versions.
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Original {
        Original { name, version, at: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Its address; null if there is none.
    #[inline(always)]
    pub fn get(&self) -> *mut c_void {
        let known = self.at.load(Ordering::Relaxed);
        if known.is_null() {
            self.find()
        } else {
            known
        }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let mut found = ptr::null_mut();
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        if !self.version.is_empty() {
            extern "C" {
                fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
            }
            // SAFETY: terminated names.
            found = unsafe { dlvsym(RTLD_NEXT, self.name.as_ptr(), self.version.as_ptr()) };
        }
        if found.is_null() {
            // SAFETY: a terminated name. The program calls the function, so its runtime defines it.
            found = unsafe { dlsym(RTLD_NEXT, self.name.as_ptr()) };
        }
        if found.is_null() {
            found = in_plugins(self.name);
        }
        self.at.store(found, Ordering::Relaxed);
        found
    }
}

/// The function of this name in a library that was loaded with `RTLD_LOCAL`: what loads it finds our definition first, as all
/// others do, but no search from here comes to the library's own.
#[cold]
fn in_plugins(name: &CStr) -> *mut c_void {
    const RTLD_LAZY: c_int = 1;
    const RTLD_NOLOAD: c_int = 4;
    let own = platform::module_of(in_plugins as *const () as u64).map(|module| module.base);
    let mut room = [0; platform::MOST_PATH];
    // The executable comes first, and has no path.
    for number in 1.. {
        let Some(path) = platform::path_of_module(number, &mut room) else { break };
        // SAFETY: a terminated path; nothing is loaded that is not already.
        let library = unsafe { dlopen(path.as_ptr(), RTLD_LAZY | RTLD_NOLOAD) };
        if library.is_null() {
            continue;
        }
        // SAFETY: an open library, and a terminated name.
        let found = unsafe { dlsym(library, name.as_ptr()) };
        // SAFETY: it was opened above, and stays, since somebody else has loaded it.
        unsafe { dlclose(library) };
        let found_in = platform::module_of(found as u64).map(|module| module.base);
        if !found.is_null() && found_in != own {
            return found;
        }
    }
    ptr::null_mut()
}

/// What a thread runs.
pub type Start = extern "C-unwind" fn(*mut c_void) -> *mut c_void;
/// `pthread_create`.
pub type Create = unsafe extern "C" fn(*mut u64, *const c_void, Start, *mut c_void) -> c_int;
/// `pthread_join`.
pub type Join = unsafe extern "C-unwind" fn(u64, *mut *mut c_void) -> c_int;

/// What the caller passes to `pthread_create`.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// Where the new thread's id goes.
    pub id: *mut u64,
    /// Its attributes.
    pub attributes: *const c_void,
    /// What it runs.
    pub start: Start,
    /// With which argument.
    pub argument: *mut c_void,
}

impl Arguments {
    /// Creates the thread, which nobody follows from its begin.
    ///
    /// # Safety
    ///
    /// `original` is the C library's `pthread_create`, and these are arguments for it.
    pub unsafe fn create(self, original: Create) -> c_int {
        // SAFETY: the caller's own arguments.
        unsafe { original(self.id, self.attributes, self.start, self.argument) }
    }

    /// Creates the thread, which runs what it was created for inside [`Life::run`] of `life`.
    ///
    /// # Safety
    ///
    /// As for [`Arguments::create`].
    pub unsafe fn create_followed<L: Life>(self, original: Create, life: impl FnOnce() -> L) -> c_int {
        // SAFETY: any size may be requested.
        let task = unsafe { malloc(mem::size_of::<Task<L>>()) }.cast::<Task<L>>();
        if task.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { self.create(original) };
        }
        let Arguments { id, attributes, start, argument } = self;
        // SAFETY: fresh memory of the right size, aligned for anything.
        unsafe { task.write(Task { start, argument, life: life(), created: platform::ticks() }) };
        // SAFETY: the caller's arguments, but for start and argument, which are Workspan's pair.
        let answer = unsafe { original(id, attributes, run::<L>, task.cast()) };
        if answer != 0 {
            // SAFETY: no thread was made, so nobody else has it.
            unsafe { free(task.cast()) };
        }
        answer
    }
}

/// What a followed thread does before and after what it was created for.
pub trait Life {
    /// Runs `body`, on the new thread.
    fn run(self, body: impl FnOnce() -> *mut c_void) -> *mut c_void;
}

/// A thread that starts from where its creator is, and calls `end` when it has done what it was created for.
#[derive(Debug)]
pub struct Followed {
    /// Where it starts.
    pub born: Born,
    /// What it calls.
    pub end: fn(),
}

impl Life for Followed {
    fn run(self, body: impl FnOnce() -> *mut c_void) -> *mut c_void {
        self.born.start();
        let result = body();
        (self.end)();
        result
    }
}

/// A worker of a pool, from its begin on: what it waits for until it is ready is no strand of the program's.
#[derive(Debug)]
pub struct Worker;

impl Life for Worker {
    fn run(self, body: impl FnOnce() -> *mut c_void) -> *mut c_void {
        thread::become_worker();
        body()
    }
}

/// What a followed thread is to do.
struct Task<L> {
    start: Start,
    argument: *mut c_void,
    life: L,
    /// Tick at which its creation began.
    created: u64,
}

/// What a followed thread runs.
extern "C-unwind" fn run<L: Life>(task: *mut c_void) -> *mut c_void {
    // SAFETY: the argument that `create_followed` passes, for this thread alone.
    let Task { start, argument, life, created } = unsafe { task.cast::<Task<L>>().read() };
    // SAFETY: allocated by `malloc` there, and not needed any more.
    unsafe { free(task) };
    run_delay::created(created);
    life.run(|| start(argument))
}
