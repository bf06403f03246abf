//! Calls of the runtime that the loader would bind when they are first made: bound when the runtime starts, where that is nobody's work.
//!
//! A call that is bound lazily goes through the loader the first time, which looks for the function in all libraries: a few
//! microseconds, in whatever strand makes it. So the program and its libraries are searched for calls of OpenMP's functions that are
//! not bound yet, and these are bound as the loader would.
//!
//! **Invariant:** an entry gets the address that the loader would give it, or is left alone: Workspan's function of the name where there is
//! one, as it comes first, otherwise the first one of the version that the caller names.
//!
//! **Cost:** a look at the name of each call that an object makes and that is not bound, and a search for each that is OpenMP's: some ten
//! microseconds.

use core::ffi::{c_char, c_void, CStr};
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::platform::{self, Object};

/// Objects that are looked at: the executable and the first libraries.
const MOST: usize = 64;
/// What the names of OpenMP's functions begin with.
const NAMES: [&[u8]; 3] = [b"__kmpc_", b"GOMP_", b"omp_"];

#[cfg(target_arch = "x86_64")]
const JUMP_SLOT: u64 = 7;
#[cfg(not(target_arch = "x86_64"))]
const JUMP_SLOT: u64 = 1026;

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// In place of a handle: the libraries that the program was started with, in their order.
const ALL: *mut c_void = ptr::null_mut();

/// `Elf64_Rela`.
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

/// `Elf64_Sym`.
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// `Elf64_Verneed`.
#[repr(C)]
struct Needed {
    version: u16,
    count: u16,
    file: u32,
    first: u32,
    next: u32,
}

/// `Elf64_Vernaux`.
#[repr(C)]
struct NeededVersion {
    hash: u32,
    flags: u16,
    number: u16,
    name: u32,
    next: u32,
}

/// What the dynamic section of an object says of its calls: addresses, 0 where it says nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    base: u64,
    end: u64,
    relocations: u64,
    bytes: u64,
    symbols: u64,
    texts: u64,
    versions: u64,
    needed: u64,
}

/// Binds what is not bound.
pub(super) fn bind() {
    let mut objects = [Object::default(); MOST];
    let count = platform::objects(&mut objects);
    let own = platform::module_of(bind as *const () as u64).map_or(0, |module| module.base);
    for object in objects[..count].iter().filter(|object| object.dynamic != 0 && object.base != own) {
        // SAFETY: the loader has just given it, and nothing is unloaded while the runtime starts.
        let calls = unsafe { calls_of(object) };
        // SAFETY: the same.
        unsafe { bind_all(&calls, own) };
    }
}

/// # Safety
///
/// `object` is loaded.
unsafe fn calls_of(object: &Object) -> Calls {
    let mut calls = Calls { base: object.base, end: object.end, ..Calls::default() };
    let mut at = object.dynamic as *const [u64; 2];
    loop {
        // SAFETY: the section ends with an entry of kind 0, which is the last one read.
        let [kind, value] = unsafe { at.read() };
        at = at.wrapping_add(1);
        // The C library makes addresses of these when it loads an object, but not of all objects.
        let address = if value < object.base { object.base + value } else { value };
        match kind {
            0 => return calls,
            2 => calls.bytes = value,
            5 => calls.texts = address,
            6 => calls.symbols = address,
            23 => calls.relocations = address,
            0x6fff_fff0 => calls.versions = address,
            0x6fff_fffe => calls.needed = address,
            _ => {}
        }
    }
}

/// # Safety
///
/// `calls` is of an object that is loaded.
unsafe fn bind_all(calls: &Calls, own: u64) {
    if calls.relocations == 0 || calls.symbols == 0 || calls.texts == 0 {
        return;
    }
    let count = calls.bytes as usize / size_of::<Relocation>();
    // SAFETY: the object says so.
    let relocations = unsafe { core::slice::from_raw_parts(calls.relocations as *const Relocation, count) };
    for Relocation { offset, info, addend } in relocations {
        let inside = calls.base..calls.end;
        let at = calls.base.wrapping_add(*offset);
        if *info & 0xffff_ffff != JUMP_SLOT || *addend != 0 || !inside.contains(&at) {
            continue;
        }
        // SAFETY: an entry of the object's table, which is changed by the loader at most, as a whole.
        let entry = unsafe { &*(at as *const AtomicU64) };
        // What is not bound leads back into the object.
        if !inside.contains(&entry.load(Ordering::Relaxed)) {
            continue;
        }
        // SAFETY: the object's own symbol of that number.
        let symbol = unsafe { &*(calls.symbols as *const Symbol).wrapping_add((info >> 32) as usize) };
        // SAFETY: a terminated name in the object's texts.
        let name = unsafe { CStr::from_ptr((calls.texts + u64::from(symbol.name)) as *const c_char) };
        if NAMES.iter().any(|start| name.to_bytes().starts_with(start)) {
            // SAFETY: as above.
            let found = unsafe { definition(calls, info >> 32, name, own) };
            if found != 0 {
                entry.store(found, Ordering::Relaxed);
            }
        }
    }
}

/// The address of the function that symbol `number` of the object means; 0 if there is none.
///
/// # Safety
///
/// `calls` is of an object that is loaded.
unsafe fn definition(calls: &Calls, number: u64, name: &CStr, own: u64) -> u64 {
    // SAFETY: a terminated name.
    let first = unsafe { dlsym(ALL, name.as_ptr()) } as u64;
    let ours = platform::module_of(first).is_some_and(|module| module.base == own);
    // SAFETY: the caller's promise.
    match unsafe { version_of(calls, number) } {
        // SAFETY: terminated names.
        Some(version) if !ours => unsafe { dlvsym(ALL, name.as_ptr(), version.as_ptr()) as u64 },
        _ => first,
    }
}

/// The version that the object needs of symbol `number`.
///
/// # Safety
///
/// `calls` is of an object that is loaded.
unsafe fn version_of(calls: &Calls, number: u64) -> Option<&'static CStr> {
    if calls.versions == 0 || calls.needed == 0 {
        return None;
    }
    // SAFETY: there is one for each symbol.
    let wanted = unsafe { *(calls.versions as *const u16).wrapping_add(number as usize) } & 0x7fff;
    let mut file = calls.needed;
    loop {
        // SAFETY: the object's list, which the last one ends by leading nowhere.
        let needed = unsafe { &*(file as *const Needed) };
        let mut at = file + u64::from(needed.first);
        for _ in 0..needed.count {
            // SAFETY: as many as the list says.
            let version = unsafe { &*(at as *const NeededVersion) };
            if version.number & 0x7fff == wanted {
                // SAFETY: a terminated name in the object's texts, which stay as long as it is loaded.
                return Some(unsafe { CStr::from_ptr((calls.texts + u64::from(version.name)) as *const c_char) });
            }
            at += u64::from(version.next);
        }
        if needed.next == 0 {
            return None;
        }
        file += u64::from(needed.next);
    }
}
