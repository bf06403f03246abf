//! Many iterations of a strip, access by access instead of iteration by iteration.
//!
//! **Argument:** let no write of these iterations meet another access in any of them. Then what each access finds is decided by the shadow
//! as it is before all of them, and they may be done in any order. So first all are looked at, and nothing is changed, up to the
//! first iteration that finds anything else than the one before. The iterations before it are done then: one access of all of them, then the
//! next. Only the reads of a cell by several sites may get into another order thereby. Those of each site stay in order, and nothing depends
//! on more.
//!
//! **Cost:** for an access a comparison of its address with what was expected; for all of them together what the pieces of [runs](crate::shadow::Run)
//! cost. Elsewhere its cell, and for a read its group.

use super::column::{is_tangled, Column, Source, FOUND, MOST};
use super::columns::Times;
use super::look::Bounds;
use super::strip::{Habit, Size, Strip};
use super::{Context, Engine};

/// Fewer are not worth it.
const FEW: usize = 4;

impl Engine {
    /// Takes iterations that find what the one before has found; how many. `most`: how many are tried; 0: they meet.
    pub(super) fn rows(&mut self, context: &mut Context, strip: &Strip, bytes: &[u8], most: &mut usize) -> usize {
        if !bytes.get((FEW - 1) * strip.bytes..).is_some_and(|bytes| strip.comes(bytes)) {
            return 0;
        }
        let mut columns = std::mem::take(&mut context.columns);
        if columns.len() < strip.operations.len() {
            columns.resize_with(strip.operations.len(), Column::default);
        }
        let coming = coming(strip, bytes, *most, &mut columns);
        let good = if coming < FEW { 0 } else { self.look(context, strip, &mut columns, (bytes, coming), most) };
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
        (bytes, mut good): (&[u8], usize),
        most: &mut usize,
    ) -> usize {
        let turn = context.now + 1;
        for (operation, column) in strip.operations.iter().zip(&mut *columns) {
            let mut habits = std::mem::take(&mut context.strips.habits);
            let expects = expects(column, context, &mut habits[operation.site as usize], turn);
            context.strips.habits = habits;
            if !expects || context.may_be_stack(column.low, column.end) {
                return 0;
            }
        }
        if is_tangled(&strip.operations, columns) {
            *most = if good > MOST { MOST } else { 0 };
            good = good.min(coming(strip, bytes, *most, columns));
            if good < FEW || is_tangled(&strip.operations, columns) {
                *most = 0;
                return 0;
            }
        }
        if context.frames.last().is_none_or(|frame| frame.reentered) {
            return 0;
        }
        let since = context.nodes.last().map_or(0, |node| node.start);
        for (operation, column) in strip.operations.iter().zip(&mut *columns) {
            let together = &context.strips.habits[operation.site as usize].together;
            let together = together.each_ref().map(|together| context.moments_together(together));
            let bounds = Bounds { is_write: operation.is_write(), together, since };
            let Context { shadow, strips, .. } = &mut *context;
            let Size::Plain(shift) = operation.size else {
                return 0;
            };
            good = column.good(shadow, &mut strips.habits[operation.site as usize], (shift, good), &bounds);
            if good < FEW {
                return 0;
            }
        }
        good
    }
}

/// How many iterations come, at most `most`, and the addresses of their accesses.
fn coming(strip: &Strip, bytes: &[u8], most: usize, columns: &mut [Column]) -> usize {
    let size = strip.bytes;
    let even = strip.evens(bytes, most);
    if even >= FEW {
        for (operation, column) in strip.operations.iter().zip(columns) {
            if let Size::Plain(shift) = operation.size {
                let first = operation.address.of(bytes);
                let stride = operation.address.of(&bytes[size..]).wrapping_sub(first);
                column.even(shift, (first, stride), even);
            }
        }
        return even;
    }
    let coming = bytes.chunks_exact(size).take(most.min(MOST)).take_while(|bytes| strip.comes(bytes)).count();
    if coming >= FEW {
        for (operation, column) in strip.operations.iter().zip(columns) {
            column.fill(operation, bytes, (size, coming));
        }
    }
    coming
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
        column.sources.push(Source { kind, site, low, high });
    }
    column.sources.len() <= FOUND
}
