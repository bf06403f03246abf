//! What an iteration of an innermost loop does to memory, as [`super::batch`] takes many of them.

use workspan_graph::events::slot;
use workspan_trace::ID_BYTES;

use crate::shadow::{Cell, Reader, Readers, Site};
use crate::table::{Kind, Tally};
use crate::tree::{distances, Node};

/// Where the address of an access is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    /// At a byte of the iteration, and so far from what is there.
    Byte(usize, i64),
    /// Always the same.
    Fixed(u64),
}

impl Where {
    /// The address in an iteration of these bytes.
    #[inline]
    pub(super) fn of(self, bytes: &[u8]) -> u64 {
        match self {
            Where::Byte(at, offset) => slot(&bytes[at..], 0).wrapping_add_signed(offset),
            Where::Fixed(address) => address,
        }
    }
}

/// Accesses that are the same dependence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    pub(super) kind: Kind,
    pub(super) source: Site,
    /// First and last moment of the earlier access.
    pub(super) range: (u64, u64),
    /// The same, of what lies before the iterations that are [taken](super::rows) together.
    pub(super) before: (u64, u64),
    pub(super) node: usize,
    pub(super) carried: bool,
    pub(super) record: u32,
    /// What was found, and is not in the table yet.
    pub(super) tally: Tally,
    /// What the iterations that are taken together have found so far.
    pub(super) seen: Seen,
}

/// A dependence that was found several times in one iteration of its node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    times: u64,
    /// First and last moment of the earlier accesses.
    moments: (u64, u64),
    /// First and last address.
    addresses: (u64, u64),
    varies: bool,
}

impl Seen {
    /// Found by each of several accesses.
    pub(super) fn all(times: u64, moments: (u64, u64), addresses: (u64, u64), varies: bool) -> Seen {
        Seen { times, moments, addresses, varies }
    }

    #[inline]
    pub(super) fn add(&mut self, address: u64, (first, last): (u64, u64)) {
        if self.times == 0 {
            *self = Seen { times: 1, moments: (first, last), addresses: (address, address), varies: false };
            return;
        }
        self.times += 1;
        self.moments = (self.moments.0.min(first), self.moments.1.max(last));
        self.varies |= address != self.addresses.1;
        self.addresses.1 = address;
    }
}

impl Class {
    /// Counts what was seen. The distance falls with the moment.
    pub(super) fn settle(&mut self, node: &Node) {
        let Seen { times, moments, addresses, varies } = std::mem::take(&mut self.seen);
        if times > 0 {
            let distances = distances(node, self.carried, moments.0, moments.1);
            self.tally.count_all(times, (addresses.0, addresses.1, varies), distances);
        }
    }
}

/// An access of the iteration.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) address: Where,
    pub(super) shift: u32,
    pub(super) is_write: bool,
    pub(super) site: Site,
    pub(super) function: u32,
    /// Lines of the iteration before its own.
    pub(super) after: u64,
    pub(super) classes: Vec<Class>,
    /// Which classes both recorded iterations found; one bit each. Where models wait for them, another one must find the same.
    pub(super) found: [u64; 2],
    pub(super) is_awaited: bool,
    /// The class that was found last.
    pub(super) near: usize,
    /// The page of the last access, as [`Shadow::whole`](crate::shadow::Shadow::whole) knows it.
    pub(super) page: (u64, u32),
    /// Between these moments, reads of the site belong together, as they were found last.
    pub(super) together: (u64, u64),
}

/// What makes an iteration.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Whether it can be one piece, once that is known.
    pub(super) possible: Option<bool>,
    /// Ids, and where they are.
    pub(super) ids: Vec<(usize, u32)>,
    pub(super) bytes: usize,
    pub(super) operations: Vec<Operation>,
    /// One of its writes meets its other accesses.
    pub(super) is_tangled: bool,
    /// Iterations in a row that found anything new.
    pub(super) failed: u32,
}

impl Batch {
    /// True if these bytes begin with such an iteration.
    #[inline]
    pub(super) fn comes(&self, bytes: &[u8]) -> bool {
        bytes.get(..self.bytes).is_some_and(|bytes| self.is_one(bytes))
    }

