//! Strand by strand to Parquet, and back: the folder `NAME.strands` beside a recording `NAME.wspan`.
//!
//! * [`Writer`] takes the strands of a run in serial order, in batches. It writes them as many small files, each moved to
//!   its place when whole, so that whoever kills it takes the last of them only.
//! * [`Reader`] gives them back in the same order, decoded by several threads, in bounded memory.
//!
//! The files are plain Parquet: `docs/format/strands.md` is the description for others. They are written with the crate
//! `parquet`. They are read by a small decoder of what the writer makes, which takes any bytes.
//!
//! **Invariant:** no input makes this crate panic, recurse without bound, or allocate more than a small multiple of the
//! input or of a row group, whichever is larger.

pub mod names;
pub mod reader;
pub mod survey;
pub mod totals;
pub mod writer;

mod error;
mod parquet;
mod problem;
mod schema;
pub mod table;
mod tasks;

pub use error::StoreError;
pub use names::folder_of;
pub use problem::Problem;
pub use reader::{decode_part, seen, Reader, Stored};
pub use schema::{COLUMNS, EVENTS};
pub use survey::{survey, Survey};
pub use totals::{TaskTotals, Totals};
pub use writer::{Meta, Summary, Writer};

/// Readers of an older major version cannot read the rows.
pub const MAJOR: u16 = 3;
/// The oldest one whose rows can be read: it lacks events, and has no others.
pub const OLDEST: u16 = 1;
/// Readers of an older minor version skip what they do not know.
pub const MINOR: u16 = 0;

/// Rows of a row group, but for the last of a part.
pub const GROUP_ROWS: usize = 1 << 17;
/// Row groups of a part, but for the last of a run.
pub const PART_GROUPS: usize = 8;
