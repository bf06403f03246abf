//! One thread: the way from the root of its tree.

use super::waiting::{Waited, Waiting};
use super::{Context, Lived, Memo, STACK, WAYS};
use crate::shadow::Site;
use crate::source::{small, PlaceId};
use crate::table::Kind;
use crate::tree::{common, Common, Frame};

/// Chains of calls that are known by what they are, at most.
const CHAINS: usize = 1 << 16;

/// Nothing is known.
const NO_MEMO: Memo = Memo {
    source: 0,
    in_loop: 0,
    place: (0, 0),
    ended: 0,
    carried: false,
    is_quiet: false,
    is_local: false,
    is_direct: false,
    is_top: false,
    source_call: 0,
    sink_call: 0,
    record: 0,
    waiting: Waiting::NONE,
    serial: 0,
    waited: Waited { serial: 0, turn: 0, frame: 0, returns: 0 },
    lived: Lived { turn: 0, range: (u64::MAX, 0) },
};

impl Context {
    pub(super) fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn push_node(&mut self, number: u32, frame: usize) {
        self.serials += 1;
        self.version += 1;
        let now = self.now + 1;
        let now = if self.nodes.is_empty() { 0 } else { now };
        // With the room that another one had.
        let mut node = self.spare_nodes.pop().unwrap_or_default();
        node.begin(now, number, frame, self.serials);
        self.nodes.push(node);
    }

    pub(super) fn grow(&mut self, site: Site) {
        let needed = site as usize + 1;
        if self.memo_of.len() < needed {
            self.memo_of.resize(needed + 64, [0; 3]);
            self.exposure.resize(needed + 64, ((0, 0), 0));
        }
    }

    /// Where the last dependence of two places is kept, of those that a node carries or not.
    #[inline]
    pub(super) fn slot(
        &mut self,
        kind: Kind,
        source: Site,
        sink: Site,
        (node, number, carried, is_top, ended): (usize, u32, bool, bool, u32),
    ) -> usize {
        let first = &mut self.memo_of[sink as usize][kind as usize];
        if *first == 0 {
            *first = small(self.memos.len()) + 1;
            self.memos.extend([NO_MEMO; WAYS]);
        }
        let kind_of_node = u32::from(carried) << 2 | u32::from(is_top) << 3;
        let way = source ^ kind_of_node ^ number << 1 ^ ended ^ (5 * small(node));
        *first as usize - 1 + way as usize % WAYS
    }

    /// The call of a node's frame that was running at a moment.
    #[inline]
    pub(super) fn call_of(&self, at: Common, function: u32, moment: u64) -> PlaceId {
        let frame = self.nodes.get(at.node).and_then(|node| self.frames.get(node.frame));
        let is_own = self.is_touch;
        let frame = frame.filter(|frame| !is_own && (frame.function != function || frame.reentered));
        frame.map_or(0, |frame| frame.call_at(moment))
    }

    /// The moments around one that lie in the same node, and in no call of it: first and last, and the version in which that is so; 0:
    /// in all.
    pub(super) fn together(&self, function: u32, moment: u64) -> (u64, u64, u64) {
        let at = common(&self.nodes, moment);
        let Some(node) = self.nodes.get(at.node) else {
            return (u64::MAX, 0, 0);
        };
        if self.frames.get(node.frame).is_none_or(|frame| frame.function != function || frame.reentered) {
            return (u64::MAX, 0, 0);
        }
        match self.nodes.get(at.node + 1) {
            // Whatever lies before the iteration that runs.
            None if at.carried => (node.start, u64::MAX, self.version),
            _ if at.carried => (node.start, node.turn - 1, 0),
            None => (node.turn, u64::MAX, 0),
            Some(inner) => (node.turn, inner.start - 1, 0),
        }
    }

    /// Number of a call in a loop of another one: chain, loop, place, function.
    pub(super) fn chain(&mut self, key: (u32, u32, PlaceId, u32)) -> u32 {
        let next = small(self.chains.len()) + 1;
        if self.chains.len() < CHAINS {
            return *self.chains.entry(key).or_insert(next);
        }
        // Each is one of its own from now on.
        self.chains.get(&key).copied().unwrap_or_else(|| {
            self.other_chains = self.other_chains.wrapping_add(1).max(next);
            self.other_chains
        })
    }

    /// Levels of the frame on top.
    pub(super) fn levels_of_frame(&self) -> [u32; 9] {
        self.frames.last().and_then(|frame| self.levels.get(frame.node)).copied().unwrap_or_default()
    }

    /// True if an address may be in a frame.
    #[inline]
    pub(super) fn is_stack(&self, address: u64) -> bool {
        address < self.root_address && self.root_address - address <= STACK
    }

    /// True if one of some addresses may be in a frame.
    pub(super) fn may_be_stack(&self, low: u64, end: u64) -> bool {
        low < self.root_address && end >= self.root_address.saturating_sub(STACK)
    }

    /// What an address held before this moment belongs to a frame that has been left.
    #[inline]
    pub(super) fn floor(&self, address: u64) -> u64 {
        if !self.is_stack(address) {
            return 0;
        }
        let frame = self.frames.iter().rev().find(|frame| frame.address > address);
        frame.and_then(|frame| self.nodes.get(frame.node)).map_or(0, |node| node.start)
    }
}
