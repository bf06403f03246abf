//! Control events of MPI: what their slots hold.
//!
//! The library that stands in for MPI's functions writes them, one process at a time. Ranks are those of `MPI_COMM_WORLD`.
//! A communicator has a number in its process, and an **identity** that is the same in all its members: a hash of their
//! ranks, and of how many communicators of the same members there were before.

/// Objects that stand for messages, windows and collectives of merged ranks: no address has both bits.
pub const OBJECT: u64 = 3 << 46;
/// A rank that is not known.
pub const NOBODY: u32 = u32::MAX;

/// True if an object is that of several ranks, not an address of one.
pub fn is_shared(object: u64) -> bool {
    object & OBJECT == OBJECT
}

/// What was done with a message, or with a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Deed {
    /// It was sent.
    Send = 1,
    /// It was received.
    Receive = 2,
    /// The send of a message is complete.
    Sent = 3,
    /// A message was waited for, but not received.
    Probe = 4,
    /// A window was locked.
    Lock = 5,
    /// A window was locked with others.
    ReadLock = 6,
    /// A window was unlocked.
    Unlock = 7,
}

impl Deed {
    /// By its number.
    pub fn of(number: u64) -> Option<Deed> {
        use Deed::{Lock, Probe, ReadLock, Receive, Send, Sent, Unlock};
        [Send, Receive, Sent, Probe, Lock, ReadLock, Unlock].into_iter().find(|deed| *deed as u64 == number)
    }
}

/// Slots of [`crate::control::Kind::Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Ticks before the call.
    pub before: u64,
    /// Ticks after it.
    pub after: u64,
    /// What was done.
    pub deed: Deed,
    /// The other rank; of a window the target.
    pub peer: u32,
    /// Tag.
    pub tag: u32,
    /// Number of the communicator or window.
    pub communicator: u16,
    /// Order of sends and receives of this rank, by when they were posted.
    pub ticket: u64,
}

impl Message {
    /// As slots.
    pub fn slots(&self) -> [u64; 5] {
        let peer = u64::from(self.peer) | (self.deed as u64) << 32;
        let tag = u64::from(self.tag) | u64::from(self.communicator) << 32;
        [self.before, self.after, peer, tag, self.ticket]
    }

    /// From slots.
    pub fn of([before, after, peer, tag, ticket]: [u64; 5]) -> Option<Message> {
        let deed = Deed::of(peer >> 32)?;
        let communicator = u16::try_from(tag >> 32).ok()?;
        Some(Message { before, after, deed, peer: low(peer), tag: low(tag), communicator, ticket })
    }
}

/// Slots of [`crate::control::Kind::Collective`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Ticks before the call.
    pub before: u64,
    /// Ticks after it.
    pub after: u64,
    /// Number of the communicator or window.
    pub communicator: u16,
    /// Which of the communicator's.
    pub sequence: u64,
    /// Others wait for this rank.
    pub arrives: bool,
    /// This rank waits for others.
    pub waits: bool,
}

impl Collective {
    /// As slots.
    pub fn slots(&self) -> [u64; 5] {
        let roles = u64::from(self.arrives) | u64::from(self.waits) << 1;
        [self.before, self.after, self.communicator.into(), self.sequence, roles]
    }

    /// From slots.
    pub fn of([before, after, communicator, sequence, roles]: [u64; 5]) -> Option<Collective> {
        let communicator = u16::try_from(communicator).ok()?;
        Some(Collective { before, after, communicator, sequence, arrives: roles & 1 != 0, waits: roles & 2 != 0 })
    }
}

/// Who passes a barrier: the last slot of [`crate::control::Kind::Barrier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Contexts that must have arrived before any that waits goes on.
    pub count: u64,
    /// This context is one of them.
    pub arrives: bool,
    /// This context waits for them.
    pub waits: bool,
}

const ABSENT: u64 = 1 << 40;
const HASTY: u64 = 1 << 41;

impl Passage {
    /// From the slot.
    pub fn of(slot: u64) -> Passage {
        Passage { count: slot & (ABSENT - 1), arrives: slot & ABSENT == 0, waits: slot & HASTY == 0 }
    }

    /// As the slot.
    pub fn slot(&self) -> u64 {
        let flag = |set: bool, flag: u64| if set { 0 } else { flag };
        self.count & (ABSENT - 1) | flag(self.arrives, ABSENT) | flag(self.waits, HASTY)
    }
}

fn low(value: u64) -> u32 {
    (value & 0xffff_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_what_was_put_into_them() {
        for number in 1..8 {
            let deed = Deed::of(number).expect("a deed");
            let message = Message { before: 1, after: 2, deed, peer: 77, tag: 9, communicator: 65535, ticket: 1 << 40 };
            let slots = message.slots();
            assert!(slots.iter().all(|slot| *slot < 1 << 48));
            assert_eq!(Message::of(slots), Some(message));
        }
        assert_eq!(Deed::of(0), None);
        for (arrives, waits) in [(false, false), (false, true), (true, false), (true, true)] {
            let call = Collective { before: 1, after: 2, communicator: 3, sequence: 4, arrives, waits };
            assert_eq!(Collective::of(call.slots()), Some(call));
            let passage = Passage { count: 5, arrives, waits };
            assert_eq!(Passage::of(passage.slot()), passage);
        }
        assert_eq!(Passage { count: 5, arrives: true, waits: true }.slot(), 5);
    }
}
