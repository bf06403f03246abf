//! Where idle time and work inflation arise: by top-level region, and by spawn site.
//!
//! Of runs that were profiled in full, with one worker and with P. A run's sites and contexts are those of its recording,
//! so runs of one recording compare by id. Of a region, I_P is what P workers waited while it ran; while serial code
//! runs, all workers but one. F_P of a site is of the strands of the site itself, so that sites and serial code add up
//! to the program's.
//!
//! Cost: a profile of each run.

use std::collections::BTreeMap;

use workspan_model::{Nanos, Recording, SiteId};

use super::estimate::Estimate;
use super::reading::Profiled;
use crate::profile::{profile, Profile, Region};

/// A top-level region, or serial code between two; means over the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionFactors {
    /// Its site.
    pub site: SiteId,
    /// True for serial code.
    pub serial: bool,
    /// Work with one worker, descendants included.
    pub one_worker: Nanos,
    /// Work with P workers.
    pub work: Nanos,
    /// What they waited for work meanwhile.
    pub idle: Nanos,
}

impl RegionFactors {
    /// Its part of F_P.
    pub fn inflation(&self) -> Nanos {
        self.work - self.one_worker
    }
}

/// A spawn site's own strands; means over the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteFactors {
    /// The site.
    pub site: SiteId,
    /// Their work with one worker.
    pub one_worker: Nanos,
    /// With P workers.
    pub work: Nanos,
}

impl SiteFactors {
    /// Their part of F_P.
    pub fn inflation(&self) -> Nanos {
        self.work - self.one_worker
    }
}

/// Where it arises.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// P.
    pub workers: u32,
    /// Regions and serial code, by what they lose: the most first.
    pub regions: Vec<RegionFactors>,
    /// Sites, by their inflation: the most first.
    pub sites: Vec<SiteFactors>,
    /// Of the whole program.
    pub profiled: Profiled,
}

/// Compares runs of `recording` with one worker and with `workers`, by their positions; `None` if either are missing.
pub fn places(recording: &Recording, one: &[usize], many: &[usize], workers: u32) -> Option<Places> {
    let profiles = |runs: &[usize]| -> Vec<Profile> {
        runs.iter().filter_map(|run| recording.runs.get(*run)).map(|run| profile(recording, run)).collect()
    };
    let (one, many) = (profiles(one), profiles(many));
    if one.is_empty() || many.is_empty() {
        return None;
    }
    let waited = |region: &Region| match region.serial {
        true => region.span * i64::from(workers.saturating_sub(1)),
        false => region.idle,
    };
    let of_region = |profiles: &[Profile], what: &dyn Fn(&Region) -> Nanos| {
        means(profiles, |profile| profile.regions.iter().map(|region| (region.site, what(region))).collect())
    };
    let (region_one, region_many) = (of_region(&one, &|r| r.work), of_region(&many, &|r| r.work));
    let idle = of_region(&many, &waited);
    let mut serial: BTreeMap<SiteId, bool> = BTreeMap::new();
    for region in one.iter().chain(&many).flat_map(|profile| &profile.regions) {
        serial.insert(region.site, region.serial);
    }
    let time = |of: &BTreeMap<SiteId, Nanos>, site: SiteId| of.get(&site).copied().unwrap_or(Nanos::ZERO);
    let mut regions: Vec<RegionFactors> = serial
        .into_iter()
        .map(|(site, serial)| RegionFactors {
            site,
            serial,
            one_worker: time(&region_one, site),
            work: time(&region_many, site),
            idle: time(&idle, site),
        })
        .collect();
    regions.sort_by_key(|region| (std::cmp::Reverse(region.idle + region.inflation().at_least_zero()), region.site));
    let of_site = |profiles: &[Profile]| {
        means(profiles, |profile| profile.sites.iter().map(|site| (site.site, site.self_work)).collect())
    };
    let (site_one, site_many) = (of_site(&one), of_site(&many));
    let mut ids: Vec<SiteId> = site_one.keys().chain(site_many.keys()).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    let mut sites: Vec<SiteFactors> = ids
        .into_iter()
        .map(|site| SiteFactors { site, one_worker: time(&site_one, site), work: time(&site_many, site) })
        .collect();
    sites.sort_by_key(|site| (std::cmp::Reverse(site.inflation()), site.site));
    let profiled = Profiled {
        task_overhead: Estimate::of(one.iter().map(|profile| profile.program.overhead)).mean,
        span: Estimate::of(many.iter().map(|profile| profile.program.span)).mean,
    };
    Some(Places { workers, regions, sites, profiled })
}

