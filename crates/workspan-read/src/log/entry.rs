//! Reading a log, record by record.

use std::io;

use workspan_wire::log::{Event, Record};

use super::input::Logs;

/// Records of a block.
const BLOCK: u32 = 512;
/// Blocks kept.
const BLOCKS: u32 = 256;

/// A place in a log, and where to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) slot: usize,
    pub(super) at: u64,
    pub(super) end: u64,
}

/// A record with what stands before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) event: Event,
    pub(super) context: u32,
    pub(super) n: i64,
    pub(super) blocked: i64,
    /// Second word.
    pub(super) identity: u64,
    pub(super) tick: u64,
    pub(super) number: u16,
    pub(super) with: Option<With>,
    pub(super) group: Option<u64>,
    /// The number by which a tool sees the strand; 0 for none.
    pub(super) seen: u64,
    /// Where it begins, and the next one.
    pub(super) at: u64,
    pub(super) next: u64,
}

/// What [`Event::With`] says.
#[derive(Clone, Copy, Debug)]
pub(super) struct With {
    pub(super) context: u32,
    pub(super) n: i64,
    pub(super) identity: u64,
}

#[derive(Debug, Default)]
struct Block {
    slot: usize,
    number: u64,
    records: Vec<Record>,
}

/// Logs, with the blocks read last.
#[derive(Debug)]
pub(super) struct Source<'l, L: ?Sized> {
    pub(super) logs: &'l L,
    blocks: Vec<Block>,
    /// Records that are none.
    pub(super) stray: u64,
}

impl<'l, L: Logs + ?Sized> Source<'l, L> {
    pub(super) fn new(logs: &'l L) -> Source<'l, L> {
        Source { logs, blocks: Vec::new(), stray: 0 }
    }

    /// All of a log.
    pub(super) fn whole(&self, slot: usize) -> Cursor {
        Cursor { slot, at: 0, end: self.logs.records(slot) }
    }

    fn record(&mut self, slot: usize, at: u64) -> io::Result<Option<Record>> {
        let (number, within) = (at / u64::from(BLOCK), usize::try_from(at % u64::from(BLOCK)).unwrap_or(0));
        let place = number.wrapping_add(37 * slot as u64) % u64::from(BLOCKS);
        let place = usize::try_from(place).unwrap_or(0);
        if self.blocks.is_empty() {
            self.blocks.resize_with(BLOCKS as usize, Block::default);
        }
        let block = &mut self.blocks[place];
        if block.records.is_empty() || (block.slot, block.number) != (slot, number) {
            block.records.clear();
            (block.slot, block.number) = (slot, number);
            self.logs.read(slot, number * u64::from(BLOCK), BLOCK as usize, &mut block.records)?;
        }
        Ok(block.records.get(within).copied())
    }

    /// The entry at `cursor`; `None` at its end. What is none is passed over.
    pub(super) fn entry(&mut self, cursor: Cursor) -> io::Result<Option<Entry>> {
        let mut at = cursor.at;
        let [mut wide, mut with, mut group] = [None; 3];
        let mut seen = 0;
        let mut begin = at;
        while at < cursor.end {
            let Some(record) = self.record(cursor.slot, at)? else {
                break;
            };
            at += 1;
            match record.event() {
                Some(Event::Wide) => wide = Some(record),
                Some(Event::With) => with = Some(record),
                Some(Event::Of) => group = Some(record),
                Some(Event::Seen) => seen = record.1,
                Some(event) => {
                    return Ok(Some(Entry {
                        event,
                        context: record.context(),
                        n: wide.map_or(record.n(), |wide| record.n_after(wide)),
                        blocked: wide.map_or(0, |wide| wide.1.cast_signed()),
                        identity: record.1,
                        tick: record.tick(),
                        number: record.number(),
                        with: with.map(|with| With { context: with.context(), n: with.n(), identity: with.1 }),
                        group: group.map(|group| group.1),
                        seen,
                        at: begin,
                        next: at,
                    }))
                }
                None => {
                    self.stray += 1;
                    [wide, with, group] = [None; 3];
                    seen = 0;
                    begin = at;
                }
            }
        }
        Ok(None)
    }
}
