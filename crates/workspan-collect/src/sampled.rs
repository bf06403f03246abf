//! Where the calling thread has been, every few milliseconds of its processor time: samples that the thread reads itself.
//!
//! The kernel writes them into a ring of the thread's own, and overwrites the oldest: an address outside of the kernel, stack pointer, frame
//! pointer, and some words of the stack, where callers are found. Where the kernel refuses, or there have been too many threads, there are
//! none.
//!
//! **Cost:** a timer interrupt for each sample; two system calls where a thread begins, and one where it ends.

use core::cell::Cell;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering};

use super::platform::{self, perf, ErrnoGuard};
use super::shared::Shared;
use super::spins::{Found, Spot, WORDS};

/// Nanoseconds of a thread's processor time between samples.
pub const PERIOD: u64 = 2_000_000;
/// Samples that a ring holds.
pub const ROOM: u64 = (PAGES * perf::PAGE) as u64 / SIZE;
/// Pages of samples.
const PAGES: usize = 8;
/// Words of a sample: [what it is](sample), and those of the stack.
const SAMPLE_WORDS: usize = 7 + WORDS;
/// Bytes of it.
const SIZE: u64 = SAMPLE_WORDS as u64 * 8;
/// Where the first page says how far the kernel has written.
const HEAD: usize = 1024;
/// Threads that are sampled, at most, of all that there have been.
const MOST_THREADS: u32 = 64;
/// Samples of a strand that are looked at, at most.
const LOOKED_AT: u64 = 256;

std::thread_local! {
    static RING: Cell<Option<Ring>> = const { Cell::new(None) };
}

#[derive(Clone, Copy, Debug)]
struct Ring {
    base: NonNull<u8>,
    /// Bytes of samples that have been taken.
    taken: u64,
}

/// What samples have shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// How many there were.
    pub taken: u64,
    /// How many were looked at.
    pub all: u64,
    /// Of these, in loops that poll.
    pub polls: u64,
    /// The same of the newest in a row.
    pub last: u64,
}

/// Begins to sample the calling thread, if anything is sampled.
pub fn start(shared: Shared) {
    let header = shared.header();
    let wanted = header.config.segments.load(Ordering::Relaxed) != 0 && !shared.is_virtual();
    if !wanted || !cfg!(target_arch = "x86_64") || header.threads.load(Ordering::Relaxed) > MOST_THREADS {
        return;
    }
    let _errno = ErrnoGuard::new();
    RING.set(open().map(|base| Ring { base, taken: 0 }));
}

/// No more.
pub fn stop() {
    if let Some(ring) = RING.take() {
        let _errno = ErrnoGuard::new();
        // SAFETY: mapped in `open` with this size, and forgotten.
        unsafe { platform::unmap(ring.base.as_ptr() as usize, (1 + PAGES) * perf::PAGE) };
    }
}

/// In a forked child, which does not have the ring.
pub fn forget() {
    RING.set(None);
}

/// The calling thread is sampled.
pub fn is_on() -> bool {
    RING.get().is_some()
}

/// Takes what has come; of that, what the newest show, `most` at most.
pub fn newest(most: u64) -> Seen {
    let Some(ring) = RING.get() else { return Seen::default() };
    // SAFETY: within the first page, which is mapped.
    let head = unsafe { ring.base.add(HEAD) }.cast::<AtomicU64>();
    // SAFETY: `data_head`, aligned, which the kernel writes atomically.
    let head = unsafe { head.as_ref() }.load(Ordering::Acquire);
    RING.set(Some(Ring { taken: head, ..ring }));
    let taken = (head.wrapping_sub(ring.taken) / SIZE).min(most);
    // The oldest may be overwritten just now.
    let there = taken.min(ROOM - 8);
    let mut seen = Seen { taken, ..Seen::default() };
    let stride = there.div_ceil(LOOKED_AT).max(1);
    let mut number = 0;
    while number < there {
        let Some(spot) = sample(ring.base, head.wrapping_sub((number + 1) * SIZE)) else { return Seen::default() };
        number += stride;
        let polls = is_polling(&spot);
        seen.all += 1;
        seen.polls += u64::from(polls);
        // One in sixteen may be of what lies between two looks, or of the end.
        if polls && (seen.polls + 1) * 16 >= seen.all * 15 {
            seen.last = seen.all;
        }
    }
    seen
}

/// The sample that begins `at` bytes after the first.
fn sample(base: NonNull<u8>, at: u64) -> Option<Spot> {
    /// Type 9, of [`SIZE`] bytes.
    const HEADER: u32 = 9;
    let offset = at % (PAGES * perf::PAGE) as u64;
    // SAFETY: within the samples, which are mapped; sizes of samples divide that of the ring.
    let at = unsafe { base.add(perf::PAGE + offset as usize) }.cast::<[u64; SAMPLE_WORDS]>();
    // SAFETY: as above, and aligned to eight bytes.
    let sample = unsafe { ptr::read_volatile(at.as_ptr()) };
    // Besides: which kind of registers, and how many bytes of the stack are wanted, and are there.
    let [header, at, _, frame, stack, _, words @ .., there] = sample;
    let words = core::array::from_fn(|word| if word < there as usize / 8 { words[word] } else { 0 });
    (header as u32 == HEADER && header >> 48 == SIZE).then_some(Spot { at, frame, stack, words })
}

fn open() -> Option<NonNull<u8>> {
    /// `PERF_TYPE_SOFTWARE`, of which event 0 is the processor's time.
    const SOFTWARE: u64 = 1;
    /// `PERF_SAMPLE_IP`, `PERF_SAMPLE_REGS_USER`, `PERF_SAMPLE_STACK_USER`.
    const WHAT: u64 = 1 | 1 << 12 | 1 << 13;
    /// `PERF_REG_X86_BP`, `PERF_REG_X86_SP`.
    const POINTERS: u64 = 1 << 6 | 1 << 7;
    /// `exclude_kernel`, `exclude_hv`.
    const OUTSIDE: u64 = 1 << 5 | 1 << 6;
    let mut words = [0u64; perf::WORDS];
    words[0] = SOFTWARE | (core::mem::size_of_val(&words) as u64) << 32;
    words[2] = PERIOD;
    words[3] = WHAT;
    words[5] = OUTSIDE;
    words[10] = POINTERS;
    words[11] = WORDS as u64 * 8;
    let event = perf::open(&mut words, -1).ok()?;
    let base = perf::map_ring(event, PAGES);
    // The mapping keeps it.
    perf::shut(event);
    base
}

/// Addresses that have been looked at: four times each, 2 if that depends on who called, and 1 if it polls.
static KNOWN: [AtomicU64; 512] = [const { AtomicU64::new(0) }; 512];

fn is_polling(spot: &Spot) -> bool {
    let known = &KNOWN[(spot.at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize];
    let seen = known.load(Ordering::Relaxed);
    if seen >> 2 == spot.at && seen & 2 == 0 {
        return seen & 1 != 0;
    }
    let found = look(spot);
    known.store(spot.at << 2 | u64::from(found.by_caller) << 1 | u64::from(found.polls), Ordering::Relaxed);
    found.polls
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn look(spot: &Spot) -> Found {
    // Code that a program has made itself may be gone.
    let is_code = |address| platform::module_of(address).is_some();
    if !is_code(spot.at) {
        return Found { polls: false, by_caller: false };
    }
    // SAFETY: in a file of code that is loaded, where the thread has been; calls lead to such files only.
    unsafe { super::spins::look(spot, is_code) }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn look(_spot: &Spot) -> Found {
    Found { polls: false, by_caller: false }
}
