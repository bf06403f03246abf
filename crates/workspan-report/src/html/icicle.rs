//! The panel of icicles: work beside critical path, as SVG that needs no script.

use super::escape;
use super::keys::Keys;
use super::layout::{Cell, Measure, Shows, Tree, NARROWEST};
use crate::rows::{share, time};
use crate::view::Report;

/// Height of a row, the gap below it included, in pixels.
const ROW: usize = 20;

/// Width from which a box has room for text, as a share of the page. the script decides again, knowing pixels.
const ROOM: f64 = 0.08;

/// The panel.
pub(crate) fn panel(report: &Report, keys: &Keys<'_>) -> String {
    let tree = Tree::of(&report.contexts);
    // With several runs the tree is that of one of them, and the program's numbers are medians.
    let whole = |value: i64| if report.spread.is_some() { 0 } else { value };
    let work = tree.layout(Measure::Work, whole(report.program.work_ns));
    let critical = tree.layout(Measure::Critical, whole(report.program.span_ns));
    if work.is_empty() && critical.is_empty() {
        return "<p class=\"none\">No time was measured in any site.</p>".to_owned();
    }
    let of_runs = if report.spread.is_some() { " Drawn from the run whose parallelism is the median." } else { "" };
    format!(
        r#"<p class="help">A box is a site, below the sites that led to it. Its width is a share: on the left of all work, on the right of the
critical path, each with all code that ran inside. A box that is wide on the right and narrow on the left keeps the others waiting:
it is much of the path for little work. A box of the same width on both sides is as parallel as the whole program.
Space below a box is the site's own code. Sites with almost no code of their own are grey, serial code is hatched;
recursion is folded, and boxes below {narrowest} are merged. Not shown: when and on which worker code ran.{of_runs}</p>
<svg width="0" height="0" class="defs" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6"
patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" class="h0"/><rect width="2" height="6"
class="h1"/></pattern></defs></svg>
<div class="pair">{left}{right}</div>
"#,
        narrowest = share(Some(NARROWEST)),
        left = figure(report, keys, Measure::Work, &work),
        right = figure(report, keys, Measure::Critical, &critical),
    )
}

fn figure(report: &Report, keys: &Keys<'_>, measure: Measure, cells: &[Cell]) -> String {
    let (id, name) = match measure {
        Measure::Work => ("work", "Work"),
        Measure::Critical => ("critical", "Critical path"),
    };
    let total = cells.first().map_or(0, |cell| cell.inclusive);
    let height = cells.iter().map(|cell| cell.depth + 1).max().unwrap_or(1) * ROW;
    let boxes: String = cells.iter().map(|cell| draw(report, keys, measure, total, cell)).collect();
    format!(
        r#"<figure id="icicle-{id}"><figcaption><b>{name}</b> {total}</figcaption>
<svg class="icicle" width="100%" height="{height}" aria-label="{name}, {total}, by site">
{boxes}</svg></figure>
"#,
        total = time(total),
    )
}

fn draw(report: &Report, keys: &Keys<'_>, measure: Measure, total: i64, cell: &Cell) -> String {
    let what = match measure {
        Measure::Work => "work",
        Measure::Critical => "critical path",
    };
    let nanos = cell.inclusive;
    let amount = format!("{what} {} ({nanos} ns)", time(nanos));
    let of_all = share(Some(workspan_model::Nanos(nanos).as_f64() / workspan_model::Nanos(total).as_f64()));
    let (class, link, label, title) = match cell.shows {
        Shows::Program => ("ct", String::new(), "whole program", format!("whole program\n{amount}")),
        Shows::Others(count) => {
            let title = format!("{count} narrower than {} each\n{amount}, {of_all}", share(Some(NARROWEST)));
            ("co", String::new(), "other", title)
        }
        Shows::Context(index) => {
            let Some(context) = report.contexts.get(index) else {
                return String::new();
            };
            let own = time(measure.own(context));
            let Some((_, key)) = keys.get(&context.id) else {
                return String::new();
            };
            let title = format!("{}\n{amount}, {of_all}; {own} its own", key.name);
            (key.tint, keys.attribute(&context.id), key.label.as_str(), title)
        }
    };
    let text = if cell.width < ROOM { String::new() } else { format!("<text>{}</text>", escape::text(label)) };
    format!(
        "<g class=\"{class}\"{link}><title>{title}</title><svg x=\"{x:.3}%\" y=\"{y}\" width=\"{width:.3}%\" \
         height=\"{height}\"><rect/>{text}</svg></g>\n",
        title = escape::text(&escape::unmarked(&title)),
        x = cell.x * 100.0,
        y = cell.depth * ROW,
        width = cell.width * 100.0,
        height = ROW - 1,
    )
}
