//! The tables of the program, its regions and its sites. the script makes the latter two sortable.

use serde::Serialize;

use super::bar::bar;
use super::escape;
use super::keys::{self, Keys};
use super::source::Listing;
use crate::columns::{self, Column, Columns};
use crate::glossary::WORDS;
use crate::rows::{self, Name};
use crate::view::{Place, Region, Report, Site};

/// The whole program.
pub(crate) fn program(report: &Report) -> String {
    let columns = Columns::of(&columns::PROGRAM, report);
    let rows: String = rows::program(report)
        .iter()
        .map(|row| {
            let values: String = columns.pick(row)[1..].iter().map(|value| format!("<td>{value}</td>")).collect();
            format!("<tr><th scope=\"row\">{}</th>{values}</tr>\n", row[0].trim())
        })
        .collect();
    let words = WORDS.iter().map(|(word, meaning)| format!("<dt>{word}</dt><dd>{}</dd>\n", escape::prose(meaning)));
    let more = [rows::longer_than_work(report), rows::polled(report)].into_iter().flatten();
    let longer: String = more.map(|why| format!("<p class=\"conditions\">{}</p>\n", escape::prose(&why))).collect();
    format!(
        r#"<div class="scroll"><table class="program"><thead>{head}</thead><tbody>
{rows}</tbody></table></div>
<p class="conditions">{conditions}</p>
{longer}<p class="help">Work is the time that all code took, span the time of its longest chain that had to run in order; parallelism is work
divided by span. Work and span exclude the profiler and time without a processor. Not included: what workers cost each other, for
example by sharing a cache. The name of a column says more where the pointer rests on it.</p>
<details id="words"><summary>What the words mean</summary><dl class="words">
{words}</dl></details>
"#,
        head = explained(&columns, 0),
        conditions = escape::text(&rows::conditions(report)),
        words = words.collect::<String>(),
    )
}

/// Top-level regions and serial code.
pub(crate) fn regions(report: &Report, keys: &Keys<'_>, listing: &Listing<'_>) -> String {
    if report.regions.is_empty() {
        return "<p class=\"none\">The program has no top-level region.</p>".to_owned();
    }
    let columns = Columns::of(&columns::REGION, report);
    let row = |region: &Region| {
        let cells = columns.pick(&rows::region(region));
        let place = region.place.as_ref().or(region.from.as_ref()).or(region.to.as_ref());
        let name = named(&rows::region_name(region), place, None, listing);
        let id = format!("region-{}", keys::anchor(&region.id));
        write_row(&id, keys, &region.id, region.critical_share, &cells, &name)
    };
    table(
        "regions",
        &columns,
        &rows::shown_regions(report).iter().map(row).collect::<String>(),
        &rows::region_notes(&report.regions),
        "The top level of the program: parallel regions with all that runs inside them, and the serial code between them. Rows do \
         not overlap; their shares of the critical path add up to 100 %. Idle is the time that workers waited for work \
         meanwhile, summed over all workers, so it may exceed the time that passed. Not shown: why they waited.",
    )
}

/// Spawn sites.
pub(crate) fn sites(report: &Report, keys: &Keys<'_>, listing: &Listing<'_>) -> String {
    if report.sites.is_empty() {
        return "<p class=\"none\">The program created no task.</p>".to_owned();
    }
    let columns = Columns::of(&columns::SITE, report);
    let row = |site: &Site| {
        let cells = columns.pick(&rows::site(site));
        let place = Place {
            file: site.file.clone(),
            line: site.line,
            column: site.column,
            code: None,
            with_column: site.with_column,
        };
        let name = named(&rows::site_name(site), Some(&place), site.via.as_ref(), listing);
        write_row(&keys::anchor(&site.id), keys, &site.id, site.critical_share, &cells, &name)
    };
    table(
        "sites",
        &columns,
        &report.sites.iter().map(row).collect::<String>(),
        &rows::site_notes(&report.sites),
        "Lines that create tasks or threads. Critical (self) is the share of the critical path that the site's own code has; \
         with serial code it adds up to 100 %. Work and span are totals, with all code that ran inside, so rows overlap. Not \
         shown: another path may be almost as long and limit the program next.",
    )
}

