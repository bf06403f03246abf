//! The page: one file that needs nothing else, not even a script to be read.
//!
//! Verdict, warnings, tables, icicles and source lines are written here as text and SVG, so that the page can be searched,
//! printed and read with scripts switched off; `made/page.js`, whose source is in `web/`, adds what
//! answers: sorting, filters, linking, zoom, and what-if on the strands that the page carries. Strings of the program pass
//! `escape` on their way in.

use crate::live::Live;
use crate::view::Report;
use data::Data;
use keys::Keys;
use source::Listing;
pub use source::{LeftOut, Sources};

pub(crate) mod axis;
mod bar;
pub(crate) mod chart;
mod data;
pub(crate) mod date;
pub(crate) mod escape;
mod events;
mod excerpt;
mod frame;
pub(crate) mod heat;
mod icicle;
mod keys;
mod layout;
pub(crate) mod plain;
mod scaling;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod threads;
mod timeline;
mod walk;
mod what_if;

/// What makes the page live: made from `web/` by `cargo xtask web`.
const SCRIPT: &str = include_str!("html/made/page.js");

/// The page. Sources are shown in excerpts around sites; without them it does without, and without strands too.
pub fn write(report: &Report, sources: &Sources, live: Option<&Live>) -> String {
    write_with(report, sources, &[], live)
}

/// The same, with a list of the sources that were excluded.
pub fn write_with(report: &Report, sources: &Sources, left_out: &LeftOut, live: Option<&Live>) -> String {
    let keys = Keys::of(report);
    let listing = Listing::of(report, sources, left_out);
    let data = Data::of(report, &keys, live);
    // The policy lets the page load nothing, whatever a name in it says. WebAssembly is what the page brings along.
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{header}<main>
{verdict}<section aria-label="Program">
{program}</section>
{scaling}<section id="icicles"><h2>Work and critical path</h2>
{icicles}</section>
{walk}{timeline}<section id="regions"><h2>Regions</h2>
{regions}</section>
<section id="sites"><h2>Sites</h2>
{sites}</section>
{threads}{events}{what_if}<section id="source"><h2>Source</h2>
{source}</section>
<section id="recording"><h2>Recording</h2>
{recording}</section>
</main>
<script type="application/json" id="data">{data}</script>
{carried}<script>
{script}</script>
</body>
</html>
"#,
        title = frame::title(report),
        style = include_str!("html/style.css"),
        header = frame::header(&report.recorded),
        verdict = frame::verdict(report),
        program = table::program(report),
        scaling = scaling::panel(report, &keys, live),
        walk = walk::panel(live, &keys, &listing, sources),
        timeline = timeline::panel(report, live),
        carried = data::carried(live),
        icicles = icicle::panel(report, &keys),
        regions = table::regions(report, &keys, &listing),
        sites = table::sites(report, &keys, &listing),
        threads = threads::section(report),
        events = events::section(report, &keys),
        what_if = what_if::section(report),
        source = listing.panel(&keys),
        recording = frame::recording(report),
        data = escape::json(&data),
        script = SCRIPT,
    )
}
