//! What a run would take on P processors, and who makes the others wait meanwhile.
//!
//! **From totals.** Regions at the top run one after the other, unless they are beside the path. With `W_r` for the work of a
//! region, of serial code, or of what is in none, `C_r` for what it adds to the critical path, `T` for the time on one
//! processor, and `B` for the time blocked (all in [`mod@crate::laws`]):
//!
//! ```text
//! T_P ≥ max(T / P, S, Σ C_r, or W_r / P if that is more and their span is wholly on the path)      no schedule is faster
//! T_P ≤ (W + B) / P + S · (1 − 1/P)                                         no greedy schedule is slower (Brent)
//! waiting = P · T_P − T,  charged to each r by max(0, P · C_r − W_r)
//! ```
//!
//! The first is taken as the time, so at least that much is lost. Where all regions are on the path, their charges are the
//! waiting exactly; otherwise they are scaled to it. Within a region it is charged to what is on the critical path there, by
//! shares: that is what the others wait for.
//!
//! Of loops whose chunks alone were seen, `C_r` and `S` are those of [even iterations](super::loops), and the second line is
//! reported for the chunks as they were, too: they may be all that there is.
//!
//! Of a run that a lock [bounds](crate::locks::bounded_by_locks), the path is the code under the lock.

use workspan_model::{ContextId, Nanos, Recording, Run, SiteId};

use crate::laws::{self, work_law};
use crate::profile::Profile;

use super::loops::{even_loops, EvenLoops};

/// How a run would go on this number of processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Their number.
    pub processors: u32,
    /// Where it is from.
    pub basis: Basis,
    /// Time of the best schedule that is known.
    pub ideal: Nanos,
    /// No schedule is shorter: what the regions have in turn, work and span allow.
    pub least: Nanos,
    /// Time with what scheduling costs; the same as `ideal` where that is not known.
    pub time: Nanos,
    /// The longest that it may take, where that is known.
    pub longest: Nanos,
    /// Time and blame are those of loops with even iterations: chunks alone were seen.
    pub loops: Option<Loops>,
    /// Time and blame are those of the best [order of locks](super::order), which is far from the one as it was.
    pub best_order: bool,
    /// Whom the others wait for in the best schedule. Sums to `P · ideal − T_1`.
    pub blame: Vec<Blame>,
}

/// What even iterations are assumed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loops {
    /// The longest that a run with even iterations may take.
    pub longest: Nanos,
    /// A loop whose chunks show that its iterations are not even.
    pub uneven: Option<SiteId>,
}

/// Where evidence is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Work and span of each region: the time is a lower bound.
    Bounds,
    /// A simulated schedule of all strands.
    Simulated,
}

/// Code that others wait for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blame {
    /// Where its strands are charged.
    pub context: ContextId,
    /// Their site; none at the root.
    pub site: Option<SiteId>,
    /// Which part of a task it is.
    pub code: Code,
    /// Processor time that others wait meanwhile.
    pub waiting: Nanos,
    /// The longest of its strands, where that is known.
    pub longest: Option<Nanos>,
    /// Their number, where that is known.
    pub strands: Option<u64>,
}

/// Which part of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// Not known.
    Any,
    /// All of it: nothing forks off in between.
    Whole,
    /// What is before, between or after what it forks.
    Part,
}

/// Evidence from a run's totals.
pub fn bounds(recording: &Recording, run: &Run, profile: &Profile, processors: u32) -> Evidence {
    let processors = processors.max(1);
    let all = i64::from(processors);
    let even = even_loops(recording, run, profile);
    let critical = even.as_ref().map_or(&run.critical, |even| &even.critical);
    let (work, span) = (profile.program.work, profile.program.span);
    let within_regions = even.as_ref().map(|even| recording.contexts.inclusive(&even.critical));
    let mut charges: Vec<(Option<ContextId>, Nanos)> = Vec::new();
    let mut in_turn = Nanos::ZERO;
    let mut rest = (work, span);
    for region in &profile.regions {
        rest = (rest.0 - region.work, rest.1 - region.critical);
        let of_even = within_regions.as_ref().and_then(|sums| sums.get(region.context.index()).copied());
        let own = of_even.unwrap_or(region.critical);
        charges.push((Some(region.context), (own * all - region.work).at_least_zero()));
        in_turn += (own * all).max(region.awaited).at_least_zero();
    }
    // The root's own strands.
    charges.push((None, (rest.1 * all - rest.0).at_least_zero()));
    in_turn += rest.1.at_least_zero() * all;
    let of_span = |span| laws::Program { work, span, blocked: run.blocked, on_one: profile.program.on_one };
    let laws = of_span(even.as_ref().map_or(span, |even| even.span));
    let ideal = work_law(in_turn, processors).max(laws.shortest(processors));
    let mut evidence = Evidence {
        processors,
        basis: Basis::Bounds,
        ideal,
        least: ideal,
        time: ideal,
        longest: of_span(span).brent(processors).max(ideal),
        loops: even
            .as_ref()
            .map(|even| Loops { longest: even_longest(even, &laws, processors).max(ideal), uneven: even.uneven }),
        best_order: false,
        blame: Vec::new(),
    };
    let waiting = (ideal * all - profile.program.on_one).at_least_zero();
    for ((region, _), waiting) in charges.iter().zip(shares(waiting, charges.iter().map(|(_, charge)| *charge))) {
        if waiting > Nanos::ZERO {
            evidence.blame.extend(on_path(recording, critical, within(recording, *region), waiting));
        }
    }
    evidence
}

/// The longest that a run with even iterations takes.
fn even_longest(even: &EvenLoops, laws: &laws::Program, processors: u32) -> Nanos {
    laws.brent(processors) - even.beyond(processors)
}

fn within(recording: &Recording, region: Option<ContextId>) -> Vec<ContextId> {
    let tree = &recording.contexts;
    match region {
        None => vec![ContextId::ROOT],
        Some(region) => tree.ids().filter(|id| tree.path(*id).any(|around| around == region)).collect(),
    }
}

/// Who of these is on the critical path.
pub(super) fn on_path(recording: &Recording, critical: &[Nanos], within: Vec<ContextId>, waiting: Nanos) -> Vec<Blame> {
    let tree = &recording.contexts;
    let weight = |id: &ContextId| critical.get(id.index()).copied().unwrap_or_default().at_least_zero();
    let blamed = within.iter().zip(shares(waiting, within.iter().map(weight)));
    blamed
        .filter(|(_, waiting)| *waiting > Nanos::ZERO)
        .map(|(id, waiting)| Blame {
            context: *id,
            site: tree.site(*id),
            code: Code::Any,
            waiting,
            longest: None,
            strands: None,
        })
        .collect()
}

/// `whole`, divided by `weights`: the largest gets what rounding leaves.
pub(super) fn shares(whole: Nanos, weights: impl Iterator<Item = Nanos>) -> Vec<Nanos> {
    let weights: Vec<i128> = weights.map(|weight| i128::from(weight.0)).collect();
    let sum: i128 = weights.iter().sum();
    let part = |weight: &i128| if sum > 0 { i128::from(whole.0) * weight / sum } else { 0 };
    let mut parts: Vec<Nanos> = weights.iter().map(|w| Nanos(i64::try_from(part(w)).unwrap_or(i64::MAX))).collect();
    let left = whole - parts.iter().copied().sum();
    if let Some(largest) = (0..parts.len()).max_by_key(|at| (weights[*at], std::cmp::Reverse(*at))) {
        parts[largest] += left;
    }
    parts
}
