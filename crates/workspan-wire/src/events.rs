//! Events counted by context, as they are requested and found in the shared memory.
//!
//! Each thread counts by itself. What it has counted since its last reading belongs to one account, or to none; so it reads
//! where the account changes, and nowhere else.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Most events counted in a run.
pub const MAX_EVENTS: usize = 8;

/// Of [`Asked::flags`]: only what happens outside of the kernel.
pub const USER_ONLY: u32 = 1;

/// Part of [`super::shm::Header`].
#[derive(Debug)]
#[repr(C)]
pub struct Events {
    /// How many are requested; 0: nothing is counted. Written by the runner.
    pub count: AtomicU32,
    _pad: AtomicU32,
    /// Which. Written by the runner.
    pub asked: [Asked; MAX_EVENTS],
    /// What became of each.
    pub found: [Found; MAX_EVENTS],
}

/// An event, in the words of `perf_event_open`.
#[derive(Debug)]
#[repr(C)]
pub struct Asked {
    /// The kernel's number of a device.
    pub device: AtomicU32,
    /// [`USER_ONLY`].
    pub flags: AtomicU32,
    /// Which event of it.
    pub config: [AtomicU64; 3],
}

/// What became of an event.
#[derive(Debug)]
#[repr(C)]
pub struct Found {
    /// Threads that count it, or have.
    pub threads: AtomicU32,
    /// Threads that could not, or not to their end.
    pub refused: AtomicU32,
    /// Why the first of these could not: an error number of the system's.
    pub error: AtomicU32,
    /// How it is counted: bits of [`Means`].
    pub means: AtomicU32,
}

/// How an event is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Means {
    /// A counter, read by the kernel.
    Read = 1,
    /// A counter, read in user space.
    Page = 2,
    /// What the kernel keeps of every thread.
    Usage = 4,
    /// Ticks of the virtual clock.
    Ticks = 8,
    /// Only what happens outside of the kernel, as it does not permit the rest.
    Outside = 16,
}

/// Part of [`super::shm::Thread`]: what its own counters are.
#[derive(Debug)]
#[repr(C)]
pub struct ThreadEvents {
    /// Address of the account that what happens now is charged to; 0: nobody's.
    pub account: Cell<u64>,
    /// Events that have a counter of their own, a bit each.
    pub counters: Cell<u32>,
    /// Events that are taken from what the kernel keeps of every thread.
    pub usage: Cell<u32>,
    /// 1 if all counters are read in user space.
    pub in_pages: Cell<u32>,
    /// 1 if ticks of the virtual clock stand for events.
    pub ticks: Cell<u32>,
    /// File descriptors of the counters; -1 for none, or no more needed.
    pub descriptors: [Cell<i32>; MAX_EVENTS],
    /// Addresses of their pages, in the program's own memory; 0 for none.
    pub pages: [Cell<u64>; MAX_EVENTS],
    /// What each said at the last reading.
    pub last: [Cell<u64>; MAX_EVENTS],
    /// Time that the counters were wanted, in nanoseconds, on this slot's ended threads and this one's so far.
    pub enabled: Cell<u64>,
    /// Time that they counted.
    pub running: Cell<u64>,
    /// Both, as they were at the last reading.
    pub times: [Cell<u64>; 2],
}
