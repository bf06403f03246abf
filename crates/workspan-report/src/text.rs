//! The terminal report.
//!
//! First line the verdict, then losses and warnings, the whole program, top-level regions, sites. Understandable
//! without colour; [`Style`] adds some.

use crate::place;
use crate::view::{Place, Region, Report, Site, Warning};
use crate::words::{count, percent};
use workspan_model::{Nanos, Ratio};

/// How to write.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// With ANSI colours.
    pub colour: bool,
    /// Most rows per table.
    pub top: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { colour: false, top: 15 }
    }
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn warning(self, text: &str) -> String {
        self.paint("33", text)
    }
}

/// The report as text.
pub fn write(report: &Report, style: Style) -> String {
    let mut out = String::new();
    line(&mut out, &style.bold(&report.verdict.text));
    for Warning { message, .. } in &report.warnings {
        line(&mut out, &style.warning(&format!("! {message}")));
    }
    line(&mut out, "");
    program(&mut out, report, style);
    regions(&mut out, report, style);
    sites(&mut out, report, style);
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn program(out: &mut String, report: &Report, style: Style) {
    let p = &report.program;
    let mut table =
        Table::new(&["", "work", "span", "parallelism", "tasks", "task overhead", "wall", "idle", "blocked"]);
    table.row(vec![
        "program".to_owned(),
        time(p.work_ns),
        time(p.span_ns),
        ratio(p.parallelism),
        count(p.tasks),
        share(p.task_overhead),
        time(p.wall_ns),
        time(p.idle_ns),
        time(p.blocked_ns),
    ]);
    if let Some(spread) = &report.spread {
        for (name, pick) in [("  lowest", true), ("  highest", false)] {
            let of = |e: &crate::view::Extremes<i64>| time(if pick { e.min } else { e.max });
            let parallelism = if pick { spread.parallelism.min } else { spread.parallelism.max };
            table.row(vec![
                name.to_owned(),
                of(&spread.work_ns),
                of(&spread.span_ns),
                ratio(Some(parallelism)),
                String::new(),
                String::new(),
                of(&spread.wall_ns),
                String::new(),
                String::new(),
            ]);
        }
    }
    table.write(out, style, 0);
    let workers = if p.workers == 1 { "1 worker".to_owned() } else { format!("{} workers", p.workers) };
    let cores = p.logical_cores.map_or(String::new(), |n| format!("; loops split as on {n} cores (--logical-cores)"));
    let runs = report.spread.as_ref().map_or(String::new(), |s| format!("; median of {} runs", s.runs));
    line(out, &style.dim(&format!("{workers}{cores}{runs}")));
}

fn regions(out: &mut String, report: &Report, style: Style) {
    if report.regions.is_empty() {
        return;
    }
    line(out, "");
    let mut table =
        Table::new(&["critical", "work", "span", "parallelism", "times", "idle", "region (serial code on its own)"]);
    for region in report.regions.iter().take(style.top) {
        table.row(vec![
            share(region.critical_share),
            time(region.work_ns),
            time(region.span_ns),
            if region.kind == "serial" { "serial".to_owned() } else { ratio(region.parallelism) },
            count(region.instances),
            if region.kind == "serial" { String::new() } else { time(region.idle_ns) },
            region_name(region),
        ]);
    }
    table.write(out, style, 6);
    more(out, report.regions.len(), style, "regions");
}

fn region_name(region: &Region) -> String {
    let open = if region.open { " (not ended)" } else { "" };
    match &region.place {
        None => {
            let name = place::serial(region.from.as_ref(), region.to.as_ref());
            if region.prefix {
                format!("{name} (start-up)")
            } else {
                name
            }
        }
        Some(Place { file, line, .. }) => format!("{} {}{open}", place::short(file, *line), region.kind),
    }
}

fn sites(out: &mut String, report: &Report, style: Style) {
    if report.sites.is_empty() {
        return;
    }
    line(out, "");
    let mut table = Table::new(&[
        "critical",
        "work",
        "span",
        "parallelism",
        "tasks",
        "size mean",
        "p50",
        "p90",
        "overhead",
        "site",
    ]);
    for site in report.sites.iter().take(style.top) {
        let size =
            |pick: fn(&crate::view::TaskSizes) -> i64| site.task_ns.as_ref().map_or(String::new(), |s| time(pick(s)));
        table.row(vec![
            share(site.critical_share),
            time(site.work_ns),
            time(site.span_ns),
            ratio(site.parallelism),
            count(site.tasks),
            size(|s| s.mean),
            size(|s| s.p50),
            size(|s| s.p90),
            share(site.overhead_share),
            site_name(site),
        ]);
    }
    table.write(out, style, 9);
    more(out, report.sites.len(), style, "sites");
}

fn site_name(site: &Site) -> String {
    let function = site.function.as_ref().map_or(String::new(), |f| format!(" in {f}"));
    let via = site.via.as_ref().map_or(String::new(), |p| format!(" (from {})", place::short(&p.file, p.line)));
    format!("{} {}{function}{via}", place::short(&site.file, site.line), site.kind)
}

fn more(out: &mut String, all: usize, style: Style, what: &str) {
    if all > style.top {
        line(out, &style.dim(&format!("and {} more {what} (--top {all})", all - style.top)));
    }
}

fn time(nanos: i64) -> String {
    Nanos(nanos).to_string()
}

fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| Ratio(v).to_string())
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| percent(Ratio(v)))
}

/// Columns aligned to the right, the last (and the first, if unnamed) to the left.
struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(header: &[&str]) -> Table {
        Table { rows: vec![header.iter().map(|h| (*h).to_owned()).collect()] }
    }

    fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// `left`: the column that is aligned to the left.
    fn write(&self, out: &mut String, style: Style, left: usize) {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (i, row) in self.rows.iter().enumerate() {
            let mut text = String::new();
            for (c, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[c].saturating_sub(cell.chars().count()));
                if c > 0 {
                    text.push_str("  ");
                }
                if c == left {
                    text.push_str(cell);
                    text.push_str(&pad);
                } else {
                    text.push_str(&pad);
                    text.push_str(cell);
                }
            }
            let text = text.trim_end();
            line(out, &if i == 0 { style.dim(text) } else { text.to_owned() });
        }
    }
}
