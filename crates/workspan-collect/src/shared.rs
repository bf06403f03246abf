//! Access to the shared memory of [`workspan_wire::shm`].
//!
//! **Invariant:** a [`Shared`] points to [`shm::SIZE`] zeroed-at-first bytes that are never unmapped. Every table in
//! it consists of atomics and of cells with a single writing thread, and is valid when all zero; so references with
//! static lifetime may be handed out. The index arguments below are checked.

use core::ptr::NonNull;

use core::sync::atomic::AtomicU32;
use workspan_wire::shm::{self, Account, ContextRecord, Header, PathNode, SiteRecord, Thread, ThreadArea};

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

    fn table<T>(self, offset: usize) -> &'static T {
        // SAFETY: callers pass offsets of tables of the layout, which lie within the memory.
        let table = unsafe { self.base.as_ptr().add(offset) }.cast::<T>();
        // SAFETY: the offsets are aligned for their types (compile-time constants); contents are valid by the invariant.
        unsafe { &*table }
    }

    /// The header.
    pub fn header(self) -> &'static Header {
        self.table(0)
    }

    /// Hash index of sites.
    pub fn site_index(self) -> &'static [AtomicU32; shm::INDEX_SLOTS] {
        self.table(shm::SITE_INDEX)
    }

    /// Sites.
    pub fn sites(self) -> &'static [SiteRecord; shm::MAX_SITES] {
        self.table(shm::SITES)
    }

    /// Hash index of contexts.
    pub fn context_index(self) -> &'static [AtomicU32; shm::INDEX_SLOTS] {
        self.table(shm::CONTEXT_INDEX)
    }

    /// Contexts.
    pub fn contexts(self) -> &'static [ContextRecord; shm::MAX_CONTEXTS] {
        self.table(shm::CONTEXTS)
    }

    /// Threads. An area is written by the thread that holds its slot.
    pub fn threads(self) -> &'static [ThreadArea; shm::MAX_THREADS] {
        self.table(shm::THREADS)
    }

    /// Nodes of critical paths; node 0 stands for "none".
    pub fn nodes(self) -> &'static [PathNode; shm::MAX_NODES] {
        self.table(shm::NODES)
    }

    /// Slot of a thread of this memory.
    pub fn slot(self, thread: &Thread) -> usize {
        (thread as *const Thread as usize - self.base.as_ptr() as usize - shm::THREADS)
            / core::mem::size_of::<ThreadArea>()
    }

    /// The area of a thread of this memory.
    pub fn area(self, thread: &Thread) -> &'static ThreadArea {
        &self.threads()[self.slot(thread)]
    }

    /// The account of `context` on `thread`.
    pub fn account(self, thread: &Thread, context: u32) -> &'static Account {
        &self.area(thread).accounts[context as usize]
    }
}

/// The account that `thread` charges now.
#[inline(always)]
pub fn current_account(thread: &Thread) -> &'static Account {
    // SAFETY: `account` is set, whenever `context` is, to the address of an account of this same thread within the
    // shared memory, which is never unmapped; it is set before the first strand starts.
    unsafe { &*(thread.account.get() as *const Account) }
}
