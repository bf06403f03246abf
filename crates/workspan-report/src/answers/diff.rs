//! The answer of `workspan diff`: its view model, and as text.

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::diff::{Change, Number, Pair, SitePair, SAME};
use workspan_analysis::differential::{unite, United};
use workspan_analysis::{Diff, Differential, Spread};
use workspan_model::{Nanos, Ratio, Recording, Run, SiteId};

use crate::differential::{self, NodeByNode, Noise};
use crate::events::{self, ComparedEvents};
use crate::parts::{self, factor, id, name, ratio, time};
use crate::terminal::{line, more, Style, Table};
use crate::what_if;
use crate::words::{count, percent};

/// Two recordings side by side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this form.
    pub schema_version: u32,
    /// In one line, a number first.
    pub text: String,
    /// The first recording.
    pub before: Side,
    /// The second.
    pub after: Side,
    /// `faster`, `slower`, `same` or `inconclusive`, by the time from start to end.
    pub verdict: String,
    /// The whole program.
    pub program: Program,
    /// What was predicted; null if nobody asked.
    pub prediction: Option<Prediction>,
    /// Spawn sites, by what their spans changed.
    pub sites: Vec<Site>,
    /// Node by node; null unless both recordings have their strands.
    pub nodes: Option<NodeByNode>,
    /// Events by site; null unless both recordings have counted the same.
    pub events: Option<ComparedEvents>,
    /// Conditions of `--fail-on` that are met.
    pub failed: Vec<String>,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<String>,
}

/// A recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Side {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Runs in it.
    pub runs: usize,
}

/// The whole program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Program {
    /// Sum of all strands, in nanoseconds.
    pub work: Quantity,
    /// Longest chain of strands, in nanoseconds.
    pub span: Quantity,
    /// Work over span.
    pub parallelism: Option<Quantity>,
    /// The same at the other end of the range: iterations of a loop cost the same, and nobody waits for a lock. Null if no run has a range.
    pub uniform_parallelism: Option<Quantity>,
    /// Cost of creating tasks, over work.
    pub task_overhead: Option<Quantity>,
    /// Tasks created.
    pub tasks: Quantity,
    /// Work in serial code outside any region, in nanoseconds.
    pub serial: Quantity,
    /// From start to end, in nanoseconds.
    pub wall: Quantity,
}

/// A number before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Quantity {
    /// Over the runs before.
    pub before: Range,
    /// Over the runs after.
    pub after: Range,
    /// Median after over median before; null if that is zero.
    pub ratio: Option<f64>,
    /// The interval that the runs leave for it: the least after over the greatest before, and the other way round.
    pub ratio_range: Option<[f64; 2]>,
    /// What became of it.
    pub change: Changed,
}

/// A number over several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Range {
    /// Middle value.
    pub median: f64,
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

/// What became of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Changed {
    /// The same but for noise.
    Same,
    /// Less in every run than in any before, by more than noise.
    Less,
    /// More in every run than in any before, by more than noise.
    More,
    /// The ranges meet, and are wider than noise.
    Inconclusive,
}

/// What was predicted from the first recording, against the second.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Prediction {
    /// What was to become faster.
    pub changes: Vec<what_if::Change>,
    /// Parallelism that was predicted, over the runs before.
    pub predicted: Range,
    /// Parallelism that was measured, over the runs after.
    pub measured: Range,
    /// By how much the predicted one is more than the measured one, as a share of that; below zero if it is less.
    pub error: Option<f64>,
}

/// A spawn site before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Site {
    /// Its id before; null for a new one.
    pub before: Option<String>,
    /// Its id after; null for one that is gone.
    pub after: Option<String>,
    /// Its place: after, if it is still there.
    pub name: String,
    /// `faster`, `slower`, `same` or `inconclusive`, by its span; `new` or `gone`.
    pub verdict: String,
    /// Work of its outermost instances, in nanoseconds.
    pub work: Quantity,
    /// Sum of their spans, in nanoseconds.
    pub span: Quantity,
    /// Work over span.
    pub parallelism: Option<Quantity>,
    /// The same at the other end of the range: iterations of a loop cost the same, and nobody waits for a lock. Null if no run has a range.
    pub uniform_parallelism: Option<Quantity>,
    /// Tasks it created.
    pub tasks: Quantity,
    /// Cost of creating them, in nanoseconds.
    pub overhead: Quantity,
    /// What its own strands add to the critical path, in nanoseconds.
    pub critical: Quantity,
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The first recording.
    pub before: &'a Recording,
    /// The second.
    pub after: &'a Recording,
    /// What they amount to.
    pub diff: &'a Diff,
    /// Node by node, if both have their strands.
    pub nodes: Option<(&'a United, &'a Differential)>,
}

