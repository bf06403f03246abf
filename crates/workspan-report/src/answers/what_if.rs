//! The answer of `workspan what-if`: its view model, and as text.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::what_if::{path_by_place, Figures as Computed, Outcome, PlaceOnPath};
use workspan_analysis::WhatIf;
use workspan_model::{Ratio, Recording, SiteId, SiteKind};

pub use crate::parts::Piece;
use crate::parts::{factor, id, name, piece, problems, range, ratio, time};
use crate::terminal::{head, line, more, Style, Table};
use crate::under_lock;
use crate::unfound;
use crate::words::percent;

/// Predicted effect of parallelising code.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "WhatIf")]
pub struct Answer {
    /// Version of this form.
    pub schema_version: u32,
    /// In one line, a number first.
    pub text: String,
    /// Which of repeated runs it is about, from 1.
    pub run: u32,
    /// What is changed.
    pub changes: Vec<Change>,
    /// Work of the strands that the changes name.
    pub named_ns: i64,
    /// Their number.
    pub named_strands: u64,
    /// As recorded.
    pub before: Figures,
    /// With the changes.
    pub after: Figures,
    /// With infinite factors.
    pub ceiling: Figures,
    /// Spawn sites on the critical path before or after, by falling share after.
    pub sites: Vec<Site>,
    /// What the critical path consists of before and after, by falling share after.
    pub path: Vec<OnPath>,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<String>,
}

/// A part and its factor, as requested.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "WhatIfChange")]
pub struct Change {
    /// The part.
    pub part: String,
    /// By what it becomes faster; null for infinitely.
    pub factor: Option<f64>,
}

/// The whole program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "WhatIfFigures")]
pub struct Figures {
    /// Sum of all strands.
    pub work_ns: i64,
    /// Longest chain of strands.
    pub span_ns: i64,
    /// Work over span.
    pub parallelism: Option<f64>,
    /// The same with even iterations, where chunks of loops alone were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub even_parallelism: Option<f64>,
}

/// A spawn site before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "WhatIfSite")]
pub struct Site {
    /// Stable between runs.
    pub id: String,
    /// Its place.
    pub name: String,
    /// As recorded.
    pub before: SiteFigures,
    /// With the changes.
    pub after: SiteFigures,
}

/// A spawn site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "WhatIfSiteFigures")]
pub struct SiteFigures {
    /// Sum of the spans of its outermost instances; at most the program's span. Null for threads: in strands, a thread that waits for another
    /// one is several tasks.
    pub span_ns: Option<i64>,
    /// Their work, over that; null for threads.
    pub parallelism: Option<f64>,
    /// What its own strands add to the critical path.
    pub critical_ns: i64,
}

/// A segment on the critical path.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "WhatIfOnPath")]
pub struct OnPath {
    /// The segment.
    pub piece: Piece,
    /// What it adds to the critical path as recorded.
    pub before_ns: i64,
    /// The same with the changes.
    pub after_ns: i64,
    /// That, over the span.
    pub after_share: Option<f64>,
}

/// Whose strands were asked.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// Its run, from 1.
    pub run: u32,
}

/// The answers as they are shown: one for each scenario that was computed, whose changes are `scenarios`.
pub fn answers(of: &Of<'_>, scenarios: Vec<Vec<Change>>, computed: &WhatIf) -> Vec<Answer> {
    let problems = problems(&computed.problems());
    let rows = scenarios.into_iter().zip(&computed.outcomes);
    rows.map(|(changes, outcome)| answer(of, changes, &computed.before, outcome, problems.clone())).collect()
}

