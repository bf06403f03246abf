//! What two recordings amount to, node by node.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use workspan_model::{Nanos, Ratio, SiteId};

use super::charge::{ByDifference, Part, Seen};
use super::unite::United;
use crate::strands::merge::{Aligned, Places, Unmatched};
use crate::strands::{Charge, Finished, Place, Problems};

/// How well the runs have matched.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) aligned: Aligned,
    /// Strands that the base has, too.
    pub(super) matched: u64,
}

/// What the same strands cost on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// In the base.
    pub base: Nanos,
    /// In the new runs.
    pub new: Nanos,
}

impl Cost {
    /// By what it has grown: new over base. `None` if the base has nothing.
    pub fn inflation(&self) -> Option<Ratio> {
        self.new.over(self.base)
    }

    /// What it costs more.
    pub fn more(&self) -> Nanos {
        self.new - self.base
    }
}

/// What there is of a part of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Of all strands that both sides have.
    pub work: Cost,
    /// Of those on the new runs' critical path.
    pub critical: Cost,
    /// Of strands that only the new runs have.
    pub only_new: Nanos,
    /// Of these, those on the critical path.
    pub critical_only_new: Nanos,
    /// Time that strands of the critical path were blocked in the new runs: part of the span, not of any work.
    pub critical_blocked: Nanos,
    /// Strands of the new runs but for those that cost nothing.
    pub strands: u64,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        for (sum, cost) in [(&mut self.work, other.work), (&mut self.critical, other.critical)] {
            sum.base += cost.base;
            sum.new += cost.new;
        }
        self.only_new += other.only_new;
        self.critical_only_new += other.critical_only_new;
        self.critical_blocked += other.critical_blocked;
        self.strands += other.strands;
    }
}

/// A region of the source, in all contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceRow {
    /// Where it is.
    pub place: Place,
    /// What it amounts to.
    pub sums: Sums,
}

/// The strands of a site itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteRow {
    /// The site; `None` for what is outside of any.
    pub site: Option<SiteId>,
    /// What it amounts to.
    pub sums: Sums,
    /// Cost of strands that only the base has: the mean over its runs.
    pub only_base: Nanos,
    /// Strands without a partner, summed over the base's runs.
    pub unmatched: Unmatched,
}

/// Two recordings, node by node. Sites and places are those of [`United::recording`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differential {
    /// Strands of the first new run.
    pub strands: u64,
    /// Of them, those that the base has, too.
    pub matched: u64,
    /// Of each run of the base: what of it has no partner.
    pub base: Vec<Unmatched>,
    /// Of each new run but the first: the same.
    pub others: Vec<Unmatched>,
    /// The whole program.
    pub program: Sums,
    /// Cost of the base's strands that the new runs lack: the mean over its runs.
    pub only_base: Nanos,
    /// Longest chain of strands of the new runs, each strand at the median of them.
    pub span: Nanos,
    /// Regions: first what costs more on the critical path, then what costs more in all.
    pub places: Vec<PlaceRow>,
    /// Sites, in the same order.
    pub sites: Vec<SiteRow>,
    /// What was wrong with the rows of the new runs.
    pub problems: Problems,
}

impl Differential {
    /// True if the runs are the same node for node: every strand of the first new run is in the base, and none of the
    /// base's is left over.
    pub fn same(&self) -> bool {
        self.matched == self.strands && self.base.iter().all(|run| *run == Unmatched::default())
    }
}

pub(super) fn make(united: &United, finished: Finished<ByDifference>, compared: Compared) -> Differential {
    let Compared { aligned, matched } = compared;
    let tree = &united.recording.contexts;
    let charge = &finished.charge;
    let mut regions: Vec<Sums> = charge.seen.iter().map(Sums::from).collect();
    for on_path in &finished.path {
        let (id, part) = ByDifference::parse(on_path.key);
        let Some(sums) = regions.get_mut(id as usize) else {
            continue;
        };
        let span = ByDifference::nanos(on_path.span);
        match part {
            Part::Both => sums.critical = Cost { base: Nanos(on_path.secondary), new: span },
            Part::OnlyNew => sums.critical_only_new = span,
            // Of both kinds of strands.
            Part::Blocked => sums.critical_blocked += span,
        }
    }
    let mut program = Sums::default();
    let mut places: BTreeMap<Place, Sums> = BTreeMap::new();
    let mut sites: BTreeMap<Option<SiteId>, SiteRow> = BTreeMap::new();
    for (id, sums) in (0..).zip(&regions) {
        let place = Place::of(tree, &charge.region(id));
        program.add(sums);
        places.entry(place).or_default().add(sums);
        site(&mut sites, place.site).sums.add(sums);
    }
    let Aligned { strands, runs, places: apart } = aligned;
    let mut runs = runs.into_iter();
    let (base, others) = (runs.next().unwrap_or_default(), runs.next().unwrap_or_default());
    let mean = |sum: Nanos| Nanos(sum.0 / i64::try_from(base.len().max(1)).unwrap_or(1));
    let mut only_base = Nanos::ZERO;
    // The first group is the base's.
    if let Some(apart) = apart.into_iter().next() {
        only_base = mean(apart.extra_cost);
        for (context, unmatched, cost) in Places::all(apart) {
            let row = site(&mut sites, tree.site(context));
            row.only_base += cost;
            row.unmatched.missing += unmatched.missing;
            row.unmatched.extra += unmatched.extra;
        }
    }
    let mut places: Vec<PlaceRow> = places.into_iter().map(|(place, sums)| PlaceRow { place, sums }).collect();
    let mut sites: Vec<SiteRow> = sites.into_values().collect();
    // What is rounded off at one goes to the next: they sum to the program's.
    let mut sum = Nanos::ZERO;
    for row in &mut sites {
        let before = mean(sum);
        sum += row.only_base;
        row.only_base = mean(sum) - before;
    }
    let rank = |sums: &Sums| Reverse((sums.critical.more(), sums.work.more()));
    places.sort_by_key(|row| (rank(&row.sums), row.place));
    sites.sort_by_key(|row| (rank(&row.sums), row.site));
    let (span, problems) = (finished.span, finished.problems);
    Differential { strands, matched, base, others, program, only_base, span, places, sites, problems }
}

fn site(sites: &mut BTreeMap<Option<SiteId>, SiteRow>, site: Option<SiteId>) -> &mut SiteRow {
    let new = || SiteRow { site, sums: Sums::default(), only_base: Nanos::ZERO, unmatched: Unmatched::default() };
    sites.entry(site).or_insert_with(new)
}

impl From<&Seen> for Sums {
    fn from(seen: &Seen) -> Sums {
        Sums {
            work: Cost { base: Nanos(seen.base), new: Nanos(seen.new) },
            only_new: Nanos(seen.only_new),
            strands: seen.strands,
            ..Sums::default()
        }
    }
}
