//! One thread: the way from the root of its tree.

use super::strip::Together;
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
        let frame = frame.filter(|frame| !is_own && (frame.function != function || !frame.is_alone(moment)));
        frame.map_or(0, |frame| frame.call_at(moment))
    }

    /// Moments around one that belong together for the reads of a function.
    pub(super) fn together(&self, function: u32, moment: u64) -> Together {
        let at = common(&self.nodes, moment);
        let Some(node) = self.nodes.get(at.node) else {
            return Together::None;
        };
        let Some(frame) = self.frames.get(node.frame) else {
            return Together::None;
        };
        let is_own = frame.function == function;
        if is_own && frame.reentered {
            return Together::None;
        }
        let (mut low, mut high) = if at.carried { (node.start, node.turn - 1) } else { (node.turn, u64::MAX) };
        if let Some(inner) = self.nodes.get(at.node + 1).filter(|_| !at.carried) {
            high = inner.start - 1;
        }
        let mut calls = None;
        if !is_own {
            let after = frame.calls.partition_point(|span| span.start <= moment);
            let span = after.checked_sub(1).and_then(|at| frame.calls.get(at)).filter(|span| moment <= span.end);
            let Some(span) = span else {
                return Together::None;
            };
            (low, high) = (low.max(span.start), high.min(span.end));
            // The last span grows.
            calls = (after == frame.calls.len()).then_some((node.frame, span.start));
        }
        if at.carried && (is_own || calls.is_some()) {
            return Together::Before(low, (at.node, node.serial), calls);
        }
        Together::Between(low, high, node.frame)
    }

    /// The same as first and last moment now.
    #[inline]
    pub(super) fn moments_together(&self, together: &Together) -> (u64, u64) {
        const NONE: (u64, u64) = (u64::MAX, 0);
        match *together {
            Together::None => NONE,
            Together::Between(low, high, frame) => {
                let is_known = self.frames.get(frame).is_none_or(|frame| !frame.reentered);
                if is_known {
                    (low, high)
                } else {
                    NONE
                }
            }
            Together::Before(low, (node, serial), calls) => {
                let Some(node) = self.nodes.get(node).filter(|node| node.serial == serial) else {
                    return NONE;
                };
                let is_known = match calls {
                    None => !self.frames[node.frame].reentered,
                    // What another function has read lies in calls: no moment of it is behind the last one.
                    Some((frame, start)) => self.frames[frame].calls.last().is_some_and(|last| last.start == start),
                };
                if is_known {
                    (low, node.turn - 1)
                } else {
                    NONE
                }
            }
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