/// The answer as it is shown. `foretold`: what was to become faster, and the parallelism of each run before with it.
pub fn answer(compared: Compared<'_>, foretold: Option<(Vec<what_if::Change>, Vec<Ratio>)>) -> Answer {
    let Compared { before, after, diff, nodes } = compared;
    let program = &diff.program;
    let shares = |pair: &Pair<Ratio>| quantity(pair, |ratio| ratio.0);
    let view = Program {
        work: nanos(&program.work),
        span: nanos(&program.span),
        parallelism: program.parallelism.as_ref().map(shares),
        uniform_parallelism: program.uniform.as_ref().map(shares),
        task_overhead: program.task_overhead.as_ref().map(shares),
        tasks: counts(&program.tasks),
        serial: nanos(&program.serial),
        wall: nanos(&program.wall),
    };
    let medians = |of: Option<Quantity>| of.map(|of| (of.before.median, of.after.median)).unzip();
    let (lower, upper) = (medians(view.parallelism), medians(view.uniform_parallelism));
    let verdict = of_change(view.wall.change).to_owned();
    let text = format!(
        "{}: {}, {}, {}",
        headline(&view, parts::range(lower.0, upper.0), &parts::range(lower.1, upper.1)),
        words("work", &view.work),
        words("span", &view.span),
        words("wall time", &view.wall)
    );
    let prediction = foretold.and_then(|(changes, predicted)| {
        let (predicted, measured) = (Spread::of(predicted), program.parallelism?.after);
        let [predicted, measured] = [predicted, measured].map(|spread| range(&spread, |ratio: Ratio| ratio.0));
        let error = (measured.median > 0.0).then(|| predicted.median / measured.median - 1.0);
        Some(Prediction { changes, predicted, measured, error })
    });
    let found = events::compared(&unite(before, after), before, after, []);
    Answer {
        schema_version: 1,
        text,
        before: side(before),
        after: side(after),
        verdict,
        program: view,
        prediction,
        sites: diff.sites.iter().map(|row| site(compared, row)).collect(),
        events: Some(found).filter(|found| !found.events.is_empty()),
        nodes: nodes.map(|(united, found)| {
            let noise = Noise::assumed(before, after);
            differential::view(united, found, differential::Order::Changed, Some(noise))
        }),
        failed: Vec::new(),
        warnings: warnings(before, after),
    }
}

fn side(recording: &Recording) -> Side {
    Side { command: recording.command.clone(), runs: recording.runs.len() }
}

fn site(compared: Compared<'_>, row: &SitePair) -> Site {
    let Compared { before, after, .. } = compared;
    let verdict = match (row.before, row.after, nanos(&row.spans).change) {
        (None, _, _) => "new",
        (_, None, _) => "gone",
        (_, _, change) => of_change(change),
    };
    let place = |recording: &Recording, id: Option<SiteId>| id.map(|id| name(recording, id));
    Site {
        before: id(before, row.before),
        after: id(after, row.after),
        name: place(after, row.after).or_else(|| place(before, row.before)).unwrap_or_default(),
        verdict: verdict.to_owned(),
        work: nanos(&row.work),
        span: nanos(&row.span),
        parallelism: row.parallelism.as_ref().map(|pair| quantity(pair, |ratio| ratio.0)),
        uniform_parallelism: row.uniform.as_ref().map(|pair| quantity(pair, |ratio| ratio.0)),
        tasks: counts(&row.tasks),
        overhead: nanos(&row.overhead),
        critical: nanos(&row.critical),
    }
}

/// What became of a time.
fn of_change(change: Changed) -> &'static str {
    match change {
        Changed::Less => "faster",
        Changed::More => "slower",
        Changed::Same => "same",
        Changed::Inconclusive => "inconclusive",
    }
}

fn nanos(pair: &Pair<Nanos>) -> Quantity {
    quantity(pair, Nanos::as_f64)
}

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn counts(pair: &Pair<u64>) -> Quantity {
    quantity(pair, |count| count as f64)
}

