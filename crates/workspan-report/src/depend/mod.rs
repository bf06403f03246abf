//! The answer of `workspan depend`: its view model, as text and as JSON.
//!
//! **Invariant:** both are written from [`view::Depend`], and neither adds a number.

mod make;
mod text;
pub mod view;

#[cfg(test)]
mod tests;

pub use make::answer;
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
