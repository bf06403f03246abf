//! What one access of many iterations meets, before any of them is done: the looking half of [rows](super::rows).
//!
//! **Invariant:** nothing is changed, but for what is kept of the last look.
//!
//! **Cost:** an address, a cell and a comparison of classes for each iteration; for a write the groups of reads that it ends, counted here
//! so that they are followed once.

use workspan_graph::events::slot;
use workspan_trace::SLOT_BYTES;

use super::batch::GROUPS;
use super::plan::{Class, Column, Operation, Seen, Where, NO_CLASS};
use super::{Context, STACK};
use crate::shadow::Readers;
use crate::table::Kind;

/// Bits of a slot.
const SLOT: u64 = (1 << (8 * SLOT_BYTES)) - 1;

impl Column {
    /// Takes the addresses of some iterations.
    pub(super) fn fill(&mut self, operation: &Operation, bytes: &[u8], (size, many): (usize, usize)) {
        let addresses = &mut self.addresses[..many];
        match operation.address {
            Where::Fixed(address) => addresses.fill(address),
            Where::Byte(at, offset) => {
                for (address, bytes) in addresses.iter_mut().zip(bytes[at..].chunks(size)) {
                    let address_there = match bytes.first_chunk() {
                        Some(word) => u64::from_le_bytes(*word) & SLOT,
                        None => slot(bytes, 0),
                    };
                    *address = address_there.wrapping_add_signed(offset);
                }
            }
        }
        let width = 1 << operation.shift;
        let step = addresses[1].wrapping_sub(addresses[0]);
        let (from, to) = (addresses[0], addresses[many - 1]);
        let (low, high) = (from.min(to), from.max(to));
        // Mostly the step is the same, and nothing wraps around: two addresses say all.
        let is_even = addresses.windows(2).fold(true, |even, pair| even & (pair[1].wrapping_sub(pair[0]) == step));
        let apart = step.min(step.wrapping_neg());
        if is_even && apart.checked_mul(many as u64 - 1) == Some(high - low) {
            (self.low, self.end) = (low, high.saturating_add(width));
            self.is_monotone = !operation.is_write || apart >= width;
            return;
        }
        let is_up = addresses[1] > addresses[0];
        let (lower, upper) = if is_up { (0, 1) } else { (1, 0) };
        let is_apart = |pair: &[u64]| pair[lower].saturating_add(width) <= pair[upper];
        self.is_monotone = !operation.is_write || addresses.windows(2).all(is_apart);
        let (low, high) = addresses.iter().fold((u64::MAX, 0), |(low, high), at| (low.min(*at), high.max(*at)));
        (self.low, self.end) = (low, high.saturating_add(width));
    }

    /// Only the first iterations count.
    pub(super) fn shorten(&mut self, many: usize) {
        self.is_seen = false;
        let Some((_, first, last)) = &mut self.one else {
            return;
        };
        let moments = self.cells[..many].iter().map(|(_, cell)| cell.written);
        (*first, *last) = moments.fold((u64::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
    }

    /// How many iterations find what was found before.
    pub(super) fn look(
        &mut self,
        context: &mut Context,
        readers: &Readers,
        operation: &mut Operation,
        many: usize,
    ) -> usize {
        let Column { addresses, cells, classes, seen, lasts, is_seen, .. } = self;
        seen.clear();
        seen.resize(operation.classes.len(), Seen::default());
        let inner = context.nodes.len() - 1;
        *is_seen =
            operation.classes.iter().all(|class| class.kind != Kind::War || class.node < inner || !class.carried);
        let addresses = &addresses[..many];
        let written = context.shadow.cells(addresses, operation.shift, &mut operation.page, cells);
        let is_stack = self.end >= context.root_address.saturating_sub(STACK) && self.low < context.root_address;
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
        let (mut good, mut near_read) = (0, 0);
        let each = addresses[..written.count].iter().zip(&*cells).zip(classes.iter_mut().zip(lasts));
        for ((address, (_, cell)), (of_write, last)) in each {
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
                let place = (*address, cell.readers);
                let Some(met) = look_at_readers(readers, operation, place, (floor, near_read), seen) else {
                    break;
                };
                found |= met.found;
                (near_read, *last) = (met.near, met.last);
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

/// The reads that a write ends.
struct Met {
    /// Their classes, one bit each.
    found: u64,
    /// Class of the first group.
    near: usize,
    /// Number of the last group.
    last: u32,
}

/// Looks at the reads that a write ends, and counts them by class.
#[inline]
fn look_at_readers(
    readers: &Readers,
    operation: &Operation,
    (address, first): (u64, u32),
    (floor, near_first): (u64, usize),
    seen: &mut [Seen],
) -> Option<Met> {
    let mut met = Met { found: 0, near: 0, last: 0 };
    let (mut at, mut near) = (first, near_first);
    let (mut sites, mut count) = ([0; GROUPS], 0);
    while at != 0 {
        let reader = readers.get(at);
        (met.last, at) = (at, reader.next);
        let class = operation.class_before(near, Kind::War, reader.site, reader.last)?;
        if count == GROUPS || reader.last < floor || sites[..count].contains(&reader.site) {
            return None;
        }
        if count == 0 {
            met.near = class;
        }
        sites[count] = reader.site;
        count += 1;
        seen.get_mut(class)?.add(address, (reader.first, reader.last));
        met.found |= 1 << class;
        near = class + 1;
    }
    Some(met)
}
