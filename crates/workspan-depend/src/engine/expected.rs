//! What an access of a strip has found, and is expected to find again, as [`super::expect`] uses it.

use super::waiting::{Waited, Waiting};
use crate::shadow::Site;
use crate::source::PlaceId;
use crate::table::Kind;
use crate::tree::Common;

/// Dependences that one write finds at most.
pub(super) const GROUPS: usize = 6;
/// Which of the dependences that it expects an access has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Met {
    places: [u8; GROUPS],
    count: u8,
}

impl Met {
    /// Another way.
    pub(super) const OTHER: Met = Met { places: [0; GROUPS], count: u8::MAX };

    pub(super) fn all(places: impl Iterator<Item = usize>) -> Met {
        let mut met = Met { places: [0; GROUPS], count: 0 };
        for place in places {
            met.places[usize::from(met.count)] = u8::try_from(place).unwrap_or(u8::MAX);
            met.count += 1;
        }
        met
    }

    /// Places among what was expected, if that is all that was found.
    pub(super) fn places(&self) -> Option<impl Iterator<Item = usize> + '_> {
        Some(self.places.get(..usize::from(self.count))?.iter().map(|place| usize::from(*place)))
    }
}

/// Where moments of earlier accesses lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    /// Where they lay when the dependence was expected first.
    Fixed,
    /// In an earlier iteration of the innermost loop.
    Carried,
    /// In the iteration or call that runs.
    Here,
}

/// A dependence that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) source: Site,
    pub(super) kind: Kind,
    pub(super) bounds: Bounds,
    pub(super) low: u64,
    pub(super) high: u64,
    /// It has been checked since calls or loops have begun or ended.
    pub(super) version: u64,
    pub(super) record: u32,
    pub(super) at: Common,
    /// Models may wait.
    pub(super) waits: bool,
    /// They have to wait in each iteration.
    pub(super) each: bool,
    /// The innermost node in which models have waited, where that is enough; 0: none.
    pub(super) done: u64,
    /// The calls that the later access lay in last.
    pub(super) chain: u32,
    /// Of the common node: number of its own, and the beginning of its iteration.
    pub(super) serial: u64,
    pub(super) turn: u64,
    pub(super) sink_call: PlaceId,
    pub(super) reentered: bool,
    pub(super) waiting: Waiting,
    pub(super) waited: Waited,
}
