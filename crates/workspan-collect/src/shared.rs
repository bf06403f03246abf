//! Access to the shared memory of [`workspan_wire::shm`].
//!
//! **Invariant:** a [`Shared`] points to [`shm::SIZE`] zeroed-at-first bytes that are never unmapped. Every table in
//! it consists of atomics and of cells with a single writing thread, and is valid when all zero; so references with
//! static lifetime may be handed out. The index arguments below are checked.

use core::cell::Cell;
use core::mem::{offset_of, size_of};
use core::ptr::NonNull;

use core::sync::atomic::{AtomicU32, Ordering};
use workspan_wire::segment::ThreadSegments;
use workspan_wire::shm::{
    self, Account, AccountPage, Call, Clock, ContextRecord, Header, ModuleRecord, PathNode, SiteRecord, Thread,
    ThreadArea, ThreadLog, WaitEdge,
};

/// Handle of the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    base: NonNull<u8>,
}

// SAFETY: the tables are shared between threads by design: atomics, or cells that one thread owns (module header).
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// # Safety
    ///
    /// `base` is page-aligned and points to [`shm::SIZE`] bytes that stay valid for the rest of the process, and that
    /// were zero before a collector or the runner first wrote to them.
    pub const unsafe fn new(base: NonNull<u8>) -> Shared {
        Shared { base }
    }

    /// The memory in which `thread` lies.
    #[inline(always)]
    pub fn of(thread: &Thread) -> Shared {
        debug_assert_ne!(thread.base.get(), 0);
        // SAFETY: `base` is set to the address of the memory, which is not null, before the thread's first use.
        let base = unsafe { NonNull::new_unchecked(thread.base.get() as *mut u8) };
        // SAFETY: as above: the address came from a `Shared`, whose promises hold for the rest of the process.
        unsafe { Shared::new(base) }
    }

    /// Its address, to be kept in a cell.
    pub fn address(self) -> u64 {
        self.base.as_ptr() as u64
    }

    /// Element `index` of a table of `count` elements at `offset`. An index beyond the table, which no caller makes, gives
    /// its last element: a collector does not panic.
    #[inline]
    fn element<T>(self, offset: usize, index: usize, count: usize) -> &'static T {
        debug_assert!(index < count);
        let at = offset + core::cmp::min(index, count - 1) * core::mem::size_of::<T>();
        // SAFETY: callers pass offset and length of a table of the layout, which lies within the memory.
        let element = unsafe { self.base.as_ptr().add(at) }.cast::<T>();
        // SAFETY: the offsets are aligned for their types (compile-time constants); contents are valid by the invariant.
        unsafe { &*element }
    }

    /// The header.
    pub fn header(self) -> &'static Header {
        self.element(0, 0, 1)
    }

    /// True if the program advances the clock itself.
    pub fn is_virtual(self) -> bool {
        self.header().config.clock.load(Ordering::Relaxed) == Clock::Virtual as u32
    }

    /// True if only idle time is to be accounted for.
    pub fn is_idle_only(self) -> bool {
        self.header().config.idle_only.load(Ordering::Relaxed) != 0
    }

    /// The runtime has at least `count` workers: the most of all pools and teams counts, which as a rule is known already.
    pub fn workers_at_least(self, count: u32) {
        let workers = &self.header().workers;
        if workers.load(Ordering::Relaxed) < count {
            workers.fetch_max(count, Ordering::Relaxed);
        }
    }

    /// A slot of the hash index of sites.
    pub fn site_slot(self, slot: usize) -> &'static AtomicU32 {
        self.element(shm::SITE_INDEX, slot, shm::INDEX_SLOTS)
    }

    /// A site.
    pub fn site(self, id: u32) -> &'static SiteRecord {
        self.element(shm::SITES, id as usize, shm::MAX_SITES)
    }

    /// A slot of the hash index of contexts.
    pub fn context_slot(self, slot: usize) -> &'static AtomicU32 {
        self.element(shm::CONTEXT_INDEX, slot, shm::INDEX_SLOTS)
    }

    /// A context.
    pub fn context(self, id: u32) -> &'static ContextRecord {
        self.element(shm::CONTEXTS, id as usize, shm::MAX_CONTEXTS)
    }

    /// A module.
    pub fn module(self, index: usize) -> &'static ModuleRecord {
        self.element(shm::MODULES, index, shm::MAX_MODULES)
    }

    /// A node of critical paths; node 0 stands for "none".
    pub fn node(self, id: u32) -> &'static PathNode {
        self.element(shm::NODES, id as usize, shm::MAX_NODES)
    }

    /// A call; number 0 stands for "none".
    pub fn call(self, id: u32) -> &'static Call {
        self.element(shm::CALLS, id as usize, shm::MAX_CALLS)
    }

    /// The thread in slot `slot`.
    pub fn thread(self, slot: usize) -> &'static Thread {
        self.element(shm::THREADS + slot.min(shm::MAX_THREADS - 1) * size_of::<ThreadArea>(), 0, 1)
    }

    /// The log of the thread in slot `slot`.
    pub fn log(self, slot: usize) -> &'static ThreadLog {
        self.element(shm::LOGS, slot, shm::MAX_THREADS)
    }

    /// When serial code of `thread` ran, a thread of this memory.
    pub fn segments(self, thread: &Thread) -> &'static ThreadSegments {
        let slot = (self.area_of(thread) - shm::THREADS) / size_of::<ThreadArea>();
        self.element(shm::SEGMENTS, slot, shm::MAX_THREADS)
    }

    /// Who waited for whom.
    pub fn wait_edge(self, index: usize) -> &'static WaitEdge {
        self.element(shm::WAIT_EDGES, index, shm::MAX_WAIT_EDGES)
    }

    /// The slot of a thread of this memory.
    pub fn slot_of(self, thread: &Thread) -> u32 {
        ((self.area_of(thread) - shm::THREADS) / size_of::<ThreadArea>()) as u32
    }

    /// The log at an address that was taken from one of this memory.
    #[inline(always)]
    pub(super) fn log_at(self, address: u64) -> &'static ThreadLog {
        self.element(address as usize - self.base.as_ptr() as usize, 0, 1)
    }

    /// The account of `context` on `thread`, a thread of this memory. It is written by that thread only.
    #[inline]
    pub fn account(self, thread: &Thread, context: u32) -> &'static Account {
        if (context as usize) < shm::FIRST_CONTEXTS {
            let accounts = self.area_of(thread) + offset_of!(ThreadArea, accounts);
            return self.element(accounts, context as usize, shm::FIRST_CONTEXTS);
        }
        self.account_in_page(thread, context)
    }

    /// The same of a context beyond the first ones. Where there is no page for it, its parent is charged.
    #[cold]
    #[inline(never)]
    fn account_in_page(self, thread: &Thread, context: u32) -> &'static Account {
        let beyond = context as usize - shm::FIRST_CONTEXTS;
        let pages = self.area_of(thread) + offset_of!(ThreadArea, pages);
        let page: &Cell<u32> = self.element(pages, beyond / shm::PAGE_ACCOUNTS, shm::THREAD_PAGES);
        if page.get() == 0 {
            page.set(self.new_page());
        }
        if page.get() == shm::NO_PAGE {
            // A parent is made before its children, so this ends.
            return self.account(thread, self.context(context).parent.get().min(context - 1));
        }
        let page: &AccountPage = self.element(shm::ACCOUNT_PAGES, page.get() as usize - 1, shm::MAX_ACCOUNT_PAGES);
        &page.accounts[beyond % shm::PAGE_ACCOUNTS]
    }

    fn new_page(self) -> u32 {
        let used = &self.header().account_pages;
        let page = used.fetch_add(1, Ordering::Relaxed) + 1;
        if page as usize <= shm::MAX_ACCOUNT_PAGES {
            return page;
        }
        used.fetch_sub(1, Ordering::Relaxed);
        self.header().dropped_contexts.fetch_add(1, Ordering::Relaxed);
        shm::NO_PAGE
    }

    fn area_of(self, thread: &Thread) -> usize {
        thread as *const Thread as usize - self.base.as_ptr() as usize
    }
}

/// The account that `thread` charges now.
#[inline(always)]
pub fn current_account(thread: &Thread) -> &'static Account {
    // SAFETY: `account` is set, whenever `context` is, to the address of an account of this same thread within the
    // shared memory, which is never unmapped; it is set before the first strand starts.
    unsafe { &*(thread.account.get() as *const Account) }
}
