//! The answer of `workspan depend`: its view model, as text, as JSON, as a page, and in the formats of other tools.
//!
//! **Invariant:** all are written from [`view::Depend`], and none adds a number.

mod change;
mod files;
mod gain;
pub mod graphs;
mod html;
mod make;
mod points;
mod quoted;
mod text;
pub mod view;

#[cfg(test)]
mod tests;

pub use files::{autopar, csv, dot, sarif};
pub use graphs::export::critical_dot;
pub use graphs::what_if;
pub use html::html;
pub use make::{answer, Options};
pub use text::text;
pub use view::Depend;

use schemars::generate::SchemaSettings;

/// The answer as indented JSON.
pub fn json(view: &Depend) -> String {
    crate::parts::indented(view)
}

/// The schema of [`json`]'s output: `docs/format/depend.schema.json`.
pub fn schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    serde_json::to_string_pretty(&generator.into_root_schema_for::<Depend>()).unwrap_or_default() + "\n"
}
