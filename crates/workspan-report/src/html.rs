//! The page: one file that needs nothing else, not even a script to be read.
//!
//! Verdict, warnings, tables, icicles and source lines are written here as text and SVG, so that the page can be searched,
//! printed and read with scripts switched off; `script.js` adds sorting, linking and zoom. Strings of the program pass
//! `escape` on their way in.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::view::Report;
use keys::Keys;
use source::Listing;

pub(crate) mod date;
pub(crate) mod escape;
mod excerpt;
mod frame;
mod icicle;
mod keys;
mod layout;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod what_if;

/// Source files by name.
pub type Sources = BTreeMap<String, String>;

/// What the script needs and the page does not show.
#[derive(Debug, Serialize)]
struct Data<'a> {
    /// Names for boxes, by the number in `data-s`.
    labels: Vec<&'a str>,
    order: table::Order,
}

/// The page. Sources are shown in excerpts around sites; without them it does without.
pub fn write(report: &Report, sources: &Sources) -> String {
    let keys = Keys::of(report);
    let listing = Listing::of(report, sources);
    let data = Data { labels: keys.labels(), order: table::Order::of(report) };
    // The policy lets the page load nothing, whatever a name in it says.
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
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
<section id="icicles"><h2>Work and critical path</h2>
{icicles}</section>
<section id="regions"><h2>Regions</h2>
{regions}</section>
<section id="sites"><h2>Sites</h2>
{sites}</section>
{what_if}<section id="source"><h2>Source</h2>
{source}</section>
<section id="recording"><h2>Recording</h2>
{recording}</section>
</main>
<script type="application/json" id="data">{data}</script>
<script>
{script}</script>
</body>
</html>
"#,
        title = frame::title(report),
        style = include_str!("html/style.css"),
        header = frame::header(&report.recorded),
        verdict = frame::verdict(report),
        program = table::program(report),
        icicles = icicle::panel(report, &keys),
        regions = table::regions(report, &keys, &listing),
        sites = table::sites(report, &keys, &listing),
        what_if = what_if::section(report),
        source = listing.panel(&keys),
        recording = frame::recording(report),
        data = escape::json(&data),
        script = include_str!("html/script.js"),
    )
}
