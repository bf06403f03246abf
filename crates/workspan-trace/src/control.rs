//! Control events: what the run-time writes between the segments of a context.
//!
//! Times are ticks of the cycle counter since [`crate::shm::Header::start`]. A **ticket** orders the operations on one
//! object: an operation that releases (unlock, signal) draws it before, one that acquires (lock, wait) after, so that
//! along rising tickets every acquisition comes after the release that let it in.

/// Ids from here on are segments.
pub const FIRST_SEGMENT: u32 = 256;

/// Kinds of control events; the number is the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A context begins: time, creator + 1 (0: unknown).
    Begin = 1,
    /// A context ends: time.
    End = 2,
    /// Creation of a context: before, after, context + 1 (0: it failed).
    Create = 3,
    /// Wait for the end of a context: before, after, context + 1 (0: unknown).
    Join = 4,
    /// Operation on a synchronisation object: before, after, address, ticket, [`Operation`].
    Sync = 5,
    /// Passage of a barrier: before, after, address, arrival (from 0), participants.
    Barrier = 6,
    /// Memory was allocated: address, size, ticket. All allocations and releases of a process draw from one count.
    Allocate = 7,
    /// Memory was freed: address, ticket.
    Free = 8,
    /// Events may be missing from here on or before: time.
    Gap = 9,
}

impl Kind {
    /// By its id.
    pub fn of(id: u32) -> Option<Kind> {
        const ALL: [Kind; 9] = [
            Kind::Begin,
            Kind::End,
            Kind::Create,
            Kind::Join,
            Kind::Sync,
            Kind::Barrier,
            Kind::Allocate,
            Kind::Free,
            Kind::Gap,
        ];
        ALL.into_iter().find(|kind| *kind as u32 == id)
    }

    /// Slots that follow its id.
    pub const fn slots(self) -> usize {
        match self {
            Kind::End | Kind::Gap => 1,
            Kind::Begin | Kind::Free => 2,
            Kind::Create | Kind::Join | Kind::Allocate => 3,
            Kind::Sync | Kind::Barrier => 5,
        }
    }
}

/// What was done with a synchronisation object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Operation {
    /// A mutex, a spin lock, or a read-write lock for writing was acquired.
    Lock = 0,
    /// A lock was released.
    Unlock = 1,
    /// A read-write lock was acquired for reading.
    ReadLock = 2,
    /// A condition variable was signalled.
    Signal = 3,
    /// All who wait on a condition variable were signalled.
    Broadcast = 4,
    /// A wait on a condition variable ended.
    Wait = 5,
    /// A semaphore was raised.
    Post = 6,
    /// A semaphore was taken.
    Take = 7,
    /// An atomic store that releases.
    AtomicStore = 8,
    /// An atomic load that acquires.
    AtomicLoad = 9,
    /// An atomic operation that reads and writes.
    AtomicUpdate = 10,
}

impl Operation {
    /// By its number.
    pub fn of(number: u64) -> Option<Operation> {
        const ALL: [Operation; 11] = [
            Operation::Lock,
            Operation::Unlock,
            Operation::ReadLock,
            Operation::Signal,
            Operation::Broadcast,
            Operation::Wait,
            Operation::Post,
            Operation::Take,
            Operation::AtomicStore,
            Operation::AtomicLoad,
            Operation::AtomicUpdate,
        ];
        usize::try_from(number).ok().and_then(|number| ALL.get(number).copied())
    }

    /// What came before, in the same context, is ordered before those who acquire later.
    pub fn releases(self) -> bool {
        use Operation::{AtomicStore, AtomicUpdate, Broadcast, Post, Signal, Unlock};
        matches!(self, Unlock | Signal | Broadcast | Post | AtomicStore | AtomicUpdate)
    }

    /// What comes after, in the same context, is ordered after what was released before.
    pub fn acquires(self) -> bool {
        use Operation::{AtomicLoad, AtomicUpdate, Lock, ReadLock, Take, Wait};
        matches!(self, Lock | ReadLock | Wait | Take | AtomicLoad | AtomicUpdate)
    }

    /// As shown.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Lock => "lock",
            Operation::Unlock => "unlock",
            Operation::ReadLock => "read lock",
            Operation::Signal => "signal",
            Operation::Broadcast => "broadcast",
            Operation::Wait => "wait",
            Operation::Post => "post",
            Operation::Take => "take",
            Operation::AtomicStore => "atomic store",
            Operation::AtomicLoad => "atomic load",
            Operation::AtomicUpdate => "atomic update",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_operations_have_their_numbers() {
        let kinds: Vec<u32> = (0..FIRST_SEGMENT).filter(|id| Kind::of(*id).is_some_and(|k| k as u32 == *id)).collect();
        assert_eq!(kinds, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        for number in 0..11 {
            assert_eq!(Operation::of(number).map(|operation| operation as u64), Some(number));
        }
        assert_eq!(Operation::of(11), None);
    }
}
