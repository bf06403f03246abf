//! Sizes of tasks against the cost of creating them, and against what the critical path may take.
//!
//! ```text
//! cutoff       = `threshold` × mean cost of a creation: tasks of at least this size keep the overhead below 1 / `threshold`
//! too fine:    overhead of the site > 1 / `threshold` of what its tasks ran, and at least 1 % of the program's work
//! limit        = mean size of the site's tasks on the critical path × parallelism / wanted parallelism:
//!                what they may take if the whole path becomes as much shorter as it has to
//! too coarse:  the site has 10 % of the critical path and less than the wanted parallelism,
//!              and some tasks are longer than the limit and than two cutoffs
//! pieces       = longest task / cutoff, at most as many as the wanted parallelism
//! ```
//!
//! Where no creation was measured at a site, the mean of the program's stands for it.

use workspan_model::{Nanos, Ratio, Recording, SiteId};

use super::finding::{Goal, Grain, Kind, Large};
use super::greedy::{Creation, Path};
use crate::profile::{Profile, SiteRow};
use crate::strands::Point;

/// Overhead of less than this share of the work is not worth a word.
const MATTERS: f64 = 0.01;

/// A share of the critical path of less than this is not worth a word.
const CRITICAL: f64 = 0.10;

/// What sizes are judged by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure<'a> {
    pub(super) goal: &'a Goal,
    /// Of the program.
    pub(super) creation: Creation,
    /// The parallelism that the steps begin with.
    pub(super) parallelism: Option<Ratio>,
    /// Of the program.
    pub(super) span: Nanos,
    /// The critical path as recorded.
    pub(super) path: &'a Path,
}

pub(super) fn kinds(recording: &Recording, profile: &Profile, measure: &Measure<'_>) -> Vec<Kind> {
    let rows = profile.sites.iter();
    let locks = |row: &&SiteRow| recording.sites.get(row.site.0 as usize).is_some_and(|site| site.kind.is_lock());
    rows.filter(|row| row.tasks > 0 && !locks(row)).filter_map(|row| kind(row, measure)).collect()
}

fn kind(row: &SiteRow, measure: &Measure<'_>) -> Option<Kind> {
    let goal = measure.goal;
    let grain = grain(row, measure)?;
    let share = row.overhead_share.unwrap_or_default().0;
    if grain.overhead.is_none_or(|overhead| overhead.0 * goal.threshold > 1.0) {
        return (share >= MATTERS).then_some(Kind::TooFine(grain));
    }
    let critical = row.critical_share.unwrap_or_default().0 >= CRITICAL;
    let little = [row.parallelism, measure.parallelism].iter().all(|p| p.is_some_and(|p| p.0 < goal.target));
    if !critical || !little {
        return None;
    }
    let large = large(row, &grain, measure)?;
    (large.pieces >= 2.0).then_some(Kind::TooCoarse(grain, large))
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "means of counts; saturates")]
fn grain(row: &SiteRow, measure: &Measure<'_>) -> Option<Grain> {
    let threshold = measure.goal.threshold;
    let mean = row.task_mean?;
    let measured = row.overhead.as_f64() / row.tasks as f64;
    let creation = if row.overhead > Nanos::ZERO { measured } else { measure.creation.nanos() };
    let ran = mean.as_f64() * row.tasks as f64;
    let cutoff = Nanos((creation * threshold).ceil() as i64);
    Some(Grain {
        site: row.site,
        tasks: row.tasks,
        mean,
        creation: Nanos(creation.round() as i64),
        overhead: (ran > 0.0).then(|| Ratio(row.overhead.as_f64() / ran)),
        cutoff,
        below: row.sizes.buckets().iter().filter(|bucket| bucket.high <= cutoff).map(|bucket| bucket.count).sum(),
        saved: Nanos((row.overhead.as_f64() - ran / threshold.max(1.0)).max(0.0) as i64),
    })
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a count, for a mean; saturates")]
fn large(row: &SiteRow, grain: &Grain, measure: &Measure<'_>) -> Option<Large> {
    let on_path = on_path(row.site, measure.path);
    let mean = row.critical.as_f64() / on_path as f64;
    let limit = mean * measure.parallelism?.0 / measure.goal.target;
    let least = (limit as i64).max(grain.cutoff.0.saturating_mul(2)).max(1);
    let buckets = row.sizes.buckets();
    let longest = match row.tasks {
        1 => grain.mean,
        // Those on the path are among them.
        _ => row.longest_task(measure.span).max(Nanos(mean.round() as i64)).min(buckets.last()?.high),
    };
    let pieces = longest.as_f64() / grain.cutoff.as_f64().max(1.0);
    let count = buckets.iter().filter(|bucket| bucket.high.0 > least).map(|bucket| bucket.count).sum();
    (count > 0 && longest.0 > least).then(|| Large {
        count,
        limit: Nanos(least),
        on_path,
        mean_on_path: Nanos(mean.round() as i64),
        longest,
        median: row.sizes.quantile(0.5).unwrap_or(grain.mean),
        pieces: pieces.min(measure.goal.target.max(2.0)),
    })
}

/// How many of its tasks are on the critical path: each begins and ends once. At least one.
fn on_path(site: SiteId, path: &Path) -> u64 {
    let own = || path.iter().filter(|(place, _)| place.site == Some(site));
    let begun: u64 = own().filter(|(place, _)| place.before == Point::Begin).map(|(_, (_, strands))| strands).sum();
    let ended: u64 = own().filter(|(place, _)| place.after == Point::End).map(|(_, (_, strands))| strands).sum();
    begun.max(ended).max(1)
}
