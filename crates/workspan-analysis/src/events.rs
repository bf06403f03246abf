//! Events by site: how often they came in a site's own strands, and with all below; in one recording, and in two side by side.
//!
//! A site's own events are those of its contexts, recursive ones included; with all below, those of its outermost contexts and
//! everything under these, so that recursion never counts twice. Of several runs each number is the median.
//!
//! **Identity:** own events of all sites, and of code outside any, add up to what is counted in strands, run by run.

use std::collections::BTreeMap;

use workspan_model::{ContextId, EventCounts, Recording, Run, SiteId};

use crate::differential::United;
use crate::spread::Spread;

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedEvent {
    /// Its name.
    pub name: String,
    /// How often it came in strands; `None` if it was not counted.
    pub in_strands: Option<f64>,
    /// How often it came in the whole process, if that was counted.
    pub whole: Option<f64>,
    /// The least share of the time in which it was counted.
    pub counted_share: f64,
    /// The most threads of a run that did not count it.
    pub missing_threads: u32,
    /// Why.
    pub refused: Option<String>,
    /// Only what came outside of the kernel was counted.
    pub outside_kernel: bool,
}

/// The events of a site, in the order of [`ByEvent::events`].
#[derive(Clone, Debug, PartialEq)]
pub struct SiteEvents {
    /// The site; `None` for code outside any.
    pub site: Option<SiteId>,
    /// In strands of the site itself.
    pub own: Vec<f64>,
    /// With all below.
    pub inclusive: Vec<f64>,
}

/// All events of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByEvent {
    /// Which.
    pub events: Vec<CountedEvent>,
    /// Sites where any of them came, by the largest share of an event that is a site's own, falling.
    pub sites: Vec<SiteEvents>,
}

/// Two numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sides {
    /// In the base.
    pub base: f64,
    /// In the new recording.
    pub new: f64,
}

/// A site on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct SitePair {
    /// In the united recording; `None` for code outside any.
    pub site: Option<SiteId>,
    /// Time of its own strands, in nanoseconds.
    pub work: Sides,
    /// Of each event: in its own strands.
    pub own: Vec<Sides>,
    /// Of each event: with all below.
    pub inclusive: Vec<Sides>,
}

/// Events of two recordings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// Those that were requested of both: in the base and in the new one.
    pub events: Vec<[CountedEvent; 2]>,
    /// Sites, first where the own strands cost more than in the base.
    pub sites: Vec<SitePair>,
}

/// What was counted in a recording.
pub fn events(recording: &Recording) -> ByEvent {
    let events: Vec<CountedEvent> = names(recording).iter().map(|name| told(recording, name)).collect();
    let same: Vec<ContextId> = recording.contexts.ids().collect();
    let per_event: Vec<_> =
        events.iter().map(|event| sites_of(recording, recording, &same, counts_of(&event.name))).collect();
    let mut sites: Vec<SiteEvents> = all_sites(&per_event)
        .map(|site| {
            let of = |which: usize| -> Vec<f64> {
                per_event.iter().map(|sites| sites.get(&site).map_or(0.0, |sums| sums[which])).collect()
            };
            SiteEvents { site, own: of(0), inclusive: of(1) }
        })
        .filter(|row| row.inclusive.iter().any(|count| *count > 0.0))
        .collect();
    let rank = |row: &SiteEvents| {
        let shares = row.own.iter().zip(&events).map(|(own, event)| own / event.in_strands.unwrap_or(0.0).max(1.0));
        shares.fold(0.0, f64::max)
    };
    sites.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    ByEvent { events, sites }
}

