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
    /// Wait for the end of a context: before (0: since the control event before), after, context + 1 (0: unknown).
    Join = 4,
    /// Operation on a synchronisation object: before, after, address, ticket, [`Operation`].
    Sync = 5,
    /// Passage of a barrier: before, after (0: the context ends there and waits for nobody), address, arrival (from 0),
    /// participants.
    Barrier = 6,
    /// Memory was allocated: address, size, ticket. All allocations and releases of a process draw from one count.
    Allocate = 7,
    /// Memory was freed: address, ticket.
    Free = 8,
    /// Events may be missing from here on or before: time.
    Gap = 9,
    /// The thread goes on with another context: time, context + 1. What follows in the buffer belongs to that.
    Switch = 10,
    /// Creation of a task, which a [`Kind::Wait`] of its creator may join: before, after, context + 1.
    Task = 11,
    /// Wait for tasks: before, after, [`Awaited`].
    Wait = 12,
    /// A group of tasks begins: time.
    Group = 13,
    /// A task depends on an item: context + 1 (0: the next [`Kind::Wait`] does), address, [`Use`].
    Depend = 14,
}

/// Which tasks a [`Kind::Wait`] waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Awaited {
    /// Those that this context has created.
    Children = 0,
    /// Those that were created since the innermost group began, and theirs.
    Group = 1,
    /// Those that the items depend on that were named before.
    Items = 2,
}

impl Awaited {
    /// By its number.
    pub fn of(number: u64) -> Option<Awaited> {
        [Awaited::Children, Awaited::Group, Awaited::Items].into_iter().find(|awaited| *awaited as u64 == number)
    }
}

/// How a task uses an item that it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Use {
    /// After those that write.
    Read = 0,
    /// After all others.
    Write = 1,
    /// As [`Use::Write`], in any order, but one after the other.
    Exclusive = 2,
    /// After all others that are of no set.
    Set = 3,
    /// As [`Use::Write`], of all items.
    All = 4,
}

impl Use {
    /// By its number.
    pub fn of(number: u64) -> Option<Use> {
        [Use::Read, Use::Write, Use::Exclusive, Use::Set, Use::All].into_iter().find(|how| *how as u64 == number)
    }
}

impl Kind {
    /// By its id.
    pub fn of(id: u32) -> Option<Kind> {
        const ALL: [Kind; 14] = [
            Kind::Begin,
            Kind::End,
            Kind::Create,
            Kind::Join,
            Kind::Sync,
            Kind::Barrier,
            Kind::Allocate,
            Kind::Free,
            Kind::Gap,
            Kind::Switch,
            Kind::Task,
            Kind::Wait,
            Kind::Group,
            Kind::Depend,
        ];
        ALL.into_iter().find(|kind| *kind as u32 == id)
    }

    /// Slots that follow its id.
    pub const fn slots(self) -> usize {
        match self {
            Kind::End | Kind::Gap | Kind::Group => 1,
            Kind::Begin | Kind::Free | Kind::Switch => 2,
            Kind::Create | Kind::Join | Kind::Allocate | Kind::Task | Kind::Wait | Kind::Depend => 3,
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
    /// A task begins that depends on an item.
    Depend = 11,
}

impl Operation {
    /// By its number.
    pub fn of(number: u64) -> Option<Operation> {
        const ALL: [Operation; 12] = [
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
            Operation::Depend,
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
            Operation::Depend => "depend",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_operations_have_their_numbers() {
        let kinds: Vec<u32> = (0..FIRST_SEGMENT).filter(|id| Kind::of(*id).is_some_and(|k| k as u32 == *id)).collect();
        assert_eq!(kinds, (1..=14).collect::<Vec<u32>>());
        for number in 0..12 {
            assert_eq!(Operation::of(number).map(|operation| operation as u64), Some(number));
        }
        assert_eq!(Operation::of(12), None);
    }
}
