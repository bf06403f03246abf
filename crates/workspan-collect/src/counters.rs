//! Counters of a thread's events: opening and reading them.
//!
//! All are one group, so that they count the same time. Where the processor lets programs read all of them, they are read from
//! their pages, without a system call, and no file descriptor stays open; otherwise the kernel reads the group by one call, on
//! the one descriptor that stays (the mapped page keeps a member alive). What the kernel keeps of every thread anyway, faults
//! and switches, needs no counter, is always permitted, and is read in a third of the time.
//!
//! The kernel is behind [`Kernel`], which tests replace. With the virtual clock its ticks stand for events: event *i* comes
//! *i + 1* times a tick, so counts by context are known to the last one.

use core::sync::atomic::{compiler_fence, AtomicI64, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::page::{self, Page};
use super::platform::{self, perf, Usage};
use super::shared::Shared;
use workspan_wire::events::{Asked, Found, Means, ThreadEvents, MAX_EVENTS, USER_ONLY};
use workspan_wire::shm::Thread;

/// What each event amounts to so far.
pub type Values = [u64; MAX_EVENTS];

/// Who counts.
pub trait Kernel {
    /// The page of a counter.
    type Page: Page;
    /// Begins to count on the calling thread, in the group of `leader` unless that is -1. An error is the system's number.
    fn open(&self, event: &Wanted, leader: i32) -> Result<i32, u32>;
    /// The address of the counter's page; 0 for none.
    fn map(&self, descriptor: i32) -> u64;
    /// The page at an address from [`Kernel::map`] that has not been unmapped.
    fn page(&self, address: u64) -> Self::Page;
    /// Number of counters, time wanted, time counted, then values: of a whole group.
    fn read(&self, leader: i32, words: &mut [u64]) -> bool;
    /// What is kept of every thread.
    fn usage(&self) -> Usage;
    /// Ends a descriptor.
    fn shut(&self, descriptor: i32);
    /// Ends a page.
    fn unmap(&self, address: u64);
}

/// An event, as it is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The kernel's number of a device.
    pub device: u32,
    /// Which event of it.
    pub config: [u64; 3],
    /// Only outside of the kernel.
    pub user: bool,
}

/// The kernel's own events.
pub const SOFTWARE: u32 = 1;

/// Errors that mean "not permitted".
const NOT_PERMITTED: [u32; 2] = [1, 13];

type OfUsage = fn(&Usage) -> u64;

impl Wanted {
    fn of(asked: &Asked) -> Wanted {
        let config = [0, 1, 2].map(|word: usize| asked.config[word].load(Ordering::Relaxed));
        let user = asked.flags.load(Ordering::Relaxed) & USER_ONLY != 0;
        Wanted { device: asked.device.load(Ordering::Relaxed), config, user }
    }

    /// Where it is kept of every thread.
    fn usage(&self) -> Option<OfUsage> {
        if self.user {
            return None;
        }
        match (self.device, self.config[0]) {
            (SOFTWARE, 2) => Some(Usage::faults),
            (SOFTWARE, 3) => Some(|usage| usage.voluntary + usage.involuntary),
            (SOFTWARE, 5) => Some(|usage| usage.minor_faults),
            (SOFTWARE, 6) => Some(|usage| usage.major_faults),
            _ => None,
        }
    }
}

/// Begins to count what is requested on the calling thread. False if there is nothing to count.
pub fn open(kernel: &impl Kernel, shared: Shared, thread: &Thread) -> bool {
    let events = &shared.header().events;
    let count = asked(shared);
    let mine = &thread.events;
    clear(mine);
    if shared.is_virtual() {
        mine.ticks.set(1);
        events.found.iter().take(count).for_each(|found| accepted(found, Means::Ticks as u32));
        return count > 0;
    }
    let mut leader = -1;
    for (i, (asked, found)) in events.asked.iter().zip(&events.found).take(count).enumerate() {
        let wanted = Wanted::of(asked);
        if wanted.usage().is_some() {
            mine.usage.set(mine.usage.get() | 1 << i);
            accepted(found, Means::Usage as u32);
            continue;
        }
        match open_one(kernel, &wanted, leader) {
            Ok((descriptor, means)) => {
                mine.counters.set(mine.counters.get() | 1 << i);
                mine.descriptors[i].set(descriptor);
                // Of the kernel's own events the page says nothing.
                if leader != -1 || wanted.device != SOFTWARE {
                    mine.pages[i].set(kernel.map(descriptor));
                }
                leader = if leader == -1 { descriptor } else { leader };
                accepted(found, means);
            }
            Err(error) => refused(found, error),
        }
    }
    settle_means(kernel, shared, mine, leader);
    mine.counters.get() | mine.usage.get() != 0
}

