//! Groups of reads that were met in a list, by what no later write can distinguish.

use crate::shadow::Site;
use crate::source::PlaceId;
use crate::tree::Common;

/// What kinds begin with, by their site.
const BUCKETS: usize = 64;

/// Reads by one site that lie in one node, and in one call of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadKind {
    pub(super) site: Site,
    pub(super) node: Common,
    pub(super) call: PlaceId,
}

/// The latest group of a kind, its place in the list, and the kind before in the same bucket, from 1.
#[derive(Debug)]
struct Met {
    kind: ReadKind,
    group: (u32, u32),
    before: usize,
}

/// Kinds met in one list.
#[derive(Debug)]
pub(super) struct Looks {
    all: Vec<Met>,
    last: [usize; BUCKETS],
}

impl Default for Looks {
    fn default() -> Looks {
        Looks { all: Vec::new(), last: [0; BUCKETS] }
    }
}

impl Looks {
    pub(super) fn clear(&mut self) {
        for met in self.all.drain(..) {
            self.last[met.kind.site as usize % BUCKETS] = 0;
        }
    }

    /// How many kinds were met.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A group and its place: those of the one that was met first of this kind, if there is one.
    pub(super) fn meet(&mut self, kind: ReadKind, group: (u32, u32)) -> Option<(u32, u32)> {
        let last = &mut self.last[kind.site as usize % BUCKETS];
        let mut at = *last;
        while let Some(met) = at.checked_sub(1).and_then(|at| self.all.get(at)) {
            if met.kind == kind {
                return Some(met.group);
            }
            at = met.before;
        }
        self.all.push(Met { kind, group, before: *last });
        *last = self.all.len();
        None
    }
}
