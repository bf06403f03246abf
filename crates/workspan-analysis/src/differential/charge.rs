//! A strand of the new run by region of the source, with what the same strand cost in the base.

use workspan_model::{ContextId, Strand};

use crate::strands::{Charge, Region, Regions};

/// A way to look at strands: the span is the new run's, and beside it goes along what the path cost in the base.
#[derive(Debug)]
pub(super) struct ByDifference {
    regions: Regions,
    /// Per region.
    pub(super) seen: Vec<Seen>,
    /// What the strand that comes next cost in the base, if it has it.
    pub(super) base: Option<i64>,
}

/// What there is of a region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Of strands that both have.
    pub(super) base: i64,
    /// The same, in the new run.
    pub(super) new: i64,
    /// Of strands that only the new run has.
    pub(super) only_new: i64,
    /// Strands but for those that cost nothing.
    pub(super) strands: u64,
}

/// What a key of the path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Both,
    Blocked,
    OnlyNew,
}

impl ByDifference {
    pub(super) fn new() -> ByDifference {
        ByDifference { regions: Regions::new(), seen: Vec::new(), base: None }
    }

    pub(super) fn region(&self, id: u32) -> Region {
        self.regions.get(id)
    }

    /// The region of a key, and which of its parts that is.
    pub(super) fn parse(key: u32) -> (u32, Part) {
        let part = match key & 3 {
            0 => Part::Both,
            2 => Part::OnlyNew,
            _ => Part::Blocked,
        };
        (key >> 2, part)
    }
}

impl Charge for ByDifference {
    const PLACES: bool = true;
    const SCALE: i64 = 1;

    #[inline(always)]
    fn charge(&mut self, row: &Strand, context: ContextId, before: u32, after: u32) -> (u32, i64) {
        let id = self.regions.find(context, before, after);
        let index = id as usize;
        if index >= self.seen.len() {
            self.seen.resize(index + 1, Seen::default());
        }
        let seen = &mut self.seen[index];
        let cost = row.cost.0;
        seen.strands += u64::from(cost != 0);
        let part = match self.base {
            Some(base) => {
                seen.base = seen.base.saturating_add(base);
                seen.new = seen.new.saturating_add(cost);
                0
            }
            None => {
                seen.only_new = seen.only_new.saturating_add(cost);
                2
            }
        };
        (id << 2 | part, cost)
    }

    #[inline(always)]
    fn secondary(&self, _: i64) -> i64 {
        self.base.unwrap_or(0)
    }

    #[inline(always)]
    fn blocked(&self, key: u32) -> u32 {
        key | 1
    }

    #[inline(always)]
    fn expected(&self, _: ContextId) -> u32 {
        u32::MAX
    }
}
