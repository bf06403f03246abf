//! Cilkscale's table: the whole program without a tag, then a row for each site.
//!
//! Burdened spans are those of the run's strands, or as they were reported on the fly; empty if neither is there.

use std::collections::BTreeMap;
use std::io::{self, Write};

use workspan_analysis::{laws, Calls};
use workspan_model::{Nanos, Recording, SiteKind};
use workspan_report::view::Site;
use workspan_report::Report;

use crate::csv;
use crate::json::Seconds;

/// Cilkscale's header.
pub const HEADER: [&str; 6] =
    ["tag", "work (seconds)", "span (seconds)", "parallelism", "burdened_span (seconds)", "burdened_parallelism"];

/// Writes a report of one run of `recording`, with what its strands report about steals.
pub fn write(recording: &Recording, report: &Report, calls: Option<&Calls>, out: &mut dyn Write) -> io::Result<()> {
    csv::row(out, HEADER)?;
    let program = &report.program;
    let told = |burdened: Option<workspan_report::view::Burdened>| burdened.map(|burdened| Nanos(burdened.span_ns));
    let computed = calls.and_then(|calls| calls.burdened).map(|burdened| burdened.span);
    let burdened = computed.or_else(|| told(program.burdened));
    line(String::new(), [program.work_ns, program.one_processor_ns], program.span_ns, burdened, out)?;
    let spans = calls.map(|calls| burdened_spans(recording, calls)).unwrap_or_default();
    for site in &report.sites {
        // Code under a lock is serial, whoever steals what is within.
        let burdened = spans.get(site.id.as_str()).copied().or_else(|| told(site.burdened)).filter(|_| !is_lock(site));
        line(tag(site), [site.work_ns; 2], site.instances_span_ns.unwrap_or(site.span_ns), burdened, out)?;
    }
    Ok(())
}

/// `work`, and what it takes one processor.
fn line(tag: String, work: [i64; 2], span: i64, burdened: Option<Nanos>, out: &mut dyn Write) -> io::Result<()> {
    let ([work, on_one], span) = (work.map(Nanos), Nanos(span));
    let over = |span: Nanos| csv::or_empty(laws::parallelism(on_one, span).map(|ratio| ratio.0));
    let cells = [
        tag,
        Seconds(work).to_string(),
        Seconds(span).to_string(),
        over(span),
        csv::or_empty(burdened.map(Seconds)),
        burdened.map(over).unwrap_or_default(),
    ];
    csv::row(out, cells)
}

/// The sum of the spans of a site's instances with steals, over all that call it, by its id.
fn burdened_spans(recording: &Recording, calls: &Calls) -> BTreeMap<String, Nanos> {
    let mut spans = BTreeMap::new();
    for row in &calls.rows {
        let site = recording.sites.get(row.callee.0 as usize);
        if let (Some(site), Some(burdened)) = (site, row.burdened) {
            *spans.entry(site.stable_id(&recording.sites)).or_insert(Nanos::ZERO) += burdened.span;
        }
    }
    spans
}

fn is_lock(site: &Site) -> bool {
    SiteKind::ALL.iter().any(|kind| kind.is_lock() && kind.name() == site.kind)
}

fn tag(site: &Site) -> String {
    let place = site.code.clone().unwrap_or_else(|| workspan_report::place::short(&site.file, site.line));
    match &site.name {
        Some(name) => format!("{place} {name}"),
        None => format!("{place} {}", site.kind),
    }
}
