//! `workspan scale` in the terminal: headline, warnings, curves, tables, reading.

use workspan_model::Ratio;

use super::plot;
use super::view::{Scale, Speedup, Time};
use crate::parts::time;
use crate::terminal::{head, line, more, Style, Table};
use crate::words::percent;

/// The answer as text, with the curves drawn in Unicode, or else in ASCII.
pub fn text(view: &Scale, style: Style, unicode: bool) -> String {
    let mut out = String::new();
    let interrupted = (!view.complete).then(|| "interrupted: this is what had been measured by then".to_owned());
    head(&mut out, &view.text, interrupted.iter().chain(&view.warnings), style);
    line(&mut out, "");
    speedups(&mut out, view, style);
    line(&mut out, "");
    times(&mut out, view, style);
    line(&mut out, &style.dim(SYMBOLS));
    line(&mut out, &style.dim(&conditions(view)));
    if view.points.len() > 1 {
        line(&mut out, "");
        out.push_str(&plot::draw(view, unicode));
    }
    line(&mut out, "");
    for sentence in &view.reading {
        line(&mut out, sentence);
    }
    causes(&mut out, view, style);
    regions(&mut out, view, style);
    sites(&mut out, view, style);
    out
}

/// What the columns of times are.
pub(super) const SYMBOLS: &str =
    "T_P: time on P workers; I_P: time that the P workers were idle, added up; W_P = P·T_P - I_P: time that they \
                                  worked; F_P = W_P - T_1: what the work takes longer than on one worker";

fn speedups(out: &mut String, view: &Scale, style: Style) {
    let elision = view.elision.is_some();
    let mut header = vec!["workers", "linear"];
    if elision {
        header.push("elision");
    }
    header.extend(["maximal", "idle-time-specific", "inflation-specific", "actual"]);
    let mut table = Table::new(&header);
    for point in &view.points {
        let speedups = &point.speedups;
        let mut row = vec![point.workers.to_string(), Ratio(speedups.linear).to_string()];
        if elision {
            row.push(speedup(speedups.elision));
        }
        row.extend([speedups.maximal, speedups.idle_specific, speedups.inflation_specific].map(speedup));
        row.push(speedup(speedups.actual));
        table.row(row);
    }
    table.write(out, style, usize::MAX);
}

pub(super) fn speedup(value: Option<Speedup>) -> String {
    match value {
        None => "-".to_owned(),
        Some(Speedup { value, error: None }) => Ratio(value).to_string(),
        Some(Speedup { value, error: Some(error) }) => format!("{} ± {}", Ratio(value), Ratio(error)),
    }
}

fn times(out: &mut String, view: &Scale, style: Style) {
    let mut table = Table::new(&["workers", "T_P", "T_1", "idle I_P", "of P·T_P", "inflation F_P", "W_P/T_1", "runs"]);
    for point in &view.points {
        table.row(vec![
            point.workers.to_string(),
            measured(&point.time),
            measured(&point.one_worker),
            measured(&point.idle),
            point.idle_share.map_or_else(|| "-".to_owned(), |share| percent(Ratio(share))),
            time(point.inflation_ns),
            point.inflation.map_or_else(|| "-".to_owned(), |ratio| Ratio(ratio).to_string()),
            point.time.runs_ns.len().to_string(),
        ]);
    }
    table.write(out, style, usize::MAX);
}

/// A mean, and how far it may be off.
pub(super) fn measured(of: &Time) -> String {
    match of.error_ns {
        Some(error) => format!("{} ± {}", time(of.mean_ns), time(error)),
        None => time(of.mean_ns),
    }
}

/// The baseline, the elision, and how it was run.
pub(super) fn conditions(view: &Scale) -> String {
    let conditions = &view.conditions;
    let of = if conditions.baseline.is_some() { "the baseline" } else { "T_1" };
    let mut parts = vec![format!("T_s {} ({of})", measured(&view.baseline))];
    parts.extend(view.elision.as_ref().map(|elision| format!("T_elision {}", measured(elision))));
    parts.push(format!("{} on {} processors", conditions.processor, conditions.cpus));
    parts.push(if conditions.pinned { "pinned" } else { "not pinned" }.to_owned());
    parts.push(match conditions.warm_up {
        0 => "no warm-up".to_owned(),
        1 => "1 round of warm-up".to_owned(),
        n => format!("{n} rounds of warm-up"),
    });
    parts.join("; ")
}

