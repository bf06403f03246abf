//! Memory for what is allocated while the allocator is looked up: a few texts of the loader. It is never given back.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What all allocations are a multiple of.
pub const ALIGN: usize = 16;
const BYTES: usize = 64 << 10;

#[repr(align(4096))]
struct Spare(UnsafeCell<[u8; BYTES]>);

// SAFETY: each byte is given out once.
unsafe impl Sync for Spare {}

static SPARE: Spare = Spare(UnsafeCell::new([0; BYTES]));
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Zeros, at a multiple of `align`; null if nothing is left.
#[cold]
pub fn take(align: usize, size: usize) -> *mut c_void {
    let begin = SPARE.0.get().cast::<u8>();
    let place = |taken: usize| {
        let at = (begin as usize).checked_add(taken)?.checked_next_multiple_of(align.max(ALIGN))? - begin as usize;
        Some((at, at.checked_add(size)?)).filter(|(_, end)| *end <= BYTES)
    };
    match TAKEN.fetch_update(Relaxed, Relaxed, |taken| place(taken).map(|(_, end)| end)) {
        Ok(taken) => place(taken).map_or(null_mut(), |(at, _)| begin.wrapping_add(at).cast::<c_void>()),
        Err(_) => null_mut(),
    }
}

/// Bytes from a pointer into this memory to its end; 0: it points elsewhere.
pub fn rest(pointer: *const c_void) -> usize {
    let at = (pointer as usize).wrapping_sub(SPARE.0.get() as usize);
    BYTES.saturating_sub(at)
}
