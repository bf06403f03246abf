//! Totals by region of the source.

use std::collections::BTreeSet;

use workspan_model::{Nanos, Ratio, Recording};

use super::charge::{ByRegion, Charge};
use super::machine::Machine;
use super::problem::Problems;
use super::region::{Place, Region, RegionId};
use super::rows::Rows;

/// A run by region.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegionProfile {
    /// Cost of all strands.
    pub work: Nanos,
    /// Longest chain of strands.
    pub span: Nanos,
    /// By falling share of the critical path, then of the work.
    pub regions: Vec<RegionRow>,
    /// What was wrong with the rows.
    pub problems: Problems,
}

/// A region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegionRow {
    /// Its number.
    pub id: RegionId,
    /// Where it is.
    pub region: Region,
    /// Cost of its strands.
    pub work: Nanos,
    /// Their number, but for those that cost nothing.
    pub strands: u64,
    /// What they add to the critical path.
    pub critical: Nanos,
    /// How many of them lie on it.
    pub critical_strands: u64,
    /// Time that they were blocked, on the critical path.
    pub critical_blocked: Nanos,
    /// `critical` and `critical_blocked`, over the span.
    pub critical_share: Option<Ratio>,
}

/// The regions of a run of `recording`.
pub fn regions<R: Rows + ?Sized>(recording: &Recording, rows: &R) -> Result<RegionProfile, R::Error> {
    let machine = || Machine::new(recording, ByRegion::new(Box::new(|_| 1.0)));
    let finished = super::run(rows, || vec![machine()])?;
    Ok(finished.into_iter().next().map(|finished| finished.region_profile()).unwrap_or_default())
}

/// Where the strands of a run of `recording` are.
pub fn places<R: Rows + ?Sized>(recording: &Recording, rows: &R) -> Result<BTreeSet<Place>, R::Error> {
    let profile = regions(recording, rows)?;
    Ok(profile.regions.iter().map(|row| Place::of(&recording.contexts, &row.region)).collect())
}

impl super::Finished<ByRegion<'_>> {
    /// By region, costs on the critical path divided by their factors.
    pub(crate) fn region_profile(&self) -> RegionProfile {
        let charge = &self.charge;
        let mut rows: Vec<RegionRow> = (0..)
            .zip(&charge.seen)
            .map(|(id, seen)| RegionRow {
                id: RegionId(id),
                region: charge.regions.get(id),
                work: Nanos(seen.work),
                strands: seen.strands,
                critical: Nanos::ZERO,
                critical_strands: 0,
                critical_blocked: Nanos::ZERO,
                critical_share: None,
            })
            .collect();
        for part in &self.path {
            if let Some(row) = rows.get_mut(part.key as usize / 2) {
                let span = ByRegion::nanos(part.span);
                if part.key % 2 == 0 {
                    (row.critical, row.critical_strands) = (span, part.secondary.unsigned_abs());
                } else {
                    row.critical_blocked = span;
                }
                row.critical_share = (row.critical + row.critical_blocked).over(self.span);
            }
        }
        rows.sort_by_key(|row| (std::cmp::Reverse((row.critical + row.critical_blocked, row.work)), row.id));
        RegionProfile { work: self.work, span: self.span, regions: rows, problems: self.problems }
    }
}
