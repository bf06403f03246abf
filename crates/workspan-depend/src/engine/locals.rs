//! Locals of a call, as cells or as moments.
//!
//! **Argument:** the shape of a frame says who has written each local and who has read it since; what it does not say is when. So a frame
//! whose shape is known keeps moments alone, each in a slot that belongs to its place: the write of a local, or the first or last read of
//! one of its groups. Where a touch has to be done one by one, cells are made of both, and taken apart again.
//!
//! **Invariant:** a frame of the first context has cells if its shape is 0, moments otherwise. A frame of another one has cells.

use std::collections::HashMap;

use super::Context;
use crate::shadow::{BuildHasher, Cell, Reader};
use crate::source::small;

/// Place of a moment among those of a local: its write; of the group of reads at a place of the list, the first and the last.
pub(super) const WRITTEN: u32 = 0;

pub(super) fn first_read(group: usize) -> u32 {
    1 + 2 * small(group)
}

pub(super) fn last_read(group: usize) -> u32 {
    2 + 2 * small(group)
}

/// Slots of moments, function by function.
#[derive(Debug, Default)]
pub(super) struct Slots {
    numbers: HashMap<(u32, u32, u32), u32, BuildHasher>,
    counts: HashMap<u32, u32, BuildHasher>,
}

impl Slots {
    /// The slot of a moment of a local of a function.
    pub(super) fn of(&mut self, function: u32, local: u32, place: u32) -> u32 {
        let count = self.counts.entry(function).or_default();
        *self.numbers.entry((function, local, place)).or_insert_with(|| {
            *count += 1;
            *count - 1
        })
    }
}

/// What a shape says of locals.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    /// Who has written it; 0: nobody.
    pub(super) writer: u32,
    /// Sites of its groups of reads.
    pub(super) readers: Vec<u32>,
}

impl Context {
    /// Makes cells of the moments of a frame.
    pub(super) fn make_cells(&mut self, frame: usize) {
        let Context { frames, shapes, local_readers, .. } = self;
        let Some(frame) = frames.get_mut(frame).filter(|frame| frame.shape != 0) else {
            return;
        };
        let function = frame.function;
        let moments = &frame.moments;
        let mut cells = std::mem::take(&mut frame.locals);
        cells.clear();
        for (local, known) in (0..).zip(&shapes.known[frame.shape as usize - 1].locals) {
            let slots = &mut shapes.slots;
            let mut moment = |place: u32| moments.get(slots.of(function, local, place) as usize).copied().unwrap_or(0);
            let mut cell = Cell::default();
            if known.writer != 0 {
                cell = Cell { written: moment(WRITTEN), writer: known.writer, readers: 0 };
            }
            for (group, site) in known.readers.iter().enumerate().rev() {
                let (first, last) = (moment(first_read(group)), moment(last_read(group)));
                cell.readers = local_readers.add(Reader { site: *site, next: cell.readers, first, last });
            }
            cells.push(cell);
        }
        frame.locals = cells;
    }

    /// Keeps moments of the cells of the frame on top, which has this shape now; 0: it keeps its cells.
    pub(super) fn drop_cells(&mut self, shape: u32) {
        let Context { frames, shapes, local_readers, .. } = self;
        let Some(frame) = frames.last_mut() else {
            return;
        };
        frame.shape = shape;
        if shape == 0 {
            frame.is_shapeless = true;
            return;
        }
        let function = frame.function;
        let moments = &mut frame.moments;
        for (local, cell) in (0..).zip(&frame.locals) {
            let mut keep = |place: u32, moment: u64| {
                let slot = shapes.slots.of(function, local, place) as usize;
                if moments.len() <= slot {
                    moments.resize(slot + 1, 0);
                }
                moments[slot] = moment;
            };
            if cell.writer != 0 {
                keep(WRITTEN, cell.written);
            }
            let (mut at, mut group) = (cell.readers, 0);
            while at != 0 {
                let reader = local_readers.get(at);
                keep(first_read(group), reader.first);
                keep(last_read(group), reader.last);
                (at, group) = (reader.next, group + 1);
            }
            local_readers.drop_list(cell.readers);
        }
        frame.locals.clear();
    }
}