    /// How many such iterations these bytes begin with, at most [`MOST`].
    pub(super) fn coming(&self, bytes: &[u8]) -> usize {
        bytes.chunks_exact(self.bytes.max(1)).take(MOST).take_while(|bytes| self.is_one(bytes)).count()
    }

    #[inline]
    fn is_one(&self, bytes: &[u8]) -> bool {
        let is_id = |at: usize, id: u32| match bytes.get(at..).and_then(<[u8]>::first_chunk::<ID_BYTES>) {
            Some(bytes) => u32::from_le_bytes(*bytes) == id,
            None => false,
        };
        self.ids.iter().all(|(at, id)| is_id(*at, *id))
    }
}

impl Operation {
    /// Number of the class of an earlier access.
    #[inline]
    pub(super) fn class(&self, nodes: &[Node], kind: Kind, source: Site, moment: u64) -> Option<usize> {
        self.classes.iter().position(|class| {
            class.source == source
                && class.kind == kind
                && class.range.0 <= moment
                && moment <= class.range.1
                && nodes.get(class.node).is_some_and(|node| (moment < node.turn) == class.carried)
        })
    }

    /// The same, where all moments lie before the iterations that are taken together.
    #[inline]
    pub(super) fn class_before(&self, near: usize, kind: Kind, source: Site, moment: u64) -> Option<usize> {
        let is_it = |class: &Class| {
            class.source == source && class.kind == kind && class.before.0 <= moment && moment <= class.before.1
        };
        match self.classes.get(near) {
            Some(class) if is_it(class) => Some(near),
            _ => self.classes.iter().position(is_it),
        }
    }

    /// Adds a read to groups as [`note_read`](super::accesses::note_read) does, if they are those that it meets mostly; the cell stays as it is.
    #[inline]
    pub(super) fn read(&self, readers: &mut Readers, number: u32, turn: u64, now: u64) -> bool {
        let Some(head) = readers.place(number).filter(|head| head.site == self.site) else {
            return false;
        };
        if head.first >= turn {
            head.last = now;
            return true;
        }
        let (last, next) = (head.last, head.next);
        let is_pair = |next: &&mut Reader| next.site == self.site && next.next == 0;
        let Some(next) = readers.place(next).filter(is_pair) else {
            return false;
        };
        if next.last < self.together.0 || last > self.together.1 {
            return false;
        }
        next.last = last;
        readers.change(number, |head| (head.first, head.last) = (now, now));
        true
    }

    /// True if models wait as they did where these classes are found.
    #[inline]
    pub(super) fn finds(&self, found: u64) -> bool {
        !self.is_awaited || self.found.contains(&found)
    }

    #[inline]
    pub(super) fn count(&mut self, nodes: &[Node], class: usize, address: u64, (first, last): (u64, u64)) {
        let class = &mut self.classes[class];
        class.tally.count(address, distances(&nodes[class.node], class.carried, first, last));
    }
}

/// Iterations that are taken together at most.
pub(super) const MOST: usize = 64;
/// The cell has not been written.
pub(super) const NO_CLASS: u8 = u8::MAX;

/// What one access of these iterations meets.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) addresses: [u64; MOST],
    pub(super) cells: [((u32, u32), Cell); MOST],
    /// Of the last write.
    pub(super) classes: [u8; MOST],
    pub(super) low: u64,
    /// Behind the last byte.
    pub(super) end: u64,
    /// Each iteration has bytes of its own, in order.
    pub(super) is_monotone: bool,
    /// All cells were written by this class, at these moments: first and last.
    pub(super) one: Option<(usize, u64, u64)>,
    /// What a write finds of reads, by class, if that does not depend on the iteration that finds it.
    pub(super) seen: Vec<Seen>,
    pub(super) is_seen: bool,
    /// The last group of the reads that a write ends.
    pub(super) lasts: [u32; MOST],
}

impl Default for Column {
    fn default() -> Column {
        let (addresses, classes) = ([0; MOST], [NO_CLASS; MOST]);
        let cells = [((0, 0), Cell::default()); MOST];
        let (seen, lasts) = (Vec::new(), [0; MOST]);
        let (low, end, is_monotone, one, is_seen) = (0, 0, true, None, false);
        Column { addresses, cells, classes, low, end, is_monotone, one, seen, is_seen, lasts }
    }
}
