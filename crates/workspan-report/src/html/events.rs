//! Events by site: a table that is there without a script.

use super::escape;
use super::keys::Keys;
use super::table::header;
use crate::events::Shown;
use crate::view::Report;

/// The section; empty if nothing was counted.
pub(crate) fn section(report: &Report, keys: &Keys<'_>) -> String {
    let Some(shown) = report.events.as_ref().and_then(Shown::of) else {
        return String::new();
    };
    let columns: Vec<String> = shown.columns().into_iter().map(escape::text).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let row = |(cells, id): (Vec<String>, Option<&str>)| {
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape::text(cell))).collect();
        format!("<tr{}>{cells}</tr>\n", id.map_or_else(String::new, |id| keys.attribute(id)))
    };
    format!(
        r#"<section id="events"><h2>Events</h2>
<p class="help">{sentences}. For each site: events in its own strands, their share of all strands, and events including the code that ran inside.
Events while threads waited for work belong to no site.</p>
<div class="scroll"><table class="rows"><thead>{head}</thead><tbody>
{rows}</tbody></table></div>
</section>
"#,
        sentences = escape::text(&shown.sentences().collect::<Vec<_>>().join(". ")),
        head = header(&columns, columns.len() - 1),
        rows = shown.rows().map(row).collect::<String>(),
    )
}
