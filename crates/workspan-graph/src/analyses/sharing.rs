//! False sharing and memory traffic: cache lines that contexts share without sharing bytes, and bytes that one context wrote
//! and another reads.
//!
//! **False sharing:** two accesses to one line, to different bytes, one of them a write, that the graph leaves unordered: on
//! two processors the line goes back and forth. **Traffic:** of each 8 bytes the first read by a context after another has
//! written them. Atomic accesses count as well.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::allocations::{Allocation, Allocations};
use crate::causes::Causes;
use crate::events::{Access, Control};
use crate::races::Place;
use crate::replay::{Consumer, Executed};
use crate::traffic::Cells;
use workspan_trace::program::Access as Mode;

/// Accesses that are kept of a line.
const MOST: usize = 8;

/// An access to a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) context: u32,
    pub(super) moment: u32,
    /// Bytes of the line: a bit for each.
    pub(super) bytes: u64,
    pub(super) write: bool,
    pub(super) place: Place,
}

/// The parts of an access that lie in one line each: the line, and which of its bytes.
pub(super) fn lines_of(access: &Access, line: u64) -> impl Iterator<Item = (u64, u64)> {
    let (address, last) = (access.address, access.address.saturating_add(access.size.saturating_sub(1)));
    (address / line..=last / line).map(move |number| {
        let from = address.max(number * line) - number * line;
        let to = last.min(number * line + line - 1) - number * line;
        (number, (u64::MAX >> (63 - (to - from))) << from)
    })
}

/// Two places that share lines falsely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct False {
    /// How often an access met the other's line.
    pub count: u64,
    /// Lines.
    pub lines: BTreeSet<u64>,
    /// Where the first line lies.
    pub allocation: Option<Allocation>,
}

/// Bytes from one context to another.
pub type Traffic = BTreeMap<(u32, u32), u64>;

/// Finds both in a replayed recording.
#[derive(Debug)]
pub struct Sharing {
    line: u64,
    causes: Causes,
    lines: HashMap<u64, Vec<Last>>,
    cells: Cells<u32, Place>,
    allocations: Allocations,
    segments: HashMap<u32, u32>,
    /// False sharing by pairs of places, the lower one first.
    pub found: BTreeMap<(Place, Place), False>,
    /// Bytes by writing and reading context.
    pub contexts: Traffic,
    /// Bytes by writing and reading place.
    pub places: BTreeMap<(Place, Place), u64>,
}

impl Sharing {
    /// With lines of some bytes: a power of two up to 64.
    pub fn new(line: u64) -> Sharing {
        Sharing {
            line: line.clamp(1, 64),
            causes: Causes::default(),
            lines: HashMap::new(),
            cells: Cells::default(),
            allocations: Allocations::default(),
            segments: HashMap::new(),
            found: BTreeMap::new(),
            contexts: Traffic::new(),
            places: BTreeMap::new(),
        }
    }

    fn line(&mut self, new: Last, line: u64) {
        let lasts = self.lines.entry(line).or_default();
        if let [only] = lasts.as_mut_slice() {
            if only.context == new.context && only.place == new.place && only.write == new.write {
                (only.moment, only.bytes) = (new.moment, only.bytes | new.bytes);
                return;
            }
        }
        let mut met = Vec::new();
        let order = &mut self.causes.order;
        lasts.retain(|last| {
            if last.context == new.context {
                return last.place != new.place || last.write != new.write;
            }
            let ordered = order.is_before(last.context, last.moment, new.context);
            if !ordered && (last.write || new.write) && last.bytes & new.bytes == 0 {
                met.push(*last);
            }
            !ordered
        });
        if lasts.len() >= MOST {
            lasts.remove(0);
        }
        lasts.push(new);
        for last in met {
            let pair = (last.place.min(new.place), last.place.max(new.place));
            let allocation = self.allocations.at(line * self.line);
            let found = self.found.entry(pair).or_insert_with(|| False { allocation, ..False::default() });
            found.count += 1;
            if found.lines.len() < 1000 {
                found.lines.insert(line);
            }
        }
    }

    fn feed(&mut self, context: u32, access: &Access, place: Place) {
        let Sharing { cells, contexts, places, .. } = self;
        cells.access(context, place, access, |writer, from, bytes| {
            *contexts.entry((writer, context)).or_default() += bytes;
            *places.entry((from, place)).or_default() += bytes;
        });
    }
}

impl Consumer for Sharing {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        let context = executed.context;
        self.segments.insert(context, executed.id);
        for access in accesses.iter().filter(|access| access.size > 0) {
            let place = (executed.module_number, access.operation);
            let moment = self.causes.order.now(context);
            let write = access.mode != Mode::Load;
            for (line, bytes) in lines_of(access, self.line) {
                self.line(Last { context, moment, bytes, write, place }, line);
            }
            self.feed(context, access, place);
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        self.causes.control(context, control);
        self.allocations.control(control, self.segments.get(&context).copied().unwrap_or(0));
    }

    fn after(&mut self, context: u32, before: u32) {
        self.causes.order.join(context, before);
    }

    fn arrive(&mut self, context: u32, barrier: Control) {
        self.causes.arrive(context, barrier);
    }
}