fn answer(
    of: &Of<'_>,
    changes: Vec<Change>,
    recorded: &Computed,
    outcome: &Outcome,
    mut warnings: Vec<String>,
) -> Answer {
    let recording = of.recording;
    let (before, after) = (figures(recorded), figures(&outcome.after));
    let ceiling = figures(&outcome.ceiling);
    warnings.splice(0..0, under_lock::warnings(recording, of.run, before.parallelism));
    warnings.splice(0..0, unfound(recording, recorded, outcome));
    let names: Vec<String> = changes.iter().map(|c| format!("{}={}", c.part, factor(c.factor))).collect();
    let numbers = [before, after, ceiling].map(|figures| range(figures.parallelism, figures.even_parallelism));
    let run = match recording.runs.len() {
        0 | 1 => String::new(),
        runs => format!(" (run {} of {runs})", of.run),
    };
    let names = names.join(", ");
    let but_for = under_lock::but_for(recording, of.run, before.parallelism);
    let text = match (after.parallelism, ceiling.parallelism) {
        (None, _) if before.parallelism.is_some() => {
            format!("nothing is left on the critical path (parallelism {} before) with {names}{run}", numbers[0])
        }
        (_, None) => format!("parallelism {} instead of {} with {names}{run}", numbers[1], numbers[0]),
        _ => format!("parallelism {} instead of {} (at most {}) with {names}{run}", numbers[1], numbers[0], numbers[2]),
    };
    Answer {
        schema_version: 1,
        text: but_for + &text,
        run: of.run,
        changes,
        named_ns: outcome.named.0,
        named_strands: outcome.strands,
        before,
        after,
        ceiling,
        sites: sites(recording, recorded, outcome),
        path: path(recording, recorded, outcome),
        warnings,
    }
}

/// What of a scenario names no strand, and what to name in its place; `recorded`: the program as it was.
pub fn unfound(recording: &Recording, recorded: &Computed, outcome: &Outcome) -> Vec<String> {
    let mut words: Vec<String> =
        outcome.empty.iter().filter_map(|part| unfound::lines(recording, recorded, part)).collect();
    if outcome.strands == 0 && words.is_empty() {
        words.push("the code that you named did not run: nothing changes".to_owned());
    }
    words
}

fn figures(computed: &Computed) -> Figures {
    Figures {
        work_ns: computed.replayed.work.0,
        span_ns: computed.replayed.span.0,
        parallelism: computed.parallelism.map(|ratio| ratio.0),
        even_parallelism: computed.uniform.and_then(|even| even.parallelism).map(|ratio| ratio.0),
    }
}

fn sites(recording: &Recording, before: &Computed, outcome: &Outcome) -> Vec<Site> {
    let mut found: BTreeMap<SiteId, [SiteFigures; 2]> = BTreeMap::new();
    for (computed, column) in [(before, 0), (&outcome.after, 1)] {
        for row in &computed.sites {
            // In strands, a thread that waits for what stands later is several tasks: of the thread as a whole they say nothing.
            let whole = recording.sites.get(row.site.0 as usize).is_none_or(|site| site.kind != SiteKind::Thread);
            found.entry(row.site).or_default()[column] = SiteFigures {
                span_ns: Some(row.span.at_least_zero().0).filter(|_| whole),
                parallelism: row.parallelism.map(|ratio| ratio.0).filter(|_| whole),
                critical_ns: row.critical.at_least_zero().0,
            };
        }
    }
    found.retain(|_, [before, after]| before.critical_ns != 0 || after.critical_ns != 0);
    let site = |(site, [before, after]): (SiteId, [SiteFigures; 2])| {
        Some(Site { id: id(recording, Some(site))?, name: name(recording, site), before, after })
    };
    let mut sites: Vec<Site> = found.into_iter().filter_map(site).collect();
    sites.sort_by_key(|site| std::cmp::Reverse((site.after.critical_ns, site.before.critical_ns)));
    sites
}

fn path(recording: &Recording, before: &Computed, outcome: &Outcome) -> Vec<OnPath> {
    let on_path = |row: PlaceOnPath| OnPath {
        piece: piece(recording, &row.place),
        // What was taken out of next to nothing.
        before_ns: row.before.at_least_zero().0,
        after_ns: row.after.at_least_zero().0,
        after_share: row.after.at_least_zero().over(outcome.after.replayed.span).map(|share| share.0),
    };
    path_by_place(&recording.contexts, before, &outcome.after).into_iter().map(on_path).collect()
}

/// As indented JSON.
pub fn json(answer: &Answer) -> String {
    crate::parts::indented(answer)
}

/// As text.
pub fn text(answer: &Answer, style: Style) -> String {
    let mut out = String::new();
    head(&mut out, &answer.text, &answer.warnings, style);
    line(&mut out, "");
    let mut table = Table::new(&FIGURES);
    for cells in figure_rows(answer) {
        table.row(cells.to_vec());
    }
    table.write(&mut out, style, 0);
    if !answer.path.is_empty() {
        line(&mut out, "");
        let mut table = Table::new(&PATH);
        for row in answer.path.iter().take(style.top) {
            table.row(path_row(row).to_vec());
        }
        table.write(&mut out, style, PATH.len() - 1);
        more(&mut out, answer.path.len(), style, "segment");
    }
    if !answer.sites.is_empty() {
        line(&mut out, "");
        let mut table = Table::new(&SITES);
        for site in answer.sites.iter().take(style.top) {
            table.row(site_row(site).to_vec());
        }
        table.write(&mut out, style, SITES.len() - 1);
        more(&mut out, answer.sites.len(), style, "site");
    }
    out
}

