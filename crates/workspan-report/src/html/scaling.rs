//! The panel of speedups: what work and span allow on any number of processors, and, where the page carries the strands,
//! sliders that make parts of the program faster.

use std::fmt::Write as _;

use super::bar;
use super::escape;
use super::keys::Keys;
use super::table;
use crate::live::{Dot, Live};
use crate::parts::{range, ratio};
use crate::rows::share;
use crate::view::Report;
use workspan_analysis::laws::{self, Bounds};
use workspan_model::Nanos;

/// The bounds of a report: as the sliders have them, where there are any. Totals do not say for whom a strand waited.
pub(crate) fn bounds(report: &Report, live: Option<&Live>) -> [Bounds; laws::POWERS as usize] {
    let program = &report.program;
    let [work, span, on_one] = [program.work_ns, program.span_ns, program.one_processor_ns].map(Nanos);
    let blocked = live.map_or(Nanos(program.blocked_ns), |live| live.blocked);
    laws::Program { work, span, blocked, on_one }.curve(program.uniform.map(|uniform| Nanos(uniform.span_ns)))
}

/// The panel.
pub(crate) fn panel(report: &Report, keys: &Keys<'_>, live: Option<&Live>) -> String {
    if report.program.work_ns <= 0 {
        return String::new();
    }
    format!(
        r#"<section id="scaling"><h2>Speedup, and what if</h2>
<p class="help">On the left: possible speedup over one processor. The upper edge of the band is the work law and the span law: no
run is faster{range}. The lower edge (Brent's theorem) holds for an ideal scheduler, which keeps no processor idle while there
is code to run, and for which moving code to another processor costs nothing: no such run is slower. {predicted} The dotted line is
linear speedup: as many times as processors. Not included: what processors cost each other, for example by sharing a cache. {what_if}</p>
<div class="pair">
<figure id="speedup"><figcaption><b>Speedup</b> by processors</figcaption>
<div class="chart"></div>
{numbers}</figure>
<figure id="sliders"><figcaption><b>What if</b>{run}</figcaption>
{sliders}</figure>
</div></section>
"#,
        range = match report.program.uniform {
            Some(_) => ", even if iterations of a loop cost the same and nobody waits for a lock",
            None => "",
        },
        predicted = live.map_or(
            "Real schedulers may be slower than that, below the band: moving code costs time, and a processor may be idle until it finds some.".to_owned(),
            |live| predicted(report, live)
        ),
        what_if = match live.and_then(|live| live.carried.as_ref()) {
            Some(_) =>
                "On the right: the segments that the critical path mostly consists of. A slider predicts the effect of making \
                 a segment faster by running it in parallel. The slider divides the time that the code runs; the \
                 time that the code waits for files, timers or other processes stays, and so does the work. Workspan does not know whether \
                 the segment can run in parallel.",
            _ => "",
        },
        numbers = numbers(report, live),
        run = live.filter(|live| live.run.1 > 1).map_or(String::new(), |live| format!(
            " run {} of {}",
            live.run.0, live.run.1
        )),
        sliders = sliders(keys, live),
    )
}

/// How the dots came about.
fn predicted(report: &Report, live: &Live) -> String {
    let folded = match live.folded {
        (strands, work) if work > Nanos::ZERO => format!(
            " To save time, the simulation merged {} short strands into others, of up to {work} each.",
            crate::words::count(strands)
        ),
        _ => String::new(),
    };
    let known = if report.recorded.steal_from.as_deref() == Some("measured") { "measured" } else { "assumed" };
    format!(
        "The dots simulate work stealing on the recorded strands, with the {known} cost of a steal, as <code>workspan predict</code> does. \
         They may lie below the band: stealing costs time, and a processor may be idle until it finds code to steal.{folded}"
    )
}

/// Columns of the bounds and, with strands, of what was simulated.
const COLUMNS: [&str; 6] = [
    "processors",
    "ideal scheduler, at least",
    "at most",
    "greedy, simulated",
    "work stealing, simulated",
    "its range",
];

fn numbers(report: &Report, live: Option<&Live>) -> String {
    let dots = live.map_or(&[][..], |live| &live.predicted);
    let rows: String = bounds(report, live)
        .iter()
        .enumerate()
        .map(|(power, b)| {
            let [least, most] = [b.least, b.most].map(|bound| ratio(Some(bound)));
            let dots = dots.get(power).map_or(String::new(), |Dot { seen, even }| {
                let [low, median, high] = seen.stealing.map(Some);
                let (greedy, median) = (ratio(Some(seen.greedy)), range(median, *even));
                format!("<td>{greedy}</td><td>{median}</td><td>{}–{}</td>", ratio(low), ratio(high))
            });
            format!("<tr><td>{}</td><td>{least}</td><td>{most}</td>{dots}</tr>\n", b.processors)
        })
        .collect();
    let shown = if dots.is_empty() { 3 } else { COLUMNS.len() };
    let even = if dots.iter().any(|dot| range(Some(dot.seen.stealing[1]), dot.even).contains('–')) {
        "<p class=\"none\">A range in the column of work stealing: with the chunks of loops as they were, and with iterations that cost the \
         same.</p>\n"
    } else {
        ""
    };
    format!(
        "<details><summary>In numbers</summary><table class=\"plain\"><thead>{}</thead><tbody>\n{rows}</tbody></table>\n{even}</details>\n",
        table::header(&COLUMNS[..shown], usize::MAX),
    )
}

fn sliders(keys: &Keys<'_>, live: Option<&Live>) -> String {
    let Some(live) = live else {
        return "<p class=\"none\">This needs every strand: record with <code>--strands</code>, and keep the folder <code>.strands</code> \
                beside the recording.</p>\n"
            .to_owned();
    };
    let mut out = String::new();
    for warning in &live.warnings {
        let _ = writeln!(out, "<p class=\"none\"><b aria-hidden=\"true\">!</b> {}</p>", escape::prose(warning));
    }
    if live.carried.is_none() {
        out += "<p class=\"none\">The recording is too large for computing in a page: use <code>workspan what-if</code>.</p>\n";
    }
    if live.merged.rows > 0 {
        let _ = writeln!(
            out,
            "<p class=\"none\"><b aria-hidden=\"true\">!</b> The recording is too large for a page: the page has tasks with less \
             than {} of work as one strand each, {} strands fewer. An answer is therefore a range: merged strands may be unaffected \
             by a change, or cost nothing. <code>workspan what-if</code> computes the exact value.</p>",
            live.merged.threshold,
            crate::words::count(live.merged.rows),
        );
    }
    let rows: String = live.pieces[..live.offered]
        .iter()
        .map(|part| {
            let id = part.piece.site.as_deref().unwrap_or_default();
            format!(
                "<tr data-part=\"{handle}\"{key}><td{bar}>{share}</td><td>{swatch}{text} <span>{handle}</span></td></tr>\n",
                handle = escape::text(&part.handle),
                key = keys.attribute(id),
                bar = bar::bar(Some(part.share)),
                share = share(Some(part.share)),
                swatch = keys.swatch(id),
                text = escape::prose(&part.piece.text),
            )
        })
        .collect();
    if rows.is_empty() {
        return out + "<p class=\"none\">No strand was recorded.</p>\n";
    }
    out + &format!(
        "<p class=\"answer\" role=\"status\" aria-live=\"polite\"></p>\n<table class=\"rows parts\"><thead>{}</thead><tbody>\n{rows}\
         </tbody></table>\n<div class=\"after\"></div>\n",
        table::header(&["critical", "segment"], 1),
    )
}
