//! All strands as CSV, as many as there are.

use std::io::{self, Write};
use std::ops::ControlFlow;

use workspan_analysis::strands::critical_path;
use workspan_analysis::Rows;
use workspan_model::{Event, Recording, Strand};
use workspan_report::place;

use crate::csv;

const COLUMNS: [&str; 12] = [
    "strand",
    "event",
    "site",
    "place",
    "kind",
    "context",
    "cost_ns",
    "blocked_ns",
    "start_ns",
    "thread",
    "critical",
    "overhead_ns",
];

/// Writes the rows of a run of `recording`.
pub fn write<R: Rows + ?Sized>(
    recording: &Recording,
    rows: &R,
    out: &mut dyn Write,
) -> Result<io::Result<()>, R::Error> {
    let path = critical_path(recording, rows)?;
    let contexts: Vec<[String; 3]> = recording
        .contexts
        .ids()
        .map(|id| {
            let site = recording.contexts.site(id).and_then(|site| recording.sites.get(site.0 as usize));
            let words = site.map(|site| {
                [site.stable_id(&recording.sites), place::label(recording, site), site.kind.name().to_owned()]
            });
            words.unwrap_or_default()
        })
        .collect();
    let mut written = csv::row(out, COLUMNS);
    let mut number = 0;
    rows.read(&mut |batch| {
        for row in batch {
            let site = contexts.get(row.context.index());
            written = match &written {
                Ok(()) => line(number, row, site, path.contains(number), out),
                Err(_) => return ControlFlow::Break(()),
            };
            number += 1;
        }
        ControlFlow::Continue(())
    })?;
    Ok(written)
}

fn line(number: u64, row: &Strand, site: Option<&[String; 3]>, critical: bool, out: &mut dyn Write) -> io::Result<()> {
    let word = |at: usize| site.map(|words| words[at].clone()).unwrap_or_default();
    let overhead = match row.event {
        Event::Spawn(creation) | Event::Call(creation) => Some(creation.overhead.0),
        _ => None,
    };
    let cells = [
        number.to_string(),
        row.event.name().to_owned(),
        word(0),
        word(1),
        word(2),
        row.context.0.to_string(),
        row.cost.0.to_string(),
        row.blocked.0.to_string(),
        row.start.0.to_string(),
        row.thread.to_string(),
        critical.to_string(),
        csv::or_empty(overhead),
    ];
    csv::row(out, cells)
}
