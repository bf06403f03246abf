//! What would be if parts of the program were parallelised, if that was requested with the run.

use super::escape;
use super::table;
use crate::view::{Report, WhatIf};
use crate::what_if::{figure_rows, path_row, site_row, FIGURES, PATH, SITES};

/// The section, or nothing.
pub(crate) fn section(report: &Report) -> String {
    if report.what_if.is_empty() {
        return String::new();
    }
    let scenarios: String = report.what_if.iter().map(scenario).collect();
    format!(
        "<section id=\"what-if\"><h2>What if</h2>\n<p class=\"help\">Predicted effect of running the named code in parallel, that \
         many times faster; the work stays as it is. <em>At most</em> assumes that the code costs nothing. Workspan does not know \
         whether the code can run in parallel.</p>\n{scenarios}</section>\n"
    )
}

fn scenario(answer: &WhatIf) -> String {
    let warnings: String = answer
        .warnings
        .iter()
        .map(|warning| format!("<br><b aria-hidden=\"true\">!</b> {}", escape::prose(warning)))
        .collect();
    let path: Vec<_> = answer.path.iter().map(path_row).collect();
    let sites: Vec<_> = answer.sites.iter().map(site_row).collect();
    let figures = plain("program", &FIGURES, 0, &figure_rows(answer));
    let (path, sites) = (plain("rows", &PATH, PATH.len() - 1, &path), plain("rows", &SITES, SITES.len() - 1, &sites));
    format!("<p><strong>{}</strong>{warnings}</p>\n{figures}{path}{sites}", escape::prose(&answer.text))
}

/// A table that cannot be sorted, or nothing.
fn plain<const N: usize>(class: &str, columns: &[&str; N], left: usize, rows: &[[String; N]]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let cells =
        |row: &[String; N]| row.iter().map(|cell| format!("<td>{}</td>", escape::prose(cell))).collect::<String>();
    let rows: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row))).collect();
    let head = table::header(columns, left);
    format!(
        "<div class=\"scroll\"><table class=\"{class}\"><thead>{head}</thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}
