//! Two recordings side by side: a program before and after a change.
//!
//! Each quantity is compared over all runs of either recording: where the ranges do not meet, it has changed; where they
//! do, it may be noise. With one run there is no range, and [noise](change::SAME) is assumed.
//!
//! Cost: linear in sites and runs, but for sorting.

mod change;
mod sites;

use std::collections::{BTreeMap, BTreeSet};

use workspan_model::{Nanos, Ratio, Recording, SiteId};

use crate::profile::{profile, Program, SiteRow, Uniform};
use crate::spread::Spread;
pub use change::{Change, Noise, Number, Pair, SAME};
pub(crate) use sites::matched;

/// The whole program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProgramPair {
    /// Sum of all strands.
    pub work: Pair<Nanos>,
    /// Longest chain of strands.
    pub span: Pair<Nanos>,
    /// Work over span; `None` where one side has none.
    pub parallelism: Option<Pair<Ratio>>,
    /// The same at the other end of the range (loops with even iterations, any order of locks); `None` if no run has a range.
    pub uniform: Option<Pair<Ratio>>,
    /// Cost of creating tasks, over work.
    pub task_overhead: Option<Pair<Ratio>>,
    /// Tasks created.
    pub tasks: Pair<u64>,
    /// Work in serial code of the root strand.
    pub serial: Pair<Nanos>,
    /// From start to end.
    pub wall: Pair<Nanos>,
}

/// A spawn site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SitePair {
    /// In the recording before; `None` for a new one.
    pub before: Option<SiteId>,
    /// In the recording after; `None` for one that is gone.
    pub after: Option<SiteId>,
    /// Work of its outermost instances.
    pub work: Pair<Nanos>,
    /// Sum of their spans, at most the program's.
    pub span: Pair<Nanos>,
    /// The sum, whatever the program's is: that of tasks which run beside each other does not follow the program.
    pub spans: Pair<Nanos>,
    /// Work over span; `None` where one side has none.
    pub parallelism: Option<Pair<Ratio>>,
    /// The same at the other end of the range (loops with even iterations, any order of locks); `None` if no run has a range.
    pub uniform: Option<Pair<Ratio>>,
    /// Tasks it created.
    pub tasks: Pair<u64>,
    /// Cost of creating them.
    pub overhead: Pair<Nanos>,
    /// What its own strands add to the critical path.
    pub critical: Pair<Nanos>,
}

/// Two recordings, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// The whole program.
    pub program: ProgramPair,
    /// Spawn sites, by what their spans changed: the largest first.
    pub sites: Vec<SitePair>,
}

/// What a run's profile has.
struct Seen {
    program: Program,
    sites: BTreeMap<SiteId, SiteRow>,
}

/// The runs before and after.
struct Sides<'r> {
    /// Where they are from.
    recordings: [&'r Recording; 2],
    /// What their profiles have.
    seen: [Vec<Seen>; 2],
}

impl Sides<'_> {
    /// How exact a quantity of either side is.
    fn noise<T: Number>(&self) -> [Noise; 2] {
        self.recordings.map(Noise::of::<T>)
    }
}

/// Compares all runs of two recordings.
pub fn diff(before: &Recording, after: &Recording) -> Diff {
    let seen = [before, after].map(|recording| {
        let seen = |run| {
            let profile = profile(recording, run);
            Seen { program: profile.program, sites: profile.sites.into_iter().map(|row| (row.site, row)).collect() }
        };
        recording.runs.iter().map(seen).collect::<Vec<Seen>>()
    });
    let profiles = Sides { recordings: [before, after], seen };
    let sites = [0, 1].map(|side: usize| {
        let used: BTreeSet<SiteId> = profiles.seen[side].iter().flat_map(|seen| seen.sites.keys().copied()).collect();
        used
    });
    let mut rows: Vec<SitePair> =
        matched([before, after], &sites).into_iter().map(|(a, b)| site_pair(&profiles, [a, b])).collect();
    let changed = |row: &SitePair| (row.span.after.median - row.span.before.median).0.unsigned_abs();
    rows.sort_by_key(|row| (std::cmp::Reverse(changed(row)), row.before, row.after));
    Diff { program: program_pair(&profiles), sites: rows }
}

/// Over all runs of both sides.
fn pair<T: Number + Default + PartialOrd>(profiles: &Sides<'_>, of: impl Fn(usize, &Seen) -> T) -> Pair<T> {
    let side = |at: usize| Spread::of(profiles.seen[at].iter().map(|profile| of(at, profile)));
    Pair { before: side(0), after: side(1), noise: profiles.noise::<T>() }
}

/// The same of what a run may be without: over those that have it, if there are some on both sides.
fn pair_of_some(profiles: &Sides<'_>, of: impl Fn(usize, &Seen) -> Option<Ratio>) -> Option<Pair<Ratio>> {
    let side = |at: usize| {
        let some: Vec<Ratio> = profiles.seen[at].iter().filter_map(|profile| of(at, profile)).collect();
        (!some.is_empty()).then(|| Spread::of(some))
    };
    Some(Pair { before: side(0)?, after: side(1)?, noise: profiles.noise::<Ratio>() })
}

/// The upper ends of ranges, if some run has a range: one that has none has its parallelism for both ends.
fn pair_of_ends(
    profiles: &Sides<'_>,
    of: impl Fn(usize, &Seen) -> Option<(Option<Ratio>, Option<Uniform>)>,
) -> Option<Pair<Ratio>> {
    let upper = |at: usize, seen: &Seen| of(at, seen).and_then(|(_, uniform)| uniform?.parallelism);
    let some = profiles.seen.iter().enumerate().any(|(at, runs)| runs.iter().any(|seen| upper(at, seen).is_some()));
    let either = |at: usize, seen: &Seen| upper(at, seen).or_else(|| of(at, seen)?.0);
    if some {
        pair_of_some(profiles, either)
    } else {
        None
    }
}

