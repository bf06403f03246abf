//! What is to be measured, and how often.

use std::path::PathBuf;

/// Options.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Groups or cases, for example `overhead`, `fib`, `tree`; all of them if none is named.
    pub(super) names: Vec<String>,
    /// Pairs of runs per case; samples of the accuracy groups are always five.
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) runs: u32,
    /// Millions of strands of the made-up recordings of `replay`; 100 of them take 2 GB on disk, and some minutes.
    #[arg(long, value_name = "MILLIONS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(super) strands: u64,
    /// Measure queries, too: DataFusion takes a quarter of an hour to build.
    #[arg(long)]
    pub(super) query: bool,
    /// Write the results as JSON to FILE, besides `target/bench/latest.json`.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Exit with status 1 if a target is missed.
    #[arg(long)]
    pub(super) check: bool,
    /// Write the tables to `docs/benchmarks.md`.
    #[arg(long, conflicts_with = "names")]
    pub(super) summary: bool,
}

impl Options {
    /// True if a case of a group is requested.
    pub(super) fn wants(&self, group: &str, case: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| name == group || name == case)
    }
}
