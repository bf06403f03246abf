//! Threads: each is a context, numbered by whoever creates it.

use core::ffi::{c_int, c_uint, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

use workspan_trace::control::Kind;

use crate::event::{now, wanted, write};
use crate::platform::thread;
use crate::{buffer, c, entry, memory, openmp, original, ring, shared, tbb};

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// What a new thread starts from.
struct Packet {
    start: Start,
    argument: *mut c_void,
    context: u32,
    creator: u32,
    /// Its events go nowhere.
    silent: bool,
}

const KNOWN: usize = 1 << 16;
/// Context of each thread by its handle. Handles are used again: the newest context counts. Nothing is ever removed.
static HANDLES: [AtomicU64; KNOWN] = [const { AtomicU64::new(0) }; KNOWN];
static CONTEXTS: [AtomicU32; KNOWN] = [const { AtomicU32::new(0) }; KNOWN];
/// Whose destructor notes the end of a thread.
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);
/// Rounds of destructors that a thread goes through at most.
const ROUNDS: usize = 4;

/// The first thread, once the shared memory is there.
pub fn first() {
    let mut key: c_uint = 0;
    // SAFETY: a place for the key, and a function that lasts.
    if unsafe { c::pthread_key_create(&raw mut key, Some(ended)) } == 0 {
        KEY.store(key, Relaxed);
    }
    watch(ROUNDS);
    remember(thread().context.get().wrapping_sub(1));
    write(Kind::Begin, [now(), 0]);
    variables();
}

fn watch(rounds: usize) {
    // SAFETY: the key has been made; the value is no address.
    unsafe { c::pthread_setspecific(KEY.load(Relaxed), rounds as *const c_void) };
}

fn place(handle: u64) -> Option<usize> {
    let first = (handle >> 6).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 16;
    (0..64).map(|step| (first + step) % KNOWN).find(|place| {
        let found = HANDLES[*place].load(Acquire);
        found == handle
            || found == 0
                && HANDLES[*place]
                    .compare_exchange(0, handle, AcqRel, Acquire)
                    .map_or_else(|now| now == handle, |_| true)
    })
}

fn insert(handle: u64, context: u32) {
    match place(handle) {
        Some(place) => {
            CONTEXTS[place].fetch_max(context + 1, AcqRel);
        }
        None => {
            if let Some(header) = shared::header() {
                header.untracked.fetch_add(1, Relaxed);
            }
        }
    }
}

/// The calling thread has this context.
fn remember(context: u32) {
    // SAFETY: takes nothing.
    insert(unsafe { c::pthread_self() } as u64, context);
}

/// Context + 1 of a thread, or 0.
fn context_of(handle: usize) -> u32 {
    place(handle as u64).map_or(0, |place| CONTEXTS[place].load(Acquire))
}

/// `pthread_create`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn pthread_create(
    handle: *mut usize,
    attributes: *const c_void,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let call = |start: Start, argument: *mut c_void| {
        original!(
            c"pthread_create",
            fn(*mut usize, *const c_void, Start, *mut c_void) -> c_int,
            handle,
            attributes,
            start,
            argument
        )
    };
    create(handle, start, argument, call)
}

/// `thrd_create`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn thrd_create(handle: *mut usize, start: Start, argument: *mut c_void) -> c_int {
    // The function returns an int, which takes the same register as a pointer.
    let call = |start: Start, argument: *mut c_void| {
        original!(c"thrd_create", fn(*mut usize, Start, *mut c_void) -> c_int, handle, start, argument)
    };
    create(handle, start, argument, call)
}

fn create(
    handle: *mut usize,
    start: Start,
    argument: *mut c_void,
    call: impl FnOnce(Start, *mut c_void) -> c_int,
) -> c_int {
    let silent = shared::recording() && thread().paused.get();
    if !silent && !wanted() {
        return call(start, argument);
    }
    // A thread that has written nothing yet has no context.
    if thread().context.get() == 0 && !silent {
        write(Kind::Gap, [now()]);
    }
    let before = now();
    let context = if silent { 0 } else { ring::new_context() };
    // A thread of a runtime runs tasks, which are contexts of their own: who makes it is nobody's business.
    let of_runtime = is_runtime(start as usize);
    let creator = if of_runtime { 0 } else { thread().context_now() };
    // SAFETY: as any allocation.
    let packet = unsafe { c::__libc_malloc(size_of::<Packet>()) }.cast::<Packet>();
    if packet.is_null() {
        return call(start, argument);
    }
    // SAFETY: just allocated, for one.
    unsafe { packet.write(Packet { start, argument, context, creator, silent }) };
    let result = call(begin, packet.cast());
    if result == 0 && !silent {
        // SAFETY: the original has written it.
        insert(unsafe { *handle } as u64, context);
    } else if result != 0 {
        // SAFETY: no thread has taken it.
        unsafe { c::__libc_free(packet.cast()) };
    }
    if !of_runtime && !silent {
        write(Kind::Create, [before, now(), if result == 0 { u64::from(context) + 1 } else { 0 }]);
    }
    result
}

