//! Pages without a script: title, command and headline over a body. `scale`, `limits`, `depend` and `graph` write them.

use super::{date, escape};

const STYLE: &str = "\
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2025;--dim:#5d6673;--line:#e1e4e8;--warn:#7a4b00}
@media (prefers-color-scheme:dark){:root{--bg:#1a1c1f;--fg:#dfe3e8;--dim:#98a1ad;--line:#33373d;--warn:#f0c674}}
body{margin:0 auto;max-width:1000px;padding:0 20px 40px;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,\
sans-serif}
h1{font-size:19px;font-weight:400}h2{font-size:14px;margin:26px 0 4px}svg{max-width:760px;width:100%;height:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th{color:var(--dim);font-weight:400;font-size:12px;\
text-align:right;padding:0 20px 2px 0;border-bottom:1px solid var(--line)}td{text-align:right;padding:0 20px 0 0}
th.name,td.name{text-align:left}.dim{color:var(--dim)}.warnings{color:var(--warn);padding-left:18px}\
.scroll{overflow-x:auto}code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}
";

/// What stands above the body.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    /// The command of Workspan.
    pub(crate) of: &'static str,
    /// The program and its arguments.
    pub(crate) command: &'a [String],
    /// Seconds since 1970.
    pub(crate) made_at: u64,
    pub(crate) headline: &'a str,
}

/// The page. The policy lets it load nothing, whatever a name in it says.
pub(crate) fn page(head: &Head<'_>, body: &str) -> String {
    let program = head.command.first().map_or("", |program| program);
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{STYLE}</style>
</head>
<body>
<p class="dim"><code>{command}</code> {date}</p>
<h1>{headline}</h1>
{body}</body>
</html>
"#,
        title = escape::text(&format!("{program} – workspan {}", head.of)),
        command = escape::text(&head.command.join(" ")),
        date = date::utc(head.made_at),
        headline = escape::prose(head.headline),
    )
}

/// What to know before believing the numbers; nothing if there is nothing.
pub(crate) fn warnings<'w>(warnings: impl Iterator<Item = &'w str>) -> String {
    let items: String = warnings.map(|warning| format!("<li>{}</li>\n", escape::prose(warning))).collect();
    if items.is_empty() {
        return items;
    }
    format!("<ul class=\"warnings\">\n{items}</ul>\n")
}

/// A table. `names`: columns of names, which stand at the left of their column.
pub(crate) fn table(header: &[&str], names: &[usize], rows: impl Iterator<Item = Vec<String>>) -> String {
    let class = |column: usize| if names.contains(&column) { " class=\"name\"" } else { "" };
    let cells = |cells: Vec<String>, tag: &str| -> String {
        let cell = |(i, text): (usize, &String)| format!("<{tag}{}>{}</{tag}>", class(i), escape::text(text));
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    let head = cells(header.iter().map(|name| (*name).to_owned()).collect(), "th");
    let body: String = rows.map(|row| cells(row, "td")).collect();
    format!("<div class=\"scroll\"><table><thead>{head}</thead><tbody>\n{body}</tbody></table></div>\n")
}
