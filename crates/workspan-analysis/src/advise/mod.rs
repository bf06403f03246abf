//! Advice: which parts must be parallelised, and whose tasks have the wrong size.
//!
//! * [`mod@greedy`]: regions to parallelise until a parallelism is reached (TaskProf 4.3, Alg. 12).
//! * [`mod@grain`]: sites whose tasks cost more to create than is good, or could be divided further.
//! * [`Finding`]: each of these as a value.

mod finding;
pub mod grain;
pub mod greedy;

use std::collections::BTreeMap;

use workspan_model::hash::Hash;
use workspan_model::{Nanos, Ratio, Recording, Run, SiteId};

use crate::profile::profile;
use crate::strands::{Place, Problems, Rows};
use crate::verdict::even_loops;
use crate::what_if::{self, what_if, Change, Factor, Scenario, Selector};

pub use finding::{Goal, Grain, Kind, Large, Left};
pub use greedy::{Outcome, Step};

/// Findings whose gain is computed: each takes time with every row.
pub const MOST_TRIED: usize = 16;

/// Advice on a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Parallelism as recorded.
    pub parallelism: Option<Ratio>,
    /// The same with even iterations, where chunks of loops alone were seen: the steps are for these.
    pub even: Option<Ratio>,
    /// Steps towards the target, in order.
    pub steps: Vec<Step>,
    /// How they ended.
    pub outcome: Outcome,
    /// If the target is out of reach: what has most of the critical path that is left.
    pub left: Option<Left>,
    /// Mean cost of creating a task.
    pub creation: Option<Nanos>,
    /// What to do: regions in the order of their first steps, then sites by falling share of the critical path.
    pub findings: Vec<Finding>,
    /// What was wrong with the rows.
    pub problems: Problems,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// A handle that does not depend on the run: `a-` and a hash of kind and place.
    pub id: String,
    /// What was found, with the evidence.
    pub kind: Kind,
    /// What is to be expected.
    pub gain: Gain,
    /// What to know before acting on it.
    pub caveats: Vec<Caveat>,
}

/// What following a finding alone is expected to give. With the others, see [`Step::parallelism`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gain {
    /// Parallelism of the program. Only for the first [`MOST_TRIED`] findings that change it.
    pub parallelism: Option<Ratio>,
    /// The same if the part cost nothing.
    pub ceiling: Option<Ratio>,
    /// Work that is saved.
    pub work: Nanos,
}

/// What to know before acting on a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caveat {
    /// Whether the region can be parallelised at all is not known: dependences within are not seen.
    Dependences,
    /// Alone it gains next to nothing: another path is nearly as long.
    OnlyTogether,
    /// It runs under a lock.
    UnderLock,
    /// Part of the run is missing.
    Incomplete,
}

/// Advice on a run of `recording`. Reads the rows once for each step, and twice besides.
pub fn advise<R: Rows + ?Sized>(recording: &Recording, run: &Run, rows: &R, goal: &Goal) -> Result<Advice, R::Error> {
    let profile = profile(recording, run);
    let overhead = greedy::Creation::of(&profile.program);
    let even = even_loops(recording, run, &profile).filter(|even| even.uneven.is_none());
    let factors = even.as_ref().map_or(&[][..], |even| &even.factors);
    let path = greedy::greedy(recording, rows, goal, overhead, profile.program.on_one, factors)?;
    let mut kinds = greedy::kinds(&path);
    let begun = even.as_ref().and(profile.program.uniform).and_then(|uniform| uniform.parallelism);
    let parallelism = begun.or(profile.program.parallelism);
    let span = profile.program.span;
    let measure = grain::Measure { goal, creation: overhead, parallelism, span, path: &path.first };
    kinds.extend(grain::kinds(recording, &profile, &measure));
    let tried: Vec<(usize, Scenario)> =
        (0..).zip(&kinds).filter_map(|(at, kind)| Some((at, scenario(kind)?))).take(MOST_TRIED).collect();
    let scenarios: Vec<Scenario> = tried.iter().map(|(_, scenario)| scenario.clone()).collect();
    let answer = what_if(recording, rows, &scenarios)?;
    let before = answer.before.parallelism;
    let outcomes: BTreeMap<usize, &what_if::Outcome> = tried.iter().map(|(at, _)| *at).zip(&answer.outcomes).collect();
    let findings = (0..)
        .zip(kinds)
        .map(|(at, kind)| {
            let outcome = outcomes.get(&at);
            let gain = Gain {
                parallelism: outcome.and_then(|outcome| outcome.after.parallelism),
                ceiling: outcome.and_then(|outcome| outcome.ceiling.parallelism),
                work: match &kind {
                    Kind::TooFine(grain) => grain.saved,
                    _ => Nanos::ZERO,
                },
            };
            Finding { id: id(recording, &kind), caveats: caveats(recording, run, &kind, &gain, before), gain, kind }
        })
        .collect();
    Ok(Advice {
        parallelism: before,
        even: begun,
        steps: path.steps,
        outcome: path.outcome,
        left: path.left,
        creation: overhead.mean(),
        findings,
        problems: answer.problems(),
    })
}

/// What following a finding would be, as far as it changes the span.
fn scenario(kind: &Kind) -> Option<Scenario> {
    let (part, factor) = match kind {
        Kind::Parallelise { place, factor, .. } => (Selector::Place(*place), *factor),
        Kind::TooCoarse(grain, large) => (Selector::Site(grain.site), large.pieces),
        Kind::TooFine(_) => return None,
    };
    let factor = Factor::new(factor).unwrap_or(Factor::INFINITE);
    Some(Scenario { changes: vec![Change { part, factor }] })
}

fn caveats(recording: &Recording, run: &Run, kind: &Kind, gain: &Gain, before: Option<Ratio>) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let site = match kind {
        Kind::Parallelise { place, .. } => place.site,
        Kind::TooFine(grain) | Kind::TooCoarse(grain, _) => Some(grain.site),
    };
    let site = site.and_then(|site| recording.sites.get(site.0 as usize));
    if site.is_some_and(|site| site.kind.is_lock()) {
        caveats.push(Caveat::UnderLock);
    }
    if !matches!(kind, Kind::TooFine(_)) {
        caveats.push(Caveat::Dependences);
        let little = |(before, after): (Ratio, Ratio)| after.0 < before.0 * 1.01;
        if before.zip(gain.parallelism).is_some_and(little) {
            caveats.push(Caveat::OnlyTogether);
        }
    }
    if !run.complete() {
        caveats.push(Caveat::Incomplete);
    }
    caveats
}

/// The handle of the finding that a place must be parallelised.
pub fn piece_id(recording: &Recording, place: &Place) -> String {
    let [before, after] = [place.before, place.after].map(|point| match point.site() {
        Some(site) => name(recording, site),
        None => format!("{point:?}"),
    });
    let site = place.site.map(|site| name(recording, site)).unwrap_or_default();
    handle(&format!("parallelise {site} {before} {after}"))
}

fn id(recording: &Recording, kind: &Kind) -> String {
    match kind {
        Kind::Parallelise { place, .. } => piece_id(recording, place),
        Kind::TooFine(grain) => handle(&format!("fine {}", name(recording, grain.site))),
        Kind::TooCoarse(grain, _) => handle(&format!("coarse {}", name(recording, grain.site))),
    }
}

fn name(recording: &Recording, site: SiteId) -> String {
    recording.sites.get(site.0 as usize).map(|site| site.stable_id(&recording.sites)).unwrap_or_default()
}

fn handle(text: &str) -> String {
    format!("a-{:08x}", Hash::of(text.as_bytes()).short())
}
