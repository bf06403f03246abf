//! End to end: real programs, built by `cargo workspan`, run on real rayon.

mod build;
mod random_programs;