/// What was counted in two recordings, which `united` unites. Nothing if they have no event in common.
pub fn compare(united: &United, base: &Recording, new: &Recording) -> Compared {
    let common: Vec<String> = names(base).into_iter().filter(|name| names(new).contains(name)).collect();
    if common.is_empty() {
        return Compared::default();
    }
    let both = &united.recording;
    let of_sides = |value: &dyn Fn(&Run) -> Vec<f64>| {
        [sites_of(base, both, united.base_contexts(), value), sites_of(new, both, united.new_contexts(), value)]
    };
    let work = of_sides(&|run| run.totals.iter().map(|totals| as_float(totals.self_work.0)).collect());
    let per_event: Vec<_> = common.iter().map(|name| of_sides(&counts_of(name))).collect();
    let all: Vec<&PerSite> = per_event.iter().chain([&work]).flatten().collect();
    let pair = |sides: &[PerSite; 2], site: &Option<SiteId>, which: usize| {
        let of = |side: usize| sides[side].get(site).map_or(0.0, |sums| sums[which]);
        Sides { base: of(0), new: of(1) }
    };
    let mut sites: Vec<SitePair> = all_sites(all.iter().copied())
        .map(|site| SitePair {
            site,
            work: pair(&work, &site, 0),
            own: per_event.iter().map(|sides| pair(sides, &site, 0)).collect(),
            inclusive: per_event.iter().map(|sides| pair(sides, &site, 1)).collect(),
        })
        .filter(|row| row.work != Sides::default() || row.inclusive.iter().any(|sides| *sides != Sides::default()))
        .collect();
    sites.sort_by(|a, b| (b.work.new - b.work.base).total_cmp(&(a.work.new - a.work.base)));
    Compared { events: common.iter().map(|name| [told(base, name), told(new, name)]).collect(), sites }
}

/// Own and inclusive, of each site.
type PerSite = BTreeMap<Option<SiteId>, [f64; 2]>;

/// All names that were requested for runs of a recording.
fn names(recording: &Recording) -> Vec<String> {
    let mut names = Vec::new();
    for event in recording.runs.iter().flat_map(|run| &run.events) {
        if !names.contains(&event.name) {
            names.push(event.name.clone());
        }
    }
    names
}

fn found<'r>(run: &'r Run, name: &str) -> Option<&'r EventCounts> {
    run.events.iter().find(|event| event.name == name)
}

fn counts_of(name: &str) -> impl Fn(&Run) -> Vec<f64> + '_ {
    |run| found(run, name).map(EventCounts::scaled).unwrap_or_default()
}

fn told(recording: &Recording, name: &str) -> CountedEvent {
    let runs: Vec<&EventCounts> = recording.runs.iter().filter_map(|run| found(run, name)).collect();
    let counted: Vec<&EventCounts> = runs.iter().copied().filter(|event| event.is_counted()).collect();
    let median = |values: Vec<f64>| (!values.is_empty()).then(|| Spread::of(values).median);
    let share = |event: &&EventCounts| f64::from(event.counted_ppm) / 1e6;
    CountedEvent {
        name: name.to_owned(),
        in_strands: median(counted.iter().map(|event| event.scaled().iter().sum()).collect()),
        whole: median(runs.iter().filter_map(|event| event.whole).map(whole).collect()),
        counted_share: counted.iter().map(share).fold(1.0, f64::min),
        missing_threads: runs.iter().map(|event| event.missing_threads).max().unwrap_or(0),
        refused: runs.iter().find_map(|event| event.refused.clone()),
        outside_kernel: counted.iter().any(|event| event.outside_kernel),
    }
}

/// What `value` gives for each context of a run, by site: medians over the runs. `contexts`: by the recording's number, that
/// of `known`.
fn sites_of(
    recording: &Recording,
    known: &Recording,
    contexts: &[ContextId],
    value: impl Fn(&Run) -> Vec<f64>,
) -> PerSite {
    let tree = &known.contexts;
    let runs: Vec<PerSite> = recording
        .runs
        .iter()
        .map(|run| {
            let mut own = vec![0.0; tree.len()];
            for (count, context) in value(run).iter().zip(contexts) {
                if let Some(sum) = own.get_mut(context.index()) {
                    *sum += count;
                }
            }
            let inclusive = tree.inclusive(&own);
            let mut sites = PerSite::new();
            for id in tree.ids() {
                let Some(context) = tree.get(id) else {
                    continue;
                };
                let sums = sites.entry(context.site).or_default();
                sums[0] += own[id.index()];
                // The root has its own alone: everything is below it.
                sums[1] += match context.site {
                    None => own[id.index()],
                    Some(_) if context.recursive => 0.0,
                    Some(_) => inclusive[id.index()],
                };
            }
            sites
        })
        .collect();
    all_sites(&runs)
        .map(|site| {
            let median = |which: usize| {
                Spread::of(runs.iter().map(|sites| sites.get(&site).map_or(0.0, |sums| sums[which]))).median
            };
            (site, [median(0), median(1)])
        })
        .collect()
}

