//! Regions of the source, as far as events name it.
//!
//! A strand runs code between two events, and where those are in the source is known. So a strand's *region* is its context,
//! the place of the event before it in the same task, and the place of the event after it: strands that ran the same code
//! in the same context are in one region (TaskProf 4.3: "static region").

use std::collections::HashMap;

use workspan_model::{ContextId, ContextTree, SiteId};

/// What lies before or after a strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Something without a place.
    Unknown,
    /// The beginning of the task, or of the branch of a fork.
    Begin,
    /// Its end.
    End,
    /// A wait for tasks that has no site of its own.
    Wait,
    /// The begin of the instance whose strands they are, of a site that is entered and left.
    Enter,
    /// Its end.
    Leave,
    /// A wait of the construct itself: a barrier, the end of a scope or a team. It lies where the construct does.
    Meet,
    /// An event at a site: a fork, a creation, the begin or end of a region that lies within.
    Site(SiteId),
}

/// The first code of a site.
const SITES: u32 = 7;

impl Point {
    /// As a number.
    pub fn code(self) -> u32 {
        match self {
            Point::Unknown => 0,
            Point::Begin => 1,
            Point::End => 2,
            Point::Wait => 3,
            Point::Enter => 4,
            Point::Leave => 5,
            Point::Meet => 6,
            Point::Site(site) => site.0.saturating_add(SITES),
        }
    }

    /// The point of a number.
    pub fn of(code: u32) -> Point {
        match code {
            0 => Point::Unknown,
            1 => Point::Begin,
            2 => Point::End,
            3 => Point::Wait,
            4 => Point::Enter,
            5 => Point::Leave,
            6 => Point::Meet,
            site => Point::Site(SiteId(site - SITES)),
        }
    }

    /// Its site.
    pub fn site(self) -> Option<SiteId> {
        match self {
            Point::Site(site) => Some(site),
            _ => None,
        }
    }
}

/// A region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    /// Where its strands are charged.
    pub context: ContextId,
    /// Before them.
    pub before: Point,
    /// After them.
    pub after: Point,
}

/// A region in all contexts: what one place in the source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The site whose strands they are; none at the root.
    pub site: Option<SiteId>,
    /// Before them.
    pub before: Point,
    /// After them.
    pub after: Point,
}

impl Place {
    /// Where a region is.
    pub fn of(contexts: &ContextTree, region: &Region) -> Place {
        Place { site: contexts.site(region.context), before: region.before, after: region.after }
    }
}

/// Position of a region among those of a run, in the order of their first strands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionId(pub u32);

/// Regions that are kept separate; further ones are known by their context alone.
const MOST: usize = 1 << 18;

/// Slots of the cache.
const SLOTS: usize = 1 << 12;

type Key = (u32, u32, u32);

/// The regions of a run.
#[derive(Debug)]
pub(crate) struct Regions {
    known: Vec<Key>,
    /// Never iterated.
    ids: HashMap<Key, u32>,
    /// Which region was last found here.
    cache: Vec<u32>,
}

impl Regions {
    pub(crate) fn new() -> Regions {
        Regions { known: Vec::new(), ids: HashMap::new(), cache: vec![0; SLOTS] }
    }

    /// The region of a strand.
    #[inline(always)]
    pub(crate) fn find(&mut self, context: ContextId, before: u32, after: u32) -> u32 {
        let key = (context.0, before, after);
        let slot = slot(key) % SLOTS;
        if let Some(id) = self.cache.get(slot) {
            if self.known.get(*id as usize) == Some(&key) {
                return *id;
            }
        }
        self.look_up(key, slot)
    }

    #[inline(never)]
    fn look_up(&mut self, key: Key, slot: usize) -> u32 {
        let key = if self.known.len() < MOST || self.ids.contains_key(&key) { key } else { (key.0, 0, 0) };
        let known = &mut self.known;
        let id = *self.ids.entry(key).or_insert_with(|| {
            known.push(key);
            u32::try_from(known.len() - 1).unwrap_or(0)
        });
        if let Some(cached) = self.cache.get_mut(slot) {
            *cached = id;
        }
        id
    }

    /// All of them, by their numbers.
    pub(crate) fn all(&self) -> Vec<Region> {
        (0u32..).take(self.known.len()).map(|id| self.get(id)).collect()
    }

    pub(crate) fn get(&self, id: u32) -> Region {
        let (context, before, after) = self.known.get(id as usize).copied().unwrap_or_default();
        Region { context: ContextId(context), before: Point::of(before), after: Point::of(after) }
    }
}

#[inline(always)]
fn slot(key: Key) -> usize {
    let mixed = u64::from(key.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ u64::from(key.1).wrapping_mul(0xff51_afd7_ed55_8ccd)
        ^ u64::from(key.2).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (mixed >> 40) as usize
}
