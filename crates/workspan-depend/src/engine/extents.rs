//! Writes of library functions, of which only the first byte is known.
//!
//! **Argument:** two iterations that let such a function write at different places of one object may overlap. Where an object begins and
//! ends is known on the heap only; all other memory counts as one object. Memory that was allocated in the iteration is its own.

use super::{Context, Engine};
use crate::shadow::Site;

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
