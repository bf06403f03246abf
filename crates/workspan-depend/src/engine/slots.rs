//! Where frames keep the moments of their locals.

use std::collections::HashMap;

use crate::shadow::{BuildHasher, Site};
use crate::source::small;

/// A moment of a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Moment {
    /// Its write.
    Written,
    /// The first read of a group: which group of the site, from the latest on.
    First(Site, u32),
    /// The last one.
    Last(Site, u32),
}

/// Which group of its site the next one is.
#[derive(Debug, Default)]
pub(super) struct Groups {
    sites: Vec<(Site, u32)>,
}

impl Groups {
    /// A group of a site comes, after those that came later.
    pub(super) fn next(&mut self, site: Site) -> u32 {
        match self.sites.iter_mut().find(|(known, _)| *known == site) {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => {
                self.sites.push((site, 1));
                0
            }
        }
    }
}

/// Slots of moments, function by function.
#[derive(Debug, Default)]
pub(super) struct Slots {
    numbers: HashMap<(u32, u32, Moment), u32, BuildHasher>,
    /// Local and moment, by function and slot.
    moments: HashMap<u32, Vec<(u32, Moment)>, BuildHasher>,
}

impl Slots {
    /// The slot of a moment of a local of a function.
    pub(super) fn of(&mut self, function: u32, local: u32, moment: Moment) -> u32 {
        if let Some(slot) = self.numbers.get(&(function, local, moment)) {
            return *slot;
        }
        let moments = self.moments.entry(function).or_default();
        let slot = small(moments.len());
        moments.push((local, moment));
        self.numbers.insert((function, local, moment), slot);
        slot
    }

    /// True if a slot has a moment in frames of this shape.
    pub(super) fn is_live(&self, function: u32, slot: u32, locals: &[Local]) -> bool {
        let Some((local, moment)) = self.moments.get(&function).and_then(|of| of.get(slot as usize)) else {
            return false;
        };
        let Some(local) = locals.get(*local as usize) else {
            return false;
        };
        match moment {
            Moment::Written => local.writer != 0,
            Moment::First(site, group) | Moment::Last(site, group) => {
                local.readers.iter().filter(|reader| *reader == site).count() > *group as usize
            }
        }
    }
}

/// What a shape says of locals.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    /// Who has written it; 0: nobody.
    pub(super) writer: u32,
    /// Sites of its groups of reads.
    pub(super) readers: Vec<u32>,
}
