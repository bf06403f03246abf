//! The log: every strand and the event that ends it, as its thread saw it.
//!
//! Each thread writes records into a ring of its own ([`super::shm::ThreadLog`]), which `workspan` empties while the
//! program runs. A record is two words:
//!
//! | bits of the first word | content |
//! |---|---|
//! | 0–7 | the [`Event`] |
//! | 8–23 | a context |
//! | 24–63 | *n*, signed |
//!
//! Of a record that ends a strand ([`Event::ends_strand`]) *n* is the strand's cost in ticks and the context that which is
//! charged; the second word is the tick at which it began (low 48 bits) below a small number (16 bits). Of all others the
//! second word is an identity, and *n* as the event says.
//!
//! What does not fit goes before: [`Event::Wide`] has the upper bits of *n*, and the ticks that the strand was blocked.
//!
//! A **piece** is what one thread runs of a task without that its creator runs on: from [`Event::Begin`],
//! [`Event::Life`], [`Event::Member`], [`Event::Resume`] or [`Event::Turn`] to its end. Pieces nest in a log, since a thread
//! that waits may run another task; where a piece belongs in the program's order says its identity, which its creator's
//! records name too. Several pieces may have one identity: copies of a task, chunks of a loop of tasks, members of a team.

use core::mem::size_of;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// To the next record: *n* is what goes above bit 40 of its *n*; second word: ticks blocked.
    Wide = 1,
    /// To the next record: another context, a count *n*, and an identity.
    With = 2,
    /// To the next record: the identity of the group that it belongs to.
    Of = 3,
    /// To the next record: the number by which a tool sees the strand that ends, in the second word.
    Seen = 4,

    /// A piece of the task of this identity begins here. *n*: its absolute span.
    Begin = 8,
    /// The calling thread begins: a piece. *n*: its absolute span; the context is 0 for the main thread, otherwise 1.
    Life = 9,
    /// The thread of the piece that has just begun is the one created under this identity. *n*: its absolute span.
    Born = 10,
    /// A turn at the serial resource of this identity begins: a piece. *n*: how many there were before.
    Turn = 11,
    /// A group of this identity begins.
    Group = 12,
    /// The right branch of the innermost fork was run as a piece of this identity, and has ended.
    Elsewhere = 13,
    /// What the creation of the task that was created last has cost, in the second word.
    Overhead = 14,
    /// The task's turns at a serial resource are over.
    Left = 15,
    /// Right behind a creation: the new task comes after the one of this identity; 0: others may come after the new one.
    /// Context 1: not that, but the next [`Event::Sync`] with number 1 waits for it.
    After = 16,
    /// The task that was to go on under this identity does so here: a piece (after [`Event::Suspend`]).
    Resume = 17,
    /// A member of the team of this identity begins: a piece. *n*: its number in the team.
    Member = 18,
    /// Of a team, this member runs what one of them is to run.
    Single = 19,

    /// Branches fork off; number: iterations in the first ([`Event::With`]: this number, if they are more than fit).
    Fork = 32,
    /// The next branch begins; number: iterations in it (as before).
    Next = 33,
    /// The branches join.
    Join = 34,
    /// The rest of the branch that ended with the record before: found out late.
    Late = 35,
    /// The group's tasks are waited for.
    Wait = 36,
    /// A task is created ([`Event::With`]: its context, number of copies, identity; [`Event::Of`]: its group, if any, or
    /// instead of a number of copies [`INNERMOST`]).
    Spawn = 37,
    /// The same, and its creator waits for it at once.
    Call = 38,
    /// The piece ends. Number 1: it was none of the program's, but the runtime's.
    End = 39,
    /// The tasks created so far by this one are waited for; number 1: only those reported before ([`Event::After`]).
    Sync = 40,
    /// A region begins ([`Event::With`]: its context).
    Enter = 41,
    /// It ends.
    Leave = 42,
    /// The strand goes on as a piece ([`Event::With`]: its identity), and then here.
    Handoff = 43,
    /// Nothing but that what has passed is charged to this context.
    Cut = 44,
    /// The task takes turns at a serial resource from here on.
    Turns = 45,
    /// The resource has answered in this turn: its item begins.
    Item = 46,
    /// The item is done: the piece ends.
    ItemEnd = 47,
    /// The turn ends without an item: the piece ends.
    TurnEnd = 48,
    /// A team begins ([`Event::With`]: its identity).
    Team = 49,
    /// A member arrives at a barrier; number 1: the last one, after which its end may not be seen.
    Barrier = 50,
    /// The team has ended.
    TeamEnd = 51,
    /// The piece ends; its task may go on as another one ([`Event::With`]: its identity).
    Suspend = 52,
    /// The strand has woken who waits ([`Event::With`]: where, and its absolute span in *n*, which may be cut off).
    Wake = 53,
    /// The strand has waited, and was woken ([`Event::With`]: as the [`Event::Wake`] that did so has it; [`Event::Of`]: by how
    /// much that raises its span). Number 1: for a lock, whose order is accident.
    Await = 54,
}

/// In place of a number of copies: the task is waited for by the innermost group, or team, around its creation.
pub const INNERMOST: i64 = -1;

