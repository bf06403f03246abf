//! The execution tree, of which only the way from the root to where the program is has been kept.
//!
//! A node is a call or a loop. A moment lies in the deepest node that has begun before it; in a loop it lies in the current
//! iteration, or in an earlier one: then the loop carries what connects that moment to now.

use crate::iterations::Iterations;
use crate::shadow::Cell;
use crate::source::PlaceId;

/// Calls of one place, that no instruction of the function itself interrupts.
#[derive(Clone, Copy, Debug)]
pub struct CallSpan {
    /// First moment.
    pub start: u64,
    /// Last moment.
    pub end: u64,
    /// Place of the call.
    pub place: PlaceId,
}

/// A loop that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Loop + 1.
    pub number: u32,
    /// Its first moment.
    pub start: u64,
    /// Its last moment.
    pub end: u64,
    /// The first moment of its last iteration.
    pub last: u64,
}

/// A call or a loop.
#[derive(Debug, Default)]
pub struct Node {
    /// First moment.
    pub start: u64,
    /// First moment of the current iteration.
    pub turn: u64,
    /// Loop + 1; 0: a call.
    pub number: u32,
    /// Its frame.
    pub frame: usize,
    /// Number of the current iteration.
    pub iteration: u64,
    /// The moment at which the iteration before began.
    pub former: u64,
    /// All iterations.
    pub iterations: Iterations,
    /// Loops that have ended in it.
    pub ended: Vec<Ended>,
    /// The body has begun in the current iteration.
    pub in_body: bool,
    /// Bodies that have begun.
    pub bodies: u64,
    /// Work of the program when it began.
    pub work: u64,
    /// A number of its own.
    pub serial: u64,
}

impl Node {
    /// Begins at a moment: a loop + 1, or 0: a call; its frame; a number of its own.
    pub fn begin(&mut self, now: u64, number: u32, frame: usize, serial: u64) {
        self.iterations.clear();
        self.ended.clear();
        (self.start, self.turn, self.former) = (now, now, now);
        (self.number, self.frame, self.serial) = (number, frame, serial);
        (self.iteration, self.in_body, self.bodies, self.work) = (0, false, 0, 0);
    }

    /// The loop that has ended in it, and was running at a moment.
    #[inline]
    pub fn ended_at(&self, moment: u64) -> Option<&Ended> {
        // They have ended in the order of time, and mostly before.
        if self.ended.last().is_none_or(|last| last.end < moment) {
            return None;
        }
        self.ended.iter().rev().find(|ended| ended.start <= moment && moment <= ended.end)
    }
}

/// A call.
#[derive(Debug, Default)]
pub struct Frame {
    /// Its node.
    pub node: usize,
    /// Address of its frame.
    pub address: u64,
    /// Function.
    pub function: u32,
    /// Place of the call in the caller.
    pub call: PlaceId,
    /// Number of the calls and loops that it lies in, whichever execution of them.
    pub chain: u32,
    /// Locals without an address.
    pub locals: Vec<Cell>,
    /// Calls that it has made.
    pub calls: Vec<CallSpan>,
    /// The call that is being made: place, name, function of the program + 1 if one was entered.
    pub pending: Option<(PlaceId, u32, u32)>,
    /// When it began.
    pub pending_since: u64,
    /// The function was called again below.
    pub reentered: bool,
    /// The last moment before that.
    pub alone_until: u64,
    /// Number of the frame of the same function around it, + 1.
    pub outer: usize,
    /// Number of what its locals and loops are like; 0: it has none, and its locals are cells.
    pub shape: u32,
    /// It will have none.
    pub is_shapeless: bool,
    /// Where it has one: when its locals were written and read, by slot.
    pub moments: Vec<u64>,
}

/// Spans that a frame keeps at most.
const MOST_SPANS: usize = 1 << 20;

impl Frame {
    /// Nothing but its room is left.
    pub fn clear(&mut self) {
        self.locals.clear();
        self.calls.clear();
        (self.pending, self.pending_since, self.reentered) = (None, 0, false);
        (self.shape, self.is_shapeless) = (0, false);
    }

    /// Keeps a moment in a slot.
    #[inline]
    pub fn keep(&mut self, slot: u32, moment: u64) {
        let slot = slot as usize;
        match self.moments.get_mut(slot) {
            Some(place) => *place = moment,
            None => {
                self.moments.resize(slot + 1, 0);
                self.moments[slot] = moment;
            }
        }
    }

    /// True if only the call itself can have made an access of its function at a moment: calls of one place that follow one another are
    /// one span, whatever lies between them.
    pub fn is_alone(&self, moment: u64) -> bool {
        !self.reentered || moment <= self.alone_until
    }

    /// The function is called again below.
    pub fn reenter(&mut self, now: u64) {
        if !std::mem::replace(&mut self.reentered, true) {
            self.alone_until = now;
        }
    }

    /// A call has returned.
    pub fn returned(&mut self, now: u64) {
        let Some((place, _, _)) = self.pending.take() else {
            return;
        };
        let start = self.pending_since;
        match self.calls.last_mut() {
            Some(last) if last.place == place && !self.reentered => last.end = now,
            _ => {
                if self.calls.len() >= MOST_SPANS {
                    self.calls.drain(..MOST_SPANS / 2);
                }
                self.calls.push(CallSpan { start, end: now, place });
            }
        }
    }

    /// The call that was running at a moment.
    pub fn call_at(&self, moment: u64) -> PlaceId {
        // Mostly it is a recent one.
        if self.calls.last().is_none_or(|last| last.end < moment) {
            return 0;
        }
        let after = self.calls.partition_point(|span| span.start <= moment);
        let span = after.checked_sub(1).and_then(|at| self.calls.get(at));
        span.filter(|span| moment <= span.end).map_or(0, |span| span.place)
    }
}

/// Where a moment lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    /// Node.
    pub node: usize,
    /// In an earlier iteration.
    pub carried: bool,
}

/// The deepest node that has begun before a moment, if it is the same for an earlier one.
#[inline]
pub fn common_of_both(nodes: &[Node], moment: u64, earlier: u64) -> Option<Common> {
    let at = common(nodes, moment);
    let node = nodes.get(at.node)?;
    // No deeper node has begun before the former moment, so none has before the latter.
    (earlier >= if at.carried { node.start } else { node.turn }).then_some(at)
}

/// The deepest node that has begun before a moment.
#[inline]
pub fn common(nodes: &[Node], moment: u64) -> Common {
    for (at, node) in nodes.iter().enumerate().rev() {
        if moment >= node.turn {
            return Common { node: at, carried: false };
        }
        if moment >= node.start {
            return Common { node: at, carried: true };
        }
    }
    Common { node: 0, carried: false }
}

/// Distances between accesses at two moments, and one now.
#[inline]
pub fn distances(node: &Node, carried: bool, first: u64, last: u64) -> (u64, u64) {
    distances_in(node, (node.former, node.iteration), carried, first, last)
}

/// The same in another iteration: when the one before began, and its number.
#[inline]
pub fn distances_in(node: &Node, (former, now): (u64, u64), carried: bool, first: u64, last: u64) -> (u64, u64) {
    if !carried {
        return (0, 0);
    }
    if first >= former {
        // The iteration before, as most.
        return (1, 1);
    }
    let least = now - node.iterations.at(last);
    (least, if first == last { least } else { now - node.iterations.at(first) })
}
