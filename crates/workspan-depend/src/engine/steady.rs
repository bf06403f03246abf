//! Iterations that do to local variables what the iteration before did.
//!
//! **Argument:** locals without an address are known from the segments alone. If an iteration of an innermost loop runs the same segments
//! as its two predecessors, finds the same dependences (at the same distances, or each further by one), and leaves each moment
//! in the history of its locals where it was or later by its own duration, then the next iteration on these segments does the
//! same: what it compares are moments that have moved together, or moments that stay behind. So it is only counted. As soon
//! as another segment comes, the history of locals is moved by all that was counted, and what the last iteration has done so far is done.
//!
//! **Cost:** a comparison for each segment; nothing for a local. What task models wait for is repeated line by line.

use workspan_trace::program::flag;

use super::plan::Batch;
use crate::models::Child;
use crate::shadow::Site;
use crate::table::Kind;
use crate::tree::Common;

/// Iterations of one execution that are compared in vain, at most.
pub(super) const ATTEMPTS: u32 = 6;

/// No access to memory.
pub(super) const LOCAL: u32 = u32::MAX;

/// Segments that no counted iteration has.
pub(super) const OTHER: u32 = flag::CALL | flag::RETURN | flag::ENTRY | flag::FRAME;

/// What one access of an iteration found in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Find {
    /// Which access of the iteration.
    pub(super) access: u32,
    pub(super) kind: Kind,
    pub(super) source: Site,
    /// When the earlier access was.
    pub(super) moment: u64,
    pub(super) at: Common,
    pub(super) record: u32,
}

/// A dependence between locals that an iteration found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) record: u32,
    pub(super) distances: (u64, u64),
}

/// What a task model waits for on a line of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) line: u32,
    /// The access that waits; [`LOCAL`]: a local.
    pub(super) access: u32,
    pub(super) model: u8,
    pub(super) level: u32,
    pub(super) child: Child,
}

/// One iteration, as it was recorded.
#[derive(Debug, Default)]
pub(super) struct Iteration {
    pub(super) effects: Vec<Effect>,
    pub(super) waits: Vec<Wait>,
    /// What accesses to memory wait for.
    pub(super) awaited: Vec<Wait>,
    pub(super) finds: Vec<Find>,
    /// What segments did to locals, where that was known.
    pub(super) steps: Vec<usize>,
    /// History of the locals: who, in which order.
    pub(super) shape: Vec<u32>,
    /// History of the locals: when.
    pub(super) moments: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Segments are compared.
    #[default]
    Watching,
    /// What the iteration does is noted.
    Recording,
    /// Iterations are counted.
    Counting,
    /// What the last one did is done.
    Repeating,
}

/// What is known of the innermost loop.
#[derive(Debug, Default)]
pub(super) struct Steady {
    pub(super) state: State,
    /// The loop's node.
    pub(super) serial: u64,
    /// Segments of the last iteration.
    pub(super) path: Vec<u32>,
    /// Those of the current one so far.
    pub(super) current: Vec<u32>,
    /// How many of both touch locals.
    pub(super) touching: (usize, usize),
    /// The current one is no candidate.
    pub(super) other: bool,
    /// Iterations on the same path before the current one.
    pub(super) same: u32,
    pub(super) attempts: u32,
    /// Lines of the current iteration so far.
    pub(super) line: u32,
    pub(super) locals: Vec<u32>,
    pub(super) last: Iteration,
    pub(super) now: Iteration,
    /// Counting: segments of the current iteration so far, next wait, whole iterations.
    pub(super) at: usize,
    pub(super) next: usize,
    pub(super) count: u64,
    pub(super) duration: u64,
    /// Which moments move.
    pub(super) moves: Vec<bool>,
    is_touch: bool,
    /// Accesses of the current iteration so far.
    pub(super) access: u32,
    /// Accesses at the beginning of the next iteration that have been done already.
    pub(super) skip: u32,
    /// The path as one piece, if it can be.
    pub(super) batch: Option<Box<Batch>>,
}

impl Steady {
    /// True if locals need not be looked at.
    #[inline]
    pub(super) fn counts(&self) -> bool {
        self.state == State::Counting
    }

    /// A local is looked at from now on, or no more.
    #[inline]
    pub(super) fn looks_at(&mut self, local: Option<u32>) {
        self.is_touch = local.is_some();
        if let (State::Recording, Some(local)) = (self.state, local) {
            self.touched(local);
        }
    }

    /// A local was looked at.
    #[inline]
    pub(super) fn touched(&mut self, local: u32) {
        if !self.locals.contains(&local) {
            self.locals.push(local);
        }
    }

    /// A model waits because of a local.
    pub(super) fn waits_again(&mut self, model: usize, level: usize, child: Child) {
        self.is_touch = true;
        self.waits(model, level, child);
        self.is_touch = false;
    }

    /// What the iteration does is noted.
    #[inline]
    pub(super) fn is_recording(&self) -> bool {
        self.state == State::Recording
    }

    /// A local is looked at.
    #[inline]
    pub(super) fn is_touch(&self) -> bool {
        self.is_touch
    }

    /// A dependence was counted.
    #[inline]
    pub(super) fn found(&mut self, record: u32, distances: (u64, u64), find: impl FnOnce() -> Find) {
        if self.state == State::Recording {
            if self.is_touch {
                self.now.effects.push(Effect { record, distances });
            } else {
                self.now.finds.push(Find { access: self.access, ..find() });
            }
        }
    }

    /// What models wait for has been done already.
    #[inline]
    pub(super) fn has_waited(&self) -> bool {
        self.state == State::Repeating
    }

    /// A model waits.
    #[inline]
    pub(super) fn waits(&mut self, model: usize, level: usize, child: Child) {
        if self.state == State::Recording {
            let (model, level) = (u8::try_from(model).unwrap_or(u8::MAX), crate::source::small(level));
            let access = if self.is_touch { LOCAL } else { self.access };
            let to = if self.is_touch { &mut self.now.waits } else { &mut self.now.awaited };
            to.push(Wait { line: self.line, access, model, level, child });
        }
    }

    /// An iteration that is counted has ended.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.state == State::Counting && self.at == self.path.len()
    }

    pub(super) fn restart(&mut self, serial: u64) {
        self.state = State::Watching;
        (self.serial, self.other, self.same, self.attempts) = (serial, false, 0, 0);
        self.skip = 0;
        self.batch = None;
        self.current.clear();
        self.path.clear();
        self.touching = (0, 0);
    }
}
