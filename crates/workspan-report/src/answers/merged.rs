//! The answer of `workspan merge`: its view model, and as text.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::strands::merge::{Keep, Merged};
use workspan_analysis::{laws, profile, Replayed};
use workspan_model::{Nanos, Ratio, Recording, SiteId};

use crate::parts::{id, name, problems, ratio, time};
use crate::terminal::{head, line, more, Style, Table};
use crate::words::percent;

/// What runs amount to that were merged node by node.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this form.
    pub schema_version: u32,
    /// In one line, a number first.
    pub text: String,
    /// What is kept of each strand: `min` or `median`.
    pub keep: String,
    /// Strands of the first run.
    pub strands: u64,
    /// Of them, those that all runs have.
    pub matched: u64,
    /// Sum of all strands.
    pub work_ns: i64,
    /// Longest chain of strands.
    pub span_ns: i64,
    /// Work over span.
    pub parallelism: Option<f64>,
    /// The runs, as they were recorded.
    pub runs: Vec<Single>,
    /// Where runs differ, by falling number of strands.
    pub sites: Vec<Differs>,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<String>,
}

/// One of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Single {
    /// Its number, from 1.
    pub run: u64,
    /// Sum of all strands.
    pub work_ns: i64,
    /// Longest chain of strands.
    pub span_ns: i64,
    /// Work over span.
    pub parallelism: Option<f64>,
    /// Strands of the first run that it lacks.
    pub missing: u64,
    /// Strands that the first run lacks.
    pub extra: u64,
}

/// A site whose strands do not all match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Differs {
    /// Stable between runs; null for code outside any site.
    pub id: Option<String>,
    /// Its place.
    pub name: String,
    /// Strands of the first run that others lack, summed over these.
    pub missing: u64,
    /// Strands that the first run lacks.
    pub extra: u64,
}

/// The word for what is kept.
pub fn word(keep: Keep) -> &'static str {
    match keep {
        Keep::Minimum => "min",
        Keep::Median => "median",
    }
}

/// The answer as it is shown. `replayed` is what the merged strands amount to; the runs are those of `recording`.
pub fn answer(recording: &Recording, keep: Keep, merged: &Merged, replayed: &Replayed) -> Answer {
    let on_one = |run: &workspan_model::Run| profile(recording, run).program.on_one;
    let parallelism_of = |run: &workspan_model::Run| laws::parallelism(on_one(run), run.span).map(|ratio| ratio.0);
    let merged_run = replayed.clone().into_run(&workspan_model::Run::default());
    let parallelism = laws::parallelism(on_one(&merged_run), replayed.span);
    let matched = Ratio(share(merged.matched, merged.strands));
    let of = if keep == Keep::Minimum { "the least" } else { "the median" };
    let text = format!(
        "parallelism {} of merged runs: {of} cost of each strand in {} runs; {} of {} strands are in all of them",
        ratio(parallelism.map(|ratio| ratio.0)),
        merged.others.len() + 1,
        percent(matched),
        merged.strands,
    );
    let mut warnings = problems(&replayed.problems);
    if matched.0 < MATCHED {
        warnings.push("many strands are not in all runs: these keep the noise of the first run".to_owned());
    }
    let unmatched = std::iter::once((0, 0)).chain(merged.others.iter().map(|other| (other.missing, other.extra)));
    let single = |((number, run), (missing, extra)): ((u64, &workspan_model::Run), (u64, u64))| Single {
        run: number,
        work_ns: run.work().0,
        span_ns: run.span.0,
        parallelism: parallelism_of(run),
        missing,
        extra,
    };
    Answer {
        schema_version: 1,
        text,
        keep: word(keep).to_owned(),
        strands: merged.strands,
        matched: merged.matched,
        work_ns: replayed.work.0,
        span_ns: replayed.span.0,
        parallelism: parallelism.map(|ratio| ratio.0),
        runs: (1..).zip(&recording.runs).zip(unmatched).map(single).collect(),
        sites: sites(recording, merged),
        warnings,
    }
}

/// Below this share of matched strands a warning is due.
const MATCHED: f64 = 0.9;

fn share(part: u64, of: u64) -> f64 {
    let number = |count: u64| Nanos(i64::try_from(count).unwrap_or(i64::MAX)).as_f64();
    number(part) / number(of.max(1))
}

fn sites(recording: &Recording, merged: &Merged) -> Vec<Differs> {
    let mut sums: BTreeMap<Option<SiteId>, (u64, u64)> = BTreeMap::new();
    for (context, unmatched) in &merged.places {
        let known = context.index() < recording.contexts.len();
        let sum = sums.entry(known.then(|| recording.contexts.site(*context)).flatten()).or_default();
        *sum = (sum.0 + unmatched.missing, sum.1 + unmatched.extra);
    }
    let differs = |(site, (missing, extra)): (Option<SiteId>, (u64, u64))| Differs {
        id: id(recording, site),
        name: site.map_or_else(|| "the program itself".to_owned(), |site| name(recording, site)),
        missing,
        extra,
    };
    let mut sites: Vec<Differs> = sums.into_iter().map(differs).collect();
    sites.sort_by_key(|site| std::cmp::Reverse(site.missing + site.extra));
    sites
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
    let mut table = Table::new(&["", "work", "span", "parallelism", "missing", "extra"]);
    let figures = |work, span, parallelism| [time(work), time(span), ratio(parallelism)];
    let mut row = |name: String, figures: [String; 3], unmatched: [String; 2]| {
        table.row([vec![name], figures.to_vec(), unmatched.to_vec()].concat());
    };
    row("merged".to_owned(), figures(answer.work_ns, answer.span_ns, answer.parallelism), Default::default());
    for run in answer.runs.iter().take(style.top) {
        let counts = [run.missing.to_string(), run.extra.to_string()];
        row(format!("run {}", run.run), figures(run.work_ns, run.span_ns, run.parallelism), counts);
    }
    table.write(&mut out, style, 0);
    more(&mut out, answer.runs.len(), style, "run");
    if !answer.sites.is_empty() {
        line(&mut out, "");
        let mut table = Table::new(&["missing", "extra", "strands that differ"]);
        for site in answer.sites.iter().take(style.top) {
            let id = site.id.as_ref().map_or_else(String::new, |id| format!(" {id}"));
            table.row(vec![site.missing.to_string(), site.extra.to_string(), format!("{}{id}", site.name)]);
        }
        table.write(&mut out, style, 2);
        more(&mut out, answer.sites.len(), style, "site");
    }
    out
}
