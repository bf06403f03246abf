//! Objects on the heap, by address.

use std::collections::BTreeMap;

/// Objects on the heap: size, and when they were allocated, by address.
#[derive(Debug, Default)]
pub struct Objects {
    all: BTreeMap<u64, (u64, u64)>,
}

impl Objects {
    /// An allocation; what it lies over has been freed.
    pub fn allocate(&mut self, address: u64, size: u64, now: u64) {
        let end = address.saturating_add(size.max(1));
        while let Some((start, (length, _))) = self.all.range(..end).next_back().map(|(start, of)| (*start, *of)) {
            if start.saturating_add(length.max(1)) <= address {
                break;
            }
            self.all.remove(&start);
        }
        self.all.insert(address, (size, now));
    }

    /// Where the object of an address ends, if it is known.
    pub fn end_of(&self, address: u64) -> Option<u64> {
        let (start, (size, _)) = self.all.range(..=address).next_back()?;
        Some(start.saturating_add(*size)).filter(|end| address < *end)
    }

    /// Where the object of an address begins, and when it was allocated; 0: not known.
    pub fn of(&self, address: u64) -> (u64, u64) {
        let found = self.all.range(..=address).next_back();
        let found = found.filter(|(start, (size, _))| address - **start < *size);
        found.map_or((0, 0), |(start, (_, since))| (*start, *since))
    }
}

/// The last write of a site in a loop: execution, iteration, object, address.
pub type Wrote = (u64, u64, u64, u64);
