//! End to end: real programs, built by `cargo workspan`, run on real rayon.

mod build;
mod closed_forms;
mod random_programs;
