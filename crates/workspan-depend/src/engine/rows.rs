//! Many iterations of a [batch](super::batch), access by access instead of iteration by iteration.
//!
//! **Argument:** let no write of these iterations meet another access in any of them. Then what each access finds is decided by the shadow
//! as it is before all of them, and they may be done in any order. So first all are looked at, and nothing is changed, up to the
//! first iteration that finds anything new. The iterations before it are done then: one access of all of them, then the next. Only
//! the reads of a cell by several sites may get into another order thereby. Those of each site stay in order, and nothing depends on more.
//! The distance of a dependence falls with the moment of its earlier end, so the first and the last moment give the bounds of all.
//!
//! **Cost:** for an access its cell, a comparison with the class of its predecessor, and for a read its group.

use super::plan::{Batch, Class, Column, Operation, Seen, NO_CLASS};
use super::{Context, Engine};
use crate::shadow::{Cell, Reader, Readers};
use crate::table::Kind;
use crate::tree::distances_in;

/// Fewer are not worth it.
const FEW: usize = 4;

/// When the iterations run.
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
    /// Takes iterations that do not meet; how many.
    pub(super) fn rows(
        &mut self,
        context: &mut Context,
        readers: &mut Readers,
        batch: &mut Batch,
        bytes: &[u8],
    ) -> usize {
        if batch.is_tangled || batch.failed > 0 {
            return 0;
        }
        let size = batch.bytes;
        let mut good = batch.coming(bytes);
        if good < FEW {
            return 0;
        }
        let filled = good;
        let mut columns = std::mem::take(&mut context.columns);
        if columns.len() < batch.operations.len() {
            columns.resize_with(batch.operations.len(), Column::default);
        }
        for (operation, column) in batch.operations.iter().zip(&mut columns) {
            column.fill(operation, bytes, (size, good));
        }
        batch.is_tangled = is_tangled(&batch.operations, &columns);
        let now = context.now;
        let Some(node) = context.nodes.last_mut().filter(|_| !batch.is_tangled) else {
            context.columns = columns;
            return 0;
        };
        let before = node.turn;
        let times =
            Times { first: now + 1, former: before, duration: context.steady.duration, iteration: node.iteration };
        // All that the shadow knows lies before.
        node.turn = times.first;
        for (operation, column) in batch.operations.iter_mut().zip(&mut columns) {
            for class in &mut operation.classes {
                class.before = range_before(context, class);
            }
            good = column.look(context, readers, operation, good);
        }
        if good < FEW {
            good = 0;
        }
        for (operation, column) in batch.operations.iter_mut().zip(&mut columns).filter(|_| good > 0) {
            if good < filled {
                column.shorten(good);
            }
            self.take(context, readers, operation, (column, good), times);
        }
        context.columns = columns;
        context.now = now + good as u64 * times.duration;
        context.steady.count += good as u64;
        let Some(node) = context.nodes.last_mut() else {
            return 0;
        };
        node.turn = before;
        if let Some(last) = good.checked_sub(1) {
            node.iterations.begin_all(times.of(0).1, times.turn(0), times.duration, good as u64);
            (node.former, node.iteration) = times.of(last);
            node.turn = times.turn(last);
        }
        good
    }

    /// One access of some iterations, which have been looked at.
    fn take(
        &mut self,
        context: &mut Context,
        readers: &mut Readers,
        operation: &mut Operation,
        (column, many): (&Column, usize),
        times: Times,
    ) {
        self.last_writes(context, operation, (column, many), times);
        if operation.is_write {
            write_all(context, readers, operation, (column, many), times);
        } else {
            read_all(context, readers, operation, (column, many), times);
        }
        for class in &mut operation.classes {
            if let Some(node) = context.nodes.get(class.node) {
                class.settle(node);
            }
        }
    }

    /// Dependences on the last writes of the cells.
    fn last_writes(
        &mut self,
        context: &mut Context,
        operation: &mut Operation,
        (column, many): (&Column, usize),
        times: Times,
    ) {
        let addresses = &column.addresses[..many];
        if let (Some((class, first, last)), [from, .., to]) = (column.one, addresses) {
            let varies = addresses.iter().any(|address| address != from);
            operation.classes[class].seen = Seen::all(many as u64, (first, last), (*from, *to), varies);
            return;
        }
        let cells = column.cells[..many].iter();
        let each = (0..).zip(column.addresses.iter().zip(cells.zip(&column.classes)));
        for (number, (address, ((_, cell), class))) in each {
            if *class != NO_CLASS {
                found(context, operation, (*class).into(), *address, (cell.written, cell.written), (number, times));
            } else if !operation.is_write {
                self.expose(context, operation.site, None);
            }
        }
    }
}

