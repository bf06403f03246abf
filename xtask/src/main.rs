//! Development tasks: `cargo xtask VERB`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use clap::{Parser, Subcommand};

mod bench;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Development tasks of Workspan")]
struct Xtask {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure overhead and accuracy.
    Bench(bench::Options),
}

fn main() -> anyhow::Result<()> {
    match Xtask::parse().verb {
        Verb::Bench(options) => bench::main(&options),
    }
}
