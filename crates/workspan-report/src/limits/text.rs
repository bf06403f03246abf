//! `workspan limits` in the terminal: headline, warnings, models, and where critical paths lead.

use super::make::number;
use super::view::{Limits, Model};
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
    let missed = Ratio(view.branches.missed as f64 / (view.branches.ran as f64).max(1.0));
    let paths = if view.exact_paths { "all known" } else { "from a sample" };
    format!(
        "{} instructions, {} branches ({} predicted wrong); lines of critical paths {paths}; {}",
        count(view.instructions),
        count(view.branches.ran),
        percent(missed),
        view.conditions.emulator
    )
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
            row.link.clone(),
            format!("{place}{function}"),
        ]);
    }
    table.write(out, style, 3);
}