/// A dependence of one class.
#[inline]
fn found(
    context: &Context,
    operation: &mut Operation,
    class: usize,
    address: u64,
    moments: (u64, u64),
    (number, times): (usize, Times),
) {
    let class = &mut operation.classes[class];
    if class.node + 1 < context.nodes.len() || !class.carried {
        class.seen.add(address, moments);
    } else if let Some(node) = context.nodes.last() {
        let distances = distances_in(node, times.of(number), true, moments.0, moments.1);
        class.tally.count(address, distances);
    }
}

fn write_all(
    context: &mut Context,
    readers: &mut Readers,
    operation: &mut Operation,
    (column, many): (&Column, usize),
    times: Times,
) {
    let after = operation.after;
    if column.is_seen {
        let mut written = times.first + after;
        for ((place, cell), last) in column.cells[..many].iter().zip(&column.lasts) {
            if cell.readers != 0 {
                readers.drop_whole(cell.readers, *last);
            }
            *context.shadow.cell(*place).0 = Cell { written, writer: operation.site, readers: 0 };
            written += times.duration;
        }
        for (class, seen) in operation.classes.iter_mut().zip(&column.seen).filter(|(class, _)| class.kind == Kind::War)
        {
            class.seen = *seen;
        }
        return;
    }
    for (number, (place, cell)) in column.cells[..many].iter().enumerate() {
        let (mut at, mut near, mut last) = (cell.readers, 0, 0);
        while let Some(reader) = readers.place(at) {
            (last, at) = (at, reader.next);
            if let Some(class) = operation.class_before(near, Kind::War, reader.site, reader.last) {
                near = class + 1;
                let moments = (reader.first, reader.last);
                found(context, operation, class, column.addresses[number], moments, (number, times));
            }
        }
        if last != 0 {
            readers.drop_whole(cell.readers, last);
        }
        let written = times.turn(number) + after;
        *context.shadow.cell(*place).0 = Cell { written, writer: operation.site, readers: 0 };
    }
}

fn read_all(
    context: &mut Context,
    readers: &mut Readers,
    operation: &mut Operation,
    (column, many): (&Column, usize),
    times: Times,
) {
    let (site, after) = (operation.site, operation.after);
    let mut turn = times.first;
    for (place, _) in &column.cells[..many] {
        let now = turn + after;
        let cell = context.shadow.cell(*place).0;
        if cell.readers == 0 {
            cell.readers = readers.add(Reader { site, next: 0, first: now, last: now });
        } else if !operation.read(readers, cell.readers, turn, now) {
            if is_read_by(readers, cell.readers, site) {
                let mut cell = *cell;
                context.now = now;
                if let Some(node) = context.nodes.last_mut() {
                    node.turn = turn;
                }
                operation.read_any(context, readers, &mut cell);
                context.shadow.cell(*place).0.readers = cell.readers;
            } else {
                cell.readers = readers.add(Reader { site, next: cell.readers, first: now, last: now });
            }
        }
        turn += times.duration;
    }
}

/// True if a list has a group of that site.
#[inline]
fn is_read_by(readers: &mut Readers, first: u32, site: u32) -> bool {
    let mut at = first;
    while let Some(reader) = readers.place(at) {
        if reader.site == site {
            return true;
        }
        at = reader.next;
    }
    false
}

/// True if a write may meet another access of these iterations.
fn is_tangled(operations: &[Operation], columns: &[Column]) -> bool {
    let all = || operations.iter().zip(columns).enumerate();
    all().filter(|(_, (operation, _))| operation.is_write).any(|(number, (_, write))| {
        let meets = |other: &Column| write.low < other.end && other.low < write.end;
        !write.is_monotone || all().any(|(at, (_, other))| at != number && meets(other))
    })
}

/// Moments of a class before these iterations.
fn range_before(context: &Context, class: &Class) -> (u64, u64) {
    let (low, high) = class.range;
    match context.nodes.get(class.node) {
        Some(node) if class.carried => (low, high.min(node.turn.wrapping_sub(1))),
        Some(node) => (low.max(node.turn), high),
        None => (1, 0),
    }
}
