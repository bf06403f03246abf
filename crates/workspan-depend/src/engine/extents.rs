//! Writes of library functions, of which only the first byte is known.
//!
//! **Argument:** two iterations that let such a function write at different places of one object may overlap. Where an object begins and
//! ends is known on the heap only; all other memory counts as one object. Memory that was allocated in the iteration is its own.

use std::collections::BTreeMap;

use super::{Context, Engine};
use crate::shadow::Site;

/// Objects on the heap: size, and when they were allocated, by address.
#[derive(Debug, Default)]
pub(super) struct Objects {
    all: BTreeMap<u64, (u64, u64)>,
}

impl Objects {
    pub(super) fn allocate(&mut self, address: u64, size: u64, now: u64) {
        let end = address.saturating_add(size.max(1));
        while let Some((start, (length, _))) = self.all.range(..end).next_back().map(|(start, of)| (*start, *of)) {
            if start.saturating_add(length.max(1)) <= address {
                break;
            }
            self.all.remove(&start);
        }
        self.all.insert(address, (size, now));
    }

    /// Where the object of an address begins, and when it was allocated; 0: not known.
    fn of(&self, address: u64) -> (u64, u64) {
        let found = self.all.range(..=address).next_back();
        let found = found.filter(|(start, (size, _))| address - **start < *size);
        found.map_or((0, 0), |(start, (_, since))| (*start, *since))
    }
}

/// The last write of a site in a loop: execution, iteration, object, address.
pub(super) type Wrote = (u64, u64, u64, u64);

impl Engine {
    /// A library function writes from an address on.
    pub(super) fn unbounded(&mut self, context: &mut Context, site: Site, address: u64) {
        let (object, since) = context.objects.of(address);
        for node in context.nodes.iter().filter(|node| node.number != 0 && (object == 0 || since < node.turn)) {
            let now = (node.serial, node.iteration, object, address);
            let before = context.wrote.insert((site, node.number), now).unwrap_or(now);
            if before.0 == now.0 && before.1 != now.1 && before.2 == now.2 && before.3 != now.3 {
                *self.table.unbounded.entry((site, node.number)).or_default() += 1;
            }
        }
    }
}
