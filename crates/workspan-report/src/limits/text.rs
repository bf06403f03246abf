//! `workspan limits` in the terminal: headline, warnings, models, and where critical paths lead.

use std::fmt::Write;

use super::make::number;
use super::view::{Limits, Line, Model, Profile, Reuse};
use crate::place::short_file;
use crate::terminal::{head, line, Style, Table};
use crate::words::{count, percent};
use workspan_model::Ratio;

/// Models whose lines are shown: the rest is in the JSON.
const SHOWN: [&str; 3] = ["TruNamCtl", "Tru", "TruSp"];

/// The answer as text.
pub fn text(view: &Limits, style: Style) -> String {
    let mut out = String::new();
    let cut = (!view.complete).then(|| "cut short: these are the limits of what was analysed".to_owned());
    head(&mut out, &view.text, cut.iter().chain(&view.warnings), style);
    line(&mut out, "");
    models(&mut out, view, style);
    line(&mut out, &style.dim(&conditions(view)));
    further(&mut out, view, style);
    for model in SHOWN {
        lines(&mut out, view, model, style);
    }
    out
}

fn models(out: &mut String, view: &Limits, style: Style) {
    let mut table = Table::new(&["model", "parallelism", "critical path", "what counts"]);
    for model in view.models.iter().chain(&view.control) {
        let Model { name, meaning, critical_path, parallelism, .. } = model;
        let parallelism = parallelism.map_or_else(|| "-".to_owned(), number);
        table.row(vec![name.clone(), parallelism, count(*critical_path), format!(" {meaning}")]);
    }
    let mut text = String::new();
    table.write(&mut text, Style { colour: false, ..style }, 0);
    // The last column begins where its longest text does: it is aligned to the left by hand.
    let meanings = view.models.iter().chain(&view.control).map(|model| model.meaning.as_str());
    let texts = std::iter::once("what counts").chain(meanings);
    for (at, (row, last)) in text.lines().zip(texts).enumerate() {
        let cells = row.trim_end().strip_suffix(last).unwrap_or(row).trim_end();
        let row = format!("{cells}  {last}");
        line(out, &if at == 0 { style.dim(&row) } else { row });
    }
}

/// What was run.
pub(super) fn conditions(view: &Limits) -> String {
    let share = |missed: u64| percent(Ratio(missed as f64 / (view.branches.ran as f64).max(1.0)));
    let missed = view.branches.missed.map(|missed| format!(" ({} predicted wrong)", share(missed))).unwrap_or_default();
    let region = view.conditions.region.as_ref().map(|region| format!(" in {region}")).unwrap_or_default();
    let paths = if view.exact_paths { "all known" } else { "from a sample" };
    format!(
        "{} instructions{region}, {} branches{missed}; lines of critical paths {paths}; {}",
        count(view.instructions),
        count(view.branches.ran),
        view.conditions.emulator
    )
}

/// What goes beyond the models, a line for each.
fn further(out: &mut String, view: &Limits, style: Style) {
    let rows = sentences(view);
    if rows.is_empty() {
        return;
    }
    line(out, "");
    for (what, found) in rows {
        line(out, &format!("{:<34}{found}", format!("{what}:")));
    }
    for profile in view.profile.iter().filter(|profile| profile.model == "Tru") {
        line(out, &format!("{:<34}{}", "parallelism over the run, Tru:", sparkline(&profile.instructions)));
        let Profile { burstiness, highest, .. } = profile;
        line(out, &style.dim(&format!("{:34}burstiness {burstiness:.2}, at most {}", "", number(*highest))));
    }
}

