//! Many iterations of a [batch](super::batch), access by access instead of iteration by iteration.
//!
//! **Argument:** let no write of these iterations meet another access in any of them. Then what each access finds is decided by the shadow
//! as it is before all of them, and they may be done in any order. So first all are looked at, and nothing is changed, up to the
//! first iteration that finds anything new. The iterations before it are done then: one access of all of them, then the next. Only
//! the reads of a cell by several sites may get into another order thereby. Those of each site stay in order, and nothing depends on more.
//! The distance of a dependence falls with the moment of its earlier end, so the first and the last moment give the bounds of all.
//!
//! **Cost:** for an access its cell, a comparison with the class of its predecessor, and for a read its group.

use super::batch::GROUPS;
use super::plan::{Batch, Class, Column, Operation, Seen, MOST, NO_CLASS};
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
        let mut good = (0..MOST).take_while(|number| batch.comes(bytes.get(number * size..).unwrap_or(&[]))).count();
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
        for number in 0..good {
            (node.former, node.iteration) = times.of(number);
            node.turn = times.turn(number);
            node.iterations.begin(node.iteration, node.turn);
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

impl Column {
    /// Takes the addresses of some iterations.
    fn fill(&mut self, operation: &Operation, bytes: &[u8], (size, many): (usize, usize)) {
        let addresses = &mut self.addresses[..many];
        for (address, bytes) in addresses.iter_mut().zip(bytes.chunks(size)) {
            *address = operation.address.of(bytes);
        }
        let width = 1 << operation.shift;
        let is_up = addresses[1] > addresses[0];
        let (lower, upper) = if is_up { (0, 1) } else { (1, 0) };
        let is_apart = |pair: &[u64]| pair[lower].saturating_add(width) <= pair[upper];
        self.is_monotone = !operation.is_write || addresses.windows(2).all(is_apart);
        let (low, high) = addresses.iter().fold((u64::MAX, 0), |(low, high), at| (low.min(*at), high.max(*at)));
        (self.low, self.end) = (low, high.saturating_add(width));
    }

    /// Only the first iterations count.
    fn shorten(&mut self, many: usize) {
        let Some((_, first, last)) = &mut self.one else {
            return;
        };
        let moments = self.cells[..many].iter().map(|(_, cell)| cell.written);
        (*first, *last) = moments.fold((u64::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
    }

    /// How many iterations find what was found before.
    fn look(&mut self, context: &mut Context, readers: &Readers, operation: &mut Operation, many: usize) -> usize {
        let Column { addresses, cells, classes, .. } = self;
        let addresses = &addresses[..many];
        let written = context.shadow.cells(addresses, operation.shift, &mut operation.page, cells);
        let is_stack = self.end >= context.root_address.saturating_sub(super::STACK) && self.low < context.root_address;
        let kind = if operation.is_write { Kind::Waw } else { Kind::Raw };
        let mut near = operation.near;
        self.one = None;
        if written.is_one && written.writer != 0 && written.count == many && !is_stack {
            let class = operation.class_before(near, kind, written.writer, written.first);
            let is_one = |class: &Class| {
                written.last <= class.before.1 && !(class.carried && class.node + 1 == context.nodes.len())
            };
            let class = class.filter(|class| is_one(&operation.classes[*class]));
            self.one = class.map(|class| (class, written.first, written.last));
            if let Some(class) = class.filter(|class| !operation.is_write && operation.finds(1 << class)) {
                operation.near = class;
                return many;
            }
        }
        let mut good = 0;
        for ((address, (_, cell)), of_write) in addresses[..written.count].iter().zip(&*cells).zip(classes) {
            let floor = if is_stack { context.floor(*address) } else { 0 };
            let mut found = 0;
            *of_write = NO_CLASS;
            if cell.writer != 0 {
                let Some(class) = operation.class_before(near, kind, cell.writer, cell.written) else {
                    break;
                };
                if cell.written < floor {
                    break;
                }
                near = class;
                *of_write = u8::try_from(class).unwrap_or(NO_CLASS);
                found = 1 << class;
            }
            if operation.is_write && cell.readers != 0 {
                let Some(of_readers) = look_at_readers(readers, operation, cell.readers, floor) else {
                    break;
                };
                found |= of_readers;
            }
            if !operation.finds(found) {
                break;
            }
            good += 1;
        }
        operation.near = near;
        if good < many {
            self.one = None;
        }
        good
    }
}

/// Classes of the reads that a write ends, one bit each.
#[inline]
fn look_at_readers(readers: &Readers, operation: &Operation, first: u32, floor: u64) -> Option<u64> {
    let (mut at, mut near, mut found) = (first, 0, 0);
    let (mut sites, mut count) = ([0; GROUPS], 0);
    while at != 0 {
        let reader = readers.get(at);
        at = reader.next;
        let class = operation.class_before(near, Kind::War, reader.site, reader.last)?;
        if count == GROUPS || reader.last < floor || sites[..count].contains(&reader.site) {
            return None;
        }
        sites[count] = reader.site;
        count += 1;
        found |= 1 << class;
        near = class + 1;
    }
    Some(found)
}
