//! What if parts of the program were parallelised (TaskProf 4.2, Alg. 10).
//!
//! A scenario names parts and by what factor each becomes faster because it is done in parallel. The work stays as it is;
//! the span is computed anew, each strand of a named part with its cost divided by the factor. Several scenarios are
//! computed in one pass over the rows, each with its *ceiling*: all its factors infinite.
//!
//! **Rounding.** Positions are in 1/1024 ns. The cost of a strand is divided to the nearest of these units; it is exact where
//! the division comes out even. So the error of a span is at most half a unit per divided strand on the critical path.
//! Results are in nanoseconds, to the nearest.
//!
//! Time blocked is not divided: nobody knows what it would be.

mod select;

use std::collections::BTreeMap;

use workspan_model::{ContextTree, Nanos, Ratio, Recording, Run, SiteId};

use crate::laws;
use crate::locks::held;
use crate::profile::{profile, Uniform};
use crate::strands::{
    run, ByRegion, FactorOf, Finished, Machine, Place, Problems, Region, RegionRow, Replayed, Rows, Seen,
};

pub use select::{is_file, Selector};

/// By what a part becomes faster: at least 1, may be infinite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Factor(f64);

impl Factor {
    /// As if the part cost nothing.
    pub const INFINITE: Factor = Factor(f64::INFINITY);

    /// `None` below 1, and for what is no number.
    pub fn new(factor: f64) -> Option<Factor> {
        (factor >= 1.0).then_some(Factor(factor))
    }

    /// As a number.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// A part of the program and its factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The part.
    pub part: Selector,
    /// Its factor.
    pub factor: Factor,
}

/// Changes made together. Where several name the same strand, their factors are multiplied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// The changes.
    pub changes: Vec<Change>,
}

impl Scenario {
    /// By what the strands of a region of `recording` become faster.
    pub fn factors<'a>(&self, recording: &'a Recording) -> impl Fn(&Region) -> f64 + use<'a> {
        let chosen: Vec<(select::Chosen<'a>, f64)> =
            self.changes.iter().map(|change| (change.part.resolve(recording), change.factor.value())).collect();
        move |region| chosen.iter().filter(|(part, _)| part.has(region)).map(|(_, factor)| factor).product()
    }

    /// Its parts that have none of the strands that were charged.
    fn empty(&self, recording: &Recording, charged: &ByRegion<'_>) -> Vec<Selector> {
        let regions = charged.regions.all();
        let ran: Vec<&Region> =
            regions.iter().zip(&charged.seen).filter(|(_, seen)| seen.strands > 0).map(|(region, _)| region).collect();
        let is_empty = |part: &Selector| {
            let chosen = part.resolve(recording);
            !ran.iter().any(|region| chosen.has(region))
        };
        self.changes.iter().map(|change| &change.part).filter(|part| is_empty(part)).cloned().collect()
    }

    /// The same with all factors infinite.
    fn ceilings<'a>(&self, recording: &'a Recording) -> impl Fn(&Region) -> f64 + use<'a> {
        let chosen: Vec<select::Chosen<'a>> =
            self.changes.iter().map(|change| change.part.resolve(recording)).collect();
        move |region| if chosen.iter().any(|part| part.has(region)) { f64::INFINITY } else { 1.0 }
    }
}

impl Figures {
    /// The same for a program that takes one processor so long.
    #[must_use]
    pub fn with(self, on_one: Nanos) -> Figures {
        let uniform = self.uniform.map(|even| Uniform { parallelism: laws::parallelism(on_one, even.span), ..even });
        Figures { on_one, parallelism: laws::parallelism(on_one, self.replayed.span), uniform, ..self }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// As recorded.
    pub before: Figures,
    /// One for each scenario.
    pub outcomes: Vec<Outcome>,
}

/// What a scenario amounts to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// With its factors.
    pub after: Figures,
    /// With all its factors infinite.
    pub ceiling: Figures,
    /// Work of the strands that it names. Zero if there are none.
    pub named: Nanos,
    /// Their number, but for those that cost nothing.
    pub strands: u64,
    /// Parts of the scenario in which there is no strand.
    pub empty: Vec<Selector>,
}

/// A program, as it is or as it would be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Time on one processor, as recorded: what is done in parallel takes one processor as long as ever.
    pub on_one: Nanos,
    /// That, over span.
    pub parallelism: Option<Ratio>,
    /// The same with even iterations, of a program with loops.
    pub uniform: Option<Uniform>,
    /// Work, span, totals and critical path. [`Replayed::into_run`] makes a run of it for [`profile`].
    pub replayed: Replayed,
    /// Spawn sites, by their numbers.
    pub sites: Vec<SiteFigures>,
    /// What the critical path consists of, by falling share: regions that are not on it are excluded.
    pub path: Vec<RegionRow>,
}

/// A spawn site, as [`SiteRow`](crate::profile::SiteRow) has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteFigures {
    /// The site.
    pub site: SiteId,
    /// Work of its outermost instances.
    pub work: Nanos,
    /// Sum of their spans, at most the program's.
    pub span: Nanos,
    /// Work over span.
    pub parallelism: Option<Ratio>,
    /// What its own strands add to the critical path.
    pub critical: Nanos,
    /// That, over the program's span.
    pub critical_share: Option<Ratio>,
}

