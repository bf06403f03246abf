//! One thread: the way from the root of its tree.

use super::{Context, STACK};
use crate::shadow::Site;
use crate::source::PlaceId;
use crate::tree::{Common, Frame, Node};

impl Context {
    pub(super) fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn push_node(&mut self, number: u32, frame: usize) {
        self.serials += 1;
        let now = self.now + 1;
        let now = if self.nodes.is_empty() { 0 } else { now };
        let serial = self.serials;
        self.nodes.push(Node { start: now, turn: now, former: now, number, frame, serial, ..Node::default() });
    }

    pub(super) fn grow(&mut self, site: Site) {
        let needed = site as usize + 1;
        if self.memo.len() < needed {
            self.memo.resize(needed + 64, Default::default());
            self.exposure.resize(needed + 64, (0, 0));
        }
    }

    /// The call of a node's frame that was running at a moment.
    pub(super) fn call_of(&self, at: Common, function: u32, moment: u64) -> PlaceId {
        let frame = self.nodes.get(at.node).and_then(|node| self.frames.get(node.frame));
        let frame = frame.filter(|frame| frame.function != function || frame.reentered);
        frame.map_or(0, |frame| frame.call_at(moment))
    }

    /// What an address held before this moment belongs to a frame that has been left.
    pub(super) fn floor(&self, address: u64) -> u64 {
        if address >= self.root_address || self.root_address - address > STACK {
            return 0;
        }
        for frame in self.frames.iter().rev() {
            if frame.address > address {
                return self.nodes.get(frame.node).map_or(0, |node| node.start);
            }
        }
        0
    }
}
