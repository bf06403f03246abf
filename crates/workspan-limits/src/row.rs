//! A depth in every model, and where its path leads: one number for each lane.
//!
//! A lane is 64 bits: the depth in the upper half, the last [`crate::path`] node of its longest path in the lower. Larger
//! depths make larger numbers, so that the maximum carries its path along. They are kept as floating-point numbers, for
//! which processors without extensions have a maximum of two lanes at a time: the order of positive ones is that of their
//! bits. Depths begin at [`ZERO`], which keeps them out of the range of subnormal numbers.
//!
//! **Bound**: depths up to [`DEEPEST`]; beyond, the numbers would no longer be finite.

/// What stands for depth 0.
const ZERO: u64 = 1 << 20;
/// One step deeper.
const STEP: u64 = 1 << 32;

/// The largest depth.
pub const DEEPEST: u64 = 0x7ff0_0000 - 2 * ZERO;

/// A depth for each model.
pub type Row<const N: usize> = [f64; N];

/// Before everything.
pub const START: f64 = f64::from_bits(ZERO << 32);

/// The depth of a lane.
pub fn depth(lane: f64) -> u64 {
    (lane.to_bits() >> 32).saturating_sub(ZERO)
}

/// The node of a lane; 0 is none.
pub fn node(lane: f64) -> u32 {
    (lane.to_bits() & 0xffff_ffff) as u32
}

/// The same depth with another node.
pub fn with_node(lane: f64, node: u32) -> f64 {
    f64::from_bits(lane.to_bits() & !0xffff_ffff | u64::from(node))
}

/// The deeper of each lane.
#[inline(always)]
pub fn raise<const N: usize>(row: &mut Row<N>, other: &Row<N>) {
    for (lane, other) in row.iter_mut().zip(other) {
        *lane = if *lane > *other { *lane } else { *other };
    }
}

/// One step deeper.
#[inline(always)]
pub fn next<const N: usize>(row: &Row<N>) -> Row<N> {
    row.map(|lane| f64::from_bits(lane.to_bits().wrapping_add(STEP)))
}
