//! `workspan export`.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::{Args, ValueEnum};
use workspan_analysis::schedule::MOST_PROCESSORS;

use super::DEFAULT_FILE;

const EXPORT: &str = "\
Traces and graphs need a recording made with --record; firefox, speedscope and cilkscale tell more of one.

Examples:
  workspan export --format perfetto -o trace.json        then open it on ui.perfetto.dev
  workspan export --format speedscope -o run.json        then open it on www.speedscope.app
  workspan export --format folded --weight critical | inferno-flamegraph > critical.svg
  workspan export small.wspan --format dot | dot -Tsvg > small.svg
  workspan export --format csv --table sites
  workspan export --format csv --table all -o tables";

/// `workspan export`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXPORT)]
pub struct Export {
    /// The recording, or its folder of strands.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// The format.
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub format: Format,
    /// Write to FILE, or for `--table all` to a folder; default: standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// For folded: what stacks weigh (default: work).
    #[arg(long, value_enum)]
    pub weight: Option<Weight>,
    /// For csv: which table.
    #[arg(long, value_name = "TABLE", value_enum, required_if_eq("format", "csv"))]
    pub table: Option<Table>,
    /// At most N slices of a timeline, the longest (default: 1000000), or N strands of a graph (default: 2000).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub limit: Option<u32>,
    /// For cilkscale and the table of calls: what a steal costs, in nanoseconds; default: as the program was recorded with,
    /// or measured then, otherwise 5000.
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub steal: Option<u64>,
    /// For the tables verdict and losses: judge the program on N processors (default: 16).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PROCESSORS)))]
    pub processors: Option<u32>,
    /// Which of repeated runs; default: the typical one, and for tables of the report all of them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: Option<u32>,
    /// Tell what was written, and what was left out, as JSON.
    #[arg(long, requires = "output")]
    pub json: bool,
}

/// Formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Trace events as JSON, for ui.perfetto.dev; needs strands.
    Perfetto,
    /// The same, for `chrome://tracing`.
    Chrome,
    /// Processed profile, for profiler.firefox.com.
    Firefox,
    /// For www.speedscope.app.
    Speedscope,
    /// Folded stacks, for flamegraph.pl, inferno and others.
    Folded,
    /// Strands as a graph, for graphviz; needs strands.
    Dot,
    /// The same as XML, for yEd, Cytoscape, Gephi and others.
    Graphml,
    /// A table, for spreadsheets and data frames.
    Csv,
    /// Cilkscale's table.
    Cilkscale,
    /// TaskProf's table.
    Taskprof,
}

/// What stacks weigh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Weight {
    /// Their work.
    Work,
    /// What they add to the critical path.
    Critical,
}

/// Tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// What limits the program.
    Verdict,
    /// What is missing to linear speedup, by cause and site.
    Losses,
    /// The whole program.
    Program,
    /// Top-level regions and the serial code between them.
    Regions,
    /// Spawn sites.
    Sites,
    /// Sizes of the tasks of each site.
    Sizes,
    /// The tree of sites.
    Contexts,
    /// What to know before believing a number.
    Warnings,
    /// Extremes over repeated runs.
    Spread,
    /// How it was recorded.
    Recorded,
    /// Call sites, as the verb `calls` tells them.
    Calls,
    /// Every strand.
    Strands,
    /// Each of them in a file of its own.
    All,
}

impl Export {
    /// An error if an option means nothing for what is asked for.
    pub fn check(&self) -> anyhow::Result<()> {
        use Format::{Chrome, Cilkscale, Csv, Dot, Firefox, Folded, Graphml, Perfetto, Speedscope};
        let of = |tables: &[Table]| self.format == Csv && self.table.is_some_and(|table| tables.contains(&table));
        let limited = matches!(self.format, Perfetto | Chrome | Firefox | Speedscope | Dot | Graphml);
        for (given, means, option, what) in [
            (self.table.is_some(), self.format == Csv, "--table", "--format csv"),
            (self.weight.is_some(), self.format == Folded, "--weight", "--format folded"),
            (self.limit.is_some(), limited, "--limit", "timelines and graphs"),
            (
                self.steal.is_some(),
                self.format == Cilkscale || of(&[Table::Calls, Table::All]),
                "--steal",
                "--format cilkscale and --table calls",
            ),
            (
                self.processors.is_some(),
                of(&[Table::Verdict, Table::Losses, Table::All]),
                "--processors",
                "--table verdict and --table losses",
            ),
        ] {
            ensure!(!given || means, "{option} is for {what}");
        }
        let to_stdout = self.output.as_deref() == Some(Path::new("-"));
        ensure!(!self.json || !to_stdout, "--json needs a file: -o FILE");
        Ok(())
    }
}
