//! What a running strand has behind it: how long the chain to it is, and how much was done.

use super::path::{Paths, Tail};

/// Where a chain of strands ends, and where it would if all iterations of a loop took the same and locks were free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) tail: Tail,
    pub(super) uniform: i64,
}

impl Position {
    /// Before everything: no maximum.
    pub(super) const NEVER: Position = Position { tail: Tail::NEVER, uniform: i64::MIN };

    /// The same, without a hold of its path.
    #[inline(always)]
    pub(super) fn borrowed(self) -> Position {
        Position { tail: self.tail.borrowed(), ..self }
    }

    /// It takes so much longer to get here; along which path is not known.
    #[inline(always)]
    pub(super) fn delay(&mut self, by: i64) {
        self.tail.span = self.tail.span.saturating_add(by);
        self.uniform = self.uniform.saturating_add(by);
    }

    /// The later of the two; if that is `other`, with a hold of its own.
    #[inline(always)]
    pub(super) fn raise(&mut self, paths: &mut Paths, other: &Position) {
        paths.raise(&mut self.tail, &other.tail);
        self.uniform = self.uniform.max(other.uniform);
    }

    /// The later of the two; `other` is used up.
    #[inline(always)]
    pub(super) fn join(&mut self, paths: &mut Paths, other: Position) {
        paths.join(&mut self.tail, other.tail);
        self.uniform = self.uniform.max(other.uniform);
    }
}

/// Work so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// All of it.
    pub(super) done: i64,
    /// Of it, what instances around do not wait for.
    pub(super) unjoined: i64,
}

impl Work {
    /// Since then.
    #[inline(always)]
    pub(super) fn all_since(self, begin: Work) -> i64 {
        self.done.saturating_sub(begin.done)
    }

    /// Since then, but for what is not waited for.
    #[inline(always)]
    pub(super) fn since(self, begin: Work) -> i64 {
        self.all_since(begin).saturating_sub(self.unjoined.saturating_sub(begin.unjoined))
    }
}

/// Threads that ran strands.
#[derive(Debug)]
pub(super) struct Threads {
    /// A bit for each.
    seen: Vec<u64>,
    last: u32,
}

impl Threads {
    pub(super) fn new() -> Threads {
        Threads { seen: vec![0; 1024], last: u32::MAX }
    }

    #[inline(always)]
    pub(super) fn see(&mut self, thread: u16) {
        if u32::from(thread) != self.last {
            self.last = u32::from(thread);
            self.seen[usize::from(thread >> 6)] |= 1 << (thread & 63);
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.seen.iter().map(|word| word.count_ones()).sum()
    }
}
