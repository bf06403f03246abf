//! One access of many iterations, which have been looked at: what it counts, and what it leaves in the shadow.

use super::column::Column;
use super::look::Next;
use super::strip::{Habit, Operation, Size};
use super::{Context, Engine};
use crate::shadow::{Cell, Moments, Numbers, Piece, Reader, Readers, Site};
use crate::table::Kind;
use crate::tree::distances_in;

/// Cells that may become a run, at least.
const FEW: usize = 16;
/// How often in a row they did not until that is not tried any more.
const OFTEN: u8 = 8;

/// When iterations run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Beginning of the first one, and of the one before it.
    pub(super) first: u64,
    pub(super) former: u64,
    pub(super) duration: u64,
    /// Number of the one before.
    pub(super) iteration: u64,
}

impl Times {
    pub(super) fn turn(self, number: usize) -> u64 {
        self.first + number as u64 * self.duration
    }

    /// When the one before began, and its own number.
    pub(super) fn of(self, number: usize) -> (u64, u64) {
        let former = if number == 0 { self.former } else { self.turn(number - 1) };
        (former, self.iteration + 1 + number as u64)
    }
}

/// The source of a dependence in each of some cells: first and last moment.
type Sources = (Moments, Moments);

impl Engine {
    /// One access of some iterations, which have been looked at.
    pub(super) fn take_column(
        &mut self,
        context: &mut Context,
        (operation, habit): (&Operation, &mut Habit),
        (column, many): (&Column, usize),
        times: Times,
    ) {
        let Size::Plain(shift) = operation.size else {
            return;
        };
        let (site, line) = (operation.site, u64::from(operation.line) - 1);
        let moment = |at: usize| times.turn(at) + line;
        let (mut at, mut apart, mut runs) = (0, 0, 0);
        while at < many {
            match column.next(&mut context.shadow, habit, shift, (at, many)) {
                None => return,
                Some(Next::Cell(place)) => {
                    let cell = *context.shadow.cell(place).0;
                    let count = if column.is_one { many } else { 1 };
                    self.count_cell(context, habit, cell, (column, at, count), times);
                    let (cell, readers) = context.shadow.cell(place);
                    if operation.is_write() {
                        readers.drop_list(cell.readers);
                        *cell = Cell { written: moment(at), writer: site, readers: 0 };
                    } else if column.is_one {
                        push(readers, cell.readers, (moment(0), moment(many - 1)), times.duration);
                    } else {
                        read(readers, cell, site, moment(at));
                    }
                    at += count;
                }
                Some(Next::Run(number, numbers)) => {
                    join(context, habit, (column, shift), (apart, at));
                    let Some(mut run) = context.shadow.run_mut(number).map(std::mem::take) else {
                        return;
                    };
                    let mut from = at;
                    for (piece, numbers) in run.pieces(numbers) {
                        self.count_piece(context, habit, (piece, numbers), (column, from), times);
                        from += numbers.count as usize;
                    }
                    let step = if numbers.is_down { times.duration.wrapping_neg() } else { times.duration };
                    let now = Moments::through((numbers.first, moment(at)), step);
                    if operation.is_write() {
                        run.write(numbers, site, now);
                    } else {
                        run.read(numbers, site, now);
                    }
                    if let Some(place) = context.shadow.run_mut(number) {
                        *place = run;
                    }
                    context.shadow.used(number, numbers.count);
                    at = from;
                    apart = at;
                    runs += 1;
                }
            }
        }
        join(context, habit, (column, shift), (apart, at));
        if runs > 1 {
            let (first, last) = (column.address(0), column.address(many - 1));
            let count = u32::try_from(many).unwrap_or(u32::MAX);
            context.shadow.unite((first.min(last), column.distance(), count), shift);
        }
    }

    /// Counts what an access of a cell has found, in some iterations.
    fn count_cell(
        &mut self,
        context: &Context,
        habit: &Habit,
        cell: Cell,
        (column, from, count): (&Column, usize, usize),
        times: Times,
    ) {
        for (place, known) in habit.met.places().into_iter().flatten().enumerate() {
            let wanted = column.sources[place];
            let source = if wanted.kind == Kind::War {
                let readers = &context.shadow.readers;
                let mut source = readers.get(cell.readers);
                while source.site != wanted.site && source.next != 0 {
                    source = readers.get(source.next);
                }
                source
            } else {
                cell.write()
            };
            let of = [source.first, source.last].map(|moment| Moments::through((0, moment), 0));
            let numbers = Numbers { first: 0, count: u32::try_from(count).unwrap_or(u32::MAX), is_down: false };
            self.count_many(context, (habit, known), (of.into(), numbers), (column, from), times);
        }
    }

