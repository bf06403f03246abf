//! `workspan predict`.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{bail, ensure, Context};
use clap::Args;
use workspan_analysis::schedule::MOST_PROCESSORS;

use super::DEFAULT_FILE;

const EXAMPLES: &str = "\
P..P stands for both numbers and the powers of two between them: 3..20 for 3,4,8,16,20. PART is as for what-if: FACTOR processors share the \
work of its strands. SITE=NS predicts a cutoff: tasks of the site (s-0123abcd) with less than NS nanoseconds \
of work, tasks below them included, run within their creators.

Needs a recording made with --strands. The program does not run again.

Examples:
  workspan predict
  workspan predict run.wspan -p 8,16,64 --steal 300
  workspan predict run.wspan -p 1..256 -s src/sort.rs:10-20=8
  workspan predict run.wspan --grain s-0123abcd=20000 --csv > curve.csv";

/// `workspan predict`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Predict {
    /// Recording to read, or its folder of strands.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Predict for these numbers of processors, 1 to 1024.
    #[arg(short, long, value_name = "P[,P…] | P..P", default_value = "1..1024")]
    pub processors: Processors,
    /// Charge NS nanoseconds for each steal (default: as in the recording, otherwise 5000).
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub steal: Option<u64>,
    /// Simulate N work-stealing schedules for each number of processors; 0: greedy schedules only.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub seeds: u32,
    /// Assume that PART runs in parallel, FACTOR times faster.
    #[arg(short, long, value_name = "PART=FACTOR")]
    pub speed_up: Vec<String>,
    /// Assume that tasks of SITE with less than NS nanoseconds of work run within their creators.
    #[arg(long, value_name = "SITE=NS")]
    pub grain: Vec<Cutoff>,
    /// Read the Nth of repeated runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: u32,
    /// Write JSON in place of the text.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Write CSV in place of the text, with a header line.
    #[arg(long)]
    pub csv: bool,
}

/// Numbers of processors, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processors(pub Vec<u32>);

impl FromStr for Processors {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Processors> {
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let Some((first, last)) = part.split_once("..") else {
                numbers.push(number(part)?);
                continue;
            };
            let (first, last) = (number(first)?, number(last)?);
            ensure!(first <= last, "`{part}` ends before it begins");
            let powers = (0..=10).map(|power| 1 << power).filter(|power| (first..=last).contains(power));
            numbers.extend(powers.chain([first, last]));
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Processors(numbers))
    }
}

fn number(text: &str) -> anyhow::Result<u32> {
    match text.trim().parse() {
        Ok(number) if (1..=MOST_PROCESSORS).contains(&number) => Ok(number),
        _ => bail!("`{text}` is not a number of processors from 1 to {MOST_PROCESSORS}"),
    }
}

/// `SITE=NS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cutoff {
    /// Id of the site.
    pub site: String,
    /// Nanoseconds.
    pub least: i64,
}

impl FromStr for Cutoff {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Cutoff> {
        let (site, least) = text.rsplit_once('=').with_context(|| format!("`{text}` is not SITE=NS"))?;
        ensure!(
            site.starts_with("s-"),
            "`{site}` is not the id of a site: write SITE=NS, with the id from a report, as in s-0123abcd=20000"
        );
        match least.parse() {
            Ok(nanos) if (0..=1_000_000_000_000).contains(&nanos) => Ok(Cutoff { site: site.to_owned(), least: nanos }),
            _ => bail!("`{least}` is not a time in nanoseconds: write a whole number from 0 to 10^12 behind the `=`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[u32]) {
        assert_eq!(text.parse::<Processors>().expect("it is right").0, expected);
    }

    #[test]
    fn numbers_of_processors_are_read() {
        check("8", &[8]);
        check("4,1,2,4", &[1, 2, 4]);
        check("1..16", &[1, 2, 4, 8, 16]);
        check("3..10,100", &[3, 4, 8, 10, 100]);
        check("1024..1024", &[1024]);
    }

    #[test]
    fn what_is_badly_formed_is_said() {
        for (text, words) in [
            ("", "`` is not a number of processors"),
            ("0", "1 to 1024"),
            ("1025", "1 to 1024"),
            ("1..", "`` is not a number"),
            ("8..4", "ends before it begins"),
        ] {
            let error = text.parse::<Processors>().expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
        for (text, words) in [
            ("x", "is not SITE=NS"),
            ("main=5", "is not the id of a site"),
            ("s-0123abcd=-1", "not a time in nanoseconds"),
            ("s-1=1e3", "not a time"),
        ] {
            let error = text.parse::<Cutoff>().expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