fn named(name: &Name, place: Option<&Place>, via: Option<&Place>, listing: &Listing<'_>) -> String {
    let via = name.via.as_ref().map_or(String::new(), |text| format!(" (from {})", listing.link(via, text)));
    format!("{}<span>{}{via}</span>", listing.link(place, &name.place), escape::prose(&name.rest))
}

fn write_row(row: &str, keys: &Keys<'_>, id: &str, share: Option<f64>, cells: &[String], name: &str) -> String {
    let [critical, values @ .., _] = cells else {
        return String::new();
    };
    let values: String = values.iter().map(|value| format!("<td>{value}</td>")).collect();
    format!(
        "<tr id=\"{row}\"{key}><td{bar}>{critical}</td>{values}<td>{swatch}{name}</td></tr>\n",
        key = keys.attribute(id),
        bar = bar(share),
        swatch = keys.swatch(id),
    )
}

fn table(id: &str, columns: &Columns, rows: &str, notes: &[&str], help: &str) -> String {
    let notes: String =
        notes.iter().map(|note| format!("<p class=\"conditions\">{}</p>\n", escape::text(note))).collect();
    format!(
        r#"<p class="help">{help}</p>
<div class="scroll"><table class="rows" data-table="{id}"><thead>{head}</thead><tbody>
{rows}</tbody></table></div>
{notes}"#,
        head = explained(columns, columns.names().len() - 1),
    )
}

/// A header whose names say what they mean where a pointer rests on them.
fn explained(columns: &Columns, left: usize) -> String {
    let cells = columns.shown().enumerate().map(|(at, Column { name, help, .. })| {
        let class = if at == left { " class=\"name\"" } else { "" };
        let title = if help.is_empty() { String::new() } else { format!(" title=\"{}\"", escape::text(help)) };
        format!("<th scope=\"col\"{class}{title}>{name}</th>")
    });
    format!("<tr>{}</tr>", cells.collect::<String>())
}

/// `left`: the column whose cells are names.
pub(crate) fn header(columns: &[&str], left: usize) -> String {
    let cells = columns.iter().enumerate().map(|(i, name)| {
        let class = if i == left { " class=\"name\"" } else { "" };
        format!("<th scope=\"col\"{class}>{name}</th>")
    });
    format!("<tr>{}</tr>", cells.collect::<String>())
}

/// What to sort by: a row of numbers for each row of a table, in the order of the columns. Names sort by their text.
#[derive(Debug, Serialize)]
pub(crate) struct Order {
    regions: Vec<Vec<Option<f64>>>,
    sites: Vec<Vec<Option<f64>>>,
}

impl Order {
    /// The values behind the cells.
    pub(crate) fn of(report: &Report) -> Order {
        let time = |nanos: i64| Some(workspan_model::Nanos(nanos).as_f64());
        let region = |r: &Region| {
            let serial = r.kind == "serial";
            let parallelism = r.parallelism.filter(|_| !serial);
            let idle = time(r.idle_ns).filter(|_| !serial);
            let row = [r.critical_share, time(r.work_ns), time(r.span_ns), parallelism, number(r.instances), idle];
            Columns::of(&columns::REGION, report).pick(&row)
        };
        let site = |s: &Site| {
            let sizes = s.task_ns;
            let (critical, overhead) = (s.critical_share, s.overhead_share);
            let (mean, p50, p90) = (sizes.map(|t| t.mean), sizes.map(|t| t.p50), sizes.map(|t| t.p90));
            let size = |nanos: Option<i64>| nanos.and_then(time);
            let (work, span) = (time(s.work_ns), time(s.span_ns));
            let burdened = s.burdened.and_then(|b| b.parallelism);
            let sizes = [size(mean), size(p50), size(p90)];
            let row = [
                critical,
                work,
                span,
                s.parallelism,
                burdened,
                number(s.tasks),
                sizes[0],
                sizes[1],
                sizes[2],
                overhead,
                time(s.contended_ns),
                number(s.instances),
            ];
            Columns::of(&columns::SITE, report).pick(&row)
        };
        Order {
            regions: rows::shown_regions(report).iter().map(region).collect(),
            sites: report.sites.iter().map(site).collect(),
        }
    }
}

fn number(count: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "only the order matters")]
    let number = count as f64;
    Some(number)
}