    /// The same for some cells of a run.
    fn count_piece(
        &mut self,
        context: &Context,
        habit: &Habit,
        (piece, numbers): (&Piece, Numbers),
        (column, from): (&Column, usize),
        times: Times,
    ) {
        for (place, known) in habit.met.places().into_iter().flatten().enumerate() {
            let wanted = column.sources[place];
            let of = if wanted.kind == Kind::War {
                let group = piece.groups.iter().find(|group| group.site == wanted.site);
                group.map_or_else(Default::default, |group| (group.first, group.last))
            } else {
                (piece.written, piece.written)
            };
            self.count_many(context, (habit, known), (of, numbers), (column, from), times);
        }
    }

    /// Counts one dependence of some iterations, from one on.
    fn count_many(
        &mut self,
        context: &Context,
        (habit, known): (&Habit, usize),
        ((first, last), numbers): (Sources, Numbers),
        (column, from): (&Column, usize),
        times: Times,
    ) {
        let (record, at, is_innermost) = habit.expected[known].place();
        let (node, count) = (&context.nodes[at.node], u64::from(numbers.count));
        let distances = |number: u32| {
            let now = if is_innermost { times.of(from + number as usize) } else { (node.former, node.iteration) };
            let of = numbers.get(number);
            distances_in(node, now, at.carried, first.of(of), last.of(of))
        };
        let ends = [distances(0), distances(numbers.count - 1)];
        // Where iterations are numbered from one fixed one on, distances grow or fall all along.
        if numbers.count == 1 || ends[0] == ends[1] && (!is_innermost || !at.carried) {
            let (least, most) = ends[0];
            let addresses = (column.address(from), column.address(from + numbers.count as usize - 1));
            let varies = addresses.0 != addresses.1;
            self.table.count_all(
                record,
                count,
                (addresses, varies, node.start),
                (least, most, most.saturating_mul(count)),
            );
            return;
        }
        for number in 0..numbers.count {
            let address = column.address(from + number as usize);
            self.table.count(record, (address, node.start), distances(number));
        }
    }
}

/// Cells that a column has accessed in some iterations become a run, if they can.
fn join(context: &mut Context, habit: &mut Habit, (column, shift): (&Column, u32), (from, to): (usize, usize)) {
    if to - from < FEW || column.is_one || !column.is_even() || habit.apart >= OFTEN {
        return;
    }
    let (first, last) = (column.address(from), column.address(to - 1));
    let count = u32::try_from(to - from).unwrap_or(u32::MAX);
    let is_joined = context.shadow.join((first.min(last), column.distance(), count), shift);
    habit.apart = if is_joined { 0 } else { habit.apart + 1 };
}

/// Adds a read in a new iteration: the two groups of the site, if there are, become one.
fn read(readers: &mut Readers, cell: &mut Cell, site: Site, now: u64) {
    let (mut latest, mut former, mut before) = (0, 0, 0);
    let (mut at, mut last) = (cell.readers, 0);
    while at != 0 && former == 0 {
        let reader = readers.get(at);
        if reader.site == site {
            if latest == 0 {
                latest = at;
            } else {
                (former, before) = (at, last);
            }
        }
        (last, at) = (at, reader.next);
    }
    let mut new = Reader { site, next: cell.readers, first: now, last: now };
    if former == 0 {
        cell.readers = readers.add(new);
        return;
    }
    let old = readers.get(former);
    readers.change(latest, |reader| reader.first = old.first);
    readers.change(before, |reader| reader.next = old.next);
    new.next = cell.readers;
    readers.set_first(former, new);
    cell.readers = former;
}

/// A cell with two groups of reads is read again and again, from one moment to another.
fn push(readers: &mut Readers, list: u32, (first, last): (u64, u64), duration: u64) {
    let head = readers.get(list);
    let former = if first == last { head.last } else { last - duration };
    readers.change(head.next, |next| next.last = former);
    readers.change(list, |head| (head.first, head.last) = (last, last));
}
