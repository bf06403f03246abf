//! An access that covers one cell, by the function on top: what most accesses are.
//!
//! **Argument:** the same as for [any other](super::accesses), in its common cases. What is none of them is done there.
//!
//! **Cost:** the cell, and for a read its group: two cache lines.

use workspan_trace::program::Access as Mode;

use super::expect::quick_read;
use super::reads::note_read;
use super::strip::Habit;
use super::take::OFTEN;
use super::{Context, Engine};
use crate::shadow::{Cell, Reader};
use crate::table::Kind;
use crate::tree::{common, Common};

impl Engine {
    /// Does an access, if it covers one cell whose history counts.
    #[inline]
    pub(super) fn plain(
        &mut self,
        context: &mut Context,
        habit: &mut Habit,
        function: u32,
        (address, shift): (u64, u32),
    ) -> bool {
        let Some(place) = context.shadow.whole(address, shift, &mut habit.page) else {
            return false;
        };
        let floor = context.floor(address);
        let cell = *context.shadow.cell(place).0;
        if cell.writer != 0 && cell.written < floor {
            return false;
        }
        match habit.mode {
            Mode::Load => self.load(context, habit, cell, place, (function, address)),
            Mode::Store => self.store(context, habit, cell, place, (floor, address)),
            Mode::Update => return false,
        }
        true
    }

    /// A dependence on an earlier access; its node.
    #[inline]
    fn meet(
        &mut self,
        context: &mut Context,
        habit: &mut Habit,
        (kind, source): (Kind, Reader),
        address: u64,
    ) -> Common {
        let at = common(&context.nodes, source.last);
        let slot = self.found(context, kind, source, (habit.site, address), at);
        if let Some(slot) = slot.filter(|_| habit.unexpected <= OFTEN) {
            self.expect(context, &mut habit.expected, (kind, source), at, slot);
        }
        at
    }

    #[inline]
    fn load(
        &mut self,
        context: &mut Context,
        habit: &mut Habit,
        mut cell: Cell,
        place: (u32, u32),
        (function, address): (u32, u64),
    ) {
        let site = habit.site;
        let at = (cell.writer != 0).then(|| self.meet(context, habit, (Kind::Raw, cell.write()), address));
        self.expose(context, site, at);
        let turn = context.nodes.last().map_or(0, |node| node.turn);
        if quick_read(context, habit, (cell, place), turn) {
            return;
        }
        let mut readers = std::mem::take(&mut context.shadow.readers);
        if let Some(moment) = note_read(context, &mut readers, &mut cell, site, |site| self.source.function_of(site)) {
            habit.together = [context.together(function, moment), habit.together[0]];
        }
        context.shadow.readers = readers;
        *context.shadow.cell(place).0 = cell;
    }

    #[inline]
    fn store(
        &mut self,
        context: &mut Context,
        habit: &mut Habit,
        cell: Cell,
        place: (u32, u32),
        (floor, address): (u64, u64),
    ) {
        if cell.writer != 0 {
            self.meet(context, habit, (Kind::Waw, cell.write()), address);
        }
        if cell.readers != 0 {
            if context.shadow.readers.is_each_another(cell.readers, floor) {
                let mut at = cell.readers;
                while at != 0 {
                    let reader = context.shadow.readers.get(at);
                    at = reader.next;
                    self.meet(context, habit, (Kind::War, reader), address);
                }
            } else {
                let readers = std::mem::take(&mut context.shadow.readers);
                self.readers(context, &readers, cell.readers, (floor, None), (habit.site, address));
                context.shadow.readers = readers;
            }
            context.shadow.readers.drop_list(cell.readers);
        }
        *context.shadow.cell(place).0 = Cell { written: context.now, writer: habit.site, readers: 0 };
    }
}
