//! The answer of `workspan depend`: its view model, as text, as JSON, as a page, and in the formats of other tools.
//!
//! **Invariant:** all are written from [`view::Depend`], and none adds a number.

mod algorithm;
mod change;
mod files;
mod gain;
pub mod graphs;
mod header;
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
pub use make::{answer, Options, Threshold};
pub use text::text;
pub use view::Depend;

/// The answer as indented JSON.
pub fn json(view: &Depend) -> String {
    crate::parts::indented(view)
}

/// The schema of [`json`]'s output: `docs/format/depend.schema.json`.
pub fn schema() -> String {
    crate::parts::schema::<Depend>()
}
