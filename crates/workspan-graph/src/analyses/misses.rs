//! Instructions and allocations with most misses in a cache of one size (Contech, Table II).
//!
//! A miss counts for the access that missed, and for the call that allocated the memory; memory that nobody allocated is
//! the stack's or a variable's.

use std::collections::{BTreeMap, HashMap};

use crate::allocations::Allocations;
use crate::cache::Caches;
use crate::curve::Sharing;
use crate::events::{Access, Control};
use crate::replay::{Consumer, Executed};

/// Counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Lines accessed.
    pub accesses: u64,
    /// Of these not found.
    pub misses: u64,
}

/// Misses by place.
#[derive(Debug)]
pub struct Misses {
    empty: Caches,
    sharing: Sharing,
    caches: BTreeMap<u32, Caches>,
    allocations: Allocations,
    segments: HashMap<u32, u32>,
    /// By operation: module and number in it.
    pub operations: BTreeMap<(u32, u32), Count>,
    /// By the segment that ended in the call that allocated; nothing: not allocated. And the size of the largest.
    pub sites: BTreeMap<Option<u32>, (Count, u64)>,
    /// In all.
    pub total: Count,
}

impl Misses {
    /// Before the first access: of the smallest of the caches.
    pub fn new(caches: Caches, sharing: Sharing) -> Misses {
        Misses {
            empty: caches,
            sharing,
            caches: BTreeMap::new(),
            allocations: Allocations::default(),
            segments: HashMap::new(),
            operations: BTreeMap::new(),
            sites: BTreeMap::new(),
            total: Count::default(),
        }
    }
}

impl Consumer for Misses {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        self.segments.insert(executed.context, executed.id);
        let which = if self.sharing == Sharing::Shared { 0 } else { executed.thread };
        let caches = self.caches.entry(which).or_insert_with(|| self.empty.fresh());
        for access in accesses {
            let (lines, misses) = caches.look(access.address, access.size);
            let add = |count: &mut Count| {
                count.accesses += lines;
                count.misses += misses;
            };
            add(&mut self.total);
            add(self.operations.entry((executed.module_number, access.operation)).or_default());
            if misses > 0 {
                let allocation = self.allocations.at(access.address);
                let (count, size) = self.sites.entry(allocation.map(|found| found.segment)).or_default();
                add(count);
                *size = (*size).max(allocation.map_or(0, |found| found.size));
            }
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        let segment = self.segments.get(&context).copied().unwrap_or(0);
        self.allocations.control(control, segment);
    }
}
