//! Places and distances, as all parts of the view have them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::place;

/// Line and column.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Point {
    /// Source file.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// Iterations between two accesses.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Distance {
    /// Least.
    pub min: u64,
    /// Greatest.
    pub max: u64,
}

/// A file as it is called from `folder`.
pub(super) fn rename(file: &mut String, folder: &str) {
    *file = place::below(folder, file).to_owned();
}
