//! A machine of several threads in one: each has its slot and its virtual clock, and one at a time runs a strand.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use workspan_analysis::{profile, Profile};
use workspan_collect::region::{self, CallSite, Place, Region};
use workspan_collect::shared::Shared;
use workspan_collect::tables;
use workspan_collect::thread::{prepare, Role};
use workspan_model::Recording;
use workspan_read::{first_page, read_events, read_snapshot, AskedEvent, Died, Request};
use workspan_wire::shm::{self, Clock, Ending, Thread};
use workspan_wire::site::SiteKind;

/// Private memory in place of the shared one: an allocation that is a page too large, so that a page-aligned part of it
/// serves. (Zeroed memory of usual alignment comes untouched from the kernel.)
const LAYOUT: Layout = Layout::new::<[u8; shm::SIZE + 4096]>();

/// Memory and threads.
pub(crate) struct Machine {
    allocation: *mut u8,
    pub(crate) shared: Shared,
    pub(crate) threads: Vec<&'static Thread>,
}

/// What a steal costs in burdened spans.
pub(crate) const STEAL: i64 = 37;

impl Machine {
    /// A machine with this number of threads; the first is the main thread, the others are idle workers.
    pub(crate) fn new(threads: usize) -> Machine {
        Machine::with(threads, false, 0)
    }

    /// One that logs every strand, as far as there is room: nobody takes the records until it is done.
    pub(crate) fn logging(threads: usize) -> Machine {
        Machine::with(threads, true, 0)
    }

    /// One that counts events, too, of which the virtual clock makes one a tick, two a tick, and so on.
    pub(crate) fn counting(threads: usize, log: bool) -> Machine {
        Machine::with(threads, log, 2)
    }

    fn with(threads: usize, log: bool, events: usize) -> Machine {
        // SAFETY: the layout has a size above zero.
        let allocation = unsafe { alloc_zeroed(LAYOUT) };
        let base = NonNull::new(allocation.map_addr(|address| (address + 4095) & !4095)).expect("there is memory");
        // SAFETY: zeroed, page-aligned and large enough; freed when the machine is, which outlives its users.
        let shared = unsafe { Shared::new(base) };
        let request = Request {
            clock: Clock::Virtual,
            logical_cores: None,
            answered_threads: None,
            ticks_per_second: 1_000_000_000,
            virtual_task_cost: 0,
            interrupt_ticks: [0; 3],
            interrupt_period: 0,
            pause_ticks: 0,
            pause_ppm: 0,
            disabled: 0,
            log,
            idle_only: false,
            steal_ticks: STEAL,
            segments: false,
            events: vec![AskedEvent::default(); events],
        };
        let page = first_page(&request);
        // SAFETY: the memory is private to this machine, larger than a page, and nobody looks at it yet.
        unsafe { std::ptr::copy_nonoverlapping(page.as_ptr(), shared.address() as *mut u8, page.len()) };
        tables::make_root(shared);
        let slots: Vec<&'static Thread> = (0..threads).map(|slot| shared.thread(slot)).collect();
        for (i, thread) in slots.iter().enumerate() {
            let role = if i == 0 { Role::Main } else { Role::Worker };
            thread.state.store(1, std::sync::atomic::Ordering::Relaxed);
            prepare(shared, thread, role);
            workspan_collect::log::start(shared, thread, role);
            workspan_collect::events::start(shared, thread);
        }
        let header = shared.header();
        header.thread_slots.store(u32::try_from(threads).expect("few"), std::sync::atomic::Ordering::Relaxed);
        Machine { allocation, shared, threads: slots }
    }

    /// Ends the main thread's strand as the exit handler does.
    pub(crate) fn finish(&self) {
        let main = self.threads[0];
        workspan_collect::root::end_root(self.shared, main, main.virtual_now.get());
        self.shared.header().ending.store(Ending::Clean as u32, std::sync::atomic::Ordering::Relaxed);
    }

    /// What has been recorded.
    pub(crate) fn recording(&self) -> Recording {
        // SAFETY: the memory has this size, and no strand runs while it is read.
        let bytes = unsafe { std::slice::from_raw_parts(self.shared.address() as *const u8, shm::SIZE) };
        let mut recording = Recording::default();
        let contexts = read_snapshot(bytes, &Died::default(), &mut recording).expect("memory can be read");
        let known = recording.contexts.len();
        read_events(bytes, &contexts, known, &["ticks", "twice"], |error| error.to_string(), &mut recording.runs[0])
            .expect("memory can be read");
        recording
    }

    pub(crate) fn profile(&self) -> (Recording, Profile) {
        let recording = self.recording();
        let profile = profile(&recording, &recording.runs[0]);
        (recording, profile)
    }

    /// Nodes of critical paths that are in use.
    pub(crate) fn nodes_in_use(&self) -> usize {
        let header = self.shared.header();
        in_use(&header.nodes, &header.free_nodes, |id| &self.shared.node(id).parent)
    }

    /// Calls that are awaited, or known and still on a path as such.
    pub(crate) fn calls_in_use(&self) -> usize {
        let header = self.shared.header();
        in_use(&header.calls, &header.free_calls, |id| &self.shared.call(id).next)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for thread in &self.threads {
            workspan_collect::batch::close_all(thread);
        }
        // SAFETY: allocated with this layout, and nothing of this machine is used after it.
        unsafe { dealloc(self.allocation, LAYOUT) };
    }
}

fn in_use<'a>(used: &AtomicU32, free: &AtomicU64, next: impl Fn(u32) -> &'a AtomicU32) -> usize {
    let mut count = 0;
    let mut at = u32::try_from(free.load(Ordering::Relaxed) & 0xffff_ffff).expect("32 bits");
    while at != 0 {
        count += 1;
        at = next(at).load(Ordering::Relaxed);
    }
    used.load(Ordering::Relaxed) as usize - count
}

/// Takes this many ticks.
pub(crate) fn work(thread: &Thread, ticks: u64) {
    thread.virtual_now.set(thread.virtual_now.get() + ticks);
}

pub(crate) fn now(thread: &Thread) -> u64 {
    thread.virtual_now.get()
}

/// A call site of its own for every `copy` of every `kind`.
pub(crate) fn call_site(kind: SiteKind, copy: u8) -> CallSite {
    #[track_caller]
    fn here() -> &'static Location<'static> {
        Location::caller()
    }
    let [row, column] = [kind as usize % 3, kind as usize / 3 * 4 + usize::from(copy) % 4];
    let locations = [
        [
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
        ],
        [
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
        ],
        [
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
        ],
    ];
    CallSite { kind, place: Place::Location(locations[row][column]), type_name: || "" }
}

pub(crate) fn enter(thread: &Thread, kind: SiteKind, copy: u8) -> Option<Region> {
    region::enter(thread, now(thread), &call_site(kind, copy))
}

pub(crate) fn leave(thread: &Thread, region: Option<Region>) {
    if let Some(region) = region {
        region::leave(thread, now(thread), region);
    }
}
