//! Groups of reads that were met in a list, by what no later write can distinguish.

use crate::shadow::Site;
use crate::source::PlaceId;
use crate::tree::Common;

/// Kinds are kept in as many buckets, by their site.
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

/// Kinds met in one list. Empty, they have allocated nothing: they are taken out for each list.
#[derive(Debug, Default)]
pub(super) struct ReadKinds {
    all: Vec<Met>,
    /// The last one of each bucket, from 1; once there was a list, of all buckets.
    last: Vec<usize>,
}

impl ReadKinds {
    pub(super) fn clear(&mut self) {
        self.last.resize(BUCKETS, 0);
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