/// Columns of the whole program.
pub(crate) const FIGURES: [&str; 4] = ["", "work", "span", "parallelism"];
/// Columns of the critical path.
pub(crate) const PATH: [&str; 4] = ["critical before", "after", "share after", "on the critical path"];
/// Columns of sites.
pub(crate) const SITES: [&str; 7] =
    ["critical before", "after", "span before", "after", "parallelism before", "after", "site"];

/// The whole program: as it is, as it would be, and at most.
pub(crate) fn figure_rows(answer: &Answer) -> [[String; 4]; 3] {
    [("recorded", answer.before), ("changed", answer.after), ("at most", answer.ceiling)].map(|(name, figures)| {
        [
            name.to_owned(),
            time(figures.work_ns),
            time(figures.span_ns),
            range(figures.parallelism, figures.even_parallelism),
        ]
    })
}

/// A segment on the critical path.
pub(crate) fn path_row(row: &OnPath) -> [String; 4] {
    let share = row.after_share.map_or_else(|| "-".to_owned(), |share| percent(Ratio(share)));
    [time(row.before_ns), time(row.after_ns), share, row.piece.text.clone()]
}

/// A site.
pub(crate) fn site_row(site: &Site) -> [String; 7] {
    let (before, after) = (site.before, site.after);
    let span = |span: Option<i64>| span.map_or_else(|| "-".to_owned(), time);
    [
        time(before.critical_ns),
        time(after.critical_ns),
        span(before.span_ns),
        span(after.span_ns),
        ratio(before.parallelism),
        ratio(after.parallelism),
        format!("{} {}", site.name, site.id),
    ]
}

#[cfg(test)]
mod tests {
    use workspan_analysis::strands::{Point, Region, RegionId, RegionRow, Replayed};
    use workspan_analysis::what_if::SiteFigures as SiteRow;
    use workspan_model::{ContextId, Nanos, Site as Source};

    use super::*;

    /// A program whose one place has so much of the critical path.
    fn computed(critical: i64) -> Computed {
        let region = Region { context: ContextId::ROOT, before: Point::Begin, after: Point::End };
        let (work, critical, nothing) = (Nanos(100), Nanos(critical), Nanos::ZERO);
        let row = RegionRow {
            id: RegionId(0),
            region,
            work,
            strands: 1,
            critical,
            critical_strands: 1,
            critical_blocked: nothing,
            critical_share: None,
        };
        let site = SiteRow { site: SiteId(0), work, span: critical, parallelism: None, critical, critical_share: None };
        let replayed = Replayed { span: work, ..Replayed::default() };
        Computed { path: vec![row], sites: vec![site], replayed, ..Computed::default() }
    }

    #[test]
    fn no_time_is_below_zero() {
        let region = Source::at(SiteKind::Parallel, "a.c", 1, 1);
        let recording = Recording { sites: vec![region], ..Recording::default() };
        let outcome =
            Outcome { after: computed(-3), ceiling: computed(-3), named: Nanos::ZERO, strands: 0, empty: Vec::new() };
        let found = path(&recording, &computed(-2), &outcome);
        assert_eq!((found[0].before_ns, found[0].after_ns, found[0].after_share), (0, 0, Some(0.0)));
        let found = path(&recording, &computed(5), &outcome);
        assert_eq!((found[0].before_ns, found[0].after_ns), (5, 0));
        let found = &sites(&recording, &computed(5), &outcome)[0];
        assert_eq!((found.before.span_ns, found.after.span_ns, found.after.critical_ns), (Some(5), Some(0), 0));
        // In strands a thread may be several tasks.
        let thread = Recording { sites: vec![Source::at(SiteKind::Thread, "a.c", 1, 1)], ..Recording::default() };
        let found = &sites(&thread, &computed(5), &outcome)[0];
        assert_eq!((found.before.span_ns, found.before.critical_ns), (None, 5));
    }
}
