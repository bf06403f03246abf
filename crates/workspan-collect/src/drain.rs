//! The other end of the logs: what the runner does with them, in its own process.

use core::ffi::CStr;
use core::ptr::NonNull;
use core::sync::atomic::Ordering;

use super::platform;
use super::ring;
use super::shared::Shared;
use workspan_wire::log::Record;
use workspan_wire::shm::{self, MAX_THREADS};

/// A view of the shared memory that lasts until it is dropped.
#[derive(Debug)]
pub struct Drain {
    shared: Shared,
    mapped: bool,
}

impl Drain {
    /// Maps the shared memory at `path`.
    pub fn map(path: &CStr) -> Option<Drain> {
        let path = NonNull::new(path.as_ptr().cast_mut())?;
        let base = platform::map_shared(path, shm::SIZE)?;
        // SAFETY: a mapping of that size, page-aligned; no reference into it leaves this type, which unmaps it last.
        Some(Drain { shared: unsafe { Shared::new(base) }, mapped: true })
    }

    /// A view of memory that is there anyway.
    pub fn of(shared: Shared) -> Drain {
        Drain { shared, mapped: false }
    }

    /// Slots of threads that have been in use so far.
    pub fn slots(&self) -> usize {
        (self.shared.header().thread_slots.load(Ordering::Acquire) as usize).min(MAX_THREADS)
    }

    /// Gives `keep` what the thread in `slot` has logged since the last call, and makes room for more. Returns the number
    /// of records.
    pub fn take(&self, slot: usize, keep: impl FnMut(Record)) -> usize {
        ring::take(self.shared.log(slot), keep)
    }

    /// Nothing more is wanted: threads that find no room go on without a log.
    pub fn stop(&self) {
        self.shared.header().log_stopped.store(1, Ordering::Relaxed);
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        if self.mapped {
            // SAFETY: mapped in `map` with this size, and used by nobody else.
            unsafe { platform::unmap(self.shared.address() as usize, shm::SIZE) };
        }
    }
}
