//! `workspan scale --html`: one page that needs nothing else, and no script.

use super::svg;
use super::text::{cause_notes, cause_rows, conditions, measured, speedup, REGIONS};
use super::view::Scale;
use crate::html::escape;
use crate::html::plain::{self, page, Head};
use crate::parts::time;
use crate::words::percent;
use workspan_model::Ratio;

/// The page.
pub fn html(view: &Scale) -> String {
    let body = format!(
        r#"{warnings}{svg}
<h2>What the curves say</h2>
{reading}
<p class="dim">Maximal: neither idle time nor work inflation. Idle-time-specific: without inflation. Inflation-specific:
without idle time. The gap between the linear and the maximal curve is overhead, from there to the idle-time-specific one
idle time, to the inflation-specific one inflation.</p>
<h2>Speedups</h2>
{speedups}<h2>Times</h2>
{times}<p class="dim">{conditions}</p>
<h2>Where the time goes</h2>
{causes}{notes}{regions}{sites}"#,
        warnings = warnings(view),
        svg = svg::svg(view),
        reading = view.reading.iter().map(|text| format!("<p>{}</p>\n", escape::text(text))).collect::<String>(),
        speedups = speedups(view),
        times = times(view),
        conditions = escape::text(&conditions(view)),
        causes = plain::table(&["", "time", "share"], &[0], cause_rows(view).into_iter().map(Vec::from)),
        notes = cause_notes(view)
            .iter()
            .map(|note| format!("<p class=\"dim\">{}.</p>\n", escape::text(note)))
            .collect::<String>(),
        regions = regions(view),
        sites = sites(view),
    );
    let head =
        Head { of: "scale", command: &view.conditions.command, made_at: view.conditions.made_at, headline: &view.text };
    page(&head, &body)
}

fn warnings(view: &Scale) -> String {
    let interrupted = (!view.complete).then_some("interrupted: this is what had been measured by then");
    plain::warnings(interrupted.into_iter().chain(view.warnings.iter().map(String::as_str)))
}

fn speedups(view: &Scale) -> String {
    let header = ["workers", "elision", "maximal", "idle-time-specific", "inflation-specific", "actual"];
    let rows = view.points.iter().map(|point| {
        let of = &point.speedups;
        let cells = [of.elision, of.maximal, of.idle_specific, of.inflation_specific, of.actual].map(speedup);
        std::iter::once(point.workers.to_string()).chain(cells).collect()
    });
    plain::table(&header, &[], rows)
}

fn times(view: &Scale) -> String {
    let header = ["workers", "T_P", "T_1", "I_P", "of P·T_P", "W_P", "F_P", "W_P/T_1", "runs"];
    let rows = view.points.iter().map(|point| {
        vec![
            point.workers.to_string(),
            measured(&point.time),
            measured(&point.one_worker),
            measured(&point.idle),
            point.idle_share.map_or_else(|| "-".to_owned(), |share| percent(Ratio(share))),
            measured(&point.work),
            time(point.inflation_ns),
            point.inflation.map_or_else(|| "-".to_owned(), |ratio| Ratio(ratio).to_string()),
            point.time.runs_ns.len().to_string(),
        ]
    });
    plain::table(&header, &[], rows)
}

fn regions(view: &Scale) -> String {
    if view.regions.is_empty() {
        return String::new();
    }
    let rows = view.regions.iter().map(|region| {
        let cells = [region.idle_ns, region.inflation_ns, region.one_worker_ns, region.work_ns].map(time);
        cells.into_iter().chain([region.name.clone()]).collect()
    });
    let table = plain::table(&["I_P", "F_P", "T_1", "W_P", "region"], &[4], rows);
    format!("<h2>Regions</h2>\n<p>{REGIONS}.</p>\n{table}")
}

fn sites(view: &Scale) -> String {
    if view.sites.is_empty() {
        return String::new();
    }
    let rows = view.sites.iter().map(|site| {
        let cells = [site.inflation_ns, site.one_worker_ns, site.work_ns].map(time);
        cells.into_iter().chain([site.name.clone()]).collect()
    });
    let table = plain::table(&["F_P", "T_1", "W_P", "strands of the site itself"], &[3], rows);
    format!("<h2>Sites</h2>\n{table}")
}
