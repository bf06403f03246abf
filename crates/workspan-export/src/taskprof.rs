//! TaskProf's table: the program as `main`, then a row for each site that has a place in the source.
//!
//! The share of the critical path is what strands of the site itself add to it; that of `main` what no site does.

use std::io::{self, Write};

use workspan_model::{Nanos, Ratio};
use workspan_report::Report;

use crate::csv;

/// TaskProf's header.
pub const HEADER: [&str; 4] = ["Source file", "Line number", "Parallelism", "critical path %"];

/// Writes a report.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    csv::row(out, HEADER)?;
    let program = &report.program;
    let span = Nanos(program.span_ns);
    let sites: Nanos = report.sites.iter().map(|site| Nanos(site.critical_ns)).sum();
    let percent = |share: Option<Ratio>| csv::or_empty(share.map(|share| share.0 * 100.0));
    let main = percent((span - sites).over(span));
    csv::row(out, ["main".to_owned(), "0".to_owned(), csv::or_empty(program.parallelism), main])?;
    for site in &report.sites {
        let file = site.code.clone().unwrap_or_else(|| site.file.clone());
        let share = percent(Nanos(site.critical_ns).over(span));
        csv::row(out, [file, site.line.to_string(), csv::or_empty(site.parallelism), share])?;
    }
    Ok(())
}
