//! Development tasks: `cargo xtask VERB`.
//!
//! Exit status: 0 if all is well, 1 if something failed, 2 if the machine lacks something (or the usage was wrong).

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod ci;
mod demo;
mod fuzz;
mod licences;
mod setup;
mod shell;
mod soundness;
mod test;
mod tidy;
mod web;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Development tasks of Workspan", max_term_width = 100)]
struct Xtask {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Profile a published program, unmodified, and show the report.
    Demo,
    /// Run all tests; install what they need first.
    Test(test::Options),
    /// Do what continuous integration does: format, tidy, lints, documentation, licences, fuzz targets, Miri, tests.
    Ci(ci::Options),
    /// Check the rules of the repository that no compiler knows.
    Tidy,
    /// Count how the files of each crate import one another, and show circles.
    Imports,
    /// Measure overhead and accuracy.
    Bench(bench::Options),
    /// Make the script of the HTML report from `web/`, and its engine from `workspan-page`.
    Web(web::Options),
    /// Run a command, and show the most memory that it had, in KiB.
    #[command(hide = true)]
    Peak(bench::Peak),
    /// Run the fuzz targets for a limited time.
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let done = match Xtask::parse().verb {
        Verb::Demo => demo::main(),
        Verb::Test(options) => test::main(&options),
        Verb::Ci(options) => ci::main(&options),
        Verb::Tidy => tidy::main(),
        Verb::Imports => tidy::imports(),
        Verb::Bench(options) => bench::main(&options),
        Verb::Peak(options) => bench::peak(&options),
        Verb::Web(options) => web::main(&options),
        Verb::Fuzz(options) => fuzz::main(&options),
    };
    let Err(error) = done else {
        return ExitCode::SUCCESS;
    };
    eprintln!("error: {error:#}");
    ExitCode::from(if error.is::<setup::Missing>() { 2 } else { 1 })
}
