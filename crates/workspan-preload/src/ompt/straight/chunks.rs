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
                if let Some((iterations, chunk)) = dealt(of_first, of_second) {
                    return Some(Dealt { iterations, chunk, guard: first.at });
                }
            }
            _ => return None,
        }
    }
    None
}

/// Iterations and chunk, if that is what the two compare.
fn dealt(first: (u64, u64), second: (u64, u64)) -> Option<(u64, u64)> {
    const MOST: u64 = u32::MAX as u64;
    let of = |iterations: (u64, u64), begins: (u64, u64)| {
        let same = iterations.0 == iterations.1 && (1..=MOST).contains(&iterations.0);
        (same && begins.0 == 0 && (1..=MOST).contains(&begins.1)).then_some((iterations.0, begins.1))
    };
    of((first.0, second.0), (first.1, second.1)).or_else(|| of((first.1, second.1), (first.0, second.0)))
}
