//! Accesses: what the shadow has kept of the bytes, and what it keeps from now on.

use workspan_graph::events::Access;
use workspan_trace::facts::Deed;
use workspan_trace::program::{operation, Access as Mode};

use super::step::Noted;
use super::{Context, Engine};
use crate::shadow::{Cell, Reader, Readers, Shadow, Site};
use crate::table::Kind;
use crate::tree::{common, common_of_both, Common};

impl Engine {
    pub(super) fn operation(&mut self, context: &mut Context, site: Site, access: &Access) {
        context.grow(site);
        if access.flags & operation::SCOPE != 0 {
            context.shadow.forget(access.address, access.size);
            return;
        }
        if access.flags & operation::LIBRARY != 0 && access.mode != Mode::Load {
            self.unbounded(context, site, access.address);
        }
        let reads_on = access.flags & operation::LIBRARY != 0
            && self.source.sites.get(site as usize).is_some_and(|site| site.reads_on);
        let mut pieces = Shadow::pieces(access.address, access.size).peekable();
        while let Some((address, size)) = pieces.next() {
            let is_part = reads_on || address != access.address || pieces.peek().is_some();
            context.parts.begin(access.address, is_part);
            self.access(context, address, size, site, access.mode);
        }
        if reads_on {
            self.reads_on(context, site, access.address);
        }
        context.parts.end();
    }

    /// A part of an access, which lies on one page.
    pub(super) fn access(&mut self, context: &mut Context, address: u64, size: u64, site: Site, mode: Mode) {
        let floor = context.floor(address);
        let span = context.shadow.span(address, size);
        let mut before = (0, 0, 0);
        context.parts.of_cells(span.count());
        let mut readers = std::mem::take(&mut context.shadow.readers);
        for place in span.cells() {
            let mut cell = *context.shadow.cell(place).0;
            if cell.writer != 0 && cell.written < floor {
                readers.drop_list(cell.readers);
                cell = Cell::default();
            }
            // What neighbouring bytes have in common counts once.
            let same = before == (cell.written, cell.writer, 1) && cell.readers == 0;
            before = (cell.written, cell.writer, 1);
            self.cell(context, &mut readers, &mut cell, floor, (site, mode, address), same);
            *context.shadow.cell(place).0 = cell;
        }
        context.shadow.readers = readers;
    }

    pub(super) fn touch(&mut self, context: &mut Context, local: u32, deed: Deed, site: Site) {
        context.grow(site);
        let Some(cell) = context.top().locals.get_mut(local as usize) else {
            return;
        };
        let mut cell = std::mem::take(cell);
        let mut readers = std::mem::take(&mut context.local_readers);
        context.is_touch = true;
        match deed {
            Deed::Begin => {
                readers.drop_list(cell.readers);
                cell = Cell::default();
            }
            Deed::Read => self.cell(context, &mut readers, &mut cell, 0, (site, Mode::Load, 0), false),
            Deed::Write => self.cell(context, &mut readers, &mut cell, 0, (site, Mode::Store, 0), false),
        }
        context.is_touch = false;
        context.local_readers = readers;
        if let Some(place) = context.top().locals.get_mut(local as usize) {
            *place = cell;
        }
    }

    /// One access to one cell.
    pub(super) fn cell(
        &mut self,
        context: &mut Context,
        readers: &mut Readers,
        cell: &mut Cell,
        floor: u64,
        (site, mode, address): (Site, Mode, u64),
        same: bool,
    ) {
        if mode != Mode::Store {
            let at = if cell.writer == 0 {
                self.expose(context, site, None);
                None
            } else if same {
                None
            } else {
                let at = common(&context.nodes, cell.written);
                self.found(context, Kind::Raw, cell.write(), (site, address), at);
                Some(at)
            };
            if at.is_some() {
                self.expose(context, site, at);
            }
            let function = self.source.sites.get(site as usize).map_or(u32::MAX, |site| site.function);
            note_read(context, readers, cell, (site, function));
        }
        if mode != Mode::Load {
            if cell.writer != 0 && !same {
                let at = common(&context.nodes, cell.written);
                self.found(context, Kind::Waw, cell.write(), (site, address), at);
            }
            let own = (mode == Mode::Update).then_some(site);
            self.readers(context, readers, cell.readers, (floor, own), (site, address));
            readers.drop_list(cell.readers);
            *cell = Cell { written: context.now, writer: site, readers: 0 };
        }
    }

    /// Write after read: reads of one site that lie in the same node of the tree are one.
    pub(super) fn readers(
        &mut self,
        context: &mut Context,
        readers: &Readers,
        first: u32,
        (floor, own): (u64, Option<Site>),
        sink: (Site, u64),
    ) {
        let mut groups = std::mem::take(&mut context.groups);
        groups.clear();
        let mut at = first;
        while at != 0 {
            let reader = readers.get(at);
            at = reader.next;
            // Its own read in the same moment, and what is in frames that have been left, is none.
            if reader.last < floor || own == Some(reader.site) && reader.first == context.now {
                continue;
            }
            let node = common(&context.nodes, reader.last);
            let function = self.source.sites.get(reader.site as usize).map_or(u32::MAX, |site| site.function);
            let call = context.call_of(node, function, reader.last);
            let is_same = |(other, of): &&mut (Reader, Common)| {
                other.site == reader.site && *of == node && context.call_of(node, function, other.last) == call
            };
            match groups.iter_mut().find(is_same) {
                Some((other, _)) => {
                    other.first = other.first.min(reader.first);
                    other.last = other.last.max(reader.last);
                }
                None => groups.push((reader, node)),
            }
        }
        for (reader, node) in &groups {
            self.found(context, Kind::War, *reader, sink, *node);
        }
        context.groups = groups;
    }

