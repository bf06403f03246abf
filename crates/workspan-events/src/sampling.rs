//! Samples of a running program: where its threads are, every few milliseconds of their processor time.
//!
//! As with counters ([`crate::perf`]), the event is opened by the thread that will start the program, and sleeps until a child of
//! this thread calls `exec`; it is inherited by all threads of that program. The kernel allows that with a ring for each processor only,
//! so there is one event for each. Somebody has to empty the rings while the program runs; what does not fit is lost, and
//! counted.
//!
//! **Cost** in the program: a timer interrupt for each sample, which copies at most [`STACK`] bytes of its stack.
#![expect(unsafe_code, reason = "a system call that no library wraps, and the memory that it shares")]

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{fence, AtomicU64, Ordering};

use crate::counters::Refused;
use crate::record::{records, Record, REGISTERS};

/// Bytes of a thread's stack that come with a sample, at most.
pub const STACK: u32 = 4096;
/// Bytes of a ring; with the page before it no more than every user may lock for each processor.
const RING: usize = 128 * PAGE;
const PAGE: usize = 4096;
/// Size of what the kernel reads (`PERF_ATTR_SIZE_VER5`), in words.
const WORDS: usize = 14;
/// `PERF_TYPE_SOFTWARE`, of which event 0 is the processor's time.
const SOFTWARE: u64 = 1;
/// `PERF_SAMPLE_IP`, `_TID`, `_TIME`, `_REGS_USER`, `_STACK_USER`.
const WITH: u64 = 1 | 2 | 4 | 1 << 12 | 1 << 13;
/// Bits of the flags.
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const MAPPINGS: u64 = 1 << 8 | 1 << 23;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const USE_CLOCK: u64 = 1 << 25;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;
/// Where the first page says how far the kernel has written, and where it reads how far we have read.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// Samples programs that this thread starts.
#[derive(Debug)]
pub struct Sampler {
    rings: Vec<Ring>,
    bytes: Vec<u8>,
}

impl Sampler {
    /// One sample every `period` nanoseconds of a thread's processor time. Times are those of `CLOCK_MONOTONIC`.
    pub fn open(period: u64) -> Result<Sampler, Refused> {
        if !cfg!(target_arch = "x86_64") {
            // Registers have other numbers there.
            return Err(Refused::NotThere);
        }
        let rings: Result<Vec<Ring>, Refused> = processors().into_iter().map(|cpu| Ring::open(period, cpu)).collect();
        match rings {
            Ok(rings) if rings.is_empty() => Err(Refused::NotThere),
            Ok(rings) => Ok(Sampler { rings, bytes: Vec::new() }),
            Err(refused) => Err(refused),
        }
    }

    /// Gives `keep` what has come since the last call, of each processor in order. Returns whether there was anything.
    pub fn drain(&mut self, mut keep: impl FnMut(Record<'_>)) -> bool {
        let mut any = false;
        for ring in &self.rings {
            ring.take(&mut self.bytes);
            any |= !self.bytes.is_empty();
            records(&self.bytes).for_each(&mut keep);
        }
        any
    }
}

/// Processors that are online, as the kernel lists them; the first if it does not.
fn processors() -> Vec<i32> {
    let list = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_else(|_| "0".to_owned());
    let range = |part: &str| -> Option<std::ops::RangeInclusive<i32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

/// The ring of a processor: a page in which both sides say how far they are, then the data.
#[derive(Debug)]
struct Ring {
    base: NonNull<u8>,
    _event: OwnedFd,
}

// SAFETY: it owns the mapping, which no thread is tied to.
unsafe impl Send for Ring {}

impl Ring {
    fn open(period: u64, cpu: i32) -> Result<Ring, Refused> {
        // Without right to look into the kernel, what the program does there has no samples.
        let event = open(period, cpu, 0).or_else(|_| open(period, cpu, EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR))?;
        // SAFETY: a fresh mapping of a file that is open; where it lies is up to the kernel.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                PAGE + RING,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(base.cast::<u8>()) {
            Some(base) if base.as_ptr().cast() != libc::MAP_FAILED => Ok(Ring { base, _event: event }),
            _ => Err(refused()),
        }
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: within the first page.
        let word = unsafe { self.base.add(at) }.cast::<AtomicU64>();
        // SAFETY: aligned, mapped as long as `self` lives, and used by both sides as an atomic.
        unsafe { word.as_ref() }
    }

    /// Moves what has been written since the last call into `bytes`.
    fn take(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        let head = self.word(HEAD).load(Ordering::Acquire);
        let tail = self.word(TAIL).load(Ordering::Relaxed);
        let new = usize::try_from(head.wrapping_sub(tail)).unwrap_or(0).min(RING);
        #[expect(clippy::cast_possible_truncation, reason = "its remainder by a small number")]
        let begin = (tail % RING as u64) as usize;
        let first = new.min(RING - begin);
        for (from, length) in [(begin, first), (0, new - first)] {
            // SAFETY: within the data of the mapping.
            let part = unsafe { self.base.add(PAGE + from) };
            // SAFETY: as above; the kernel does not write between tail and head.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(part.as_ptr(), length) });
        }
        fence(Ordering::AcqRel);
        self.word(TAIL).store(head, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped in `open` with this size; nothing refers to it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), PAGE + RING) };
    }
}

fn open(period: u64, cpu: i32, outside: u64) -> Result<OwnedFd, Refused> {
    let mut attributes = [0u64; WORDS];
    let size = u64::try_from(size_of_val(&attributes)).unwrap_or(0);
    // Numbers of 32 bits, the first at the lower address.
    let pair = |first: u64, second: u64| {
        if cfg!(target_endian = "little") {
            first | second << 32
        } else {
            first << 32 | second
        }
    };
    attributes[0] = pair(SOFTWARE, size);
    attributes[2] = period;
    attributes[3] = WITH;
    attributes[5] = DISABLED | INHERIT | MAPPINGS | ENABLE_ON_EXEC | USE_CLOCK | outside;
    attributes[10] = REGISTERS;
    attributes[11] = pair(u64::from(STACK), u64::try_from(libc::CLOCK_MONOTONIC).unwrap_or(1));
    // SAFETY: the kernel reads as many bytes as the structure says that it has, which is the array's size, and writes nothing
    // unless it refuses that size, and then only there. All other arguments are numbers.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_mut_ptr(), 0, cpu, -1, CLOSE_ON_EXEC) };
    match i32::try_from(descriptor) {
        // SAFETY: the kernel has just made it, and nobody else knows it.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(refused()),
    }
}

fn refused() -> Refused {
    Refused::of_code(io::Error::last_os_error().raw_os_error().unwrap_or(0))
}