/// As it is wanted; if the kernel does not permit to count within it, outside of it. Its own events have no outside.
fn open_one(kernel: &impl Kernel, wanted: &Wanted, leader: i32) -> Result<(i32, u32), u32> {
    match kernel.open(wanted, leader) {
        Err(error) if NOT_PERMITTED.contains(&error) && !wanted.user && wanted.device != SOFTWARE => {
            let outside = kernel.open(&Wanted { user: true, ..*wanted }, leader)?;
            Ok((outside, Means::Outside as u32))
        }
        other => other.map(|descriptor| (descriptor, 0)),
    }
}

/// Decides how counters are read, and gives back what that does not need.
fn settle_means(kernel: &impl Kernel, shared: Shared, mine: &ThreadEvents, leader: i32) {
    let counters = mine.counters.get();
    let readable = |i: usize| match mine.pages[i].get() {
        0 => false,
        address => page::read(&kernel.page(address)).is_ok(),
    };
    let in_pages = counters != 0 && bits(counters).all(readable);
    mine.in_pages.set(u32::from(in_pages));
    for i in bits(counters) {
        let descriptor = &mine.descriptors[i];
        if mine.pages[i].get() != 0 && (in_pages || descriptor.get() != leader) {
            kernel.shut(descriptor.replace(-1));
        }
        let means = if in_pages { Means::Page } else { Means::Read };
        shared.header().events.found[i].means.fetch_or(means as u32, Ordering::Relaxed);
    }
}

fn accepted(found: &Found, means: u32) {
    found.threads.fetch_add(1, Ordering::Relaxed);
    found.means.fetch_or(means, Ordering::Relaxed);
}

fn refused(found: &Found, error: u32) {
    if found.refused.fetch_add(1, Ordering::Relaxed) == 0 {
        found.error.store(error, Ordering::Relaxed);
    }
}

/// What each event amounts to so far, and how long counters were wanted and counted. `None`: they are gone.
pub fn read(kernel: &impl Kernel, shared: Shared, thread: &Thread) -> Option<(Values, [u64; 2])> {
    let mine = &thread.events;
    let mut values = [0; MAX_EVENTS];
    let mut times = [0; 2];
    if mine.ticks.get() != 0 {
        let ticks = thread.virtual_now.get();
        (1..).zip(values.iter_mut()).for_each(|(times, value)| *value = times * ticks);
        return Some((values, times));
    }
    let counters = mine.counters.get();
    if mine.in_pages.get() != 0 {
        for i in bits(counters) {
            let reading = page::read(&kernel.page(mine.pages[i].get())).ok()?;
            values[i] = reading.value;
            times = [reading.enabled, reading.running];
        }
    } else if counters != 0 {
        let mut words = [0; 3 + MAX_EVENTS];
        let first = bits(counters).next()?;
        let words = &mut words[..3 + counters.count_ones() as usize];
        if !kernel.read(mine.descriptors[first].get(), words) {
            return None;
        }
        times = [words[1], words[2]];
        bits(counters).zip(&words[3..]).for_each(|(i, value)| values[i] = *value);
    }
    if mine.usage.get() != 0 {
        let usage = kernel.usage();
        for i in bits(mine.usage.get()) {
            if let Some(of) = Wanted::of(&shared.header().events.asked[i]).usage() {
                values[i] = of(&usage);
            }
        }
    }
    Some((values, times))
}

/// Gives everything back.
pub fn close(kernel: &impl Kernel, thread: &Thread) {
    let mine = &thread.events;
    for i in bits(mine.counters.get()) {
        if mine.descriptors[i].get() >= 0 {
            kernel.shut(mine.descriptors[i].get());
        }
        if mine.pages[i].get() != 0 {
            kernel.unmap(mine.pages[i].get());
        }
    }
    clear(mine);
}

