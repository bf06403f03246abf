//! A depth in every model, and where its path leads: one number for each lane.
//!
//! A lane with a path ([`f64`]) is 64 bits: the depth in the upper half, the last [`crate::path`] node of its longest path in
//! the lower. One without ([`f32`]) is the depth alone. Larger depths make larger numbers, so that the maximum carries its
//! path along. They are kept as floating-point numbers, for which processors without extensions have a maximum of several
//! lanes at a time: the order of positive ones is that of their bits. Depths begin beyond the subnormal numbers.
//!
//! **Bound**: depths up to [`DEEPEST`]; beyond, the numbers would no longer be finite.

/// The largest depth of all lanes.
pub const DEEPEST: u64 = 0x7ff0_0000 - (2 << 20);

/// A depth, and perhaps a node of a path.
pub trait Lane: Copy + PartialEq + PartialOrd + std::fmt::Debug + Send + 'static {
    /// Before everything.
    const START: Self;
    /// A mask that keeps a lane.
    const KEEP: Self;
    /// A mask that drops a lane: what is left is less deep than everything.
    const DROP: Self;

    /// This number of cycles deeper.
    #[must_use]
    fn deeper(self, cycles: u32) -> Self;
    /// The depth.
    fn depth(self) -> u64;
    /// A lane of this depth, without a path.
    fn at(depth: u64) -> Self;
    /// The last node of its path; 0 is none.
    fn node(self) -> u32;
    /// The same depth with another node.
    #[must_use]
    fn with_node(self, node: u32) -> Self;
    /// The lane, or less than everything, by a mask.
    #[must_use]
    fn masked(self, mask: Self) -> Self;
    /// This lane where a mask keeps, the other where it drops.
    #[must_use]
    fn chosen(self, other: Self, mask: Self) -> Self;
    /// True if both have the same depth and path.
    fn is(self, other: Self) -> bool;
    /// Whether it has a path.
    const PATH: bool;
    /// Its bits: those of the depth, and the node of its path; see [`Lane::joined`].
    fn parts(self) -> (u32, u32);
    /// The lane of these bits.
    fn joined(depth: u32, node: u32) -> Self;
}

/// What stands for depth 0 in the upper half of 64 bits.
const ZERO_64: u64 = 1 << 20;
/// The same in 32 bits.
const ZERO_32: u32 = 1 << 23;

impl Lane for f64 {
    const START: f64 = f64::from_bits(ZERO_64 << 32);
    const KEEP: f64 = f64::from_bits(u64::MAX);
    const DROP: f64 = 0.0;

    #[inline(always)]
    fn deeper(self, cycles: u32) -> f64 {
        f64::from_bits(self.to_bits().wrapping_add(u64::from(cycles) << 32))
    }

    #[inline(always)]
    fn depth(self) -> u64 {
        (self.to_bits() >> 32).saturating_sub(ZERO_64)
    }

    fn at(depth: u64) -> f64 {
        f64::from_bits((depth + ZERO_64) << 32)
    }

    fn node(self) -> u32 {
        (self.to_bits() & 0xffff_ffff) as u32
    }

    fn with_node(self, node: u32) -> f64 {
        f64::from_bits(self.to_bits() & !0xffff_ffff | u64::from(node))
    }

    #[inline(always)]
    fn masked(self, mask: f64) -> f64 {
        f64::from_bits(self.to_bits() & mask.to_bits())
    }

    #[inline(always)]
    fn chosen(self, other: f64, mask: f64) -> f64 {
        f64::from_bits(self.to_bits() & mask.to_bits() | other.to_bits() & !mask.to_bits())
    }

    fn is(self, other: f64) -> bool {
        self.to_bits() == other.to_bits()
    }

    const PATH: bool = true;

    fn parts(self) -> (u32, u32) {
        ((self.to_bits() >> 32) as u32, self.to_bits() as u32)
    }

    fn joined(depth: u32, node: u32) -> f64 {
        f64::from_bits(u64::from(depth) << 32 | u64::from(node))
    }
}

impl Lane for f32 {
    const START: f32 = f32::from_bits(ZERO_32);
    const KEEP: f32 = f32::from_bits(u32::MAX);
    const DROP: f32 = 0.0;

    #[inline(always)]
    fn deeper(self, cycles: u32) -> f32 {
        f32::from_bits(self.to_bits().wrapping_add(cycles))
    }

    #[inline(always)]
    fn depth(self) -> u64 {
        u64::from(self.to_bits().saturating_sub(ZERO_32))
    }

    #[inline(always)]
    fn at(depth: u64) -> f32 {
        f32::from_bits((depth as u32).wrapping_add(ZERO_32))
    }

    fn node(self) -> u32 {
        0
    }

    fn with_node(self, _: u32) -> f32 {
        self
    }

    #[inline(always)]
    fn masked(self, mask: f32) -> f32 {
        f32::from_bits(self.to_bits() & mask.to_bits())
    }

    #[inline(always)]
    fn chosen(self, other: f32, mask: f32) -> f32 {
        f32::from_bits(self.to_bits() & mask.to_bits() | other.to_bits() & !mask.to_bits())
    }

    fn is(self, other: f32) -> bool {
        self.to_bits() == other.to_bits()
    }

    const PATH: bool = false;

    fn parts(self) -> (u32, u32) {
        (self.to_bits(), 0)
    }

    fn joined(depth: u32, _: u32) -> f32 {
        f32::from_bits(depth)
    }
}

/// A depth for each model.
pub type Row<L, const N: usize> = [L; N];

/// The deeper of both.
#[inline(always)]
pub fn deeper<L: Lane>(a: L, b: L) -> L {
    if a > b {
        a
    } else {
        b
    }
}

/// The deeper of each lane.
#[inline(always)]
pub fn raise<L: Lane, const N: usize>(row: &mut Row<L, N>, other: &Row<L, N>) {
    for (lane, other) in row.iter_mut().zip(other) {
        *lane = deeper(*lane, *other);
    }
}

/// The deeper of each lane that a mask keeps.
#[inline(always)]
pub fn raise_masked<L: Lane, const N: usize>(row: &mut Row<L, N>, other: &Row<L, N>, mask: &Row<L, N>) {
    for ((lane, other), mask) in row.iter_mut().zip(other).zip(mask) {
        *lane = deeper(*lane, other.masked(*mask));
    }
}

/// One step deeper.
#[inline(always)]
pub fn next<L: Lane, const N: usize>(row: &Row<L, N>) -> Row<L, N> {
    row.map(|lane| lane.deeper(1))
}

/// A mask that keeps lanes.
pub fn mask<L: Lane, const N: usize>(keep: impl Fn(usize) -> bool) -> Row<L, N> {
    std::array::from_fn(|lane| if keep(lane) { L::KEEP } else { L::DROP })
}
