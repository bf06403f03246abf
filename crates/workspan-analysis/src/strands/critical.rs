//! Which rows lie on the critical path.
//!
//! The [machine](super::machine) reads the rows with a key for each of them, so what it reports of the critical path by key it
//! reports by row; the rules are its own. Of paths of equal length the first in serial order counts.
//!
//! **Memory:** 48 bytes for each row on a path that may still become the critical one: of a serial run, all rows; and up to 8
//! for any row.

use workspan_model::{ContextId, Nanos, Recording, Strand};

use super::charge::Charge;
use super::machine::Machine;
use super::path::TOKEN;
use super::rows::Rows;

/// The critical path of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Its length.
    pub span: Nanos,
    rows: Vec<u32>,
}

impl CriticalPath {
    /// Its rows, counted from 0, in serial order; those that cost nothing are skipped.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// True if it goes through this row, counted from 0, and takes time there.
    pub fn contains(&self, row: u64) -> bool {
        u32::try_from(row).is_ok_and(|row| self.rows.binary_search(&row).is_ok())
    }
}

/// The critical path of a run of `recording`. Of more than 2^31 rows those that come later are not reported.
pub fn critical_path<R: Rows + ?Sized>(recording: &Recording, rows: &R) -> Result<CriticalPath, R::Error> {
    let finished = super::run(rows, || vec![Machine::new(recording, ByRow(0))])?;
    let path = finished.into_iter().next().map(|finished| CriticalPath {
        span: finished.span,
        rows: finished.path.iter().map(|part| part.key).filter(|row| *row < LAST).collect(),
    });
    Ok(path.unwrap_or_default())
}

/// The key of all rows that have none of their own.
const LAST: u32 = TOKEN - 1;

/// By row; the number of the next one.
struct ByRow(u32);

impl Charge for ByRow {
    const PLACES: bool = false;
    const SCALE: i64 = 1;

    fn charge(&mut self, row: &Strand, _: ContextId, _: u32, _: u32) -> (u32, i64) {
        let key = self.0;
        self.0 = LAST.min(key + 1);
        (key, row.cost.0)
    }

    fn blocked(&self, key: u32) -> u32 {
        key
    }

    fn expected(&self, _: ContextId) -> u32 {
        u32::MAX
    }
}
