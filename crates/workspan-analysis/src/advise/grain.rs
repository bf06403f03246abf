//! Sizes of tasks against the cost of creating them.
//!
//! ```text
//! too fine:    overhead of the site > 10 % of what its tasks ran, and at least 1 % of the program's work
//! cutoff       = mean cost of a creation / 10 %: tasks of at least this size keep the overhead below 10 %
//! too coarse:  the site has 10 % of the critical path and less than the wanted parallelism,
//!              and its tasks are at least twice as long as `threshold` creations
//! pieces       = mean size / `threshold` creations, at most as many as the wanted parallelism
//! ```

use workspan_model::{Nanos, Ratio, Recording};

use super::finding::{Goal, Grain, Kind};
use crate::profile::{Profile, SiteRow};

/// Overhead that is acceptable, as a share of what tasks run.
const ACCEPTABLE: f64 = 0.10;

/// Overhead of less than this share of the work is not worth a word.
const MATTERS: f64 = 0.01;

/// A share of the critical path of less than this is not worth a word.
const CRITICAL: f64 = 0.10;

pub(super) fn kinds(recording: &Recording, profile: &Profile, goal: &Goal) -> Vec<Kind> {
    let rows = profile.sites.iter();
    let locks = |row: &&SiteRow| recording.sites.get(row.site.0 as usize).is_some_and(|site| site.kind.is_lock());
    rows.filter(|row| row.tasks > 0 && !locks(row)).filter_map(|row| kind(row, goal)).collect()
}

fn kind(row: &SiteRow, goal: &Goal) -> Option<Kind> {
    let grain = grain(row)?;
    let share = row.overhead_share.unwrap_or_default().0;
    if grain.overhead.is_none_or(|overhead| overhead.0 > ACCEPTABLE) {
        return (share >= MATTERS).then_some(Kind::TooFine(grain));
    }
    let critical = row.critical_share.unwrap_or_default().0 >= CRITICAL;
    let little = row.parallelism.is_some_and(|parallelism| parallelism.0 < goal.target);
    let pieces = grain.mean.as_f64() / (grain.creation.as_f64() * goal.threshold).max(1.0);
    let pieces = pieces.min(goal.target.max(2.0));
    (critical && little && pieces >= 2.0).then_some(Kind::TooCoarse(Grain { pieces, ..grain }))
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "means of counts; saturates")]
fn grain(row: &SiteRow) -> Option<Grain> {
    let mean = row.task_mean?;
    let creation = row.overhead.as_f64() / row.tasks as f64;
    let ran = mean.as_f64() * row.tasks as f64;
    let cutoff = Nanos((creation / ACCEPTABLE).ceil() as i64);
    Some(Grain {
        site: row.site,
        tasks: row.tasks,
        mean,
        creation: Nanos(creation.round() as i64),
        overhead: (ran > 0.0).then(|| Ratio(row.overhead.as_f64() / ran)),
        cutoff,
        below: row.sizes.buckets().iter().filter(|bucket| bucket.high <= cutoff).map(|bucket| bucket.count).sum(),
        saved: Nanos((row.overhead.as_f64() - ACCEPTABLE * ran).max(0.0) as i64),
        pieces: mean.as_f64() / cutoff.as_f64().max(1.0),
    })
}