fn quantity<T: Number + Default + PartialOrd>(pair: &Pair<T>, number: fn(T) -> f64) -> Quantity {
    let (before, after) = (range(&pair.before, number), range(&pair.after, number));
    Quantity {
        before,
        after,
        ratio: (before.median > 0.0).then(|| after.median / before.median),
        ratio_range: (before.low > 0.0).then(|| [after.low / before.high, after.high / before.low]),
        change: match pair.change() {
            Change::Same => Changed::Same,
            Change::Less => Changed::Less,
            Change::More => Changed::More,
            Change::Unclear => Changed::Inconclusive,
        },
    }
}

fn range<T: Copy>(spread: &Spread<T>, number: fn(T) -> f64) -> Range {
    Range { median: number(spread.median), low: number(spread.low), high: number(spread.high) }
}

/// What makes the two hard to compare.
fn warnings(before: &Recording, after: &Recording) -> Vec<String> {
    let mut warnings = Vec::new();
    let sides = [("before", before), ("after", after)];
    for (which, recording) in sides {
        let missing = recording.runs.iter().filter(|run| !run.complete()).count();
        if missing > 0 {
            warnings.push(format!("incomplete: {missing} of the {} runs {which}", recording.runs.len()));
        }
    }
    let differs = |of: fn(&Run) -> String| {
        let [a, b] = sides.map(|(_, recording)| recording.runs.first().map(of).unwrap_or_default());
        (a != b).then_some((a, b))
    };
    if before.machine.processor != after.machine.processor {
        warnings.push(format!("another processor: {}, then {}", before.machine.processor, after.machine.processor));
    }
    if let Some((a, b)) = differs(|run| format!("{:?}", run.clock).to_lowercase()) {
        warnings.push(format!("another clock: {a}, then {b}"));
    }
    let workers = |run: &Run| {
        if run.workers == 0 {
            "none (it had no pool and no team)".to_owned()
        } else {
            run.workers.to_string()
        }
    };
    if let Some((a, b)) = differs(workers) {
        warnings.push(format!("another number of workers: {a}, then {b}"));
    }
    if let Some((a, b)) =
        differs(|run| run.logical_cores.map_or_else(|| "those of the machine".to_owned(), |cores| cores.to_string()))
    {
        warnings.push(format!("loops split for another number of cores: {a}, then {b}"));
    }
    let virtual_clock = |run: &Run| run.clock == workspan_model::Clock::Virtual;
    if sides.iter().any(|(_, recording)| recording.runs.len() < 2 && !recording.runs.iter().all(virtual_clock)) {
        warnings.push(format!(
            "only one run: differences of up to {} count as the same, since runs of one program differ as much; record with --repeat N to see smaller ones",
            percent(Ratio(SAME))
        ));
    }
    warnings
}

/// What became of the parallelism.
fn headline(view: &Program, before: String, after: &str) -> String {
    match view.parallelism.map(|parallelism| parallelism.change) {
        Some(Changed::Same) if before == after => format!("parallelism {after} as before"),
        Some(Changed::Same) => format!("parallelism {after}, the same as before ({before})"),
        Some(Changed::Inconclusive) => format!("parallelism {after} instead of {before}, inconclusive"),
        _ => format!("parallelism {after} instead of {before}"),
    }
}

/// How a quantity changed, in words.
fn words(name: &str, quantity: &Quantity) -> String {
    match (quantity.change, quantity.ratio) {
        (Changed::Same, _) => format!("the same {name}"),
        (Changed::Inconclusive, _) => format!("{name} inconclusive"),
        (_, Some(ratio)) => format!("{} times the {name}", Ratio(ratio)),
        (_, None) => format!("more {name}"),
    }
}

/// As indented JSON.
pub fn json(answer: &Answer) -> String {
    crate::parts::indented(answer)
}

/// As text.
pub fn text(answer: &Answer, style: Style) -> String {
    let mut out = String::new();
    line(&mut out, &style.bold(&answer.text));
    if let Some(prediction) = &answer.prediction {
        line(&mut out, &style.bold(&prediction_line(prediction)));
    }
    if let Some(nodes) = &answer.nodes {
        line(&mut out, &style.bold(&nodes.text));
    }
    for warning in answer.warnings.iter().chain(answer.nodes.iter().flat_map(|nodes| &nodes.warnings)) {
        line(&mut out, &style.warning(&format!("! {warning}")));
    }
    line(&mut out, "");
    program(&mut out, answer, style);
    if !answer.sites.is_empty() {
        line(&mut out, "");
        let header = ["work before", "after", "ratio", "span before", "after", "ratio", "verdict", "site"];
        let mut table = Table::new(&header);
        for site in answer.sites.iter().take(style.top) {
            let [a, b, c] = medians(&site.work);
            let [d, e, f] = medians(&site.span);
            let id = site.after.as_ref().or(site.before.as_ref()).map_or("", String::as_str);
            table.row(vec![a, b, c, d, e, f, site.verdict.clone(), format!("{} {id}", site.name)]);
        }
        table.write(&mut out, style, 7);
        more(&mut out, answer.sites.len(), style, "site");
    }
    if let Some(nodes) = &answer.nodes {
        line(&mut out, "");
        differential::text(&mut out, nodes, ["before", "after"], differential::Order::Changed, style);
    }
    if let Some(found) = &answer.events {
        events::compared_text(&mut out, found, style);
    }
    for condition in &answer.failed {
        line(&mut out, "");
        line(&mut out, &style.warning(&format!("failed: {condition}")));
    }
    out
}

