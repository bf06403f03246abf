//! Locals of a call, as cells or as moments.
//!
//! **Argument:** the shape of a frame says who has written each local and who has read it since; what it does not say is when. So a frame
//! whose shape is known keeps moments alone, each in a slot that belongs to its place: the write of a local, or the first or last read of
//! one of its groups. Where a touch has to be done one by one, cells are made of both, and taken apart again.
//!
//! **Invariant:** a frame of the first context has cells if its shape is 0, moments otherwise. A frame of another one has cells.

use super::slots::{Groups, Moment};
use super::Context;
use crate::shadow::{Cell, Reader, Site};

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
            let mut moment = |of: Moment| moments.get(slots.of(function, local, of) as usize).copied().unwrap_or(0);
            let mut cell = Cell::default();
            if known.writer != 0 {
                cell = Cell { written: moment(Moment::Written), writer: known.writer, readers: 0 };
            }
            let mut groups = Groups::default();
            let numbered: Vec<(Site, u32)> = known.readers.iter().map(|site| (*site, groups.next(*site))).collect();
            for (site, group) in numbered.iter().rev() {
                let (first, last) = (moment(Moment::First(*site, *group)), moment(Moment::Last(*site, *group)));
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
            let mut keep = |of: Moment, moment: u64| {
                let slot = shapes.slots.of(function, local, of) as usize;
                if moments.len() <= slot {
                    moments.resize(slot + 1, 0);
                }
                moments[slot] = moment;
            };
            if cell.writer != 0 {
                keep(Moment::Written, cell.written);
            }
            let (mut at, mut groups) = (cell.readers, Groups::default());
            while at != 0 {
                let reader = local_readers.get(at);
                let group = groups.next(reader.site);
                keep(Moment::First(reader.site, group), reader.first);
                keep(Moment::Last(reader.site, group), reader.last);
                at = reader.next;
            }
            local_readers.drop_list(cell.readers);
        }
        frame.locals.clear();
    }
}
