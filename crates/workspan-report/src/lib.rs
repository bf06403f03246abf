//! Reports: what a user sees.
//!
//! [`view`] is the one view model, from which [`json`], [`text`] and [`html`] are written; they add no numbers of their
//! own. [`mod@what_if`], [`mod@advice`], [`mod@predict`], [`mod@calls`], [`mod@diff`], [`mod@scale`], [`mod@merged`] and [`mod@graph`] are
//! the same for the answers of those verbs, each with its view model beside its text; [`mod@live`] is what a page shows beyond that of a run
//! that was recorded strand by strand. These are the only serialisable types of the project.
//!
//! **Invariant:** writers return text; nothing here prints, opens files or asks the clock.

mod answers;
pub mod depend;
pub mod events;
pub mod graph;
pub mod html;
pub mod json;
pub mod limits;
pub mod live;
pub mod scale;
mod tables;
pub mod text;
pub mod threads;
pub mod verdict;
pub mod view;
mod wording;

mod columns;
mod crash;
mod make;
mod rows;

// Folders show the flow; names stay short.
use answers::unfound;
pub use answers::{
    advice, calls, diff, differential, inflated_memory, inflation, merged, predict, under_lock, what_if,
};
pub use tables::table;
use tables::{terminal, tree};
use wording::parts;
use wording::ran;
pub use wording::{glossary, place, shown, words};

pub use crash::crashed;
pub use live::{live, Live};
pub use make::{judged, report, typical_run};
pub use verdict::Judging;
pub use view::Report;
