//! `workspan predict`.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{bail, ensure, Context};
use clap::Args;
use workspan_analysis::schedule::MOST_PROCESSORS;

use super::DEFAULT_FILE;

const EXAMPLES: &str = "\
1..1024 are the powers of two between them, both ends included. A PART is as for what-if; its strands are done by as many
processors as its FACTOR, while their work stays. SITE=NS lets tasks of a site (s-0123abcd) with less work than that, all
below them included, be run by their creators.

Examples:
  workspan predict
  workspan predict run.wspan -p 8,16,64 --steal 300
  workspan predict run.wspan -p 1..256 -s src/sort.rs:10-20=8
  workspan predict run.wspan --grain s-0123abcd=20000 --csv > curve.csv";

/// `workspan predict`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Predict {
    /// The recording, or its folder of strands.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Numbers of processors, 1 to 1024.
    #[arg(short, long, value_name = "P[,P…] | P..P", default_value = "1..1024")]
    pub processors: Processors,
    /// What a steal costs, in nanoseconds; default: as the program was recorded with, or measured then, otherwise 5000.
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub steal: Option<u64>,
    /// Schedules by work stealing for each number of processors, each with other choices; 0: greedy ones only.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub seeds: u32,
    /// Let PART be FACTOR times faster, by being done in parallel.
    #[arg(short, long, value_name = "PART=FACTOR")]
    pub speed_up: Vec<String>,
    /// Let tasks of SITE with less work than this be run by their creators.
    #[arg(long, value_name = "SITE=NS")]
    pub grain: Vec<Cutoff>,
    /// Which of repeated runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: u32,
    /// As JSON.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Values with commas between, names first.
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
        _ => bail!("`{text}` is no number of processors: 1 to {MOST_PROCESSORS}"),
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
            "`{site}` is no site: its id in a report, s-0123abcd, must stand before the `=`"
        );
        match least.parse() {
            Ok(nanos) if (0..=1_000_000_000_000).contains(&nanos) => Ok(Cutoff { site: site.to_owned(), least: nanos }),
            _ => bail!("`{least}` are no nanoseconds: a whole number from 0 to 10^12 must stand behind the `=`"),
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
            ("", "`` is no number of processors"),
            ("0", "1 to 1024"),
            ("1025", "1 to 1024"),
            ("1..", "`` is no number"),
            ("8..4", "ends before it begins"),
        ] {
            let error = text.parse::<Processors>().expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
        for (text, words) in [
            ("x", "is not SITE=NS"),
            ("main=5", "is no site"),
            ("s-0123abcd=-1", "no nanoseconds"),
            ("s-1=1e3", "no nano"),
        ] {
            let error = text.parse::<Cutoff>().expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
