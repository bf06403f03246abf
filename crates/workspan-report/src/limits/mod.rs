//! The answer of `workspan limits`: its view model, as text, as JSON, CSV, SVG, and as a page.
//!
//! **Invariant:** all are written from [`view::Limits`], and none adds a number.

mod beyond;
mod csv;
mod html;
mod make;
mod models;
mod svg;
mod text;
pub mod view;

#[cfg(test)]
mod tests;

pub use csv::csv;
pub use html::html;
pub use make::{limits, Input, Place};
pub use svg::svg;
pub use text::text;
pub use view::{Conditions, Limits};

/// The answer as indented JSON.
pub fn json(view: &Limits) -> String {
    crate::parts::indented(view)
}

/// The schema of [`json`]'s output: `docs/format/limits.schema.json`.
pub fn schema() -> String {
    crate::parts::schema::<Limits>()
}
