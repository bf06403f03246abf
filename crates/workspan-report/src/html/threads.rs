//! Who waits for whom: a table that is there without a script.

use super::escape;
use super::table::header;
use crate::threads::{COLUMNS, LEGEND};
use crate::view::Report;

/// The section; empty if no thread waited for another one for long.
pub(crate) fn section(report: &Report) -> String {
    let Some(threads) = &report.threads else { return String::new() };
    let row = |cells: [String; 7]| {
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape::prose(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let sentences: String =
        threads.bottlenecks.iter().map(|knot| format!("<p>{}</p>\n", escape::prose(&knot.text))).collect();
    format!(
        r#"<section id="threads"><h2>Who waits for whom</h2>
{sentences}<p class="help">{legend}.</p>
<div class="scroll"><table class="rows"><thead>{head}</thead><tbody>
{rows}</tbody></table></div>
</section>
"#,
        legend = escape::prose(LEGEND),
        head = header(&COLUMNS, COLUMNS.len() - 2),
        rows = threads.rows().map(row).collect::<String>(),
    )
}
