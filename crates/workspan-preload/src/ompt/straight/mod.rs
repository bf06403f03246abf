//! A few instructions of x86-64, followed without running them: does a static loop begin there, and of how many iterations?
//!
//! gcc puts the header of such a loop into the program. It divides the number of iterations by the size of the team, computes
//! where the member's part begins and ends, and passes by the loop if that is the same. So what is divided by the size of the
//! team is the number of iterations of a loop; and where a loop is met again whose header was computed before, that shows in
//! the comparison of the two bounds.
//!
//! **Invariant:** memory is read only where the program reads it itself a few instructions later: a branch is followed only
//! if what it depends on is known, no call is, and what is stored on the way is kept aside. Whatever is not known stays
//! unknown, and any other instruction ends it.
//! **Cost:** at most [`STEPS`] instructions, some ten nanoseconds each.

mod chunks;
mod machine;
mod operands;
#[cfg(test)]
mod tests;

pub(super) use chunks::chunks;
use core::ops::Range;
use machine::Step;
use operands::Machine;
pub(super) use operands::Registers;

/// Most instructions that are followed.
const STEPS: usize = 64;

/// Loops of which a member knows the iterations: 0 for none.
pub(super) type Known = [u32; 3];

/// Who is about to run the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Size of the team.
    pub(super) of: u64,
    /// Its number, if that is known.
    pub(super) number: Option<u64>,
}

impl Member {
    /// Where its part of that number of iterations begins and ends, the first ones having one more.
    fn part(self, iterations: u64) -> Option<(u64, u64)> {
        let number = self.number?;
        let (each, more) = (iterations / self.of, iterations % self.of);
        let (each, before) = if number < more { (each + 1, 0) } else { (each, more) };
        let begin = each * number + before;
        Some((begin, begin + each))
    }
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// 0 if it has none.
    pub(super) iterations: u64,
    /// Just before this, the bounds of the member's part are compared: the same place however the program comes there. None: that has
    /// not been found.
    pub(super) guard: Option<u64>,
    /// Just before this, on the way, its iterations are divided.
    pub(super) division: Option<u64>,
}

/// True if the code at `code` leads to one of these addresses.
///
/// # Safety
///
/// As of [`iterations`].
pub(super) unsafe fn comes_into(code: u64, registers: Registers, addresses: Range<u64>) -> bool {
    let mut machine = Machine::at(code, registers);
    for _ in 0..STEPS {
        match machine.step() {
            Some(Step::On | Step::Comparison) if addresses.contains(&machine.at) => return true,
            Some(Step::On | Step::Comparison) => {}
            Some(Step::Division(_)) | None => break,
        }
    }
    false
}

/// The loop that begins in the code at `code`; none if none does. What is found on the way is added to `known`.
///
/// # Safety
///
/// The calling thread is about to run that code with these registers.
pub(super) unsafe fn iterations(code: u64, registers: Registers, member: Member, known: &mut Known) -> Option<Found> {
    let mut machine = Machine::at(code, registers);
    let mut first = None;
    let mut last = None;
    for _ in 0..STEPS {
        match machine.step() {
            None => break,
            Some(Step::On) => {}
            Some(Step::Division(by)) if by != Some(member.of) => break,
            Some(Step::Division(_)) => {
                let divided = machine.divided();
                first = first.or(divided);
                last = divided.map(|divided| (divided, machine.at));
                let short = divided.and_then(|divided| u32::try_from(divided).ok());
                if let Some(divided) = short.filter(|divided| *divided > 0 && !known.contains(divided)) {
                    known.rotate_right(1);
                    known[0] = divided;
                }
                if machine.divide(member.of).is_none() {
                    break;
                }
            }
            Some(Step::Comparison) => {
                let Some((left, right)) = machine.compared() else { continue };
                let bounds = |iterations: &u64| {
                    let part = member.part(*iterations);
                    *iterations > 0 && (part == Some((left, right)) || part == Some((right, left)))
                };
                if let Some(iterations) = known.iter().map(|known| u64::from(*known)).find(bounds) {
                    let division = last.filter(|(divided, _)| *divided == iterations).map(|(_, at)| at);
                    return Some(Found { iterations, guard: Some(machine.at), division });
                }
            }
        }
    }
    first.map(|iterations| Found { iterations, guard: None, division: None })
}
