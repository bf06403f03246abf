//! End to end: real programs, built by `cargo workspan`, run on real rayon.

mod bad_input;
mod build;
mod cilk;
mod closed_forms;
mod command;
mod diff;
mod doctor_info;
mod documents;
mod fixtures;
mod merge;
mod openmp;
mod openmp_build;
mod openmp_endings;
mod openmp_record;
mod openmp_run;
mod openmp_runner;
mod partial;
mod passthrough;
mod places;
mod planted;
mod projects;
mod random_programs;
mod reports;
mod sources;
mod strand_verbs;
mod strands;
