//! `workspan export`.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::{Args, ValueEnum};
use workspan_analysis::schedule::MOST_PROCESSORS;

use super::DEFAULT_FILE;

const EXPORT: &str = "\
Traces and graphs need a recording made with --strands; firefox, speedscope and cilkscale show more of one.

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
    /// Recording to read, or its folder of strands.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Format to write.
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub format: Format,
    /// Write to FILE, or with `--table all` to a folder (default: standard output).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// For folded: weigh stacks by work or by their share of the critical path (default: work).
    #[arg(long, value_enum)]
    pub weight: Option<Weight>,
    /// For csv: write this table.
    #[arg(long, value_name = "TABLE", value_enum, required_if_eq("format", "csv"))]
    pub table: Option<Table>,
    /// Write at most the N longest slices of a timeline (default: 1000000), or refuse a graph of more than N strands
    /// (default: 2000).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub limit: Option<u32>,
    /// For cilkscale and the table calls: charge NS nanoseconds for each steal (default: as in the recording, otherwise
    /// 5000).
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub steal: Option<u64>,
    /// For the tables verdict and losses: assume a machine with N processors (default: 16).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PROCESSORS)))]
    pub processors: Option<u32>,
    /// Read the Nth of repeated runs (default: the typical one; for tables of the report, all).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: Option<u32>,
    /// Write to standard output, as JSON, which files were written and what was excluded.
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
    /// Their share of the critical path.
    Critical,
}

/// Tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// What limits the program.
    Verdict,
    /// Loss of speedup by cause and site.
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
    /// Warnings about the accuracy of the numbers.
    Warnings,
    /// Lowest and highest values over repeated runs.
    Spread,
    /// How it was recorded.
    Recorded,
    /// Call sites, as the command `calls` shows them.
    Calls,
    /// Every strand.
    Strands,
    /// Each of them in a file of its own.
    All,
}

impl Export {
    /// An error if an option has no meaning for the requested format.
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