/// All that this thread counted is missing from now on.
pub fn lost(shared: Shared, thread: &Thread) {
    const EBADF: u32 = 9;
    let mine = &thread.events;
    for i in bits(mine.counters.get() | mine.usage.get()) {
        refused(&shared.header().events.found[i], EBADF);
    }
}

/// Events that are requested.
pub fn asked(shared: Shared) -> usize {
    (shared.header().events.count.load(Ordering::Relaxed) as usize).min(MAX_EVENTS)
}

fn clear(mine: &ThreadEvents) {
    mine.account.set(0);
    for flags in [&mine.counters, &mine.usage, &mine.in_pages, &mine.ticks] {
        flags.set(0);
    }
    mine.descriptors.iter().for_each(|descriptor| descriptor.set(-1));
    mine.pages.iter().chain(&mine.last).chain(&mine.times).for_each(|word| word.set(0));
}

fn bits(set: u32) -> impl Iterator<Item = usize> {
    (0..MAX_EVENTS).filter(move |i| set & 1 << i != 0)
}

/// The machine's own counters.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl Kernel for Machine {
    type Page = Mapped;

    fn open(&self, event: &Wanted, leader: i32) -> Result<i32, u32> {
        /// Values of the whole group, after times.
        const FORMAT: u64 = 1 | 2 | 8;
        const OUTSIDE_KERNEL: u64 = 1 << 5 | 1 << 6;
        let mut words = [0u64; perf::WORDS];
        let size = core::mem::size_of_val(&words) as u64;
        // Two numbers of 32 bits each, the first at the lower address.
        words[0] = if cfg!(target_endian = "little") {
            u64::from(event.device) | size << 32
        } else {
            u64::from(event.device) << 32 | size
        };
        words[1] = event.config[0];
        words[4] = FORMAT;
        words[5] = if event.user { OUTSIDE_KERNEL } else { 0 };
        words[7] = event.config[1];
        words[8] = event.config[2];
        perf::open(&mut words, leader)
    }

    fn map(&self, descriptor: i32) -> u64 {
        perf::map(descriptor).map_or(0, |page| page.as_ptr() as u64)
    }

    fn page(&self, address: u64) -> Mapped {
        Mapped(address)
    }

    fn read(&self, leader: i32, words: &mut [u64]) -> bool {
        perf::read_group(leader, words)
    }

    fn usage(&self) -> Usage {
        platform::thread_usage()
    }

    fn shut(&self, descriptor: i32) {
        perf::shut(descriptor);
    }

    fn unmap(&self, address: u64) {
        // SAFETY: `map` has made it, of this length, and it is forgotten.
        unsafe { platform::unmap(address as usize, perf::PAGE) };
    }
}

/// A counter's page, by its address: `struct perf_event_mmap_page`.
#[derive(Clone, Copy, Debug)]
pub struct Mapped(u64);

impl Mapped {
    fn at<T>(&self, offset: u64) -> &T {
        // SAFETY: `Kernel::page` is given addresses of pages that are mapped; the fields below lie within, are aligned, and
        // are atomics, for the kernel writes them.
        unsafe { &*((self.0 + offset) as *const T) }
    }
}

impl Page for Mapped {
    fn lock(&self) -> u32 {
        // The kernel writes on this same processor, so order is the compiler's matter alone.
        compiler_fence(Ordering::SeqCst);
        let lock = self.at::<AtomicU32>(8).load(Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        lock
    }

    fn index(&self) -> (u32, bool) {
        /// `cap_user_rdpmc`.
        const READABLE: u64 = 1 << 2;
        let readable = self.at::<AtomicU64>(40).load(Ordering::Relaxed) & READABLE != 0;
        (self.at::<AtomicU32>(12).load(Ordering::Relaxed), readable && cfg!(target_arch = "x86_64"))
    }

    fn offset(&self) -> i64 {
        self.at::<AtomicI64>(16).load(Ordering::Relaxed)
    }

    fn width(&self) -> u16 {
        self.at::<AtomicU16>(48).load(Ordering::Relaxed)
    }

    fn times(&self) -> (u64, u64) {
        (self.at::<AtomicU64>(24).load(Ordering::Relaxed), self.at::<AtomicU64>(32).load(Ordering::Relaxed))
    }

    fn counter(&self, number: u32) -> u64 {
        platform::event_counter(number).unwrap_or(0)
    }
}