fn all_sites<'s>(all: impl IntoIterator<Item = &'s PerSite>) -> impl Iterator<Item = Option<SiteId>> {
    let mut sites: Vec<Option<SiteId>> = all.into_iter().flat_map(|sites| sites.keys().copied()).collect();
    sites.sort_unstable();
    sites.dedup();
    sites.into_iter()
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds, told with three digits")]
fn as_float(nanos: i64) -> f64 {
    nanos as f64
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53; counts are told with four digits")]
fn whole(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::unite;
    use workspan_model::{Site, SiteKind};

    fn recording(counts: &[&[u64]]) -> Recording {
        let site = |line| Site::at(SiteKind::Join, "a.rs", line, 1);
        let mut recording = Recording { sites: vec![site(1), site(2)], ..Recording::default() };
        let outer = recording.contexts.intern(ContextId::ROOT, SiteId(0)).unwrap();
        let inner = recording.contexts.intern(outer, SiteId(1)).unwrap();
        // A recursion: the first site inside itself.
        recording.contexts.intern(inner, SiteId(0)).unwrap();
        recording.runs = counts
            .iter()
            .map(|counts| {
                let event = EventCounts {
                    name: "faults".to_owned(),
                    counts: counts.to_vec(),
                    whole: Some(2_000),
                    counted_ppm: 500_000,
                    threads: 1,
                    ..EventCounts::default()
                };
                Run { events: vec![event], ..Run::default() }
            })
            .collect();
        recording
    }

    #[test]
    fn recursion_counts_once() {
        let found = events(&recording(&[&[1, 10, 100, 300]]));
        // Half of the time was not counted.
        assert_eq!(found.events[0].in_strands, Some(822.0));
        assert_eq!((found.events[0].whole, found.events[0].counted_share), (Some(2_000.0), 0.5));
        let row = |site: Option<u32>| found.sites.iter().find(|row| row.site == site.map(SiteId)).unwrap();
        assert_eq!((row(Some(0)).own[0], row(Some(0)).inclusive[0]), (620.0, 820.0));
        assert_eq!((row(Some(1)).own[0], row(Some(1)).inclusive[0]), (200.0, 800.0));
        assert_eq!((row(None).own[0], row(None).inclusive[0]), (2.0, 2.0));
        assert_eq!(found.sites[0].site, Some(SiteId(0)));
        let own: f64 = found.sites.iter().map(|row| row.own[0]).sum();
        assert_eq!(Some(own), found.events[0].in_strands);
    }

    #[test]
    fn of_several_runs_the_median_counts() {
        let found = events(&recording(&[&[0, 1, 1, 1], &[0, 9, 2, 0], &[0, 5, 7, 0]]));
        assert_eq!(found.sites.iter().map(|row| row.own[0]).collect::<Vec<_>>(), [10.0, 4.0]);
    }

    #[test]
    fn what_nobody_counts_is_no_zero() {
        let mut recording = recording(&[&[0, 0, 0, 0]]);
        let event = &mut recording.runs[0].events[0];
        (event.threads, event.missing_threads, event.refused) = (0, 3, Some("not there".to_owned()));
        let found = events(&recording);
        assert_eq!(found.events[0].in_strands, None);
        assert_eq!(found.events[0].refused.as_deref(), Some("not there"));
        assert!(found.sites.is_empty());
    }

    #[test]
    fn two_recordings_are_compared_by_place() {
        let base = recording(&[&[0, 10, 100, 300]]);
        let mut new = recording(&[&[0, 20, 100, 600]]);
        let found = compare(&unite(&base, &new), &base, &new);
        assert_eq!(found.events.len(), 1);
        let row = found.sites.iter().find(|row| row.site == Some(SiteId(0))).unwrap();
        assert_eq!(row.own, [Sides { base: 620.0, new: 1_240.0 }]);
        assert_eq!(row.inclusive, [Sides { base: 820.0, new: 1_440.0 }]);
        new.runs[0].events.clear();
        assert_eq!(compare(&unite(&base, &new), &base, &new), Compared::default());
    }
}