fn prediction_line(prediction: &Prediction) -> String {
    let parts: Vec<String> = prediction.changes.iter().map(|c| format!("{}={}", c.part, factor(c.factor))).collect();
    let error = match prediction.error {
        Some(error) if error.abs() < 5e-4 => "reached".to_owned(),
        Some(error) if error < 0.0 => format!("{} too low", percent(Ratio(-error))),
        Some(error) => format!("{} too high", percent(Ratio(error))),
        None => "not comparable".to_owned(),
    };
    let [predicted, measured] = [prediction.predicted, prediction.measured].map(|range| show_range(range, show_ratio));
    format!(
        "predicted parallelism {predicted}, measured {measured}: the prediction is {error}; assumed: {}",
        parts.join(", ")
    )
}

fn program(out: &mut String, answer: &Answer, style: Style) {
    let mut table = Table::new(&["", "before", "after", "ratio", ""]);
    let view = &answer.program;
    let mut row = |name: &str, quantity: &Quantity, show: fn(f64) -> String| {
        let [before, after, times] = cells(quantity, show);
        let note = match (name, quantity.change) {
            ("wall", _) => answer.verdict.as_str(),
            (_, Changed::Same) => "same",
            (_, Changed::Less) => "less",
            (_, Changed::More) => "more",
            (_, Changed::Inconclusive) => "inconclusive",
        };
        table.row(vec![name.to_owned(), before, after, times, note.to_owned()]);
    };
    row("work", &view.work, show_time);
    row("span", &view.span, show_time);
    if let Some(quantity) = &view.parallelism {
        row("parallelism", quantity, show_ratio);
    }
    let ends = view.parallelism.zip(view.uniform_parallelism);
    // Where both ends are one number on both sides, that is said already.
    let differs = |lower: Range, upper: Range| upper.median > lower.median * parts::ONE_NUMBER;
    let two = ends.filter(|(low, high)| differs(low.before, high.before) || differs(low.after, high.after));
    if let Some((_, quantity)) = &two {
        row("parallelism, at most", quantity, show_ratio);
    }
    if let Some(quantity) = &view.task_overhead {
        row("task overhead", quantity, |share| percent(Ratio(share)));
    }
    row("tasks", &view.tasks, show_count);
    row("serial code", &view.serial, show_time);
    row("wall", &view.wall, show_time);
    table.write(out, style, 0);
}

/// Before, after, and the ratio: with ranges where these can be distinguished from a single number.
fn cells(quantity: &Quantity, show: fn(f64) -> String) -> [String; 3] {
    let times = match (quantity.ratio, quantity.ratio_range) {
        (Some(_), Some([low, high])) if low < high => {
            format!("{} ({} to {})", ratio(quantity.ratio), Ratio(low), Ratio(high))
        }
        _ => ratio(quantity.ratio),
    };
    [show_range(quantity.before, show), show_range(quantity.after, show), times]
}

/// The same of a site, of which medians are enough.
fn medians(quantity: &Quantity) -> [String; 3] {
    [show_time(quantity.before.median), show_time(quantity.after.median), ratio(quantity.ratio)]
}

fn show_range(range: Range, show: fn(f64) -> String) -> String {
    let [median, low, high] = [range.median, range.low, range.high].map(show);
    if low == high {
        median
    } else {
        format!("{median} ({low} to {high})")
    }
}

fn show_ratio(value: f64) -> String {
    Ratio(value).to_string()
}

#[expect(clippy::cast_possible_truncation, reason = "it was a whole number; saturates")]
fn show_time(nanos: f64) -> String {
    time(nanos as i64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a count; saturates")]
fn show_count(value: f64) -> String {
    count(value as u64)
}
