//! Iterations of an innermost loop as one piece, from the bytes of their events.
//!
//! **Argument:** [`Steady`](super::steady) has found that iterations run the same segments, do the same to locals, and let models wait
//! for the same. What is left of one is its accesses to memory. An access whose cell was written or read by the same
//! site as before, within the same [interval](Engine::interval) of moments, is the same dependence for the table and for every
//! model: only counts and distances are new. Where models wait for what an access finds, it must find all that it found before. If one
//! access finds anything else, its iteration goes on as any other, from that access on. Models, journal and counters take all
//! iterations at once ([`Engine::advance`]).
//!
//! **Cost:** a comparison for each segment; for each access a cell, a class, and a count.

use workspan_graph::program::Program;
use workspan_trace::program::{operation, Access as Mode, Address};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use super::accesses::note_read;
use super::plan::{Batch, Class, Operation, Seen, Where};
use super::shapes::Noted;
use super::steady::{Find, ATTEMPTS};
use super::{Context, Engine};
use crate::shadow::{Cell, Reader, Readers};
use crate::source::small;
use crate::table::{Kind, Tally};

/// Iterations in a row that find anything new, until others are recorded.
const FAILED: u32 = 3;
/// Groups of reads that one write may end here.
pub(super) const GROUPS: usize = 8;

impl Engine {
    /// Takes as many iterations as come in one piece; returns their bytes.
    pub(super) fn batch(&mut self, context: &mut Context, program: &Program, bytes: &[u8]) -> usize {
        let Some(mut batch) = context.steady.batch.take() else {
            return 0;
        };
        if batch.possible.is_none() {
            batch.possible = Some(self.prepare(context, program, &mut batch).is_some() && context.follows == 0);
        }
        if batch.failed >= FAILED && context.steady.attempts < ATTEMPTS {
            // What comes now has become another thing than what was recorded.
            let attempts = context.steady.attempts + 1;
            self.catch_up(context);
            context.steady.attempts = attempts;
            return 0;
        }
        let (mut at, mut times) = (0, 0);
        if batch.possible == Some(true) {
            let mut readers = std::mem::take(&mut context.shadow.readers);
            while batch.comes(&bytes[at..]) {
                let rows = self.rows(context, &mut readers, &mut batch, &bytes[at..]);
                if rows > 0 {
                    times += rows as u64;
                    at += rows * batch.bytes;
                    continue;
                }
                let done = self.iteration(context, &mut readers, &mut batch, &bytes[at..]);
                if done < batch.operations.len() {
                    batch.failed += 1;
                    context.steady.skip = small(done);
                    break;
                }
                batch.failed = 0;
                times += 1;
                at += batch.bytes;
            }
            context.shadow.readers = readers;
            for class in batch.operations.iter_mut().flat_map(|operation| &mut operation.classes) {
                self.table.add(class.record, &mut class.tally, context.nodes[class.node].start);
            }
            if times > 0 {
                self.advance(context, times);
            }
        }
        context.steady.batch = Some(batch);
        at
    }

    /// Whether the path can be one piece.
    fn prepare(&self, context: &Context, program: &Program, batch: &mut Batch) -> Option<()> {
        let steady = &context.steady;
        let mut lines = 0;
        for id in &steady.path {
            let (module, segment) = program.segment(*id)?;
            let info = self.source.segments.get(*id as usize)?;
            batch.ids.push((batch.bytes, *id));
            let mut next = batch.bytes + ID_BYTES;
            let first = batch.operations.len();
            let (mut run, mut left) = (0, info.runs.first()?.operations);
            for (number, each) in (0..).zip(module.module.operations_of(segment)) {
                let odd = operation::SIZE_SLOT | operation::MASK_SLOT | operation::SCOPE | operation::LIBRARY;
                if each.flags & odd != 0 || each.access == Mode::Update || !matches!(each.size, 1 | 2 | 4 | 8) {
                    return None;
                }
                let address = match each.address {
                    Address::Slot => {
                        next += SLOT_BYTES;
                        Where::Byte(next - SLOT_BYTES, 0)
                    }
                    Address::Near { operation, offset } => {
                        match batch.operations.get(first + operation as usize)?.address {
                            Where::Byte(byte, further) => Where::Byte(byte, further.wrapping_add(offset)),
                            Where::Fixed(base) => Where::Fixed(base.wrapping_add_signed(offset)),
                        }
                    }
                    Address::Symbol { symbol, offset } => {
                        let base = module.variables.get(symbol as usize).copied().unwrap_or(0);
                        Where::Fixed(base.wrapping_add_signed(offset))
                    }
                };
                while left == 0 {
                    run += 1;
                    left = info.runs.get(run)?.operations;
                }
                left -= 1;
                let site = info.sites + number;
                let function = self.source.sites.get(site as usize)?.function;
                batch.operations.push(Operation {
                    address,
                    shift: each.size.trailing_zeros(),
                    is_write: each.access == Mode::Store,
                    site,
                    function,
                    after: lines + run as u64,
                    classes: Vec::new(),
                    found: [0; 2],
                    near: 0,
                    is_awaited: false,
                    page: (0, 0),
                    together: (0, 0),
                });
            }
            lines += info.runs.len() as u64;
            batch.bytes = next;
        }
        for (number, finds) in [&steady.last.finds, &steady.now.finds].into_iter().enumerate() {
            for find in finds {
                let class = Engine::class(context, find);
                let operation = batch.operations.get_mut(find.access as usize)?;
                let is_known = |other: &Class| other.range == class.range && other.record == class.record;
                let place = operation.classes.iter().position(is_known).unwrap_or(operation.classes.len());
                if place == operation.classes.len() {
                    operation.classes.push(class);
                }
                operation.found[number] |= 1_u64.checked_shl(small(place))?;
            }
        }
        for wait in &steady.last.awaited {
            batch.operations.get_mut(wait.access as usize)?.is_awaited = true;
        }
        (lines == steady.duration).then_some(())
    }

