//! Control events: what the run-time writes between the segments of a context.
//!
//! Times are ticks of the cycle counter since [`crate::shm::Header::start`]. A **ticket** orders the operations on one
//! object: an operation that releases (unlock, signal) draws it before, one that acquires (lock, wait) after, so that
//! along rising tickets every acquisition comes after the release that let it in.

/// Ids from here on are segments.
pub const FIRST_SEGMENT: u32 = 256;

/// Bits of a ticket in [`Kind::Atomic`]; the number of its counter lies above.
pub const TICKET_BITS: u32 = 36;

/// An enumeration with a number for each member, by which it is found again.
macro_rules! numbered {
    ($(#[$outer:meta])* pub enum $name:ident by $number:ty { $($(#[$inner:meta])* $member:ident = $value:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$inner])* $member = $value,)*
        }

        impl $name {
            /// By its number.
            pub fn of(number: $number) -> Option<$name> {
                match number {
                    $($value => Some($name::$member),)*
                    _ => None,
                }
            }
        }
    };
}

numbered! {
    /// Kinds of control events; the number is the id.
    pub enum Kind by u32 {
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
        /// participants ([`crate::mpi::Passage`]).
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
        /// Creation of a task that belongs to a gather: before, after, context + 1, gather (0: nobody waits for it by that).
        Spawn = 20,
        /// Wait for all tasks of a gather: before, after, gather.
        Gather = 21,
        /// An atomic operation, or what stands for one, lets others take over or takes over itself, without being a task:
        /// address, ticket of its counter + 2^36 × counter, [`Operation`]. The tickets of a counter are consecutive.
        Atomic = 22,
        /// What lies below this address on the stack is the running task's own: address.
        Frame = 23,
        /// The variables that the running thread has for itself: address, bytes.
        Local = 24,
        /// A semaphore of one process is made: address, its value.
        Semaphore = 25,
        /// A process knows which rank it is: rank, ranks in all, run, ticks when all had started, library (1: Open MPI, 2: MPICH).
        Rank = 32,
        /// A communicator or window is used: number in the process, identity, members.
        Communicator = 33,
        /// A message is sent or received, or a window locked: [`crate::mpi::Message`].
        Message = 34,
        /// A collective call: [`crate::mpi::Collective`].
        Collective = 35,
        /// A library reads or writes the program's memory: address, bytes, 0 (reads) or 1 (writes).
        Transfer = 36,
    }
}

numbered! {
    /// Which tasks a [`Kind::Wait`] waits for.
    pub enum Awaited by u64 {
        /// Those that this context has created.
        Children = 0,
        /// Those that were created since the innermost group began, and theirs.
        Group = 1,
        /// Those that the items depend on that were named before.
        Items = 2,
    }
}

numbered! {
    /// How a task uses an item that it depends on.
    pub enum Use by u64 {
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
}

impl Kind {
    /// Slots that follow its id.
    pub const fn slots(self) -> usize {
        match self {
            Kind::End | Kind::Gap | Kind::Group | Kind::Frame => 1,
            Kind::Begin | Kind::Free | Kind::Switch | Kind::Local | Kind::Semaphore => 2,
            Kind::Create | Kind::Join | Kind::Allocate | Kind::Task | Kind::Wait | Kind::Depend => 3,
            Kind::Communicator | Kind::Transfer | Kind::Gather | Kind::Atomic => 3,
            Kind::Spawn => 4,
            Kind::Sync | Kind::Barrier | Kind::Rank | Kind::Message | Kind::Collective => 5,
        }
    }
}

numbered! {
    /// What was done with a synchronisation object.
    pub enum Operation by u64 {
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
        /// A message was sent.
        Send = 32,
        /// A message was received.
        Receive = 33,
        /// The send of a message is complete.
        Sent = 34,
        /// A message was waited for, but not received.
        Probe = 35,
    }
}

impl Operation {
    /// What came before, in the same context, is ordered before those who acquire later.
    pub fn releases(self) -> bool {
        use Operation::{AtomicStore, AtomicUpdate, Broadcast, Post, Send, Signal, Unlock};
        matches!(self, Unlock | Signal | Broadcast | Post | AtomicStore | AtomicUpdate | Send)
    }

    /// What comes after, in the same context, is ordered after what was released before.
    pub fn acquires(self) -> bool {
        use Operation::{AtomicLoad, AtomicUpdate, Lock, ReadLock, Receive, Take, Wait};
        matches!(self, Lock | ReadLock | Wait | Take | AtomicLoad | AtomicUpdate | Receive)
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
            Operation::Send => "send",
            Operation::Receive => "receive",
            Operation::Sent => "sent",
            Operation::Probe => "probe",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_operations_have_their_numbers() {
        let kinds: Vec<u32> = (0..FIRST_SEGMENT).filter(|id| Kind::of(*id).is_some_and(|k| k as u32 == *id)).collect();
        assert_eq!(kinds, (1..=14).chain(20..=25).chain(32..=36).collect::<Vec<u32>>());
        for number in (0..12).chain(32..36) {
            assert_eq!(Operation::of(number).map(|operation| operation as u64), Some(number));
        }
        assert_eq!(Operation::of(12), None);
    }
}
