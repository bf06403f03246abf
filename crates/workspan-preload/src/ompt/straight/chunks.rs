//! Loops with a chunk size: the member with number *m* begins at *m* chunks, and passes by the loop if there are no more iterations.
//!
//! So the code is followed twice, as the first member and as the second would run it: where both compare something with one and the same number,
//! the first one 0, that is the number of iterations, and what the second one compares is the size of a chunk.

use super::machine::Step;
use super::operands::{Machine, Registers};
use super::STEPS;

/// A loop whose iterations are dealt out by chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Dealt {
    pub(in super::super) iterations: u64,
    pub(in super::super) chunk: u64,
    /// Just before this they are compared.
    pub(in super::super) guard: u64,
}

/// The loop that begins in the code at `code`; none if none does. `registers`: those of the member with this number.
///
/// # Safety
///
/// The calling thread is about to run that code with these registers, but for its number.
pub(in super::super) unsafe fn chunks(code: u64, registers: impl Fn(u64) -> Registers) -> Option<Dealt> {
    let [mut first, mut second] = [0, 1].map(|number| Machine::at(code, registers(number)));
    for _ in 0..STEPS {
        let steps = (first.step()?, second.step()?);
        if first.at != second.at {
            return None;
        }
        match steps {
            (Step::On, Step::On) => {}
            (Step::Comparison, Step::Comparison) => {
                let (Some(of_first), Some(of_second)) = (first.compared(), second.compared()) else { continue };
                if let Some(found) = dealt(of_first, of_second) {
                    let iterations = found.bound + u64::from(first.passes_at_equal(found.begins_left));
                    return Some(Dealt { iterations, chunk: found.chunk, guard: first.at });
                }
            }
            _ => return None,
        }
    }
    None
}

/// What members compare.
struct Compared {
    bound: u64,
    chunk: u64,
    /// Where the member begins is the left side.
    begins_left: bool,
}

/// Bound and chunk, if that is what the two compare.
fn dealt(first: (u64, u64), second: (u64, u64)) -> Option<Compared> {
    const MOST: u64 = u32::MAX as u64;
    let of = |bounds: (u64, u64), begins: (u64, u64), begins_left| {
        let same = bounds.0 == bounds.1 && (1..=MOST).contains(&bounds.0);
        let is_chunk = begins.0 == 0 && (1..=MOST).contains(&begins.1);
        (same && is_chunk).then_some(Compared { bound: bounds.0, chunk: begins.1, begins_left })
    };
    of((first.0, second.0), (first.1, second.1), false).or_else(|| of((first.1, second.1), (first.0, second.0), true))
}
