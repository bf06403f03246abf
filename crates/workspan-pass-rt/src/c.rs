//! The C library, as far as it is used here.

#![expect(missing_docs, reason = "names and types of the C library")]

use core::ffi::{c_char, c_int, c_long, c_uint, c_void, CStr};

pub const O_RDWR: c_int = 2;
pub const O_CLOEXEC: c_int = 0o2_000_000;
pub const PROT_READ_WRITE: c_int = 3;
pub const MAP_SHARED: c_int = 1;
pub const MAP_PRIVATE_ANONYMOUS: c_int = 0x22;
pub const MAP_NORESERVE: c_int = 0x4000;
pub const FUTEX_WAIT: c_int = 0;
pub const FUTEX_WAKE: c_int = 1;
pub const CLOCK_MONOTONIC: c_int = 1;
pub const RTLD_LAZY_AND_LOADED: c_int = 1 | 4;
pub const ESRCH: c_int = 3;
pub const EOWNERDEAD: c_int = 130;
#[cfg(target_arch = "x86_64")]
pub const SYS_FUTEX: c_long = 202;
#[cfg(not(target_arch = "x86_64"))]
pub const SYS_FUTEX: c_long = 98;

#[derive(Debug)]
#[repr(C)]
pub struct Timespec {
    pub seconds: i64,
    pub nanos: i64,
}

/// `struct dl_phdr_info`.
#[derive(Debug)]
#[repr(C)]
pub struct ObjectInfo {
    pub base: usize,
    pub name: *const c_char,
    pub headers: *const ProgramHeader,
    pub count: u16,
    pub added: u64,
    pub removed: u64,
    pub module: usize,
    /// The calling thread's variables; null: it has none yet.
    pub variables: *const c_void,
}

#[derive(Debug)]
#[repr(C)]
pub struct ProgramHeader {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub physical: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub align: u64,
}

pub type Callback = unsafe extern "C" fn(*mut ObjectInfo, usize, *mut c_void) -> c_int;

extern "C" {
    pub fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    pub fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    pub fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    pub fn dl_iterate_phdr(callback: Callback, data: *mut c_void) -> c_int;
    pub fn getenv(name: *const c_char) -> *const c_char;
    pub fn getpid() -> c_int;
    pub fn kill(pid: c_int, signal: c_int) -> c_int;
    pub fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn close(fd: c_int) -> c_int;
    pub fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    pub fn munmap(address: *mut c_void, length: usize) -> c_int;
    pub fn syscall(number: c_long, ...) -> c_long;
    pub fn __errno_location() -> *mut c_int;
    pub fn pthread_self() -> usize;
    pub fn pthread_key_create(key: *mut c_uint, destructor: Option<unsafe extern "C" fn(*mut c_void)>) -> c_int;
    pub fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
    pub fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
    pub fn pthread_getattr_np(thread: usize, attributes: *mut c_void) -> c_int;
    pub fn pthread_attr_getstack(attributes: *const c_void, address: *mut *mut c_void, size: *mut usize) -> c_int;
    pub fn pthread_attr_destroy(attributes: *mut c_void) -> c_int;
    pub fn __libc_malloc(size: usize) -> *mut c_void;
    pub fn __libc_free(pointer: *mut c_void);
}

/// `errno`.
pub fn errno() -> c_int {
    // SAFETY: the thread's own variable.
    let place = unsafe { __errno_location() };
    // SAFETY: as above.
    unsafe { *place }
}

/// Sets `errno`.
pub fn set_errno(value: c_int) {
    // SAFETY: the thread's own variable.
    let place = unsafe { __errno_location() };
    // SAFETY: as above.
    unsafe { *place = value };
}

/// The object that has an address: its first address, and the one after its last; 0 and 0 if there is none.
pub fn object_at(address: usize) -> (usize, usize) {
    let mut wanted = (address, (0, 0));
    // SAFETY: the function below takes what it is given.
    unsafe { dl_iterate_phdr(find_object, (&raw mut wanted).cast()) };
    wanted.1
}

impl ObjectInfo {
    /// True if its file's name begins like one of these.
    pub fn is_named(&self, starts: &[&[u8]]) -> bool {
        if self.name.is_null() {
            return false;
        }
        // SAFETY: the loader's text, which ends in a zero.
        let path = unsafe { CStr::from_ptr(self.name) }.to_bytes();
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        starts.iter().any(|start| name.starts_with(start))
    }

    /// The variables that the calling thread has for itself: address and bytes.
    pub fn variables(&self) -> Option<(usize, usize)> {
        const PT_TLS: u32 = 7;
        // SAFETY: the loader's array.
        let headers = unsafe { core::slice::from_raw_parts(self.headers, self.count.into()) };
        let header = headers.iter().find(|header| header.kind == PT_TLS).filter(|_| !self.variables.is_null())?;
        Some((self.variables as usize, usize::try_from(header.memory_size).ok()?))
    }

    /// Its first address, and the one after its last.
    pub fn extent(&self) -> (usize, usize) {
        const PT_LOAD: u32 = 1;
        // SAFETY: the loader's array.
        let headers = unsafe { core::slice::from_raw_parts(self.headers, self.count.into()) };
        let (mut first, mut end) = (usize::MAX, 0);
        for header in headers.iter().filter(|header| header.kind == PT_LOAD) {
            let [address, size] = [header.address, header.memory_size].map(|word| usize::try_from(word).unwrap_or(0));
            first = first.min(self.base.wrapping_add(address));
            end = end.max(self.base.wrapping_add(address).wrapping_add(size));
        }
        (first, end)
    }
}

/// # Safety
/// The loader calls it, with a description of an object.
unsafe extern "C" fn find_object(info: *mut ObjectInfo, _: usize, wanted: *mut c_void) -> c_int {
    // SAFETY: valid during the call.
    let info = unsafe { &*info };
    // SAFETY: what was passed.
    let wanted = unsafe { &mut *wanted.cast::<(usize, (usize, usize))>() };
    let (first, end) = info.extent();
    let found = (first..end).contains(&wanted.0);
    if found {
        wanted.1 = (first, end);
    }
    c_int::from(found)
}
