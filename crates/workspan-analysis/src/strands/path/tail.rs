//! A position with its path, and what a path is made of.

use super::key::{NONE, OWNED};

/// A position and the path to it.
#[derive(Clone, Copy, Debug)]
pub(in crate::strands) struct Tail {
    /// Absolute span.
    pub(in crate::strands) span: i64,
    /// The path accounts up to here; the rest was spent in `key`.
    pub(in crate::strands) since: i64,
    /// Where.
    pub(in crate::strands) key: u32,
    /// The path, and [`OWNED`].
    pub(in crate::strands) path: u32,
    /// What the rest has [besides](super::super::Charge::secondary) its span.
    pub(in crate::strands) secondary: i64,
}

impl Tail {
    /// Before everything: no maximum.
    pub(in crate::strands) const NEVER: Tail =
        Tail { span: i64::MIN, since: i64::MIN, key: 0, path: NONE, secondary: 0 };

    /// A position without a past.
    pub(in crate::strands) fn at(span: i64, key: u32) -> Tail {
        Tail { span, since: span, key, path: NONE, secondary: 0 }
    }

    /// The same, without a hold.
    pub(in crate::strands) fn borrowed(self) -> Tail {
        Tail { path: self.path & !OWNED, ..self }
    }
}

/// What a path spent in one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::strands) struct Stretch {
    pub(in crate::strands) key: u32,
    pub(in crate::strands) span: i64,
    /// What it has beside that: how many strands, unless the analysis counts something else.
    pub(in crate::strands) secondary: i64,
    /// Of instances: their work.
    pub(in crate::strands) work: i64,
}

/// A key's part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnPath {
    pub(crate) key: u32,
    pub(crate) span: i64,
    /// What it has [besides](super::super::Charge::secondary) that.
    pub(crate) secondary: i64,
    /// Of calls: their work.
    pub(crate) work: i64,
}
