//! What options of several commands have in common.

use clap::ValueEnum;

/// Where recordings are written and read unless another file is named.
pub const DEFAULT_FILE: &str = "workspan.wspan";

/// Rows of a table that are shown unless another number is requested.
pub const DEFAULT_TOP: usize = 15;

/// Source of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// The cycle counter.
    #[default]
    Real,
    /// Ticks that the program counts itself.
    Virtual,
}
