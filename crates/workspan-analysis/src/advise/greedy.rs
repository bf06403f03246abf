//! Which regions to parallelise (TaskProf 4.3, Alg. 12).
//!
//! In each step the region with the largest share of the current critical path becomes `factor` times faster, in all
//! contexts; a region that is chosen again becomes `factor` times faster than it was by then. A region is eligible as long as
//! its strands on the critical path are on average at least `factor × threshold × cost of a creation` long: divided once more
//! they would else be too short to be tasks. Where no region is that is worth a step, half the factor is tried, and so on: the least is
//! more than 1.
//!
//! **Differs:** TaskProf looks for the single strand with the largest cost. Where a region is one strand it is the same;
//! where it is many, what they have together says what there is to gain, and their mean whether it is worth a task.

use std::collections::BTreeMap;

use workspan_model::{ContextTree, Nanos, Ratio, Recording};

use super::finding::{Goal, Kind, Left};
use crate::laws;
use crate::profile::Program;
use crate::strands::{self, Place, Region, RegionProfile, RegionRow, Rows};
use crate::what_if::machine;

/// A step towards the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The region that becomes faster.
    pub place: Place,
    /// By what factor, this step included.
    pub factor: f64,
    /// What it had of the critical path before this step.
    pub critical: Nanos,
    /// Its strands there.
    pub strands: u64,
    /// Span after this step.
    pub span: Nanos,
    /// Parallelism after this step.
    pub parallelism: Option<Ratio>,
}

/// How the steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The parallelism is there already.
    AlreadyEnough,
    /// It would be reached.
    Reached,
    /// It cannot be reached: whatever is left on the critical path is too short to be divided, task overhead would dominate.
    Overhead,
    /// It cannot be reached: the same where tasks have no cost that is known.
    TooShort,
    /// It cannot be reached: on the critical path strands mostly wait for something else.
    Waiting,
    /// It cannot be reached: what is left of the critical path are many segments, none of which is worth a step
    /// ([`WORTH_A_STEP`]).
    Scattered,
    /// There were too many steps ([`MOST_STEPS`]).
    GaveUp,
    /// There is nothing to judge.
    NoData,
}

/// Steps that are tried.
pub const MOST_STEPS: usize = 64;

/// A segment is worth a step if it has at least this part of the critical path that the target allows: less would gain less
/// than noise.
pub const WORTH_A_STEP: f64 = 0.02;

/// Cost of creating tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Creation {
    /// Mean, in nanoseconds.
    nanos: f64,
    known: bool,
}

impl Creation {
    pub(super) fn of(program: &Program) -> Creation {
        #[expect(clippy::cast_precision_loss, reason = "a count, for a mean")]
        let tasks = program.tasks as f64;
        let known = program.tasks > 0 && program.overhead > Nanos::ZERO;
        Creation { nanos: if known { program.overhead.as_f64() / tasks } else { 0.0 }, known }
    }

    /// Mean in nanoseconds; nothing where it is not known.
    pub(super) fn nanos(self) -> f64 {
        self.nanos
    }

    pub(super) fn mean(self) -> Option<Nanos> {
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        self.known.then_some(Nanos(self.nanos.round() as i64))
    }
}

/// What places have of a critical path, in time and strands.
pub(super) type Path = BTreeMap<Place, (Nanos, u64)>;

/// Steps and how they ended.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) steps: Vec<Step>,
    pub(super) outcome: Outcome,
    /// Of the critical path as recorded.
    pub(super) first: Path,
    /// If the target is out of reach: what has most of the critical path that is left.
    pub(super) left: Option<Left>,
}