/// Over all profiles: the mean per site, of which a profile may have several or none.
fn means(profiles: &[Profile], of: impl Fn(&Profile) -> Vec<(SiteId, Nanos)>) -> BTreeMap<SiteId, Nanos> {
    let mut sums: BTreeMap<SiteId, Nanos> = BTreeMap::new();
    for (site, time) in profiles.iter().flat_map(of) {
        *sums.entry(site).or_default() += time;
    }
    let count = i64::try_from(profiles.len()).unwrap_or(1).max(1);
    sums.values_mut().for_each(|sum| sum.0 /= count);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_model::{ContextId, ContextTree, Run, Site, SiteKind, Totals};

    /// A join between two stretches of serial code, run with this number of workers: work before, inside, after, and the wall
    /// time of the join.
    fn recording(runs: &[(u32, [i64; 3], i64)]) -> Recording {
        let site = |kind| Site::at(kind, "src/a.rs", 1, 5);
        let (from, to) = (Some(SiteId(1)), Some(SiteId(1)));
        let sites = vec![
            site(SiteKind::Serial { from: None, to }),
            site(SiteKind::Join),
            site(SiteKind::Serial { from, to: None }),
        ];
        let mut contexts = ContextTree::default();
        for id in 0..3 {
            contexts.intern(ContextId::ROOT, SiteId(id));
        }
        let run = |(workers, work, wall): &(u32, [i64; 3], i64)| {
            let mut totals = vec![Totals::default(); 4];
            for (totals, work) in totals[1..].iter_mut().zip(work) {
                totals.self_work = Nanos(*work);
                totals.work = Nanos(*work);
                totals.entries = 1;
                totals.instances = 1;
            }
            totals[2].wall = Nanos(*wall);
            totals[2].tasks = 1;
            // What was measured of the whole program, which bounds that of a region.
            let idle = Nanos(i64::from(*workers) * wall - work[1]);
            Run {
                workers: *workers,
                idle,
                totals,
                critical: vec![Nanos::ZERO; 4],
                span: Nanos(10_000),
                ..Run::default()
            }
        };
        Recording { sites, contexts, runs: runs.iter().map(run).collect(), ..Recording::default() }
    }

    #[test]
    fn regions_and_sites_have_their_parts() {
        let runs = [(1, [100, 400, 20], 400), (2, [110, 500, 20], 300), (2, [90, 540, 20], 320)];
        let found = places(&recording(&runs), &[0], &[1, 2], 2).expect("there are runs");
        let region = |r: &RegionFactors| (r.site.0, r.serial, r.one_worker.0, r.work.0, r.idle.0, r.inflation().0);
        let regions: Vec<_> = found.regions.iter().map(region).collect();
        // The join: 2·300 − 500 and 2·320 − 540 of idle time.
        assert_eq!(regions, [(1, false, 400, 520, 100, 120), (0, true, 100, 100, 100, 0), (2, true, 20, 20, 20, 0)]);
        let sites: Vec<_> = found.sites.iter().map(|s| (s.site.0, s.inflation().0)).collect();
        assert_eq!(sites, [(1, 120)]);
        assert_eq!(places(&recording(&runs), &[0], &[], 2), None);
        assert_eq!(places(&recording(&runs), &[7], &[1], 2), None);
    }
}
