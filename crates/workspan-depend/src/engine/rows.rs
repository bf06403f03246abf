//! Many iterations of a strip, access by access instead of iteration by iteration.
//!
//! **Argument:** let no write of these iterations meet another access in any of them. Then what each access finds is decided by the shadow
//! as it is before all of them, and they may be done in any order. So first all are looked at, and nothing is changed, up to the
//! first iteration that finds anything else than the one before. The iterations before it are done then: one access of all of them, then the
//! next. Only the reads of a cell by several sites may get into another order thereby. Those of each site stay in order, and nothing depends
//! on more.
//!
//! **Cost:** for an access its cell, and for a read its group.

use super::column::{is_tangled, Column, Reading, Source, FOUND, MOST};
use super::strip::{Habit, Operation, Size, Strip};
use super::{Context, Engine};
use crate::shadow::{Cell, Reader};
use crate::table::Kind;
use crate::tree::distances_in;

/// Fewer are not worth it.
const FEW: usize = 4;

/// When iterations run.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Beginning of the first one, and of the one before it.
    first: u64,
    former: u64,
    duration: u64,
    /// Number of the one before.
    iteration: u64,
}

impl Times {
    fn turn(self, number: usize) -> u64 {
        self.first + number as u64 * self.duration
    }

    /// When the one before began, and its own number.
    fn of(self, number: usize) -> (u64, u64) {
        let former = if number == 0 { self.former } else { self.turn(number - 1) };
        (former, self.iteration + 1 + number as u64)
    }
}

impl Engine {
    /// Takes iterations that find what the one before has found; how many. `tangled`: they meet.
    pub(super) fn rows(&mut self, context: &mut Context, strip: &mut Strip, bytes: &[u8], tangled: &mut bool) -> usize {
        let size = strip.bytes;
        let coming = bytes.chunks_exact(size).take(MOST).take_while(|bytes| strip.comes(bytes)).count();
        if coming < FEW {
            return 0;
        }
        let mut columns = std::mem::take(&mut context.columns);
        if columns.len() < strip.operations.len() {
            columns.resize_with(strip.operations.len(), Column::default);
        }
        let good = self.look(context, strip, &mut columns, (bytes, coming), tangled);
        let Some(node) = context.nodes.last().filter(|_| good >= FEW) else {
            context.columns = columns;
            return 0;
        };
        let duration = u64::from(strip.lines);
        let times = Times { first: context.now + 1, former: node.turn, duration, iteration: node.iteration };
        let mut habits = std::mem::take(&mut context.strips.habits);
        for (operation, column) in strip.operations.iter().zip(&columns) {
            self.take_column(context, (operation, &mut habits[operation.site as usize]), (column, good), times);
        }
        context.strips.habits = habits;
        context.columns = columns;
        context.now += good as u64 * duration;
        if let Some(node) = context.nodes.last_mut() {
            node.iterations.begin_all(times.of(0).1, times.first, duration, good as u64);
            (node.former, node.iteration) = times.of(good - 1);
            node.turn = times.turn(good - 1);
        }
        good
    }

    /// How many iterations find what the one before has found.
    fn look(
        &self,
        context: &mut Context,
        strip: &Strip,
        columns: &mut [Column],
        (bytes, coming): (&[u8], usize),
        tangled: &mut bool,
    ) -> usize {
        let turn = context.now + 1;
        for (operation, column) in strip.operations.iter().zip(&mut *columns) {
            column.fill(operation, bytes, (strip.bytes, coming));
            let mut habits = std::mem::take(&mut context.strips.habits);
            let expects = expects(column, context, &mut habits[operation.site as usize], turn);
            context.strips.habits = habits;
            if !expects || context.may_be_stack(column.low, column.end) {
                return 0;
            }
        }
        *tangled = is_tangled(&strip.operations, columns);
        if *tangled || context.frames.last().is_none_or(|frame| frame.reentered) {
            return 0;
        }
        let mut good = coming;
        for (operation, column) in strip.operations.iter().zip(&mut *columns) {
            let together = context.moments_together(&context.strips.habits[operation.site as usize].together[0]);
            let Context { shadow, strips, .. } = &mut *context;
            let habit = &mut strips.habits[operation.site as usize];
            let Size::Plain(shift) = operation.size else {
                return 0;
            };
            good = if operation.is_write() {
                column.writes(shadow, habit, (shift, good))
            } else {
                column.reads(shadow, habit, (shift, good), together)
            };
            if good < FEW {
                return 0;
            }
        }
        good
    }