/// The rows of the table of causes: name, time, share of P·T_P.
pub(super) fn cause_rows(view: &Scale) -> Vec<[String; 3]> {
    let causes = &view.causes;
    let share = |value: i64| {
        let [value, all] = [value, causes.available_ns].map(|n| workspan_model::Nanos(n).as_f64());
        if all > 0.0 {
            percent(Ratio(value / all))
        } else {
            "-".to_owned()
        }
    };
    let useful = if view.conditions.baseline.is_some() { "the baseline's work T_s" } else { "work without its tasks" };
    let mut rows = vec![(useful, causes.available_ns - causes.total_ns)];
    rows.push(("algorithmic overhead", causes.algorithmic_ns));
    rows.push(("task overhead", causes.task_overhead_ns));
    if view.regions.is_empty() {
        rows.push(("idle", causes.parallelism_ns + causes.scheduling_ns));
    } else {
        rows.push(("idle: too little parallelism", causes.parallelism_ns));
        rows.push(("idle: scheduling", causes.scheduling_ns));
    }
    rows.push(("without a processor", causes.no_processor_ns));
    rows.push(("work inflation", causes.inflation_ns));
    rows.push(("P·T_P", causes.available_ns));
    rows.into_iter().map(|(name, value)| [name.to_owned(), time(value), share(value)]).collect()
}

fn causes(out: &mut String, view: &Scale, style: Style) {
    line(out, "");
    let title = format!("where the time of {} goes", super::words_of_workers(view.causes.workers));
    let mut table = Table::new(&[&title, "time", "share"]);
    for row in cause_rows(view) {
        table.row(row.to_vec());
    }
    table.write(out, style, 0);
    for note in cause_notes(view) {
        line(out, &style.dim(&note));
    }
}

/// How the causes add up.
pub(super) fn cause_notes(view: &Scale) -> Vec<String> {
    let causes = &view.causes;
    let mut notes = Vec::new();
    if !view.regions.is_empty() {
        let idle = time(causes.parallelism_ns + causes.scheduling_ns);
        notes.push(format!(
            "both rows of idle add up to I_P, {idle}: too little parallelism is what no schedule of these tasks avoids, by the work and span of a \
             run of its own; scheduling is the rest, on a busy machine also the time that tasks waited for a processor"
        ));
    }
    let all = [causes.algorithmic_ns, causes.no_processor_ns, causes.inflation_ns];
    if all.iter().any(|cause| cause.saturating_mul(100) < -causes.available_ns) {
        notes.push(
            "a cause below zero took less time than with one worker: the other rows add up to more than P·T_P by as much".to_owned(),
        );
    }
    notes
}

fn regions(out: &mut String, view: &Scale, style: Style) {
    if view.regions.is_empty() {
        return;
    }
    line(out, "");
    line(out, REGIONS);
    let mut table = Table::new(&["idle I_P", "inflation F_P", "T_1", "W_P", "region"]);
    for region in view.regions.iter().take(style.top) {
        let cells = [region.idle_ns, region.inflation_ns, region.one_worker_ns, region.work_ns].map(time);
        table.row(cells.into_iter().chain([region.name.clone()]).collect());
    }
    table.write(out, style, 4);
    more(out, view.regions.len(), style, "region");
}

/// What the rows of regions are.
pub(super) const REGIONS: &str =
    "by region, in further runs with all hooks, which take their own time: these rows do not add up to the I_P above";

fn sites(out: &mut String, view: &Scale, style: Style) {
    if view.sites.is_empty() {
        return;
    }
    line(out, "");
    let mut table = Table::new(&["inflation F_P", "T_1", "W_P", "strands of the site itself"]);
    for site in view.sites.iter().take(style.top) {
        let cells = [site.inflation_ns, site.one_worker_ns, site.work_ns].map(time);
        table.row(cells.into_iter().chain([site.name.clone()]).collect());
    }
    table.write(out, style, 3);
    more(out, view.sites.len(), style, "site");
}
