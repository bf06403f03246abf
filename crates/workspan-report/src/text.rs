//! The terminal report.
//!
//! First line the verdict, then losses and warnings, the whole program, top-level regions, sites, and what was
//! requested beyond. Understandable without colour; [`Style`] adds some.

use crate::columns::{self, Columns};
pub use crate::terminal::Style;
use crate::terminal::{head, line, more, Table};
use crate::view::Report;
use crate::{events, rows, threads, what_if};

/// The report as text.
pub fn write(report: &Report, style: Style) -> String {
    let mut out = String::new();
    head(&mut out, &report.verdict.text, report.warnings.iter().map(|warning| &warning.message), style);
    for text in &report.verdict.lines {
        line(&mut out, text);
    }
    if let Some(next) = &report.verdict.next {
        line(&mut out, &format!("try: {next}"));
    }
    line(&mut out, "");
    program(&mut out, report, style);
    regions(&mut out, report, style);
    sites(&mut out, report, style);
    notes(&mut out, report, style);
    if let Some(found) = &report.threads {
        threads::text(&mut out, found, style);
    }
    if let Some(found) = &report.events {
        events::text(&mut out, found, style);
    }
    for answer in &report.what_if {
        line(&mut out, "");
        out.push_str(&what_if::text(answer, style));
    }
    out
}

fn program(out: &mut String, report: &Report, style: Style) {
    let columns = Columns::of(&columns::PROGRAM, report);
    let mut table = Table::new(&columns.names());
    for row in rows::program(report) {
        table.row(columns.pick(&row));
    }
    table.write(out, style, 0);
    let conditions = rows::conditions(report);
    if !conditions.is_empty() {
        line(out, &style.dim(&conditions));
    }
    if let Some(why) = rows::longer_than_work(report) {
        line(out, &style.dim(&why));
    }
    if let Some(polled) = rows::polled(report) {
        line(out, &style.dim(&polled));
    }
}

fn regions(out: &mut String, report: &Report, style: Style) {
    if report.regions.is_empty() {
        return;
    }
    line(out, "");
    let columns = Columns::of(&columns::REGION, report);
    let mut table = Table::new(&columns.names());
    let shown = rows::shown_regions(report);
    for region in shown.iter().take(style.top) {
        table.row(columns.pick(&rows::region(region)));
    }
    if let Some(row) = rows::first_use(report) {
        table.row(columns.pick(&row));
    }
    table.write(out, style, columns.names().len() - 1);
    more(out, shown.len(), style, "region");
}

fn sites(out: &mut String, report: &Report, style: Style) {
    if report.sites.is_empty() {
        return;
    }
    line(out, "");
    let columns = Columns::of(&columns::SITE, report);
    let mut table = Table::new(&columns.names());
    for site in report.sites.iter().take(style.top) {
        table.row(columns.pick(&rows::site(site)));
    }
    table.write(out, style, columns.names().len() - 1);
    more(out, report.sites.len(), style, "site");
}

/// What to know of rows of both tables, each sentence once.
fn notes(out: &mut String, report: &Report, style: Style) {
    let mut notes = rows::region_notes(&report.regions);
    let of_sites = rows::site_notes(&report.sites);
    notes.extend(of_sites.into_iter().filter(|note| !rows::region_notes(&report.regions).contains(note)));
    for note in notes {
        line(out, &style.dim(note));
    }
}
