//! Which allocation an address lies in.

use std::collections::BTreeMap;

use workspan_trace::control::Kind;

use crate::events::Control;

/// An allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Id of the segment that was executed last before it.
    pub segment: u32,
}

/// Allocations that have not been freed.
#[derive(Clone, Debug, Default)]
pub struct Allocations {
    live: BTreeMap<u64, Allocation>,
}

impl Allocations {
    /// Takes a control event of a context that has executed `segment` last.
    pub fn control(&mut self, control: Control, segment: u32) {
        let [address, size, ..] = control.slots;
        match control.kind {
            Kind::Allocate => {
                self.live.insert(address, Allocation { address, size, segment });
            }
            Kind::Free => {
                self.live.remove(&address);
            }
            _ => {}
        }
    }

    /// The allocation that an address lies in.
    pub fn at(&self, address: u64) -> Option<Allocation> {
        let below = self.live.range(..=address).next_back().map(|(_, allocation)| *allocation);
        below.filter(|found| address - found.address < found.size)
    }
}
