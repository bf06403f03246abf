//! Static descriptions: read where the pass left them, handed over before any event of the module.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use workspan_trace::shm::CHUNK_BYTES;
use workspan_trace::VERSION;

use crate::{c, ring, shared};

/// What the pass leaves in each module.
#[derive(Debug)]
#[repr(C)]
pub struct Record {
    version: u32,
    segments: u32,
    base: *const AtomicU32,
    description: *const u8,
    length: usize,
    variables: *const usize,
    count: usize,
}

const PT_NOTE: u32 = 4;
/// Name, with its zero, of the notes that lead to records.
const NAME: &[u8; 13] = b"WorkspanPass\0";

/// Called by the constructor of a module: of a library that is loaded later.
///
/// # Safety
/// The pass calls it with its record.
#[no_mangle]
pub unsafe extern "C" fn __workspan_register(record: *const Record) {
    if shared::recording() {
        let errno = c::errno();
        // SAFETY: the pass has made it, constant, and it lasts as long as the module.
        register(unsafe { &*record });
        c::set_errno(errno);
    }
}

/// Registers the modules of all that is loaded.
pub fn register_all() {
    // SAFETY: the function below takes what it is given.
    unsafe { c::dl_iterate_phdr(object, null_mut()) };
}

/// # Safety
/// The loader calls it, with a description of an object.
unsafe extern "C" fn object(info: *mut c::ObjectInfo, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: valid during the call.
    let info = unsafe { &*info };
    // SAFETY: the loader's array.
    let headers = unsafe { core::slice::from_raw_parts(info.headers, info.count.into()) };
    for header in headers.iter().filter(|header| header.kind == PT_NOTE) {
        let [address, size] = [header.address, header.memory_size].map(|word| usize::try_from(word).unwrap_or(0));
        let first = (info.base + address) as *const u8;
        // SAFETY: a segment that is loaded for as long as the object.
        notes(unsafe { core::slice::from_raw_parts(first, size) });
    }
    0
}

fn notes(mut bytes: &'static [u8]) {
    let word =
        |bytes: &[u8], at: usize| bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    while let (Some(name), Some(length), Some(kind)) = (word(bytes, 0), word(bytes, 4), word(bytes, 8)) {
        let content = 12 + (name as usize).next_multiple_of(4);
        let is_ours = bytes.get(12..12 + NAME.len()) == Some(NAME) && length == 4;
        if is_ours && kind != VERSION {
            other_version(kind);
        }
        if is_ours && kind == VERSION {
            if let Some(distance) = word(bytes, content) {
                let here = bytes.as_ptr().wrapping_add(content);
                let record = here.wrapping_offset(distance.cast_signed() as isize).cast::<Record>();
                // SAFETY: the pass has written the distance of its record.
                register(unsafe { &*record });
            }
        }
        let Some(rest) = bytes.get(content + (length as usize).next_multiple_of(4)..) else {
            return;
        };
        bytes = rest;
    }
}

/// The first id of modules whose events mean something else: nobody has it.
const NOBODYS: u32 = 0xf000_0000;

/// A module was compiled by another version of the pass.
fn other_version(version: u32) {
    if let Some(header) = shared::header() {
        header.other_version.store(version, Relaxed);
        header.untracked.fetch_add(1, Relaxed);
    }
}

/// Gives the module its ids and hands over its description, once.
fn register(record: &Record) {
    // SAFETY: a variable of the module.
    let base = unsafe { &*record.base };
    if record.version != VERSION {
        other_version(record.version);
        base.store(NOBODYS, Release);
    }
    let Some(header) = shared::header().filter(|_| record.version == VERSION && base.load(Acquire) == 0) else {
        return;
    };
    let first = header.next_id.fetch_add(record.segments.max(1), AcqRel);
    let module = header.modules.fetch_add(1, AcqRel);
    // SAFETY: the pass has written how long it is.
    let description = unsafe { core::slice::from_raw_parts(record.description, record.length) };
    // SAFETY: addresses are no more than their bytes.
    let variables = unsafe { core::slice::from_raw_parts(record.variables.cast::<u8>(), record.count * 8) };
    let parts = description.chunks(CHUNK_BYTES).chain(variables.chunks(CHUNK_BYTES));
    let count = u32::try_from(parts.clone().count()).unwrap_or(u32::MAX);
    // The description says where it ends; the addresses of variables follow.
    if !(0..).zip(parts).all(|(part, bytes)| ring::publish_part(module, first, (part, count), bytes)) {
        // Its events will not be understood, and say so.
        header.untracked.fetch_add(1, Relaxed);
    }
    base.store(first, Release);
}