    /// One access of some iterations, which have been looked at.
    fn take_column(
        &mut self,
        context: &mut Context,
        (operation, habit): (&Operation, &mut Habit),
        (column, many): (&Column, usize),
        times: Times,
    ) {
        let Size::Plain(shift) = operation.size else {
            return;
        };
        let addresses = &column.addresses[..many];
        let (met, line) = (habit.met, u64::from(operation.line) - 1);
        for (place, known) in met.places().into_iter().flatten().enumerate() {
            let (record, at, is_innermost) = habit.expected[known].place();
            let (node, first) = (&context.nodes[at.node], column.sources[place].first);
            let of_all = ((addresses[0], addresses[many - 1]), !column.is_one, node.start);
            let many = many as u64;
            if !at.carried {
                self.table.count_all(record, many, of_all, (0, 0, 0));
            } else if !is_innermost && first >= node.former {
                // The iteration before, as most.
                self.table.count_all(record, many, of_all, (1, 1, many));
            } else {
                self.count_each(context, (operation, habit), (column, addresses), (place, known), times);
            }
        }
        let mut now = times.first + line;
        let site = operation.site;
        if operation.is_write() {
            for address in addresses {
                let Some((cell, readers)) = context.shadow.whole_cell(*address, shift, &mut habit.page) else {
                    return;
                };
                if cell.readers != 0 {
                    readers.drop_list(cell.readers);
                }
                *cell = Cell { written: now, writer: site, readers: 0 };
                now += times.duration;
            }
            return;
        }
        let is_pushed = column.reading == Some(Reading::Pushed);
        for address in addresses {
            let Some((cell, readers)) = context.shadow.whole_cell(*address, shift, &mut habit.page) else {
                return;
            };
            if is_pushed {
                let head = readers.get(cell.readers);
                readers.change(head.next, |next| next.last = head.last);
                readers.change(cell.readers, |head| (head.first, head.last) = (now, now));
            } else {
                cell.readers = readers.add(Reader { site, next: cell.readers, first: now, last: now });
            }
            now += times.duration;
        }
    }

    /// Counts a dependence whose distance is another one each time.
    fn count_each(
        &mut self,
        context: &mut Context,
        (operation, habit): (&Operation, &mut Habit),
        (column, addresses): (&Column, &[u64]),
        (place, known): (usize, usize),
        times: Times,
    ) {
        let Size::Plain(shift) = operation.size else {
            return;
        };
        let (record, at, is_innermost) = habit.expected[known].place();
        let wanted = column.sources[place];
        for (number, address) in addresses.iter().enumerate() {
            let Some((cell, readers)) = context.shadow.whole_cell(*address, shift, &mut habit.page) else {
                return;
            };
            let mut source = cell.write();
            if wanted.kind == Kind::War {
                source = readers.get(cell.readers);
                while source.site != wanted.site && source.next != 0 {
                    source = readers.get(source.next);
                }
            }
            let node = &context.nodes[at.node];
            let now = if is_innermost { times.of(number) } else { (node.former, node.iteration) };
            let distances = distances_in(node, now, true, source.first, source.last);
            self.table.count(record, (*address, node.start), distances);
        }
    }
}

/// What it has found last has to be found again, before the iteration that begins; false: it cannot.
fn expects(column: &mut Column, context: &Context, habit: &mut Habit, turn: u64) -> bool {
    column.sources.clear();
    let met = habit.met;
    let Some(places) = met.places() else {
        return false;
    };
    for place in places {
        let Some(known) = habit.expected.get_mut(place) else {
            return false;
        };
        let Some((kind, site, low, high)) = known.before(context, turn) else {
            return false;
        };
        column.sources.push(Source { kind, site, low, high, first: u64::MAX });
    }
    column.sources.len() <= FOUND
}
