//! Reports: what a user sees.
//!
//! [`view`] is the one view model, from which [`json`], [`text`] and [`html`] are written; they add no numbers of their
//! own. It holds the only serialisable types of the project.
//!
//! **Invariant:** writers return text; nothing here prints, opens files or asks the clock.

pub mod html;
pub mod json;
pub mod place;
pub mod text;
pub mod view;
pub mod words;

mod make;
mod rows;
mod tree;

pub use make::report;
pub use view::Report;
