//! What an access of a strip is expected to find: what it has found before.
//!
//! **Argument:** as long as the same calls and loops run, and in the same iteration of the one that two accesses have in common, all earlier
//! accesses of a site between certain moments are the same dependence: in the same call and loop that have ended, alive for the same
//! reason, waited for by the same models ([`interval`]). Only how often and how far is new. In the innermost loop the moments move with each
//! turn.
//!
//! **Cost:** some comparisons, and a count.

use super::waits::Waiting;
use super::{Context, Engine, Waited};
use crate::shadow::{Reader, Site};
use crate::source::PlaceId;
use crate::table::Kind;
use crate::tree::{distances, Common};

/// What an access expects at most.
const MOST: usize = 8;
/// The call that an access was made in: the function on top has made it itself.
const OWN: PlaceId = PlaceId::MAX;

/// A dependence that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    kind: Kind,
    source: Site,
    record: u32,
    at: Common,
    /// Of that node: number of its own, and the beginning of its iteration.
    serial: u64,
    turn: u64,
    /// Moments of the earlier access; of the innermost node, they follow from the node.
    range: Option<(u64, u64)>,
    sink_call: PlaceId,
    /// The calls that the later access lay in last.
    chain: u32,
    reentered: bool,
    waiting: Waiting,
    waited: Waited,
    /// The innermost node in which models have waited, where that is enough; 0: none.
    done: u64,
    /// They have to wait in each iteration.
    each: bool,
}

/// The call of a node's frame that the function on top runs in.
#[inline]
fn sink_call(context: &Context, frame: usize) -> PlaceId {
    context.frames.get(frame + 1).map_or(OWN, |inner| inner.call)
}

impl Expected {
    /// True if an earlier access is that dependence.
    #[inline]
    fn is(&self, context: &Context, kind: Kind, source: Site, moment: u64) -> bool {
        if self.source != source || self.kind != kind {
            return false;
        }
        let Some(node) = context.nodes.get(self.at.node).filter(|node| node.serial == self.serial) else {
            return false;
        };
        if context.frames[node.frame].reentered != self.reentered {
            return false;
        }
        match self.range {
            Some((low, high)) => {
                low <= moment
                    && moment <= high
                    && node.turn == self.turn
                    && sink_call(context, node.frame) == self.sink_call
            }
            None => {
                self.at.node + 1 == context.nodes.len()
                    && node.start <= moment
                    && (moment < node.turn) == self.at.carried
                    && (self.at.carried || node.ended.is_empty())
            }
        }
    }
}

/// Moments around one between which nothing changes: the node, the loop that has ended in it, its last iteration, the call.
fn interval(context: &Context, at: Common, moment: u64) -> (u64, u64) {
    let node = &context.nodes[at.node];
    let (mut low, mut high) = match context.nodes.get(at.node + 1) {
        _ if at.carried => (node.start, node.turn - 1),
        None => (node.turn, context.now),
        Some(inner) => (node.turn, inner.start - 1),
    };
    let mut narrow = |start: u64, end: u64| {
        if moment < start {
            high = high.min(start - 1);
        } else if moment > end {
            low = low.max(end + 1);
        } else {
            (low, high) = (low.max(start), high.min(end));
        }
    };
    if !at.carried {
        let after = node.ended.partition_point(|ended| ended.start <= moment);
        for ended in node.ended.iter().skip(after.saturating_sub(1)).take(2) {
            narrow(ended.start, ended.end);
            narrow(ended.last, u64::MAX);
        }
    }
    if let Some(frame) = context.frames.get(node.frame) {
        let after = frame.calls.partition_point(|span| span.start <= moment);
        for span in frame.calls.iter().skip(after.saturating_sub(1)).take(2) {
            narrow(span.start, span.end);
        }
    }
    (low, high)
}

impl Engine {
    /// Counts a dependence, if it is expected.
    #[inline]
    pub(super) fn expected(
        &mut self,
        context: &mut Context,
        all: &mut [Expected],
        (kind, source): (Kind, Reader),
        (site, address): (Site, u64),
    ) -> bool {
        let Some(known) = all.iter_mut().find(|known| known.is(context, kind, source.site, source.last)) else {
            return false;
        };
        let node = &context.nodes[known.at.node];
        let distances = distances(node, known.at.carried, source.first, source.last);
        self.table.count(known.record, (address, node.start), distances);
        if known.waiting.any() != 0 {
            self.wait_again(context, known);
        }
        let chain = context.frames.last().map_or(0, |frame| frame.chain);
        if kind == Kind::Raw && chain != known.chain {
            known.chain = chain;
            self.expose(context, site, Some(known.at));
        }
        true
    }

    fn wait_again(&mut self, context: &mut Context, known: &mut Expected) {
        let Expected { at, waiting, .. } = *known;
        if !self.repeats.gathers {
            known.waited = self.wait(context, at, &waiting, known.waited);
            return;
        }
        let innermost = context.nodes.last().map_or(0, |node| node.serial);
        if known.each || known.done != innermost {
            known.done = innermost;
            self.repeats.find(self.line_of_strip, at, &waiting);
        }
    }

    /// What was found and is remembered at a slot will be expected, if it can.
    pub(super) fn expect(
        &mut self,
        context: &Context,
        all: &mut Vec<Expected>,
        (kind, source): (Kind, Reader),
        at: Common,
        slot: usize,
    ) {
        let (memo, node) = (&context.memos[slot], &context.nodes[at.node]);
        let reentered = context.frames[node.frame].reentered;
        let is_own = memo.is_direct && !reentered;
        let is_innermost = at.node + 1 == context.nodes.len();
        if is_innermost && !(is_own && memo.is_top) || memo.source != source.site {
            return;
        }
        let waiting = if is_own && memo.is_quiet { Waiting::default() } else { memo.waiting };
        let new = Expected {
            kind,
            source: source.site,
            record: memo.record,
            at,
            serial: node.serial,
            turn: node.turn,
            range: (!is_innermost).then(|| interval(context, at, source.last)),
            sink_call: sink_call(context, node.frame),
            chain: context.frames.last().map_or(0, |frame| frame.chain),
            reentered,
            waiting,
            waited: memo.waited,
            done: 0,
            each: self.waits_each_time(context, at, &waiting),
        };
        let same = |known: &&mut Expected| {
            (known.kind, known.source, known.at, known.record) == (new.kind, new.source, new.at, new.record)
        };
        if let Some(place) = all.iter_mut().find(same) {
            *place = new;
        } else if all.len() < MOST {
            all.push(new);
        } else {
            all.rotate_left(1);
            all[MOST - 1] = new;
        }
    }
}
