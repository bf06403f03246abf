//! A bound on the work that one executable may cause.
//!
//! Debug information refers to itself: entries to lists, names and other entries. A damaged file can make many entries
//! refer to one huge list, so that the work grows with the square of the size. Everything whose cost is not bounded by
//! the bytes it consumes is therefore charged here; what compilers write stays far below the bound.

use std::cell::Cell;

/// Steps per byte of debug information. Real programs take less than one.
const STEPS_PER_BYTE: u64 = 8;

/// Steps that any file may take.
const FREE_STEPS: u64 = 1 << 20;

/// Why reading stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// The unit at hand is damaged; others may be sound.
    Damaged,
    /// No step is left.
    Exhausted,
}

impl From<gimli::Error> for Stop {
    fn from(_: gimli::Error) -> Stop {
        Stop::Damaged
    }
}

/// The steps left.
#[derive(Debug)]
pub(crate) struct Budget(Cell<u64>);

impl Budget {
    pub(crate) fn for_bytes(bytes: u64) -> Budget {
        Budget(Cell::new(bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(FREE_STEPS)))
    }

    pub(crate) fn charge(&self, steps: usize) -> Result<(), Stop> {
        let left = self.0.get().checked_sub(u64::try_from(steps).unwrap_or(u64::MAX));
        self.0.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(Stop::Exhausted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_when_spent() {
        let budget = Budget::for_bytes(1);
        assert!(budget.charge(1 << 20).is_ok());
        assert!(budget.charge(8).is_ok());
        assert!(matches!(budget.charge(1), Err(Stop::Exhausted)));
        assert!(matches!(budget.charge(0), Ok(())));
    }
}