/// # Safety
/// The C library calls it in a new thread, with a packet.
unsafe extern "C-unwind" fn begin(packet: *mut c_void) -> *mut c_void {
    // SAFETY: made by `pthread_create` for this thread alone.
    let Packet { start, argument, context, creator, silent } = unsafe { packet.cast::<Packet>().read() };
    // SAFETY: allocated there.
    unsafe { c::__libc_free(packet) };
    if silent {
        thread().silent.set(true);
        // Threads that it makes are the library's, too.
        thread().paused.set(true);
    } else if shared::recording() {
        let thread = thread();
        thread.context.set(context + 1);
        remember(context);
        watch(ROUNDS);
        write(Kind::Begin, [now(), creator.into()]);
        if let Some((address, size)) = stack() {
            memory::allocated(address as *mut c_void, size);
        }
        variables();
    }
    // SAFETY: the program's function and its argument.
    unsafe { start(argument) }
}

/// Notes where the variables are that the calling thread has for itself.
fn variables() {
    /// # Safety
    /// The loader calls it, with a description of an object.
    unsafe extern "C" fn note(info: *mut c::ObjectInfo, size: usize, _: *mut c_void) -> c_int {
        if size >= size_of::<c::ObjectInfo>() {
            // SAFETY: valid during the call, and as large as that.
            if let Some((address, bytes)) = unsafe { &*info }.variables() {
                write(Kind::Local, [address as u64, bytes as u64]);
            }
        }
        0
    }
    // SAFETY: the function above takes nothing but a description.
    unsafe { c::dl_iterate_phdr(note, null_mut()) };
}

/// The calling thread's stack: the memory of a former thread's, perhaps.
fn stack() -> Option<(usize, usize)> {
    let thread = thread();
    let was = thread.busy.replace(true);
    let mut attributes = MaybeUninit::<[u64; 16]>::zeroed();
    let (mut address, mut size) = (null_mut(), 0);
    let attributes = attributes.as_mut_ptr().cast::<c_void>();
    // SAFETY: always succeeds.
    let own = unsafe { c::pthread_self() };
    // SAFETY: an attribute object has 56 bytes (64 on some processors).
    let known = unsafe { c::pthread_getattr_np(own, attributes) } == 0;
    if known {
        // SAFETY: filled in above, and places for the answers.
        unsafe { c::pthread_attr_getstack(attributes, &raw mut address, &raw mut size) };
        // SAFETY: filled in above.
        unsafe { c::pthread_attr_destroy(attributes) };
    }
    thread.busy.set(was);
    (known && !address.is_null()).then_some((address as usize, size))
}

/// # Safety
/// The C library calls it when a thread ends, with what [`watch`] has set.
unsafe extern "C" fn ended(rounds: *mut c_void) {
    // Other destructors may still run instrumented code: the last round is ours.
    if rounds as usize > 1 {
        watch(rounds as usize - 1);
        return;
    }
    if shared::recording() {
        if let Some((address, _)) = stack() {
            memory::released(address as *mut c_void);
        }
        write(Kind::End, [now()]);
    }
    buffer::end(thread());
}

fn is_runtime(address: usize) -> bool {
    openmp::owns(address) || tbb::owns(address)
}

fn join(handle: usize, call: impl FnOnce() -> c_int) -> c_int {
    let noted = (wanted() && !is_runtime(thread().caller.get())).then(|| (now(), context_of(handle)));
    let status = call();
    if let Some((before, context)) = noted.filter(|_| status == 0) {
        write(Kind::Join, [before, now(), context.into()]);
    }
    status
}

type Result = *mut *mut c_void;
macro_rules! joins {
    ($($(#[$text:meta])* $symbol:ident $name:literal ($($argument:ident: $type:ty),*);)*) => {$(
        entry! {
            $(#[$text])*
            fn $symbol(handle: usize $(, $argument: $type)*) -> c_int {
                join(handle, || original!($name, fn(usize $(, $type)*) -> c_int, handle $(, $argument)*))
            }
        }
    )*};
}

joins! {
    /// `pthread_join`.
    pthread_join c"pthread_join" (result: Result);
    /// Waits no longer than until a time.
    pthread_timedjoin_np c"pthread_timedjoin_np" (result: Result, until: *const c_void);
    /// As above.
    pthread_clockjoin_np c"pthread_clockjoin_np" (result: Result, clock: c_int, until: *const c_void);
    /// Does not wait.
    pthread_tryjoin_np c"pthread_tryjoin_np" (result: Result);
    /// `thrd_join`.
    thrd_join c"thrd_join" (result: *mut c_int);
}