pub(super) fn greedy<R: Rows + ?Sized>(
    recording: &Recording,
    rows: &R,
    goal: &Goal,
    creation: Creation,
    on_one: Nanos,
    even: &[f64],
) -> Result<Way, R::Error> {
    let mut factors: BTreeMap<Place, f64> = BTreeMap::new();
    let mut way = Way { steps: Vec::new(), outcome: Outcome::NoData, first: BTreeMap::new(), left: None };
    // A strand below a nanosecond is divided no further, whatever a task costs.
    let shortest = (goal.threshold * creation.nanos).max(1.0);
    let least = WORTH_A_STEP * on_one.as_f64() / goal.target;
    loop {
        let profile = divided(recording, rows, &factors, even)?;
        let parallelism = laws::parallelism(on_one, profile.span);
        if let Some(step) = way.steps.last_mut() {
            (step.span, step.parallelism) = (profile.span, parallelism);
        }
        let path = by_place(&recording.contexts, &profile.regions);
        if way.steps.is_empty() {
            way.first.clone_from(&path);
        }
        let Some(reached) = parallelism else {
            // A span of nothing: as parallel as can be, unless there is no work either.
            way.outcome = if way.steps.is_empty() { Outcome::NoData } else { Outcome::Reached };
            return Ok(way);
        };
        if reached.0 >= goal.target {
            way.outcome = if way.steps.is_empty() { Outcome::AlreadyEnough } else { Outcome::Reached };
            return Ok(way);
        }
        let heaviest = to_divide(&path, goal.factor, shortest, least);
        let worth = heaviest.filter(|(_, (critical, _), _)| critical.as_f64() >= least);
        let Some((place, (critical, strands), divided_by)) = worth else {
            let blocked: Nanos = profile.regions.iter().map(|row| row.critical_blocked).sum();
            let waits = on_one.over(blocked).is_some_and(|most| most.0 < goal.target);
            way.outcome = match (waits, heaviest, creation.known) {
                (true, ..) => Outcome::Waiting,
                (_, Some(_), _) => Outcome::Scattered,
                (_, None, true) => Outcome::Overhead,
                (_, None, false) => Outcome::TooShort,
            };
            way.left = most_of(&path, profile.span);
            return Ok(way);
        };
        if way.steps.len() == MOST_STEPS {
            way.outcome = Outcome::GaveUp;
            return Ok(way);
        }
        let factor = factors.entry(place).or_insert(1.0);
        *factor *= divided_by;
        way.steps.push(Step { place, factor: *factor, critical, strands, span: profile.span, parallelism });
    }
}

/// What has most of a critical path of this length.
fn most_of(path: &Path, span: Nanos) -> Option<Left> {
    let heaviest = path.iter().max_by_key(|(place, (critical, _))| (*critical, std::cmp::Reverse(**place)));
    let (place, (critical, strands)) = heaviest.filter(|(_, (critical, _))| *critical > Nanos::ZERO)?;
    Some(Left {
        place: *place,
        share: critical.over(span),
        mean: Nanos(critical.0 / i64::try_from(*strands).ok()?.max(1)),
    })
}

/// The regions of the run, the cost of each divided by the factor of its place; `even`: by how much to multiply besides what is in
/// each context, none where that is nothing.
fn divided<R: Rows + ?Sized>(
    recording: &Recording,
    rows: &R,
    factors: &BTreeMap<Place, f64>,
    even: &[f64],
) -> Result<RegionProfile, R::Error> {
    let contexts = &recording.contexts;
    let of_even =
        |region: &Region| even.get(region.context.index()).filter(|even| **even > 0.0).map_or(1.0, |even| 1.0 / even);
    let factor = |region: &Region| factors.get(&Place::of(contexts, region)).copied().unwrap_or(1.0) * of_even(region);
    let finished = strands::run(rows, || vec![machine(recording, Box::new(factor))])?;
    Ok(finished.first().map(strands::Finished::region_profile).unwrap_or_default())
}

/// The place with most of a critical path whose strands can be divided, what it has of it, and by what: by `factor`, or by a half, a quarter
/// and so on of that where no place that is worth it ([`WORTH_A_STEP`]) has strands so long. The parts are no shorter than `shortest`.
fn to_divide(path: &Path, factor: f64, shortest: f64, least: f64) -> Option<(Place, (Nanos, u64), f64)> {
    let mut found = None;
    let factors = std::iter::successors(Some(factor), |factor| Some(factor / 2.0));
    for factor in factors.take_while(|factor| *factor > 1.0) {
        let long = path.iter().filter(|(_, (critical, strands))| mean(*critical, *strands) >= shortest * factor);
        let heaviest = long.max_by_key(|(place, (critical, _))| (*critical, std::cmp::Reverse(**place)));
        found = found.or(heaviest.map(|(place, part)| (*place, *part, factor)));
        if let Some((place, part)) = heaviest.filter(|(_, (critical, _))| critical.as_f64() >= least) {
            return Some((*place, *part, factor));
        }
    }
    found
}

fn by_place(contexts: &ContextTree, regions: &[RegionRow]) -> Path {
    let mut path = Path::new();
    for row in regions.iter().filter(|row| row.critical > Nanos::ZERO) {
        let part = path.entry(Place::of(contexts, &row.region)).or_default();
        part.0 += row.critical;
        part.1 += row.critical_strands;
    }
    path
}

#[expect(clippy::cast_precision_loss, reason = "a count, for a mean")]
fn mean(critical: Nanos, strands: u64) -> f64 {
    critical.as_f64() / strands.max(1) as f64
}

/// Regions that were chosen, in the order of their first steps.
pub(super) fn kinds(way: &Way) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for step in &way.steps {
        let known =
            kinds.iter_mut().find(|kind| matches!(kind, Kind::Parallelise { place, .. } if *place == step.place));
        if let Some(Kind::Parallelise { factor, .. }) = known {
            *factor = step.factor;
            continue;
        }
        let (critical, strands) = way.first.get(&step.place).copied().unwrap_or_default();
        kinds.push(Kind::Parallelise { place: step.place, factor: step.factor, critical, strands });
    }
    kinds
}