fn program_pair(profiles: &Sides<'_>) -> ProgramPair {
    ProgramPair {
        work: pair(profiles, |_, profile| profile.program.work),
        span: pair(profiles, |_, profile| profile.program.span),
        parallelism: pair_of_some(profiles, |_, profile| profile.program.parallelism),
        uniform: pair_of_ends(profiles, |_, seen| Some((seen.program.parallelism, seen.program.uniform))),
        task_overhead: pair_of_some(profiles, |_, profile| profile.program.task_overhead),
        tasks: pair(profiles, |_, profile| profile.program.tasks),
        serial: pair(profiles, |_, profile| profile.program.serial),
        wall: Pair {
            noise: profiles.recordings.map(Noise::of_wall),
            ..pair(profiles, |_, profile| profile.program.wall)
        },
    }
}

fn site_pair(profiles: &Sides<'_>, ids: [Option<SiteId>; 2]) -> SitePair {
    // A free function: a closure cannot say that what it returns lives as long as its argument.
    fn row(id: Option<SiteId>, profile: &Seen) -> Option<&SiteRow> {
        profile.sites.get(&id?)
    }
    let nanos = |of: fn(&SiteRow) -> Nanos| pair(profiles, |at, seen| row(ids[at], seen).map_or(Nanos::ZERO, of));
    SitePair {
        before: ids[0],
        after: ids[1],
        work: nanos(|row| row.work),
        span: nanos(|row| row.span),
        spans: nanos(|row| row.spans),
        parallelism: pair_of_some(profiles, |at, profile| row(ids[at], profile)?.parallelism),
        uniform: pair_of_ends(profiles, |at, seen| row(ids[at], seen).map(|row| (row.parallelism, row.uniform))),
        tasks: pair(profiles, |at, profile| row(ids[at], profile).map_or(0, |row| row.tasks)),
        overhead: nanos(|row| row.overhead),
        critical: nanos(|row| row.critical),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_model::{ContextId, ContextTree, Function, Run, Site, SiteKind, Totals};

    /// A recording of joins at these lines of functions, each with its work in milliseconds.
    fn recording(sites: &[(u32, &str)], runs: &[&[i64]]) -> Recording {
        let site = |(line, name): &(u32, &str)| Site {
            kind: SiteKind::Join,
            file: "src/a.rs".to_owned(),
            line: *line,
            column: 5,
            function: Some(Function { name: (*name).to_owned(), from_debug_info: true, offset: None }),
            type_name: String::new(),
            module: String::new(),
            addresses: Vec::new(),
            via: None,
        };
        let mut contexts = ContextTree::default();
        for id in 0..u32::try_from(sites.len()).expect("few") {
            contexts.intern(ContextId::ROOT, SiteId(id)).expect("the root is there");
        }
        let totals = |work: i64| {
            let work = Nanos(work * 1_000_000);
            Totals { self_work: work, work, span: work, instances: 1, entries: 1, tasks: 1, ..Totals::default() }
        };
        let run = |works: &&[i64]| Run {
            totals: std::iter::once(Totals::default()).chain(works.iter().map(|work| totals(*work))).collect(),
            span: works.iter().map(|work| Nanos(*work * 1_000_000)).sum(),
            ..Run::default()
        };
        let runs = runs.iter().map(run).collect();
        Recording { sites: sites.iter().map(site).collect(), contexts, runs, ..Recording::default() }
    }

    /// One side has a range and the other one has not: that side's parallelism is both ends.
    #[test]
    fn both_ends_of_ranges() {
        let before = recording(&[(1, "f"), (2, "g")], &[&[100, 300]]);
        let mut after = before.clone();
        assert_eq!(diff(&before, &after).program.uniform, None);
        after.runs[0].uniform_span = Nanos(100_000_000);
        let ends = diff(&before, &after).program.uniform.expect("one side has a range");
        assert_eq!((ends.before.median, ends.after.median), (Ratio(1.0), Ratio(4.0)));
        assert_eq!(diff(&after, &before).program.uniform.map(|ends| ends.change()), Some(Change::Less));
    }

    #[test]
    fn ranges_decide() {
        let before = recording(&[(3, "f")], &[&[100], &[110], &[105]]);
        let change = |runs: &[&[i64]]| diff(&before, &recording(&[(3, "f")], runs)).program.span.change();
        assert_eq!(change(&[&[90], &[97]]), Change::Less);
        assert_eq!(change(&[&[90], &[101]]), Change::Unclear);
        assert_eq!(change(&[&[104], &[101]]), Change::Unclear);
        assert_eq!(change(&[&[116]]), Change::More);
        let one = recording(&[(3, "f")], &[&[100]]);
        assert_eq!(diff(&one, &one).program.span.change(), Change::Same);
    }

    #[test]
    fn sites_that_moved_are_found_again() {
        let before = recording(&[(3, "f"), (9, "g"), (12, "g"), (20, "h")], &[&[1, 2, 3, 4]]);
        // Two lines more above `g`; where `g` had a join, `f` has one now; `h` is gone.
        let after = recording(&[(3, "f"), (9, "f"), (11, "g"), (14, "g")], &[&[10, 20, 30, 40]]);
        let mut pairs: Vec<[i64; 2]> = diff(&before, &after)
            .sites
            .iter()
            .map(|row| [row.work.before.median.0 / 1_000_000, row.work.after.median.0 / 1_000_000])
            .collect();
        pairs.sort_unstable();
        assert_eq!(pairs, [[0, 20], [1, 10], [2, 30], [3, 40], [4, 0]]);
    }
}
