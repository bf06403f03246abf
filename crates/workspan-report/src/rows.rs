//! Rows of the tables: the terminal and the page show the same cells.

use std::fmt;

use crate::place;
use crate::view::{Burdened, Extremes, Region, Report, Site, TaskSizes, Uniform};
use crate::words::{count, percent};
use workspan_model::{Nanos, Ratio};

/// Columns of the whole program.
pub(crate) const PROGRAM: [&str; 10] =
    ["", "work", "span", "parallelism", "burdened", "tasks", "task overhead", "wall", "idle", "blocked"];

/// Columns of regions.
pub(crate) const REGION: [&str; 7] =
    ["critical", "work", "span", "parallelism", "times", "idle", "region, or serial code"];

/// Columns of spawn sites.
pub(crate) const SITE: [&str; 11] =
    ["critical", "work", "span", "parallelism", "burdened", "tasks", "size mean", "p50", "p90", "overhead", "site"];

/// What a row is about. As text: its parts, one after the other.
#[derive(Debug)]
pub(crate) struct Name {
    /// Place in the source, or where serial code lies.
    pub(crate) place: String,
    /// Kind, function, state.
    pub(crate) rest: String,
    /// The place in the workspace that led to a dependency.
    pub(crate) via: Option<String>,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, self.rest)?;
        match &self.via {
            Some(via) => write!(f, " (from {via})"),
            None => Ok(()),
        }
    }
}

/// The whole program, and its extremes over several runs.
pub(crate) fn program(report: &Report) -> Vec<[String; 10]> {
    let p = &report.program;
    let mut rows = vec![[
        "program".to_owned(),
        time(p.work_ns),
        time(p.span_ns),
        bracket(p.parallelism, p.uniform),
        burdened(p.burdened),
        count(p.tasks),
        share(p.task_overhead),
        time(p.wall_ns),
        time(p.idle_ns),
        time(p.blocked_ns),
    ]];
    let Some(spread) = &report.spread else {
        return rows;
    };
    for (name, lowest) in [("  lowest", true), ("  highest", false)] {
        let of = |e: &Extremes<i64>| time(if lowest { e.min } else { e.max });
        let parallelism = if lowest { spread.parallelism.min } else { spread.parallelism.max };
        let empty = String::new;
        rows.push([
            name.to_owned(),
            of(&spread.work_ns),
            of(&spread.span_ns),
            ratio(Some(parallelism)),
            empty(),
            empty(),
            empty(),
            of(&spread.wall_ns),
            empty(),
            empty(),
        ]);
    }
    rows
}

/// Under what conditions the numbers of the program came about.
pub(crate) fn conditions(report: &Report) -> String {
    let p = &report.program;
    let workers = if p.workers == 1 { "1 worker".to_owned() } else { format!("{} workers", p.workers) };
    // Of OpenMP's teams one thread runs at a time, so that every chunk of a loop is seen.
    let openmp = report.recorded.runtime.contains("OpenMP");
    let what = if openmp { "one thread at a time, as on" } else { "loops split as on" };
    let cores = p.logical_cores.map_or(String::new(), |n| format!("; {what} {n} cores (--logical-cores)"));
    let runs = report.spread.as_ref().map_or(String::new(), |s| format!("; median of {} runs", s.runs));
    let known = match report.recorded.steal_from.as_deref() {
        Some(word @ ("measured" | "assumed")) => format!(" ({word})"),
        _ => String::new(),
    };
    let steal = report.recorded.steal_ns;
    let steal = steal.map_or(String::new(), |cost| format!("; burdened with {} a steal{known}", time(cost)));
    format!("{workers}{cores}{runs}{steal}")
}

/// Parallelism between what was seen and what uniform loops would give, if that is more than a trifle more.
fn bracket(seen: Option<f64>, uniform: Option<Uniform>) -> String {
    let high = uniform.and_then(|uniform| uniform.parallelism);
    match (seen, high) {
        (Some(low), Some(high)) if high > low * 1.02 => format!("{}–{}", ratio(Some(low)), ratio(Some(high))),
        _ => ratio(seen),
    }
}

/// What is left of parallelism if all is stolen that can be, or a dash.
fn burdened(burdened: Option<Burdened>) -> String {
    ratio(burdened.and_then(|burdened| burdened.parallelism))
}

/// A region; the last cell is [`region_name`].
pub(crate) fn region(region: &Region) -> [String; 7] {
    let serial = region.kind == "serial";
    [
        share(region.critical_share),
        time(region.work_ns),
        time(region.span_ns),
        if serial { "serial".to_owned() } else { bracket(region.parallelism, region.uniform) },
        count(region.instances),
        if serial { String::new() } else { time(region.idle_ns) },
        region_name(region).to_string(),
    ]
}

/// The name of a region.
pub(crate) fn region_name(region: &Region) -> Name {
    let open = if region.open { " (not ended)" } else { "" };
    let (place, rest) = match &region.place {
        None => {
            let rest = if region.prefix { " (start-up)" } else { "" };
            (place::serial(region.from.as_ref(), region.to.as_ref()), rest.to_owned())
        }
        Some(at) => (place::text(at), format!(" {}{}{open}", region.kind, own_name(region.name.as_deref()))),
    };
    Name { place, rest, via: None }
}

/// A spawn site; the last cell is [`site_name`].
pub(crate) fn site(site: &Site) -> [String; 11] {
    let size = |pick: fn(&TaskSizes) -> i64| site.task_ns.as_ref().map_or(String::new(), |s| time(pick(s)));
    [
        share(site.critical_share),
        time(site.work_ns),
        time(site.span_ns),
        bracket(site.parallelism, site.uniform),
        burdened(site.burdened),
        count(site.tasks),
        size(|s| s.mean),
        size(|s| s.p50),
        size(|s| s.p90),
        share(site.overhead_share),
        site_name(site).to_string(),
    ]
}

/// The name of a spawn site.
pub(crate) fn site_name(site: &Site) -> Name {
    // For want of a place the code is named after the function.
    let named = site.function.as_ref().filter(|_| site.code.is_none());
    let function = named.map_or(String::new(), |f| format!(" in {f}"));
    Name {
        place: site.code.clone().unwrap_or_else(|| place::short(&site.file, site.line)),
        rest: format!(" {}{}{function}", site.kind, own_name(site.name.as_deref())),
        via: site.via.as_ref().map(|p| place::short(&p.file, p.line)),
    }
}

/// The name of a marked region, behind its kind.
fn own_name(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!(" `{name}`"))
}

/// A time with a unit.
pub(crate) fn time(nanos: i64) -> String {
    Nanos(nanos).to_string()
}

/// A quotient, or a dash.
pub(crate) fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| Ratio(v).to_string())
}

/// A share, or a dash.
pub(crate) fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| percent(Ratio(v)))
}
