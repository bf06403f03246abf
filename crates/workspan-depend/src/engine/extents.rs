//! Writes of library functions, of which only the first byte is known.
//!
//! **Argument:** two iterations that let such a function write at different places of one object may overlap. Where an object begins and
//! ends is known on the heap only; all other memory counts as one object. Memory that was allocated in the iteration is its own.
//!
//! Reads go on to the end of an object on the heap, elsewhere as far as bytes have been written.

use workspan_trace::program::Access;

use super::{Context, Engine};
use crate::shadow::{Shadow, Site};

/// Bytes that a library function is taken to read on, at most.
const MOST: u64 = 1024;

impl Engine {
    /// A library function reads on from an address, of which the first byte has been seen.
    pub(super) fn reads_on(&mut self, context: &mut Context, site: Site, address: u64) {
        let first = address + 1;
        let end = match context.objects.end_of(address) {
            Some(end) => end.min(first + MOST),
            None => (first..first + MOST).find(|at| !context.shadow.is_written(*at)).unwrap_or(first + MOST),
        };
        for (address, size) in Shadow::pieces(first, end.saturating_sub(first)) {
            self.access(context, address, size, site, Access::Load);
        }
    }

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