/// What goes beyond the models, in words.
pub(super) fn sentences(view: &Limits) -> Vec<(&'static str, String)> {
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
    let list = |items: Vec<String>| items.join(", ");
    let mut rows = Vec::new();
    if !view.windows.is_empty() {
        let some = view.windows.iter().filter(|window| window.window.ilog2() % 3 == 2);
        let some = some.map(|window| format!("{} in {}", shown(window.parallelism), window.window));
        rows.push(("Tru in a window of instructions", list(some.collect())));
    }
    if !view.widths.is_empty() {
        let some = view.widths.iter().filter(|width| width.width.ilog2() % 2 == 0);
        let some = some.map(|width| format!("{} with {}", shown(width.parallelism), width.width));
        let mut text = list(some.collect());
        if let Some(smooth) = &view.smoothability {
            let _ = write!(text, " (smoothability {:.2} at {})", smooth.value, smooth.width);
        }
        rows.push(("Tru with N instructions a cycle", text));
    }
    if !view.names.is_empty() {
        let of = |reuse: &Reuse| format!("{} without {}", shown(reuse.parallelism), reuse.without);
        rows.push(("TruNam without reuse of one kind", list(view.names.iter().map(of).collect())));
    }
    let of = |model: &Model, tail: &str| {
        let name = model.name.strip_suffix(tail).unwrap_or(&model.name).replace(tail, "");
        format!("{} in {name}", shown(model.parallelism))
    };
    if !view.allocator.is_empty() {
        let text = view.allocator.iter().map(|model| of(model, "Malloc")).collect();
        rows.push(("malloc and free in any order", list(text)));
    }
    if !view.latency.is_empty() {
        let text = view.latency.iter().map(|model| of(model, "Latency")).collect();
        rows.push(("with latencies of a processor", list(text)));
    }
    if let Some(slack) = &view.slack {
        let none: u64 = slack.waits.iter().filter(|waits| waits.to == 0).map(|waits| waits.values).sum();
        let long: u64 = slack.waits.iter().filter(|waits| waits.from >= 64).map(|waits| waits.values).sum();
        let share = |values: u64| percent(Ratio(values as f64 / ((slack.used + slack.unused) as f64).max(1.0)));
        rows.push((
            "values in registers (slack)",
            format!(
                "{} are used at once, {} after 64 cycles or more, {} never",
                share(none),
                share(long),
                share(slack.unused)
            ),
        ));
    }
    if let Some(depend) = &view.depend {
        let tasks = number(depend.parallelism);
        let text = match (&depend.model, depend.bound, depend.within) {
            (Some(model), Some(bound), Some(true)) => {
                format!("calls as tasks have {tasks} of the {} that {model} allows", number(bound))
            }
            (Some(model), Some(bound), _) => format!(
                "calls as tasks have {tasks}, more than the {} that {model} allows: the two saw different code, input or regions",
                number(bound)
            ),
            _ => format!("calls as tasks have {tasks} (a bound needs --models all or table)"),
        };
        rows.push(("workspan depend", text));
    }
    rows
}

/// Bars of at most this number of characters, on a logarithmic scale.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one of eight heights")]
fn sparkline(instructions: &[u64]) -> String {
    const WIDTH: usize = 64;
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let joined: Vec<u64> =
        instructions.chunks(instructions.len().div_ceil(WIDTH).max(1)).map(|bars| bars.iter().sum()).collect();
    let log = |value: u64| (value.max(1) as f64).ln();
    let (low, high) =
        joined.iter().fold((f64::MAX, 0.0), |(low, high): (f64, f64), bar| (low.min(log(*bar)), high.max(log(*bar))));
    let bar = |value: &u64| BARS[(7.0 * (log(*value) - low) / (high - low).max(1e-9)).round().clamp(0.0, 7.0) as usize];
    joined.iter().map(bar).collect()
}

/// What holds most of a line's instructions, with the variable if it is one.
pub(super) fn held_by(line: &Line) -> String {
    match &line.variable {
        Some(variable) if line.link.starts_with("memory-") => format!("{} {variable}", line.link),
        _ => line.link.clone(),
    }
}

fn lines(out: &mut String, view: &Limits, model: &str, style: Style) {
    let most = (style.top / 3).max(3);
    let rows: Vec<_> = view.lines.iter().filter(|line| line.model == model).take(most).collect();
    if rows.is_empty() {
        return;
    }
    let links: Vec<String> = view
        .links
        .iter()
        .filter(|link| link.model == model && link.share >= 0.005)
        .map(|link| format!("{} {}", link.link, percent(Ratio(link.share))))
        .collect();
    line(out, "");
    line(out, &format!("critical path of {model}, held by {}", links.join(", ")));
    let mut table = Table::new(&["instructions", "share", "held by", "line"]);
    for row in rows {
        let function = row.function.as_ref().map(|name| format!("  {name}")).unwrap_or_default();
        let place = match row.line {
            0 => short_file(&row.file).to_owned(),
            line => format!("{}:{line}", short_file(&row.file)),
        };
        let instructions = row.instructions_on_path.round();
        table.row(vec![
            format!("{instructions:.0}"),
            percent(Ratio(row.share)),
            held_by(row),
            format!("{place}{function}"),
        ]);
    }
    table.write(out, style, 3);
}
