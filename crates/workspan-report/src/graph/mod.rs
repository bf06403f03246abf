//! The page of a task graph: what one or several back ends have found, as drawings and tables.
//!
//! **Invariant:** back ends give numbers and names as they have found them; nothing here adds a number, and every name is
//! escaped on its way into the page.

mod html;
#[cfg(test)]
mod tests;

pub use crate::html::axis::{Axis, Scale};
pub use crate::html::chart::{Chart, Draw, Point, Series};
pub use crate::html::heat::{Heat, Row};
pub use html::html;

/// A page.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The command of Workspan.
    pub of: &'static str,
    /// The program and its arguments.
    pub command: &'a [String],
    /// Seconds since 1970 when it was recorded.
    pub made_at: u64,
    /// The most important figures.
    pub headline: &'a str,
    /// What is missing from the graph.
    pub warnings: &'a [String],
    /// What has been found.
    pub sections: &'a [Section],
}

/// What a back end has found.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// What it is about.
    pub title: &'static str,
    /// The figures in words.
    pub text: String,
    /// How to read drawings and tables.
    pub help: String,
    /// Drawings.
    pub drawings: Vec<Drawing>,
    /// Tables.
    pub tables: Vec<Table>,
}

/// A drawing.
#[derive(Clone, Debug)]
pub enum Drawing {
    /// Over two axes.
    Chart(Chart),
    /// A heat map.
    Heat(Heat),
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Names of its columns.
    pub header: Vec<String>,
    /// Columns that hold names, not numbers.
    pub names: Vec<usize>,
    /// Rows; the page shows the first ones, and says how many there are.
    pub rows: Vec<Vec<String>>,
}
