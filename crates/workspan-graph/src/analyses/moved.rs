//! Cache lines that move while the tasks of a site run, by the allocation that they lie in: what makes a strand take longer
//! where others run beside it.
//!
//! A line moves for one of four causes ([`Cause`]). Sharing and traffic are between threads: what tasks of one thread leave to
//! each other stays in its cache. Accesses that share a line count as often as the line can have gone there and back, whatever
//! turns the replay takes: each access of one thread meets at most one of another. Misses count once the cache has had time to
//! fill: before, lines are read for the first time, which is the same with one worker.

use std::collections::{BTreeMap, HashMap};

use workspan_trace::control::Kind;
use workspan_trace::program::Access as Mode;

use crate::allocations::Allocations;
use crate::cache::{Caches, Impossible};
use crate::causes::Causes;
use crate::events::{Access, Control};
use crate::races::Place;
use crate::replay::{Consumer, Executed};
use crate::sharing::{lines_of, Last};
use crate::structure::other;
use crate::traffic::Cells;

/// Bytes of a line.
pub const LINE: u64 = 64;
/// Accesses that are kept of a line.
const MOST: usize = 8;

/// Why a line moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Two threads access different bytes of it, unordered, and one of them writes.
    FalseSharing,
    /// The same, and they access the same bytes.
    TrueSharing,
    /// A thread reads what another has written before.
    Traffic,
    /// A cache that all threads share does not hold it, after it has filled.
    Misses,
}

/// What moved for a cause, of the memory of a call that allocates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How often a line moved, at most.
    pub count: u64,
    /// Bytes that were read and another thread has written: of [`Cause::Traffic`].
    pub bytes: u64,
    /// Bytes of the largest allocation; 0: none.
    pub largest: u64,
    /// By the place of the access, and that of the other one.
    pub places: BTreeMap<(Place, Option<Place>), u64>,
}

/// What the contexts did that a site created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfSite {
    /// Lines accessed, each as often as it was.
    pub accesses: u64,
    /// By cause, and by the segment that ended in the call that allocated; nothing: not allocated.
    pub found: BTreeMap<(Cause, Option<u32>), Found>,
}

/// An access to a line that others may meet.
#[derive(Clone, Copy, Debug)]
struct Kept {
    last: Last,
    thread: u32,
    /// How often it was executed and nobody has met it.
    fresh: u64,
}

/// Who is there.
#[derive(Clone, Copy, Debug)]
struct Who {
    thread: u32,
    site: Option<u32>,
}

/// Finds what moves in a replayed recording.
#[derive(Debug)]
pub struct Moved {
    cache: Caches,
    /// Misses that fill it, and still to come.
    filling: u64,
    causes: Causes,
    lines: HashMap<u64, Vec<Kept>>,
    cells: Cells<u32, Place>,
    /// Of lines that a thread has written: those who have them, a bit for a thread.
    holders: HashMap<u64, u64>,
    allocations: Allocations,
    segments: HashMap<u32, u32>,
    created: HashMap<u32, u32>,
    /// By the segment that ended in the creation; nothing: the program's start.
    pub sites: BTreeMap<Option<u32>, OfSite>,
}

impl Moved {
    /// Before the first access, with a cache of some bytes that all threads share, of lines of [`LINE`] bytes.
    /// Of one in `one_in` lines the accesses are recorded.
    pub fn new(bytes: u64, ways: u64, one_in: u32) -> Result<Moved, Impossible> {
        let cache = Caches::new(LINE, ways, (bytes, bytes))?;
        Ok(Moved {
            cache,
            filling: bytes / LINE / u64::from(one_in.max(1)),
            causes: Causes::default(),
            lines: HashMap::new(),
            cells: Cells::default(),
            holders: HashMap::new(),
            allocations: Allocations::default(),
            segments: HashMap::new(),
            created: HashMap::new(),
            sites: BTreeMap::new(),
        })
    }

    fn add(
        &mut self,
        who: Who,
        (cause, address): (Cause, u64),
        places: (Place, Option<Place>),
        (count, bytes): (u64, u64),
    ) {
        let allocation = self.allocations.at(address);
        let site = self.sites.entry(who.site).or_default();
        let found = site.found.entry((cause, allocation.map(|found| found.segment))).or_default();
        found.count += count;
        found.bytes += bytes;
        found.largest = found.largest.max(allocation.map_or(0, |found| found.size));
        *found.places.entry(places).or_default() += count;
    }

