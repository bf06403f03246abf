//! Linux: the kernel's clocks and counters, and the shared memory. C functions are declared here so that the
//! collector needs no other crate.
//!
//! **No cancellation.** A thread that has been asked to end (`pthread_cancel`) does so in the C library's `open`, `read`, `close`
//! and `nanosleep`, by unwinding its stack: through hooks, which cannot be unwound. So hooks call none of these, but
//! the kernel itself, by `syscall`, where no thread is ended.

use core::cell::Cell;
use core::ffi::{c_char, c_int, c_long, c_ulong, c_void, CStr};
use core::ptr::{self, NonNull};

use super::{Module, Transfers, Usage, MOST_PATH};

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanos: i64,
}

extern "C" {
    fn clock_gettime(clock: c_int, at: *mut Timespec) -> c_int;
    fn getrusage(who: c_int, usage: *mut c_long) -> c_int;
    fn getenv(name: *const c_char) -> *const c_char;
    fn getauxval(kind: c_ulong) -> c_ulong;
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn mmap(at: *mut c_void, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> c_int;
    pub(super) fn madvise(at: *mut c_void, length: usize, advice: c_int) -> c_int;
    fn getpid() -> c_int;
    fn readlink(path: *const c_char, to: *mut u8, room: usize) -> isize;
    fn syscall(number: c_long, ...) -> c_long;
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
    fn __errno_location() -> *mut c_int;
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    pub(super) fn dl_iterate_phdr(
        visit: extern "C" fn(*const ObjectInfo, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// `struct dl_phdr_info`, as far as we read it.
#[repr(C)]
pub(super) struct ObjectInfo {
    pub(super) base: u64,
    name: *const c_char,
    pub(super) headers: *const ProgramHeader,
    pub(super) header_count: u16,
}

/// `Elf64_Phdr`.
#[repr(C)]
pub(super) struct ProgramHeader {
    pub(super) kind: u32,
    pub(super) flags: u32,
    offset: u64,
    pub(super) address: u64,
    physical: u64,
    file_size: u64,
    pub(super) memory_size: u64,
    align: u64,
}

const CLOCK_MONOTONIC: c_int = 1;
const CLOCK_PROCESS_CPUTIME: c_int = 2;
const CLOCK_THREAD_CPUTIME: c_int = 3;
const RUSAGE_THREAD: c_int = 1;
const O_RDWR: c_int = 2;
const O_CLOEXEC: c_int = 0o2000000;
const PROT_READ_WRITE: c_int = 3;
const MAP_SHARED: c_int = 1;
const MAP_PRIVATE: c_int = 2;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_NORESERVE: c_int = 0x4000;
const MAP_FAILED: *mut c_void = -1isize as *mut c_void;
const SEEK_END: c_int = 2;
const X86_64: bool = cfg!(target_arch = "x86_64");
const SYS_GETTID: c_long = if X86_64 { 186 } else { 178 };
const SYS_READ: c_long = if X86_64 { 0 } else { 63 };
const SYS_CLOSE: c_long = if X86_64 { 3 } else { 57 };
const SYS_OPENAT: c_long = if X86_64 { 257 } else { 56 };
const SYS_NANOSLEEP: c_long = if X86_64 { 35 } else { 101 };

/// As the C library's `open`.
///
/// # Safety
///
/// `path` is terminated.
unsafe fn open(path: *const c_char, flags: c_int) -> c_int {
    const AT_FDCWD: c_long = -100;
    // SAFETY: the caller's promise; the other arguments are numbers.
    unsafe { syscall(SYS_OPENAT, AT_FDCWD, path, c_long::from(flags), 0u64) as c_int }
}

/// As the C library's `read`.
///
/// # Safety
///
/// `buffer` is valid for `length` bytes.
pub(super) unsafe fn read(fd: c_int, buffer: *mut c_void, length: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe { syscall(SYS_READ, c_long::from(fd), buffer, length) as isize }
}

/// As the C library's `close`.
///
/// # Safety
///
/// Nobody else uses `fd`.
pub(super) unsafe fn close(fd: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { syscall(SYS_CLOSE, c_long::from(fd)) as c_int }
}

/// Keeps the program's `errno` through the collector's system calls.
#[derive(Debug)]
pub struct ErrnoGuard(c_int);

impl ErrnoGuard {
    /// Remembers `errno`.
    pub fn new() -> ErrnoGuard {
        // SAFETY: always succeeds.
        let errno = unsafe { __errno_location() };
        // SAFETY: it is the address of the calling thread's own `errno`.
        ErrnoGuard(unsafe { *errno })
    }
}

impl Drop for ErrnoGuard {
    fn drop(&mut self) {
        // SAFETY: always succeeds.
        let errno = unsafe { __errno_location() };
        // SAFETY: it is the address of the calling thread's own `errno`.
        unsafe { *errno = self.0 }
    }
}

fn clock_nanos(clock: c_int) -> u64 {
    let mut at = Timespec { seconds: 0, nanos: 0 };
    // SAFETY: `at` is a valid place for the answer; a failure leaves it zero.
    unsafe { clock_gettime(clock, &mut at) };
    (at.seconds as u64).wrapping_mul(1_000_000_000).wrapping_add(at.nanos as u64)
}

/// `CLOCK_MONOTONIC`, in nanoseconds.
pub fn monotonic_nanos() -> u64 {
    clock_nanos(CLOCK_MONOTONIC)
}

/// Time the calling thread has had a CPU, in nanoseconds.
pub fn thread_cpu_nanos() -> u64 {
    clock_nanos(CLOCK_THREAD_CPUTIME)
}

/// Time all threads of the process have had a CPU, in nanoseconds.
pub fn process_cpu_nanos() -> u64 {
    clock_nanos(CLOCK_PROCESS_CPUTIME)
}

/// Counters of the calling thread.
pub fn thread_usage() -> Usage {
    // `struct rusage`: two pairs of long (times), then 14 longs: 8 and 9 are the page faults, 11 is input, 16 and 17 the
    // switches.
    let mut raw: [c_long; 18] = [0; 18];
    // SAFETY: the array has the size of `struct rusage` on 64-bit Linux; a failure leaves it zero.
    unsafe { getrusage(RUSAGE_THREAD, raw.as_mut_ptr()) };
    Usage {
        voluntary: raw[16] as u64,
        involuntary: raw[17] as u64,
        minor_faults: raw[8] as u64,
        major_faults: raw[9] as u64,
        input: raw[11] as u64,
    }
}

/// Time the calling thread was ready and had to wait for a CPU, in nanoseconds, if the kernel counts it
/// (`CONFIG_SCHED_INFO`).
pub fn run_delay_nanos() -> Option<u64> {
    let mut text = [0u8; 64];
    let text = read_own(c"/proc/thread-self/schedstat", &mut text)?;
    // "on-CPU-ns run-delay-ns slices"
    number(text.split(|b| *b == b' ').nth(1)?)
}

std::thread_local! {
    /// Reads of the calling thread that were the collector's.
    static OWN_READS: Cell<Transfers> = const { Cell::new(Transfers::NONE) };
}

/// What the calling thread has read and written by system calls, without the collector's, if the kernel counts it
/// (`CONFIG_TASK_IO_ACCOUNTING`).
pub fn transfers() -> Option<Transfers> {
    let own = OWN_READS.get();
    let mut text = [0u8; 256];
    let text = read_own(c"/proc/thread-self/io", &mut text)?;
    let of = |name: &[u8]| number(text.split(|b| *b == b'\n').find_map(|line| line.strip_prefix(name))?);
    let (number, bytes) = (of(b"syscr: ")? + of(b"syscw: ")?, of(b"rchar: ")? + of(b"wchar: ")?);
    Some(Transfers { number, bytes }.since(own))
}

/// Bytes of the kernel's file that says which processors there are; 0: there is none.
pub fn processors_length() -> u64 {
    read_own(c"/sys/devices/system/cpu/online", &mut [0u8; 64]).map_or(0, |text| text.len() as u64)
}

/// True if the thread of this process with this number is on a processor, or waits for one, as far as the kernel says.
pub fn is_runnable(tid: u32) -> bool {
    const DIGITS: usize = 10;
    let mut path = *b"/proc/self/task/0000000000/stat\0";
    let at = b"/proc/self/task/".len();
    let mut rest = tid;
    for digit in path[at..at + DIGITS].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // The kernel knows no number that begins with 0.
    let zeros = path[at..at + DIGITS - 1].iter().take_while(|digit| **digit == b'0').count();
    path.copy_within(at + zeros.., at);
    let mut text = [0u8; 128];
    let stat = CStr::from_bytes_until_nul(&path).ok().and_then(|path| read_own(path, &mut text));
    // "number (name) state"; a name may have parentheses.
    let state = stat.and_then(|stat| stat.get(stat.iter().rposition(|byte| *byte == b')')? + 2));
    state == Some(&b'R')
}

/// What a file of the kernel about the calling thread, or one of this process, says.
fn read_own<'t>(path: &CStr, text: &'t mut [u8]) -> Option<&'t [u8]> {
    // SAFETY: a terminated path and valid flags.
    let fd = unsafe { open(path.as_ptr(), O_CLOEXEC) };
    if fd < 0 {
        return None;
    }
    // SAFETY: the buffer is valid for its length.
    let length = unsafe { read(fd, text.as_mut_ptr().cast(), text.len()) };
    let Transfers { number, bytes } = OWN_READS.get();
    OWN_READS.set(Transfers { number: number + 1, bytes: bytes + u64::try_from(length).unwrap_or(0) });
    // SAFETY: `fd` was opened here and is closed once.
    unsafe { close(fd) };
    text.get(..usize::try_from(length).ok()?)
}

fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, digit| {
        digit.is_ascii_digit().then(|| value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
    })
}

/// The process id.
pub fn process_id() -> u32 {
    // SAFETY: always succeeds.
    unsafe { getpid() as u32 }
}

/// The kernel's id of the calling thread.
pub fn thread_id() -> u32 {
    // SAFETY: takes no argument and always succeeds.
    unsafe { syscall(SYS_GETTID) as u32 }
}

/// True if the program has rights that its caller has not: set-uid, set-gid, file capabilities. The caller's environment
/// then must not decide what it loads or where it writes.
fn is_privileged() -> bool {
    const AT_SECURE: c_ulong = 23;
    // SAFETY: always succeeds; 0 where the kernel says nothing.
    unsafe { getauxval(AT_SECURE) != 0 }
}

/// Value of an environment variable; `name` ends with a zero byte. None in a program with more rights than its caller
/// ([`is_privileged`]).
pub fn environment(name: &[u8]) -> Option<NonNull<c_char>> {
    debug_assert_eq!(name.last(), Some(&0));
    if is_privileged() {
        return None;
    }
    // SAFETY: `name` is terminated. The collector reads the environment only before `main`.
    NonNull::new(unsafe { getenv(name.as_ptr().cast()) } as *mut c_char)
}

/// Maps `length` bytes of the file at `path` (terminated), shared. The file descriptor is closed again. None if the file is
/// shorter: to touch what lies behind its end would kill the program. The runner seals it, so that it stays as long.
pub fn map_shared(path: NonNull<c_char>, length: usize) -> Option<NonNull<u8>> {
    // SAFETY: `path` is terminated by the contract of `environment`.
    let fd = unsafe { open(path.as_ptr(), O_RDWR | O_CLOEXEC) };
    if fd < 0 {
        return None;
    }
    // SAFETY: `fd` was opened here; of what has no length, the answer is negative or 0.
    let there = unsafe { lseek(fd, 0, SEEK_END) };
    let at = if usize::try_from(there).is_ok_and(|there| there >= length) {
        // SAFETY: requests a fresh mapping at an address of the kernel's choice.
        unsafe { mmap(ptr::null_mut(), length, PROT_READ_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0) }
    } else {
        MAP_FAILED
    };
    // SAFETY: `fd` was opened here and is closed once; the mapping outlives it.
    unsafe { close(fd) };
    if at == MAP_FAILED {
        None
    } else {
        NonNull::new(at.cast())
    }
}

/// Puts a copy in place of the shared mapping of `length` bytes at `base`, of the file at `path`: what is written from then on is
/// seen by this process alone. False if the file cannot be opened any more; then all is as it was.
///
/// # Safety
///
/// The mapping is there, and no other thread is.
pub unsafe fn map_apart(path: NonNull<c_char>, base: NonNull<u8>, length: usize) -> bool {
    const O_RDONLY: c_int = 0;
    const MAP_FIXED: c_int = 0x10;
    // SAFETY: `path` is terminated by the contract of `environment`.
    let fd = unsafe { open(path.as_ptr(), O_RDONLY | O_CLOEXEC) };
    if fd < 0 {
        return false;
    }
    let flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    // SAFETY: replaces the caller's own mapping by another one with the same content.
    let at = unsafe { mmap(base.as_ptr().cast(), length, PROT_READ_WRITE, flags, fd, 0) };
    // SAFETY: `fd` was opened here and is closed once; the mapping outlives it.
    unsafe { close(fd) };
    at == base.as_ptr().cast()
}

/// Maps `length` bytes of zeros, which take memory once they are touched; or at once, if they are to be `at_hand`.
pub fn map_private(length: usize, at_hand: bool) -> Option<NonNull<u8>> {
    const MAP_POPULATE: c_int = 0x8000;
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | if at_hand { MAP_POPULATE } else { MAP_NORESERVE };
    // SAFETY: requests a fresh mapping at an address of the kernel's choice.
    let at = unsafe { mmap(ptr::null_mut(), length, PROT_READ_WRITE, flags, -1, 0) };
    if at as isize == -1 {
        None
    } else {
        NonNull::new(at.cast())
    }
}

/// Loads the shared library at `path` (terminated), for good, and looks a function of it up.
pub fn library_function(path: NonNull<c_char>, name: &CStr) -> Option<NonNull<c_void>> {
    const NOW: c_int = 2;
    // SAFETY: `path` is terminated by the contract of `environment`.
    let library = NonNull::new(unsafe { dlopen(path.as_ptr(), NOW) })?;
    // SAFETY: the library has just been loaded.
    NonNull::new(unsafe { dlsym(library.as_ptr(), name.as_ptr()) })
}

/// Undoes [`map_shared`].
///
/// # Safety
///
/// A mapping of that length is at `address`, and nobody uses it any more.
pub unsafe fn unmap(address: usize, length: usize) {
    // SAFETY: the caller's promise.
    unsafe { munmap(address as *mut c_void, length) };
}

/// Makes the pages of `bytes` from `at` on ready to be written to, as far as there are any; what is in them stays.
/// Kernels before 5.14 refuse, and nothing is lost.
pub fn populate(at: u64, bytes: u64) {
    const POPULATE_WRITE: c_int = 23;
    const PAGE: u64 = 4096;
    let _errno = ErrnoGuard::new();
    let first = at & !(PAGE - 1);
    // SAFETY: nothing that the memory holds changes.
    unsafe { madvise(first as *mut c_void, (at + bytes - first) as usize, POPULATE_WRITE) };
}

/// Sleeps for about so long, less than a second.
pub fn sleep_nanos(nanos: u64) {
    let time = Timespec { seconds: 0, nanos: nanos as i64 };
    // SAFETY: `time` is valid; the time that is left after a signal is not requested.
    unsafe { syscall(SYS_NANOSLEEP, ptr::from_ref(&time), ptr::null_mut::<Timespec>()) };
}

/// Has `parent` called after every fork, before the program goes on, and `child` in every forked child.
pub fn on_fork(parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: the handlers are plain functions that live as long as the program.
    unsafe { pthread_atfork(None, Some(parent), Some(child)) };
}

/// Address at which the executable is loaded, to be subtracted from code addresses.
pub fn load_base() -> u64 {
    extern "C" fn first(info: *const ObjectInfo, _size: usize, data: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description, the executable's first.
        let base = unsafe { (*info).base };
        // SAFETY: `data` is the `u64` below.
        unsafe { *data.cast::<u64>() = base };
        1
    }
    let mut base = 0u64;
    // SAFETY: `first` matches the expected signature and `base` outlives the call.
    unsafe { dl_iterate_phdr(first, ptr::addr_of_mut!(base).cast()) };
    base
}

/// Path of the file that this process runs, in a place of the caller's; empty if it is not known, or too long.
pub fn executable(room: &mut [u8; MOST_PATH]) -> &[u8] {
    // SAFETY: the place is valid for its length.
    let length = unsafe { readlink(c"/proc/self/exe".as_ptr(), room.as_mut_ptr(), room.len()) };
    // What fills the place may have been cut off.
    usize::try_from(length).ok().filter(|length| *length < room.len()).map_or(&[], |length| &room[..length])
}

/// The path of the file of code that was loaded as this one, from 0, in a place of the caller's; empty for the executable, and if it is too
/// long. None if there are fewer.
pub fn path_of_module(number: usize, room: &mut [u8; MOST_PATH]) -> Option<&CStr> {
    struct Search<'a> {
        left: usize,
        room: &'a mut [u8; MOST_PATH],
    }
    extern "C" fn look(info: *const ObjectInfo, _size: usize, data: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description.
        let info = unsafe { &*info };
        // SAFETY: `data` is the `Search` below, which nobody else uses meanwhile.
        let search = unsafe { &mut *data.cast::<Search<'_>>() };
        if search.left > 0 {
            search.left -= 1;
            return 0;
        }
        search.room[0] = 0;
        if !info.name.is_null() {
            // SAFETY: the loader's own text, terminated; nothing is unloaded while it calls this.
            let path = unsafe { CStr::from_ptr(info.name) }.to_bytes_with_nul();
            // A copy: another thread may unload the file as soon as the loader has returned.
            if let Some(room) = search.room.get_mut(..path.len()) {
                room.copy_from_slice(path);
            }
        }
        1
    }
    let mut search = Search { left: number, room };
    // SAFETY: `look` matches the expected signature and `search` outlives the call.
    let found = unsafe { dl_iterate_phdr(look, ptr::addr_of_mut!(search).cast()) };
    CStr::from_bytes_until_nul(search.room).ok().filter(|_| found != 0)
}

/// The file of code in which `address` lies.
pub fn module_of(address: u64) -> Option<Module<'static>> {
    struct Search {
        address: u64,
        count: usize,
        found: Option<Module<'static>>,
    }
    extern "C" fn look(info: *const ObjectInfo, _size: usize, data: *mut c_void) -> c_int {
        const LOAD: u32 = 1;
        // SAFETY: the loader passes a valid description.
        let info = unsafe { &*info };
        // SAFETY: `data` is the `Search` below, which nobody else uses meanwhile.
        let search = unsafe { &mut *data.cast::<Search>() };
        search.count += 1;
        // SAFETY: the loader gives an array of that many headers.
        let headers = unsafe { core::slice::from_raw_parts(info.headers, usize::from(info.header_count)) };
        let inside = |h: &ProgramHeader| {
            let start = info.base.wrapping_add(h.address);
            h.kind == LOAD && search.address.wrapping_sub(start) < h.memory_size
        };
        if !headers.iter().any(inside) {
            return 0;
        }
        // The executable comes first.
        let path = if search.count == 1 || info.name.is_null() {
            &[]
        } else {
            // SAFETY: the loader's own text, terminated, which stays as long as the module is loaded.
            unsafe { core::ffi::CStr::from_ptr(info.name) }.to_bytes()
        };
        let ends = headers.iter().filter(|h| h.kind == LOAD).map(|h| info.base.wrapping_add(h.address + h.memory_size));
        search.found = Some(Module { base: info.base, end: ends.max().unwrap_or(info.base), path });
        1
    }
    let mut search = Search { address, count: 0, found: None };
    // SAFETY: `look` matches the expected signature and `search` outlives the call.
    unsafe { dl_iterate_phdr(look, ptr::addr_of_mut!(search).cast()) };
    search.found
}
