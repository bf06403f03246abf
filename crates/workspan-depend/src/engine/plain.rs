//! An access that covers one cell, by the function on top: what most accesses are.
//!
//! **Argument:** the same as for [any other](super::accesses), in its common cases. What is none of them is done there.
//!
//! **Cost:** the cell, and for a read its group: two cache lines.

use workspan_trace::program::Access as Mode;

use super::accesses::note_read;
use super::{Context, Engine};
use crate::shadow::{Cell, Reader, Site};
use crate::table::Kind;
use crate::tree::common;

impl Engine {
    /// Does an access, if it covers one cell whose history counts; `page`: as [`Shadow::whole`](crate::shadow::Shadow::whole) knows it.
    #[inline]
    pub(super) fn plain(
        &mut self,
        context: &mut Context,
        (site, mode, function): (Site, Mode, u32),
        (address, shift): (u64, u32),
        page: &mut (u64, u32),
    ) -> bool {
        let Some(place) = context.shadow.whole(address, shift, page) else {
            return false;
        };
        let floor = context.floor(address);
        let cell = *context.shadow.cell(place).0;
        if cell.writer != 0 && cell.written < floor {
            return false;
        }
        match mode {
            Mode::Load => self.load(context, cell, place, (site, function, address)),
            Mode::Store => self.store(context, cell, place, (site, floor, address)),
            Mode::Update => return false,
        }
        true
    }

    #[inline]
    fn load(
        &mut self,
        context: &mut Context,
        mut cell: Cell,
        place: (u32, u32),
        (site, function, address): (Site, u32, u64),
    ) {
        let at = if cell.writer == 0 {
            None
        } else {
            let at = common(&context.nodes, cell.written);
            self.found(context, Kind::Raw, cell.write(), (site, address), at);
            Some(at)
        };
        self.expose(context, site, at);
        let now = context.now;
        if cell.readers == 0 {
            cell.readers = context.shadow.readers.add(Reader { site, next: 0, first: now, last: now });
            *context.shadow.cell(place).0 = cell;
            return;
        }
        let turn = context.nodes.last().map_or(0, |node| node.turn);
        let is_own = context.frames.last().is_some_and(|frame| !frame.reentered);
        if let Some(head) = context.shadow.readers.place(cell.readers) {
            // In the iteration or call that runs, once more.
            if is_own && head.site == site && head.first >= turn {
                head.last = now;
                return;
            }
        }
        let mut readers = std::mem::take(&mut context.shadow.readers);
        note_read(context, &mut readers, &mut cell, (site, function));
        context.shadow.readers = readers;
        *context.shadow.cell(place).0 = cell;
    }

    #[inline]
    fn store(
        &mut self,
        context: &mut Context,
        cell: Cell,
        place: (u32, u32),
        (site, floor, address): (Site, u64, u64),
    ) {
        if cell.writer != 0 {
            let at = common(&context.nodes, cell.written);
            self.found(context, Kind::Waw, cell.write(), (site, address), at);
        }
        if cell.readers != 0 {
            let reader = context.shadow.readers.get(cell.readers);
            if reader.next != 0 {
                let readers = std::mem::take(&mut context.shadow.readers);
                self.readers(context, &readers, cell.readers, (floor, None), (site, address));
                context.shadow.readers = readers;
            } else if reader.last >= floor {
                let at = common(&context.nodes, reader.last);
                self.found(context, Kind::War, reader, (site, address), at);
            }
            context.shadow.readers.drop_list(cell.readers);
        }
        *context.shadow.cell(place).0 = Cell { written: context.now, writer: site, readers: 0 };
    }
}