    /// Who accesses the line beside it, unordered?
    fn share(&mut self, who: Who, new: Last, (line, address): (u64, u64)) {
        let kept = self.lines.entry(line).or_default();
        let is_own = |kept: &Kept| {
            let last = &kept.last;
            last.context == new.context && last.place == new.place && last.write == new.write
        };
        if let [only] = kept.as_mut_slice() {
            if is_own(only) {
                (only.last.moment, only.last.bytes, only.fresh) =
                    (new.moment, only.last.bytes | new.bytes, only.fresh.saturating_add(1));
                return;
            }
        }
        let (mut met, mut fresh) = (None, 1);
        let order = &mut self.causes.order;
        kept.retain_mut(|kept| {
            if is_own(kept) {
                fresh += kept.fresh;
                return false;
            }
            if kept.last.context == new.context {
                return true;
            }
            let ordered = order.is_before(kept.last.context, kept.last.moment, new.context);
            if !ordered && kept.thread != who.thread && kept.fresh > 0 && (kept.last.write || new.write) {
                kept.fresh -= 1;
                let same = kept.last.bytes & new.bytes != 0;
                let cause = if same { Cause::TrueSharing } else { Cause::FalseSharing };
                met = met.max(Some((cause, kept.last.place)));
            }
            !ordered
        });
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push(Kept { last: new, thread: who.thread, fresh });
        if let Some((cause, place)) = met {
            self.add(who, (cause, address), (new.place, Some(place)), (1, 0));
        }
    }

    /// Has another thread written what is read?
    fn feed(&mut self, who: Who, access: &Access, place: Place) {
        let (mut bytes, mut writer) = (0, None);
        self.cells.access(who.thread, place, access, |_, from, fresh| {
            bytes += fresh;
            writer = Some(from);
        });
        let bit = 1 << (who.thread % 64);
        let mut moved = 0;
        for (line, _) in lines_of(access, LINE) {
            let holders = self.holders.entry(line).or_default();
            if bytes > 0 && *holders & bit == 0 {
                moved += 1;
            }
            *holders = if access.mode == Mode::Load { *holders | bit } else { bit };
        }
        if bytes > 0 {
            self.add(who, (Cause::Traffic, access.address), (place, writer), (moved, bytes));
        }
    }

    /// What was there before is gone.
    fn forget(&mut self, address: u64, size: u64) {
        let lines = address.div_ceil(LINE)..address.saturating_add(size) / LINE;
        if lines.end.saturating_sub(lines.start) > self.lines.len() as u64 {
            self.lines.retain(|line, _| !lines.contains(line));
        } else {
            lines.for_each(|line| drop(self.lines.remove(&line)));
        }
    }
}

impl Consumer for Moved {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        let context = executed.context;
        self.segments.insert(context, executed.id);
        let who = Who { thread: executed.thread, site: self.created.get(&context).copied() };
        for access in accesses.iter().filter(|access| access.size > 0) {
            let place = (executed.module_number, access.operation);
            let write = access.mode != Mode::Load;
            let moment = self.causes.order.now(context);
            let (lines, misses) = self.cache.look(access.address, access.size);
            self.sites.entry(who.site).or_default().accesses += lines;
            let filled = misses.min(self.filling);
            self.filling -= filled;
            let misses = misses - filled;
            if misses > 0 {
                self.add(who, (Cause::Misses, access.address), (place, None), (misses, 0));
            }
            for (line, bytes) in lines_of(access, LINE) {
                self.share(who, Last { context, moment, bytes, write, place }, (line, access.address.max(line * LINE)));
            }
            self.feed(who, access, place);
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        let segment = self.segments.get(&context).copied();
        match (control.kind, other(control.slots[2])) {
            (Kind::Create | Kind::Task | Kind::Spawn, Some(child)) => {
                self.created.extend(segment.map(|segment| (child, segment)));
            }
            (Kind::Allocate, _) => self.forget(control.slots[0], control.slots[1]),
            _ => {}
        }
        self.causes.control(context, control);
        self.allocations.control(control, segment.unwrap_or(0));
    }

    fn after(&mut self, context: u32, before: u32) {
        self.causes.order.join(context, before);
    }

    fn arrive(&mut self, context: u32, barrier: Control) {
        self.causes.arrive(context, barrier);
    }
}
