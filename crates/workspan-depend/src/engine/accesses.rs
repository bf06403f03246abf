//! Accesses: what the shadow has kept of the bytes, and what it keeps from now on.

use workspan_graph::events::Access;
use workspan_trace::program::{operation, Access as Mode};

use super::reads::note_read;
use super::{Context, Engine};
use crate::shadow::{Cell, Reader, Readers, Shadow, Site};
use crate::table::Kind;
use crate::touches::Action;
use crate::tree::{common, Common};

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
        context.shadow.span(address, size);
        let places = std::mem::take(&mut context.shadow.places);
        let mut before = (0, 0, 0);
        context.parts.of_cells(places.len());
        let mut readers = std::mem::take(&mut context.shadow.readers);
        for place in &places {
            let mut cell = *context.shadow.cell(*place).0;
            if cell.writer != 0 && cell.written < floor {
                readers.drop_list(cell.readers);
                cell = Cell::default();
            }
            // What neighbouring bytes have in common counts once.
            let same = before == (cell.written, cell.writer, 1) && cell.readers == 0;
            before = (cell.written, cell.writer, 1);
            self.cell(context, &mut readers, &mut cell, floor, (site, mode, address), same);
            *context.shadow.cell(*place).0 = cell;
        }
        (context.shadow.readers, context.shadow.places) = (readers, places);
    }

    pub(super) fn touch(&mut self, context: &mut Context, local: u32, deed: Action, site: Site) {
        context.grow(site);
        let Some(cell) = context.top().locals.get_mut(local as usize) else {
            return;
        };
        let mut cell = std::mem::take(cell);
        let mut readers = std::mem::take(&mut context.local_readers);
        context.is_touch = true;
        match deed {
            Action::Begin => {
                readers.drop_list(cell.readers);
                cell = Cell::default();
            }
            Action::Read => self.cell(context, &mut readers, &mut cell, 0, (site, Mode::Load, 0), false),
            Action::Look => self.read(context, &cell, (site, 0), false),
            Action::Write => self.cell(context, &mut readers, &mut cell, 0, (site, Mode::Store, 0), false),
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
            self.read(context, cell, (site, address), same);
            note_read(context, readers, cell, site, |site| self.source.function_of(site));
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

    /// Read after write.
    fn read(&mut self, context: &mut Context, cell: &Cell, (site, address): (Site, u64), same: bool) {
        if cell.writer == 0 {
            self.expose(context, site, None);
        } else if !same {
            let at = common(&context.nodes, cell.written);
            self.found(context, Kind::Raw, cell.write(), (site, address), at);
            self.expose(context, site, Some(at));
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
            let function = self.source.function_of(reader.site);
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
