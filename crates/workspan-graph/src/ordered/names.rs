//! Short names of lines: 32 bits, so that a set of four is one register.
//!
//! The lowest bits of a name are those of the line, as many as the largest cache needs to find its set; the others number the
//! regions of memory that the program touched, in the order in which it did. A program that touches more regions than there are
//! numbers has no short names for its lines.

use std::collections::HashMap;

/// Regions that are found without a look at the table.
const RECENT: usize = 64;

/// Names of lines.
#[derive(Debug)]
pub(crate) struct Names {
    /// Bits of a line within its region.
    bits: u32,
    numbers: HashMap<u64, u32>,
    /// The regions by number, which begins at 1.
    regions: Vec<u64>,
    /// Regions and their numbers, each at a place that its lowest bits choose.
    recent: [(u64, u32); RECENT],
}

impl Names {
    /// Names for caches of up to `sets` sets; nothing if these leave no room for regions.
    pub(crate) fn new(sets: u64) -> Option<Names> {
        let bits = sets.next_power_of_two().trailing_zeros().max(20);
        (bits <= 26).then(|| Names { bits, numbers: HashMap::new(), regions: Vec::new(), recent: [(0, 0); RECENT] })
    }

    /// The name of a line, which is never 0.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits")]
    pub(crate) fn name(&mut self, line: u64) -> Option<u32> {
        let region = line >> self.bits;
        let (known, number) = self.recent[region as usize % RECENT];
        let number = if known == region && number != 0 { number } else { self.number(region)? };
        Some(number << self.bits | line as u32 & ((1 << self.bits) - 1))
    }

    #[cold]
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits")]
    fn number(&mut self, region: u64) -> Option<u32> {
        let next = self.regions.len() as u32 + 1;
        let number = match self.numbers.get(&region) {
            Some(number) => *number,
            None if next < 1 << (32 - self.bits) => {
                self.numbers.insert(region, next);
                self.regions.push(region);
                next
            }
            None => return None,
        };
        self.recent[region as usize % RECENT] = (region, number);
        Some(number)
    }

    /// The line that a name stands for; nothing for 0.
    pub(crate) fn line(&self, name: u32) -> Option<u64> {
        let number = (name >> self.bits).checked_sub(1)?;
        let region = self.regions.get(number as usize)?;
        Some(region << self.bits | u64::from(name & ((1 << self.bits) - 1)))
    }
}