    fn class(context: &Context, find: &Find) -> Class {
        let Find { kind, source, at, record, .. } = *find;
        Class {
            kind,
            source,
            range: Engine::interval(context, find),
            before: (1, 0),
            node: at.node,
            carried: at.carried,
            record,
            tally: Tally::default(),
            seen: Seen::default(),
        }
    }

    /// Moments of an earlier access between which nothing changes: the node, the loop that has ended in it, the call.
    fn interval(context: &Context, find: &Find) -> (u64, u64) {
        let (moment, node) = (find.moment, &context.nodes[find.at.node]);
        let (mut low, mut high) = match context.nodes.get(find.at.node + 1) {
            None => (node.start, u64::MAX),
            Some(_) if find.at.carried => (node.start, node.turn - 1),
            Some(inner) => (node.turn, inner.start - 1),
        };
        let mut narrow = |start: u64, end: u64| {
            if moment < start {
                high = high.min(start - 1);
            } else if moment > end {
                low = low.max(end + 1);
            } else {
                (low, high) = (low.max(start), high.min(end));
            }
        };
        if !find.at.carried {
            let after = node.ended.partition_point(|ended| ended.start <= moment);
            for ended in node.ended.iter().skip(after.saturating_sub(1)).take(2) {
                narrow(ended.start, ended.end);
                narrow(ended.last, u64::MAX);
            }
        }
        if let Some(frame) = context.frames.get(node.frame) {
            let after = frame.calls.partition_point(|span| span.start <= moment);
            for span in frame.calls.iter().skip(after.saturating_sub(1)).take(2) {
                narrow(span.start, span.end);
            }
        }
        (low, high)
    }

    /// The accesses of one iteration, up to the first one that is new; how many were not.
    fn iteration(&mut self, context: &mut Context, readers: &mut Readers, batch: &mut Batch, bytes: &[u8]) -> usize {
        let now = context.now;
        let turn = now + 1;
        let Some(node) = context.nodes.last_mut() else {
            return 0;
        };
        let before = (node.former, node.turn);
        (node.former, node.turn) = (node.turn, turn);
        node.iteration += 1;
        for (number, operation) in batch.operations.iter_mut().enumerate() {
            let address = operation.address.of(bytes);
            context.now = turn + operation.after;
            if self.again(context, readers, operation, address).is_none() {
                if let Some(node) = context.nodes.last_mut() {
                    (node.former, node.turn) = before;
                    node.iteration -= 1;
                }
                context.now = now;
                return number;
            }
        }
        if let Some(node) = context.nodes.last_mut() {
            node.iterations.begin(node.iteration, turn);
        }
        context.now = now + context.steady.duration;
        context.steady.count += 1;
        batch.operations.len()
    }

    /// One access, if it finds what it found before.
    #[inline]
    fn again(
        &mut self,
        context: &mut Context,
        readers: &mut Readers,
        operation: &mut Operation,
        address: u64,
    ) -> Option<()> {
        let place = context.shadow.whole(address, operation.shift, &mut operation.page)?;
        let mut cell = *context.shadow.cell(place).0;
        let (writer, written) = (cell.writer, cell.written);
        let floor = context.floor(address);
        if writer != 0 && written < floor {
            return None;
        }
        let nodes = &context.nodes;
        if !operation.is_write {
            if writer == 0 {
                if !operation.finds(0) {
                    return None;
                }
                self.expose(context, operation.site, None);
            } else {
                let class = operation.class(nodes, Kind::Raw, writer, written)?;
                if !operation.finds(1 << class) {
                    return None;
                }
                operation.count(nodes, class, address, (written, written));
            }
            let turn = context.nodes.last().map_or(0, |node| node.turn);
            if !operation.read(readers, cell.readers, turn, context.now) {
                operation.read_any(context, readers, &mut cell);
                *context.shadow.cell(place).0 = cell;
            }
            return Some(());
        }
        let written_before =
            if writer == 0 { None } else { Some(operation.class(nodes, Kind::Waw, writer, written)?) };
        let mut found = written_before.map_or(0, |class| 1 << class);
        let mut groups = [(0, Reader::default()); GROUPS];
        let mut count = 0;
        let mut at = cell.readers;
        while at != 0 {
            let reader = readers.get(at);
            at = reader.next;
            let class = operation.class(nodes, Kind::War, reader.site, reader.last)?;
            let is_new = groups[..count].iter().all(|(_, other)| other.site != reader.site);
            if count == GROUPS || reader.last < floor || !is_new {
                return None;
            }
            groups[count] = (class, reader);
            found |= 1 << class;
            count += 1;
        }
        if !operation.finds(found) {
            return None;
        }
        if let Some(class) = written_before {
            operation.count(nodes, class, address, (written, written));
        }
        for (class, reader) in &groups[..count] {
            operation.count(nodes, *class, address, (reader.first, reader.last));
        }
        readers.drop_list(cell.readers);
        *context.shadow.cell(place).0 = Cell { written: context.now, writer: operation.site, readers: 0 };
        Some(())
    }
}

impl Operation {
    /// Adds a read to groups, whatever they are.
    pub(super) fn read_any(&mut self, context: &Context, readers: &mut Readers, cell: &mut Cell) {
        let head = readers.get(cell.readers).last;
        if note_read(context, readers, cell, (self.site, self.function)) == Noted::Pushed {
            self.together = context.together(self.function, head);
        }
    }
}
