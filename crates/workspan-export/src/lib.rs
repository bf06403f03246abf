//! Recordings in the formats of other tools.
//!
//! Of a run's contexts, reported on the fly or computed from strands ([`stacks`]): [`folded`] stacks, [`speedscope`],
//! [`firefox`]. Of its strands in time ([`timeline`]): [`chrome`] traces, and threads in the two before. Of its strands in
//! their order ([`graph`]): [`dot`], [`graphml`]. As rows: [`tables`], [`strand_table`], [`cilkscale`], [`taskprof`].
//!
//! **Invariant:** values in, bytes out through [`std::io::Write`]; nothing here opens files, prints, or asks the clock. Names
//! come from programs: each format escapes them, so none can end a string, a cell, a line or a script.
//!
//! What was excluded of a file stands in it where its format has room for that, and is reported by whoever writes it. What the numbers mean, and where: `docs/format/exports.md`.

pub mod chrome;
pub mod cilkscale;
pub mod dot;
pub mod firefox;
pub mod folded;
pub mod graph;
pub mod graphml;
pub mod names;
pub mod speedscope;
pub mod stacks;
pub mod strand_table;
pub mod tables;
pub mod taskprof;
pub mod timeline;

mod csv;
mod json;
