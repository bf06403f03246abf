//! Strips: segments that follow one another in one call and one iteration, as one piece.
//!
//! **Argument:** within a strip no call, loop or iteration begins or ends. In a shape that has been seen, its segments do to locals what they
//! did then, so what all of them do is known in advance: which moments change, which dependences are counted, on which lines
//! which models wait for which children. What is left is one look at the shadow for each access to memory. A strip can be cut anywhere: two
//! pieces of it are strips, too.

use std::collections::HashMap;

use workspan_graph::events::slot;
use workspan_trace::program::Access as Mode;

use super::expected::{Expected, Met};
use super::step::Far;
use crate::models::{Child, Program};
use crate::shadow::Site;

/// Where the address of an access is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    /// At a byte of the strip, and so far from what is there.
    Byte(usize, i64),
    /// Always the same.
    Fixed(u64),
}

impl Where {
    /// The address in a strip of these bytes.
    #[inline]
    pub(super) fn of(self, bytes: &[u8]) -> u64 {
        match self {
            Where::Byte(at, offset) => match bytes.get(at..).and_then(<[u8]>::first_chunk) {
                Some(word) => (u64::from_le_bytes(*word) << 16 >> 16).wrapping_add_signed(offset),
                None => slot(&bytes[at..], 0).wrapping_add_signed(offset),
            },
            Where::Fixed(address) => address,
        }
    }
}

/// How many bytes an access has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Size {
    /// A power of two, up to 8: its logarithm. Nothing else is particular about the access.
    Plain(u32),
    /// Any other number.
    Fixed(u64),
    /// In a slot, at a byte of the strip.
    Byte(usize),
}

/// An access of a strip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) address: Where,
    pub(super) size: Size,
    pub(super) mode: Mode,
    pub(super) flags: u32,
    pub(super) site: Site,
    /// Its line, from 1.
    pub(super) line: u32,
}

/// Moments that lie in the same node, and in the same call of it or in none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Together {
    /// None is known.
    #[default]
    None,
    /// From one to another, as long as this frame is not called again below.
    Between(u64, u64, usize),
    /// From one on, in earlier iterations of this node: its place and its own number. If they lie in calls: the frame, and where its last span
    /// begins.
    Before(u64, (usize, u64), Option<(usize, u64)>),
}

/// What is remembered of the accesses of a site.
#[derive(Clone, Debug)]
pub(super) struct Habit {
    pub(super) site: Site,
    pub(super) mode: Mode,
    /// The page of the last access, as [`Shadow::whole`](crate::shadow::Shadow::whole) knows it.
    pub(super) page: (u64, u32),
    /// What it is expected to find.
    pub(super) expected: Vec<Expected>,
    /// How often in a row it has found anything else.
    pub(super) unexpected: u8,
    /// Which of that it has found last.
    pub(super) met: Met,
    /// Reads of the site that belong together, as they were found last.
    pub(super) together: [Together; 2],
    /// How often in a row its cells did not become runs.
    pub(super) apart: u8,
}

impl Habit {
    /// Nothing yet.
    pub(super) fn new(site: Site, mode: Mode) -> Habit {
        Habit {
            site,
            mode,
            page: (0, 0),
            expected: Vec::new(),
            unexpected: 0,
            met: Met::OTHER,
            together: [Together::None; 2],
            apart: 0,
        }
    }
}

impl Operation {
    #[inline]
    pub(super) fn is_write(&self) -> bool {
        self.mode != Mode::Load
    }
}
/// What a strip does.
#[derive(Debug, Default)]
pub(super) struct Strip {
    pub(super) operations: Vec<Operation>,
    /// Lines that it has.
    pub(super) lines: u32,
    pub(super) cost: u64,
    /// Cost of the last one.
    pub(super) last: u32,
    /// Its number in the journal.
    pub(super) sequence: u32,
    /// Loops whose bodies begin in it, but for its first segment.
    pub(super) bodies: Vec<u32>,
    /// The loop that it lies in, + 1, and whether its header is at the beginning, and its body within.
    pub(super) in_loop: u32,
    pub(super) is_header: bool,
    pub(super) has_body: bool,
    /// Ids, and where they are; bytes.
    pub(super) ids: Vec<(usize, u32)>,
    pub(super) bytes: usize,
    /// Where its addresses are.
    pub(super) places: Vec<usize>,
    /// Shape before and afterwards.
    pub(super) from: u32,
    pub(super) to: u32,
    /// Its accesses are plain.
    pub(super) is_plain: bool,
    /// Where it runs again and again: how many of the last times decide moments of locals.
    pub(super) depth: u64,
    /// Moments that become others of before, and slots from one to another that become the strip's. No more than its iteration is ever
    /// asked of them.
    pub(super) copies: Vec<(u32, u32)>,
    pub(super) nows: Vec<(u32, u32)>,
    /// Slots that there must be.
    pub(super) slots: usize,
    pub(super) far: Vec<Far>,
    pub(super) exposed: Vec<Site>,
    /// Steps that it is made of, and how often it ran.
    pub(super) steps: Vec<usize>,
    pub(super) times: u64,
    /// The place whose call the next line follows.
    pub(super) follows: u32,
    /// What it is for models: the place among all effects.
    pub(super) effect: usize,
}

/// What strips are for models: those of the same segments that wait for the same.
#[derive(Debug, Default)]
pub(super) struct Effect {
    /// What models do, and the epoch of the waits that it knows.
    pub(super) program: Program,
    pub(super) epoch: u64,
    pub(super) key: EffectKey,
}

/// What makes an effect one of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct EffectKey {
    /// Segments, and how many lines come before each.
    pub(super) segments: Vec<(u32, u32)>,
    /// What models wait for, whatever else is known: place of the model, line, child.
    pub(super) waits: Vec<(usize, u32, Child)>,
    /// What tasks need: place of the model, level, child.
    pub(super) needs: Vec<(u32, u32, Child)>,
}

impl Strip {
    /// True if these bytes begin with it.
    #[inline]
    pub(super) fn comes(&self, bytes: &[u8]) -> bool {
        bytes.get(..self.bytes).is_some_and(|bytes| {
            self.ids.iter().all(|(at, id)| {
                let found = bytes.get(*at..).and_then(<[u8]>::first_chunk);
                found.is_some_and(|found| u32::from_le_bytes(*found) == *id)
            })
        })
    }
}

/// Where strips begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub(super) id: u32,
    pub(super) follows: u32,
    pub(super) node: u32,
}

/// Segments so far.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    /// All but the last one; itself: none.
    pub(super) parent: u32,
    pub(super) id: u32,
    /// Its step; nothing: it touches no locals.
    pub(super) step: Option<usize>,
    /// The shape after it.
    pub(super) to: u32,
    /// What may come next.
    pub(super) next: Vec<(u32, u32)>,
    /// Nothing may.
    pub(super) is_end: bool,
    /// Successors that were not known.
    pub(super) missed: u32,
    /// What it does, + 1; 0: not known.
    pub(super) strip: u32,
}

/// All strips of a thread.
#[derive(Debug, Default)]
pub(super) struct Strips {
    pub(super) prefixes: Vec<Prefix>,
    pub(super) all: Vec<Option<Box<Strip>>>,
    /// Effects, each once.
    pub(super) effects: Vec<Effect>,
    pub(super) effect_of: HashMap<EffectKey, usize>,
    /// By site.
    pub(super) habits: Vec<Habit>,
    /// Room for moments that are copied.
    pub(super) moved: Vec<u64>,
}