    /// A read of a value from before the iterations that run.
    pub(super) fn expose(&mut self, context: &mut Context, site: Site, at: Option<Common>) {
        if at.is_none() {
            // Which loops it lies in, calls around decide, too.
            context.shapes.noting.exposed(site);
        }
        let first = at.map_or(0, |at| if at.carried { at.node } else { at.node + 1 });
        // In one chain of calls, a loop lies in the same loops again.
        let Some(innermost) = context.nodes.last() else {
            return;
        };
        let within = (context.frames[innermost.frame].chain, innermost.number);
        let memo = &mut context.exposure[site as usize];
        if memo.0 == within && memo.1 <= first {
            return;
        }
        *memo = (within, first);
        for node in context.nodes.iter().skip(first).filter(|node| node.number != 0) {
            self.table.exposed.insert((site, node.number));
        }
    }
}

/// Groups of one site that are looked at when a read is added.
const SURVIVORS: u32 = 4;

/// Adds a read to those since the last write; where two groups became one, the last moment of the later one.
pub(super) fn note_read(
    context: &mut Context,
    readers: &mut Readers,
    cell: &mut Cell,
    (site, function): (Site, u32),
) -> Option<u64> {
    let now = context.now;
    let turn = context.nodes.last().map_or(0, |node| node.turn);
    // In the iteration or call that runs, and not by a call of the same function that it has made.
    let innermost = Common { node: context.nodes.len().saturating_sub(1), carried: false };
    let is_here = |context: &Context, reader: &Reader| {
        reader.first >= turn && context.call_of(innermost, function, reader.last) == 0
    };
    let head = readers.get(cell.readers);
    if cell.readers == 0 || head.site == site && is_here(context, &head) {
        if cell.readers == 0 {
            cell.readers = readers.add(Reader { site, next: 0, first: now, last: now });
            context.shapes.noting.read(|| Noted::First);
            return None;
        }
        readers.set(cell.readers, Reader { last: now, ..head });
        context.shapes.noting.read(|| Noted::Longer(0));
        return None;
    }
    // Two groups, or one: the common cases of what follows.
    if head.site == site {
        let next = readers.get(head.next);
        let is_one = head.next == 0;
        let is_same = |next: &Reader| {
            next.site == site
                && next.next == 0
                && common_of_both(&context.nodes, head.last, next.last).is_some_and(|node| {
                    context.call_of(node, function, next.last) == context.call_of(node, function, head.first)
                })
        };
        if is_one {
            cell.readers = readers.add(Reader { site, next: cell.readers, first: now, last: now });
            context.shapes.noting.read(|| Noted::First);
            return None;
        }
        if is_same(&next) {
            readers.set(head.next, Reader { last: head.last, ..next });
            readers.set(cell.readers, Reader { first: now, last: now, ..head });
            context.shapes.noting.read(|| Noted::Pushed);
            return Some(head.last);
        }
    }
    let (noted, joined) = join_reads(context, readers, cell, (site, function));
    context.shapes.noting.read(|| noted);
    joined
}

/// The list is in the order of time, the latest first. Neighbours of the site that no later write can distinguish become one, so that
/// there are no more than loops around.
fn join_reads(
    context: &Context,
    readers: &mut Readers,
    cell: &mut Cell,
    (site, function): (Site, u32),
) -> (Noted, Option<u64>) {
    let now = context.now;
    let turn = context.nodes.last().map_or(0, |node| node.turn);
    let innermost = Common { node: context.nodes.len().saturating_sub(1), carried: false };
    let is_here = |reader: &Reader| reader.first >= turn && context.call_of(innermost, function, reader.last) == 0;
    let (mut found, mut later) = (0, None);
    let (mut at, mut before) = (cell.readers, 0);
    let (mut number_of, mut joined, mut moment) = (0, Vec::new(), None);
    while at != 0 && found < SURVIVORS {
        let reader = readers.get(at);
        let place = number_of;
        number_of += 1;
        if reader.site != site {
            (before, at) = (at, reader.next);
            continue;
        }
        let node = common(&context.nodes, reader.last);
        match later {
            None if is_here(&reader) => {
                readers.set(at, Reader { last: now, ..reader });
                return (Noted::Longer(place), None);
            }
            Some((number, of, former)) if of == node => {
                let new = readers.get(number);
                if context.call_of(node, function, new.first) == context.call_of(node, function, reader.last) {
                    readers.unlink(before, at, cell);
                    let new = readers.get(number);
                    readers.set(number, Reader { first: reader.first, ..new });
                    at = reader.next;
                    moment = Some(new.last);
                    if context.shapes.noting.is_active {
                        joined.push((former, place));
                    }
                    continue;
                }
            }
            _ => {}
        }
        found += 1;
        later = Some((at, node, place));
        (before, at) = (at, reader.next);
    }
    cell.readers = readers.add(Reader { site, next: cell.readers, first: now, last: now });
    (if joined.is_empty() { Noted::First } else { Noted::Joined(joined) }, moment)
}
