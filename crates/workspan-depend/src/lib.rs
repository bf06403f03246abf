//! The dependence profile of a sequential program: which dependences its loops and calls have, which loops could run in
//! parallel, and how much that would give.
//!
//! * [`source`]: what the pass knows of the program, with numbers over all modules; [`touches`]: which reads of locals no write
//!   follows; [`effects`]: what functions of the C library do.
//! * [`shadow`]: for each byte the last write and all reads since; [`tree`]: the execution tree, of which only the way from the
//!   root is kept; [`iterations`]: which iteration a moment belongs to;
//!   [`objects`]: where allocations begin and end.
//! * [`engine`]: takes segments as they come, and finds dependences; [`table`]: where they are collected.
//! * [`models`]: work and span in all task models, as the program streams by; [`journal`], [`second`]: for those that have to know all
//!   dependences first.
//! * [`continuations`], [`chain`]: how large the tasks would be that calls become.
//! * [`paths`]: critical-path graphs of calls and loops, and what-if on them.
//! * [`verdict`]: loops and calls, from the table; [`profile`]: the result as values; [`mod@file`]: the result as bytes;
//!   [`merge`]: several runs as one.
//!
//! **Invariant:** nothing here opens a file, looks at a clock, or prints.

pub mod chain;
pub mod continuations;
pub mod effects;
mod encoding;
pub mod engine;
pub mod file;
pub mod iterations;
pub mod journal;
pub mod merge;
pub mod models;
pub mod objects;
pub mod paths;
pub mod profile;
pub mod second;
pub mod shadow;
pub mod source;
pub mod table;
pub mod touches;
pub mod tree;
pub mod verdict;
