//! Reports: what a user sees.
//!
//! [`view`] is the one view model, from which [`json`], [`text`] and [`html`] are written; they add no numbers of their
//! own. [`mod@what_if`], [`mod@advice`], [`mod@predict`], [`mod@calls`], [`mod@diff`], [`mod@scale`], [`mod@merged`] and [`mod@graph`] are
//! the same for the answers of those verbs, each with its view model beside its text; [`mod@live`] is what a page shows beyond that of a run
//! that was recorded strand by strand. These are the only serialisable types of the project.
//!
//! **Invariant:** writers return text; nothing here prints, opens files or asks the clock.

pub mod advice;
pub mod calls;
pub mod depend;
pub mod diff;
pub mod differential;
pub mod events;
pub mod glossary;
pub mod graph;
pub mod html;
pub mod inflation;
pub mod json;
pub mod limits;
pub mod live;
pub mod merged;
pub mod place;
pub mod predict;
pub mod scale;
pub mod shown;
pub mod table;
pub mod text;
pub mod verdict;
pub mod view;
pub mod what_if;
pub mod words;

mod columns;
mod crash;
mod make;
mod parts;
mod rows;
mod terminal;
mod tree;

pub use crash::crashed;
pub use live::{live, Live};
pub use make::{judged, report, typical_run};
pub use verdict::Judging;
pub use view::Report;