/// Answers all `scenarios` in one pass over the rows of a run of `recording`.
pub fn what_if<R: Rows + ?Sized>(recording: &Recording, rows: &R, scenarios: &[Scenario]) -> Result<WhatIf, R::Error> {
    let machines = || {
        let mut machines = vec![machine(recording, Box::new(|_| 1.0))];
        for scenario in scenarios {
            machines.push(machine(recording, Box::new(scenario.factors(recording))));
            machines.push(machine(recording, Box::new(scenario.ceilings(recording))));
        }
        machines
    };
    let mut finished = run(rows, machines)?.into_iter();
    let before = finished.next().map(|finished| figures(recording, finished)).unwrap_or_default();
    let mut outcomes = Vec::with_capacity(scenarios.len());
    for scenario in scenarios {
        let (Some(after), Some(ceiling)) = (finished.next(), finished.next()) else {
            break;
        };
        let named = ceiling.charge.seen.iter().filter(|seen| seen.factor > 1.0);
        outcomes.push(Outcome {
            empty: scenario.empty(recording, &ceiling.charge),
            named: named.clone().map(|seen| Nanos(seen.work)).sum(),
            strands: named.map(|seen| seen.strands).sum(),
            after: figures(recording, after).with(before.on_one),
            ceiling: figures(recording, ceiling).with(before.on_one),
        });
    }
    Ok(WhatIf { before, outcomes })
}

/// One program, and what was changed to get there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// With the changes.
    pub figures: Figures,
    /// Work of the strands that became faster.
    pub named: Nanos,
    /// Their number, but for those that cost nothing.
    pub strands: u64,
}

/// The program with the changes of one scenario, for who knows the rest: [`what_if`] gives the same, with the program as
/// recorded and the ceiling.
pub fn changed<R: Rows + ?Sized>(recording: &Recording, rows: &R, scenario: &Scenario) -> Result<Changed, R::Error> {
    let finished = run(rows, || vec![machine(recording, Box::new(scenario.factors(recording)))])?;
    Ok(finished.into_iter().next().map_or_else(Changed::default, |finished| {
        let named = finished.charge.seen.iter().filter(|seen| seen.factor > 1.0);
        Changed {
            named: named.clone().map(|seen| Nanos(seen.work)).sum(),
            strands: named.map(|seen| seen.strands).sum(),
            figures: figures(recording, finished),
        }
    }))
}

/// A machine that divides the cost of regions.
pub(crate) fn machine<'a>(recording: &Recording, factor: FactorOf<'a>) -> Machine<ByRegion<'a>> {
    Machine::new(recording, ByRegion::new(factor))
}

/// What a machine has read, as values.
pub(crate) fn figures(recording: &Recording, finished: Finished<ByRegion<'_>>) -> Figures {
    let mut path = finished.region_profile().regions;
    path.retain(|row| row.critical != Nanos::ZERO || row.critical_blocked != Nanos::ZERO);
    let held = held_under_one_lock(recording, &finished.charge);
    let replayed = finished.into_replayed();
    let profiled = profile(recording, &replayed.clone().into_run(&Run::default()));
    let (on_one, rows) = (profiled.program.on_one, profiled.sites);
    // As in a run that [`crate::bounded_by_locks`] bounds: what one lock is held bounds every order of the locks.
    let uniform = profiled.program.uniform.map(|even| {
        let span = even.span.max(held.min(replayed.span));
        if span == even.span {
            even
        } else {
            Uniform { span, parallelism: laws::parallelism(on_one, span) }
        }
    });
    let mut sites: Vec<SiteFigures> = rows
        .iter()
        .map(|row| SiteFigures {
            site: row.site,
            work: row.work,
            span: row.span,
            parallelism: row.parallelism,
            critical: row.critical,
            critical_share: row.critical_share,
        })
        .collect();
    sites.sort_by_key(|row| row.site);
    Figures { parallelism: laws::parallelism(on_one, replayed.span), on_one, uniform, replayed, sites, path }
}

/// How long the lock is held that is held longest, with the factors of the machine.
fn held_under_one_lock(recording: &Recording, charge: &ByRegion<'_>) -> Nanos {
    #[expect(clippy::cast_precision_loss, reason = "a time")]
    let time = |seen: &Seen| seen.work as f64 / seen.factor;
    held(recording, charge.regions.all().iter().zip(&charge.seen).map(|(region, seen)| (region.context, time(seen))))
}

/// What a place adds to the critical path, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceOnPath {
    /// The place.
    pub place: Place,
    /// As recorded.
    pub before: Nanos,
    /// With the changes.
    pub after: Nanos,
}

/// The critical path before and after by place, by falling share after.
pub fn path_by_place(contexts: &ContextTree, before: &Figures, after: &Figures) -> Vec<PlaceOnPath> {
    let mut found: BTreeMap<Place, [Nanos; 2]> = BTreeMap::new();
    for (figures, column) in [(before, 0), (after, 1)] {
        for row in &figures.path {
            let sums = found.entry(Place::of(contexts, &row.region)).or_default();
            sums[column] += row.critical + row.critical_blocked;
        }
    }
    let mut rows: Vec<PlaceOnPath> =
        found.into_iter().map(|(place, [before, after])| PlaceOnPath { place, before, after }).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse((row.after, row.before)), row.place));
    rows
}

impl WhatIf {
    /// What was wrong with the rows.
    pub fn problems(&self) -> Problems {
        self.before.replayed.problems
    }
}
