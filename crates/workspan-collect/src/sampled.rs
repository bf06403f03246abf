//! Where the calling thread has been, every few milliseconds of its processor time: samples that the thread reads itself.
//!
//! The kernel writes them into a ring of the thread's own, and overwrites the oldest. Outside of the kernel only. Where it refuses,
//! or there have been too many threads, there are none.
//!
//! **Cost:** a timer interrupt for each sample; two system calls where a thread begins, and one where it ends.

use core::cell::Cell;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering};

use super::platform::{self, perf, ErrnoGuard};
use super::shared::Shared;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::spins;

/// Nanoseconds of a thread's processor time between samples.
pub const PERIOD: u64 = 2_000_000;
/// Samples that a ring holds.
pub const ROOM: u64 = (PAGES * perf::PAGE) as u64 / SIZE;
/// Pages of samples.
const PAGES: usize = 4;
/// Bytes of a sample: what it is, how long, and an address.
const SIZE: u64 = 16;
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
        let Some(address) = sample(ring.base, head.wrapping_sub((number + 1) * SIZE)) else { return Seen::default() };
        number += stride;
        let polls = is_polling(address);
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
fn sample(base: NonNull<u8>, at: u64) -> Option<u64> {
    /// Type 9, of [`SIZE`] bytes.
    const HEADER: u32 = 9;
    let offset = at % (PAGES * perf::PAGE) as u64;
    // SAFETY: within the samples, which are mapped; sizes of samples divide that of the ring.
    let at = unsafe { base.add(perf::PAGE + offset as usize) }.cast::<[u64; 2]>();
    // SAFETY: as above, and aligned to eight bytes.
    let [header, address] = unsafe { ptr::read_volatile(at.as_ptr()) };
    (header as u32 == HEADER && header >> 48 == SIZE).then_some(address)
}

fn open() -> Option<NonNull<u8>> {
    /// `PERF_TYPE_SOFTWARE`, of which event 0 is the processor's time.
    const SOFTWARE: u64 = 1;
    /// `PERF_SAMPLE_IP`.
    const ADDRESS: u64 = 1;
    /// `exclude_kernel`, `exclude_hv`.
    const OUTSIDE: u64 = 1 << 5 | 1 << 6;
    let mut words = [0u64; perf::WORDS];
    words[0] = SOFTWARE | (core::mem::size_of_val(&words) as u64) << 32;
    words[2] = PERIOD;
    words[3] = ADDRESS;
    words[5] = OUTSIDE;
    let event = perf::open(&mut words, -1).ok()?;
    let base = perf::map_ring(event, PAGES);
    // The mapping keeps it.
    perf::shut(event);
    base
}

/// Addresses that have been looked at: twice each, and 1 if it polls.
static KNOWN: [AtomicU64; 512] = [const { AtomicU64::new(0) }; 512];

fn is_polling(address: u64) -> bool {
    let known = &KNOWN[(address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize];
    let seen = known.load(Ordering::Relaxed);
    if seen >> 1 == address {
        return seen & 1 != 0;
    }
    let polls = look(address);
    known.store(address << 1 | u64::from(polls), Ordering::Relaxed);
    polls
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn look(address: u64) -> bool {
    // Code that a program has made itself may be gone.
    // SAFETY: in a file of code that is loaded, where the thread has been.
    platform::module_of(address).is_some() && unsafe { spins::is_polling(address) }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn look(_address: u64) -> bool {
    false
}