/// Set in what a loop is known by whose iterations wait for one another, and in labels of these iterations. Addresses do not have it.
pub const ACROSS: u64 = 1 << 63;
/// The last bits of such a label are the iteration's number; of the loop itself they are 0.
pub const ITERATION_BITS: u32 = 40;

/// All events.
const EVENTS: [Event; 39] = [
    Event::Wide,
    Event::With,
    Event::Of,
    Event::Seen,
    Event::Begin,
    Event::Life,
    Event::Born,
    Event::Turn,
    Event::Group,
    Event::Elsewhere,
    Event::Overhead,
    Event::Left,
    Event::After,
    Event::Resume,
    Event::Member,
    Event::Single,
    Event::Fork,
    Event::Next,
    Event::Join,
    Event::Late,
    Event::Wait,
    Event::Spawn,
    Event::Call,
    Event::End,
    Event::Sync,
    Event::Enter,
    Event::Leave,
    Event::Handoff,
    Event::Cut,
    Event::Turns,
    Event::Item,
    Event::ItemEnd,
    Event::TurnEnd,
    Event::Team,
    Event::Barrier,
    Event::TeamEnd,
    Event::Suspend,
    Event::Wake,
    Event::Await,
];

/// By number.
const BY_NUMBER: [Option<Event>; 256] = {
    let mut table = [None; 256];
    let mut i = 0;
    while i < EVENTS.len() {
        table[EVENTS[i] as usize] = Some(EVENTS[i]);
        i += 1;
    }
    table
};

impl Event {
    /// The event of this number.
    #[inline]
    pub const fn of(number: u8) -> Option<Event> {
        BY_NUMBER[number as usize]
    }

    /// True if such a record ends a strand.
    #[inline]
    pub fn ends_strand(self) -> bool {
        self as u8 >= Event::Fork as u8
    }
}

/// A record: its two words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Record(pub u64, pub u64);

/// Bytes of a record.
pub const RECORD: usize = size_of::<Record>();

/// Low bits of a tick that a record keeps.
pub const TICK_BITS: u32 = 48;
/// Bits of a context.
pub const CONTEXT_BITS: u32 = 24;
/// Bits of *n*.
pub const N_BITS: u32 = 64 - 8 - CONTEXT_BITS;
/// The largest *n* that fits into one record.
pub const LARGEST: i64 = (1 << (N_BITS - 1)) - 1;

impl Record {
    /// A record of `event`. Of `n` only the low [`N_BITS`] fit ([`Record::wide`]).
    #[inline]
    pub const fn new(event: Event, context: u32, n: i64, second: u64) -> Record {
        Record(event as u64 | (context as u64 & ((1 << CONTEXT_BITS) - 1)) << 8 | (n as u64) << (64 - N_BITS), second)
    }

    /// What goes before a record with `n` after a strand that was blocked for so long; `None` if all fits.
    #[inline]
    pub const fn wide(n: i64, blocked: i64) -> Option<Record> {
        let above = n >> (N_BITS - 1);
        if blocked == 0 && (above == 0 || above == -1) {
            return None;
        }
        Some(Record::new(Event::Wide, 0, n >> N_BITS, blocked as u64))
    }

    /// The second word of a record that ends a strand which began at tick `start`.
    #[inline]
    pub const fn when(start: u64, number: u16) -> u64 {
        (start & ((1 << TICK_BITS) - 1)) | (number as u64) << TICK_BITS
    }

    /// Its event, if it is one.
    #[inline]
    pub fn event(self) -> Option<Event> {
        Event::of((self.0 & 0xff) as u8)
    }

    /// Its context.
    #[inline]
    pub const fn context(self) -> u32 {
        (self.0 >> 8 & 0xff_ffff) as u32
    }

    /// Its *n*.
    #[inline]
    pub const fn n(self) -> i64 {
        self.0 as i64 >> (64 - N_BITS)
    }

    /// Its *n* after the record `wide`.
    #[inline]
    pub const fn n_after(self, wide: Record) -> i64 {
        wide.n() << N_BITS | (self.n() & ((1 << N_BITS) - 1))
    }

    /// The tick in the second word.
    #[inline]
    pub const fn tick(self) -> u64 {
        self.1 & ((1 << TICK_BITS) - 1)
    }

    /// The small number in the second word.
    #[inline]
    pub const fn number(self) -> u16 {
        (self.1 >> TICK_BITS) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_known_by_their_number() {
        for number in 0..=255 {
            if let Some(event) = Event::of(number) {
                assert_eq!(event as u8, number);
            }
        }
        assert_eq!((0..=255).filter_map(Event::of).count(), EVENTS.len());
    }

    #[test]
    fn records_keep_what_they_are_given() {
        for n in [0, 1, -1, LARGEST, -LARGEST - 1, LARGEST + 1, -LARGEST - 2, i64::MAX, i64::MIN] {
            let record = Record::new(Event::Join, 65_535, n, Record::when(7 << 44, 9));
            let found = match Record::wide(n, 0) {
                Some(wide) => record.n_after(wide),
                None => record.n(),
            };
            assert_eq!((found, record.context(), record.event()), (n, 65_535, Some(Event::Join)));
            assert_eq!((record.tick(), record.number()), (7 << 44, 9));
        }
        assert_eq!(Record::wide(5, -3).map(|wide| (wide.n(), wide.1 as i64)), Some((0, -3)));
    }
}
