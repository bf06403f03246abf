//! Two recordings of a program, node by node: what a strand cost in the base and what it costs in the new one (TaskProf
//! ch. 5, Alg. 13 and 14).
//!
//! All runs of both are read side by side; a strand is known by the key of what is around it and by its ordinal there, as
//! where [repeated runs are merged](crate::strands::merge). The critical path is that of the *new* runs, whichever path was
//! critical before: what its strands cost in the base is summed along it. So one pass gives both, where TaskProf looks for
//! the path's set of strands in the other tree.
//!
//! What only one side has is counted, with its cost and its site, and is in no inflation.
//!
//! **Cost:** linear in the rows of all runs. **Memory:** that of a replay, and of the rows that are looked at ahead where runs
//! differ; it does not grow with the runs.
//!
//! Definitions: `docs/methods/differential.md`.

mod charge;
mod result;
mod translate;
mod unite;

use std::ops::ControlFlow;

use workspan_model::Strand;

use crate::strands::merge::{align, Keep, Source};
use crate::strands::Machine;
use charge::ByDifference;
use result::Compared;
pub use result::{Cost, Differential, PlaceRow, SiteRow, Sums};
use translate::Translated;
pub use unite::{unite, United};

/// The runs of both sides, from their first rows on.
#[derive(Debug)]
pub struct Runs<S> {
    /// Of the base.
    pub base: Vec<S>,
    /// Of the new recording. The first of them says which strands there are.
    pub new: Vec<S>,
}

/// Compares all runs of two recordings, which `open` opens: a second time if it turns out that the ends of tasks are needed.
///
/// Of repeated runs each strand has the median of the runs that have it.
pub fn differential<S: Source>(
    united: &United,
    open: impl Fn() -> Result<Runs<S>, S::Error>,
) -> Result<Differential, S::Error> {
    let mut machine = Machine::new(&united.recording, ByDifference::new());
    let mut compared = compare(united, open()?, &mut machine)?;
    if machine.needs_ends() {
        machine = Machine::new(&united.recording, ByDifference::new()).keep_ends();
        compared = compare(united, open()?, &mut machine)?;
    }
    Ok(result::make(united, machine.finish(), compared))
}

fn compare<S: Source>(
    united: &United,
    runs: Runs<S>,
    machine: &mut Machine<ByDifference>,
) -> Result<Compared, S::Error> {
    let Runs { base, new } = runs;
    let base: Vec<_> = base.into_iter().map(|run| Translated::new(run, &united.base)).collect();
    let mut new = new.into_iter();
    let Some(first) = new.next() else {
        return Ok(Compared::default());
    };
    let first = Translated::new(first, &united.new);
    let new: Vec<_> = new.map(|run| Translated::new(run, &united.new)).collect();
    let mut matched = 0;
    let mut scratch = Vec::new();
    let mut same: Vec<Strand> = Vec::new();
    let aligned = align(first, vec![base, new], |row, others| {
        let [base, new] = others else {
            unreachable!("there are two groups");
        };
        matched += u64::from(!base.is_empty());
        let median =
            |costs: &[Strand], scratch: &mut Vec<i64>| Keep::Median.one(costs.iter().map(|row| row.cost.0), scratch);
        machine.charge_mut().base = (!base.is_empty()).then(|| median(base, &mut scratch));
        if new.is_empty() {
            machine.feed(&[*row]);
        } else {
            same.clear();
            same.push(*row);
            same.extend_from_slice(new);
            machine.feed(&[Keep::Median.of(&same, &mut scratch)]);
        }
        if machine.needs_ends() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(Compared { aligned, matched })
}
