//! What a profile has: the program, its regions, its sites.

use workspan_model::{ContextId, Histogram, Nanos, Ratio, SiteId};

use crate::calls::Burdened;

/// The profile of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The whole program.
    pub program: Program,
    /// Regions and serial code at the top, by falling share of the critical path.
    pub regions: Vec<Region>,
    /// Spawn sites, by falling share of the critical path.
    pub sites: Vec<SiteRow>,
}

impl Profile {
    /// True if code of this site waited for the outside world for longer than it ran.
    pub fn waits(&self, site: SiteId) -> bool {
        let serial = self.regions.iter().filter(|row| row.serial && row.site == site);
        let serial = serial.map(|row| (row.work, row.spans - row.work));
        let sites = self.sites.iter().filter(|row| row.site == site).map(|row| (row.self_work, row.blocked));
        serial.chain(sites).any(|(work, blocked)| blocked > work.at_least_zero())
    }

    /// True if most of that was spent looking again and again whether another strand had come so far.
    pub fn polls(&self, site: SiteId) -> bool {
        let serial = self.regions.iter().filter(|row| row.serial && row.site == site);
        let serial = serial.map(|row| (row.spans - row.work, row.polled));
        let sites = self.sites.iter().filter(|row| row.site == site).map(|row| (row.blocked, row.polled));
        serial.chain(sites).any(|(blocked, polled)| polled > blocked - polled)
    }

    /// What the own code of this site adds to the critical path; of none, the root's code that is in no region.
    pub fn on_path(&self, site: Option<SiteId>) -> Nanos {
        let Some(site) = site else {
            return self.program.span - self.regions.iter().map(|row| row.critical).sum();
        };
        let serial = self.regions.iter().filter(|row| row.serial && row.site == site).map(|row| row.critical);
        serial.chain(self.sites.iter().filter(|row| row.site == site).map(|row| row.critical)).sum()
    }
}

/// The whole program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Program {
    /// Sum of all strands.
    pub work: Nanos,
    /// Longest chain of strands.
    pub span: Nanos,
    /// Time on one processor: what every speedup is over ([`mod@crate::laws`]).
    pub on_one: Nanos,
    /// That, over span.
    pub parallelism: Option<Ratio>,
    /// The same with uniform loops.
    pub uniform: Option<Uniform>,
    /// The same with steals.
    pub burdened: Option<Burdened>,
    /// Cost of creating tasks.
    pub overhead: Nanos,
    /// That, over work.
    pub task_overhead: Option<Ratio>,
    /// Tasks created: the sum over all sites. The cost of creating them includes a shared iterator's machinery, which is
    /// not counted here ([`workspan_model::Totals::machinery`]).
    pub tasks: u64,
    /// Of the work: serial code of the root strand.
    pub serial: Nanos,
    /// From start to end.
    pub wall: Nanos,
    /// Time workers waited for work.
    pub idle: Nanos,
}

/// The upper bound of a range: what would be if each iteration of a worksharing loop cost the same and could run by
/// itself. The runtime reports chunks only, so the truth lies between. Of runs with such loops.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Uniform {
    /// Span.
    pub span: Nanos,
    /// Work over span.
    pub parallelism: Option<Ratio>,
}

/// A region or a stretch of serial code of the root strand.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its context.
    pub context: ContextId,
    /// Its site.
    pub site: SiteId,
    /// True for serial code.
    pub serial: bool,
    /// True for the serial code before the first region: start-up.
    pub prefix: bool,
    /// Times it was entered.
    pub instances: u64,
    /// True if it was still open when the program ended.
    pub open: bool,
    /// Work, descendants included.
    pub work: Nanos,
    /// Of its work, what must be over before the critical path goes on behind it.
    pub awaited: Nanos,
    /// Sum of the spans of its instances, at most the program's span.
    pub span: Nanos,
    /// The sum alone: more than the program's span where instances run beside each other.
    pub spans: Nanos,
    /// Of what was no work, in serial code: it looked again and again.
    pub polled: Nanos,
    /// Work over that sum: parallelism within its instances, each taken by itself.
    pub parallelism: Option<Ratio>,
    /// The same with uniform loops.
    pub uniform: Option<Uniform>,
    /// The same with steals.
    pub burdened: Option<Burdened>,
    /// Share of the critical path, descendants included.
    pub critical: Nanos,
    /// That, over the program's span.
    pub critical_share: Option<Ratio>,
    /// Cost of creating tasks inside.
    pub overhead: Nanos,
    /// That, over its work.
    pub task_overhead: Option<Ratio>,
    /// Wall time of its instances.
    pub wall: Nanos,
    /// Time workers waited meanwhile; zero for serial code.
    pub idle: Nanos,
}

/// A spawn site.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteRow {
    /// The site.
    pub site: SiteId,
    /// Times the construct ran, recursion included.
    pub instances: u64,
    /// Tasks it created.
    pub tasks: u64,
    /// Work of its outermost instances.
    pub work: Nanos,
    /// Sum of their spans, at most the program's.
    pub span: Nanos,
    /// The sum alone: more than the program's span where instances run beside each other.
    pub spans: Nanos,
    /// Work over that sum: parallelism within its instances, each taken by itself.
    pub parallelism: Option<Ratio>,
    /// The same with uniform loops.
    pub uniform: Option<Uniform>,
    /// The same with steals.
    pub burdened: Option<Burdened>,
    /// Time its strands waited for a lock that others held; in no other number.
    pub contended: Nanos,
    /// Time of strands of the site itself.
    pub self_work: Nanos,
    /// What strands of the site itself add to the critical path.
    pub critical: Nanos,
    /// That, over the program's span.
    pub critical_share: Option<Ratio>,
    /// Cost of creating its tasks.
    pub overhead: Nanos,
    /// That, over the program's work.
    pub overhead_share: Option<Ratio>,
    /// Cost of creating tasks below it, its own included.
    pub overhead_total: Nanos,
    /// Time its strands were blocked.
    pub blocked: Nanos,
    /// Of it: they looked again and again.
    pub polled: Nanos,
    /// Mean size of its tasks: what they ran themselves.
    pub task_mean: Option<Nanos>,
    /// Sizes of its tasks.
    pub sizes: Histogram,
}

impl SiteRow {
    /// The longest of its tasks takes at most this: sizes are known by buckets, of which the last ends there; no task is longer than the
    /// program's `span`, or than what the others leave of the work of all.
    pub fn longest_task(&self, span: Nanos) -> Nanos {
        let buckets = self.sizes.buckets();
        let Some(last) = buckets.last() else { return Nanos::ZERO };
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let all = buckets.iter().fold(0_i64, |sum, b| sum.saturating_add(b.low.0.saturating_mul(number(b.count))));
        // A mean is rounded.
        let sum = self.task_mean.map_or(i64::MAX, |mean| (mean.0 + 1).saturating_mul(number(self.tasks)));
        let left = Nanos(sum.saturating_sub(all - last.low.0));
        last.high.min(span).min(left).max(last.low)
    }
}
