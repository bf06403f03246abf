//! The tables of the program, its regions and its sites. the script makes the latter two sortable.

use serde::Serialize;

use super::bar::bar;
use super::escape;
use super::keys::{self, Keys};
use super::source::Listing;
use crate::rows::{self, Name};
use crate::view::{Place, Region, Report, Site};

/// The whole program.
pub(crate) fn program(report: &Report) -> String {
    let rows: String = rows::program(report)
        .iter()
        .map(|[name, values @ ..]| {
            let values: String = values.iter().map(|value| format!("<td>{value}</td>")).collect();
            format!("<tr><th scope=\"row\">{}</th>{values}</tr>\n", name.trim())
        })
        .collect();
    format!(
        r#"<div class="scroll"><table class="program"><thead>{head}</thead><tbody>
{rows}</tbody></table></div>
<p class="conditions">{conditions}</p>
<p class="help">Work is the time that all code took. Span is the time of the longest chain of code that had to run in order. Parallelism
is work divided by span: the program cannot run more than that many times faster, however many workers you add. Burdened is the
parallelism if every possible steal on the critical path also costs time: far less means that tasks are too small. Times exclude
preemption and the profiler. Not included: what workers cost each other, for example by sharing a cache.</p>
"#,
        head = header(&rows::PROGRAM, 0),
        conditions = escape::text(&rows::conditions(report)),
    )
}

/// Top-level regions and serial code.
pub(crate) fn regions(report: &Report, keys: &Keys<'_>, listing: &Listing<'_>) -> String {
    if report.regions.is_empty() {
        return "<p class=\"none\">The program has no top-level region.</p>".to_owned();
    }
    let row = |region: &Region| {
        let [critical, values @ .., _] = rows::region(region);
        let place = region.place.as_ref().or(region.from.as_ref()).or(region.to.as_ref());
        let name = named(&rows::region_name(region), place, None, listing);
        let id = format!("region-{}", keys::anchor(&region.id));
        write_row(&id, keys, &region.id, region.critical_share, &critical, &values, &name)
    };
    table(
        "regions",
        &rows::REGION,
        &report.regions.iter().map(row).collect::<String>(),
        "The top level of the program: parallel regions, and the serial code between them. Rows do not overlap; their shares \
         of the critical path add up to 100 %. Idle is the time that workers waited for work meanwhile. Not shown: why they \
         waited.",
    )
}

/// Spawn sites.
pub(crate) fn sites(report: &Report, keys: &Keys<'_>, listing: &Listing<'_>) -> String {
    if report.sites.is_empty() {
        return "<p class=\"none\">The program created no task.</p>".to_owned();
    }
    let row = |site: &Site| {
        let [critical, values @ .., _] = rows::site(site);
        let place = Place { file: site.file.clone(), line: site.line, column: site.column, code: None };
        let name = named(&rows::site_name(site), Some(&place), site.via.as_ref(), listing);
        write_row(&keys::anchor(&site.id), keys, &site.id, site.critical_share, &critical, &values, &name)
    };
    table(
        "sites",
        &rows::SITE,
        &report.sites.iter().map(row).collect::<String>(),
        "Places that create tasks. Critical is the share of the critical path that the site's own code holds; with serial \
         code it adds up to 100 %. Work and span cover all code that ran inside, so rows overlap. Burdened is their \
         parallelism if every possible steal on the critical path also costs time. Overhead is the cost of creating the \
         tasks, over the work of the program. Not shown: another path may be almost as long and limit the program next.",
    )
}

fn named(name: &Name, place: Option<&Place>, via: Option<&Place>, listing: &Listing<'_>) -> String {
    let via = name.via.as_ref().map_or(String::new(), |text| format!(" (from {})", listing.link(via, text)));
    format!("{}<span>{}{via}</span>", listing.link(place, &name.place), escape::text(&name.rest))
}

fn write_row(
    row: &str,
    keys: &Keys<'_>,
    id: &str,
    share: Option<f64>,
    critical: &str,
    values: &[String],
    name: &str,
) -> String {
    let values: String = values.iter().map(|value| format!("<td>{value}</td>")).collect();
    format!(
        "<tr id=\"{row}\"{key}><td{bar}>{critical}</td>{values}<td>{swatch}{name}</td></tr>\n",
        key = keys.attribute(id),
        bar = bar(share),
        swatch = keys.swatch(id),
    )
}

fn table(id: &str, columns: &[&str], rows: &str, help: &str) -> String {
    format!(
        r#"<p class="help">{help}</p>
<div class="scroll"><table class="rows" data-table="{id}"><thead>{head}</thead><tbody>
{rows}</tbody></table></div>
"#,
        head = header(columns, columns.len() - 1),
    )
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
    regions: Vec<[Option<f64>; 6]>,
    sites: Vec<[Option<f64>; 10]>,
}

impl Order {
    /// The values behind the cells.
    pub(crate) fn of(report: &Report) -> Order {
        let time = |nanos: i64| Some(workspan_model::Nanos(nanos).as_f64());
        let region = |r: &Region| {
            let serial = r.kind == "serial";
            let parallelism = r.parallelism.filter(|_| !serial);
            let idle = time(r.idle_ns).filter(|_| !serial);
            [r.critical_share, time(r.work_ns), time(r.span_ns), parallelism, number(r.instances), idle]
        };
        let site = |s: &Site| {
            let sizes = s.task_ns;
            let (critical, overhead) = (s.critical_share, s.overhead_share);
            let (mean, p50, p90) = (sizes.map(|t| t.mean), sizes.map(|t| t.p50), sizes.map(|t| t.p90));
            let size = |nanos: Option<i64>| nanos.and_then(time);
            let (work, span) = (time(s.work_ns), time(s.span_ns));
            let burdened = s.burdened.and_then(|b| b.parallelism);
            [critical, work, span, s.parallelism, burdened, number(s.tasks), size(mean), size(p50), size(p90), overhead]
        };
        Order { regions: report.regions.iter().map(region).collect(), sites: report.sites.iter().map(site).collect() }
    }
}

fn number(count: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "only the order matters")]
    let number = count as f64;
    Some(number)
}
