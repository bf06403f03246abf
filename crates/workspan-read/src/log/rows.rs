//! Writing strands: positions, units, and what is carried from one strand to the next.

use workspan_model::strand::{Event, Strand};
use workspan_model::{ContextId, Nanos};
use workspan_wire::log::TICK_BITS;

use super::entry::Entry;
use super::input::{Setting, Stopped};

/// Rows of serial code that wait for where they belong, at most.
const MOST_UNSETTLED: usize = 64 * BATCH;
/// Strands given on at a time.
const BATCH: usize = 8192;

/// A strand that has not met its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) context: u32,
    pub(super) cost: i64,
    pub(super) blocked: i64,
    pub(super) tick: u64,
    pub(super) slot: usize,
    /// The number by which a tool sees it; 0 for none.
    pub(super) seen: u64,
}

impl Part {
    /// What an entry ends.
    pub(super) fn of(entry: &Entry, slot: usize) -> Part {
        Part { context: entry.context, cost: entry.n, blocked: entry.blocked, tick: entry.tick, slot, seen: entry.seen }
    }

    fn and(self, later: Part) -> Part {
        Part {
            cost: self.cost.wrapping_add(later.cost),
            blocked: self.blocked.wrapping_add(later.blocked),
            tick: self.tick,
            seen: if self.seen == 0 { later.seen } else { self.seen },
            ..later
        }
    }
}

/// Takes strands.
#[derive(Debug)]
pub(super) struct Rows<'s, P> {
    setting: &'s Setting<'s>,
    push: P,
    batch: Vec<Strand>,
    /// Of each of them, the number by which a tool sees it; 0 for none.
    seen: Vec<u64>,
    /// Position of the running task, in ticks.
    pub(super) position: i64,
    /// The next strand is the program's first: hooks that end none may have been passed since it began.
    pub(super) opening: bool,
    carried: Option<Part>,
    last: Option<Part>,
    /// In the batch: the first row of serial code of which it is not known where it belongs.
    unsettled: Option<usize>,
    pub(super) strands: u64,
}

impl<'s, E, P: FnMut(&[Strand], &[u64]) -> Result<(), E>> Rows<'s, P> {
    pub(super) fn new(setting: &'s Setting<'s>, push: P) -> Rows<'s, P> {
        Rows {
            setting,
            push,
            batch: Vec::with_capacity(BATCH),
            seen: Vec::with_capacity(BATCH),
            position: 0,
            opening: false,
            carried: None,
            last: None,
            unsettled: None,
            strands: 0,
        }
    }

    pub(super) fn complete(&self) -> bool {
        self.setting.complete
    }

    /// The strand goes on elsewhere: with whatever ends it.
    pub(super) fn carry(&mut self, part: Part) -> Result<(), Stopped<E>> {
        let part = match self.carried.take() {
            Some(carried) if self.same(carried, part) => carried.and(part),
            Some(carried) => {
                self.charge(carried)?;
                part
            }
            None => part,
        };
        if (part.cost, part.blocked) != (0, 0) {
            self.carried = Some(part);
        }
        Ok(())
    }

    /// A strand of no cost in `context`.
    pub(super) fn nothing(&self, context: Option<u32>) -> Part {
        let last = self.last.or(self.carried);
        let mut part =
            last.unwrap_or(Part { context: 0, cost: 0, blocked: 0, tick: self.setting.started, slot: 0, seen: 0 });
        part.tick = part.tick.wrapping_add(part.cost.cast_unsigned());
        Part { context: context.unwrap_or(part.context), cost: 0, blocked: 0, seen: 0, ..part }
    }

    /// Charges `part`, and nothing else: an empty group.
    fn charge(&mut self, part: Part) -> Result<(), Stopped<E>> {
        self.row(Event::Group, part)?;
        let nothing = self.nothing(Some(part.context));
        self.row(Event::Wait, nothing)
    }

    /// What has passed belongs to the context of `part`.
    pub(super) fn cut(&mut self, part: Part) -> Result<(), Stopped<E>> {
        self.carry(part)?;
        match self.carried.take() {
            Some(carried) => self.charge(Part { context: part.context, ..carried }),
            None => Ok(()),
        }
    }

    /// A strand ends with `event`.
    pub(super) fn emit(&mut self, event: Event, part: Part) -> Result<(), Stopped<E>> {
        let part = match self.carried.take() {
            Some(carried) if self.same(carried, part) => carried.and(part),
            Some(carried) => {
                self.charge(carried)?;
                part
            }
            None => part,
        };
        self.row(event, part)
    }

    /// What was carried from serial code is charged where that is known to belong.
    fn same(&self, carried: Part, part: Part) -> bool {
        carried.context == part.context || carried.context == 0
    }

    fn row(&mut self, event: Event, mut part: Part) -> Result<(), Stopped<E>> {
        self.settle(part);
        if std::mem::take(&mut self.opening) {
            part.tick = self.setting.started;
        }
        let before = self.nanos(self.position);
        let moved = self.nanos(self.position.wrapping_add(part.blocked));
        self.position = self.position.wrapping_add(part.blocked).wrapping_add(part.cost);
        let after = self.nanos(self.position);
        let since = part.tick.wrapping_sub(self.setting.started) & ((1 << TICK_BITS) - 1);
        self.batch.push(Strand {
            event,
            context: self.context(part.context),
            cost: Nanos(after.wrapping_sub(moved)),
            blocked: Nanos(moved.wrapping_sub(before)),
            start: Nanos(self.nanos(since.cast_signed())),
            thread: u16::try_from(part.slot).unwrap_or(u16::MAX),
        });
        self.seen.push(part.seen);
        self.last = Some(part);
        self.strands += 1;
        if self.batch.len() >= BATCH && (self.unsettled.is_none() || self.batch.len() >= MOST_UNSETTLED) {
            self.flush()?;
        }
        Ok(())
    }

    /// Serial code belongs where the next region, or the end, says: what is already among the rows, too.
    fn settle(&mut self, part: Part) {
        if part.context == 0 {
            self.unsettled.get_or_insert(self.batch.len());
        } else if let Some(from) = self.unsettled.take() {
            let context = self.context(part.context);
            let serial =
                |row: &&mut Strand| row.context == ContextId::ROOT && (row.cost, row.blocked) != Default::default();
            self.batch[from..].iter_mut().filter(serial).for_each(|row| row.context = context);
        }
    }

    /// A row of its own that costs nothing, whatever has been carried.
    pub(super) fn bare(&mut self, event: Event, context: u32) -> Result<(), Stopped<E>> {
        let nothing = self.nothing(Some(context));
        self.row(event, nothing)
    }

    pub(super) fn flush(&mut self) -> Result<(), Stopped<E>> {
        (self.push)(&self.batch, &self.seen).map_err(Stopped::Write)?;
        self.batch.clear();
        self.seen.clear();
        self.unsettled = None;
        Ok(())
    }

    pub(super) fn context(&self, context: u32) -> ContextId {
        self.setting.contexts.get(context as usize).copied().unwrap_or(ContextId::ROOT)
    }

    /// Rounded down, whatever the sign: so it is monotone.
    pub(super) fn nanos(&self, ticks: i64) -> i64 {
        const BILLION: u64 = 1_000_000_000;
        match self.setting.ticks_per_second {
            0 | BILLION => ticks,
            rate => {
                let scaled = (i128::from(ticks) * i128::from(BILLION)).div_euclid(i128::from(rate));
                i64::try_from(scaled).unwrap_or(if ticks < 0 { i64::MIN } else { i64::MAX })
            }
        }
    }
}
