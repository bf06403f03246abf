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

use schemars::generate::SchemaSettings;

/// The answer as indented JSON.
pub fn json(view: &Limits) -> String {
    crate::parts::indented(view)
}

/// The schema of [`json`]'s output: `docs/format/limits.schema.json`.
pub fn schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    serde_json::to_string_pretty(&generator.into_root_schema_for::<Limits>()).unwrap_or_default() + "\n"
}
