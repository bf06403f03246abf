//! The answer of `workspan scale`: its view model, as text with a plot, as JSON, CSV, SVG, and as a page.
//!
//! **Invariant:** all are written from [`view::Scale`], and none adds a number.

mod csv;
mod curves;
mod html;
mod make;
mod plot;
mod svg;
mod text;
pub mod view;
mod words;

#[cfg(test)]
mod tests;

pub use csv::csv;
pub use html::html;
pub use make::{scale, Input};
pub use svg::svg;
pub use text::text;
pub use view::{Conditions, Scale};

/// The answer as indented JSON.
pub fn json(view: &Scale) -> String {
    crate::parts::indented(view)
}

/// The schema of [`json`]'s output: `docs/format/scale.schema.json`.
pub fn schema() -> String {
    crate::parts::schema::<Scale>()
}

/// `1 worker`, `4 workers`.
fn words_of_workers(count: u32) -> String {
    format!("{count} {}", if count == 1 { "worker" } else { "workers" })
}
