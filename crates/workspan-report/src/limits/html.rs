//! `workspan limits --html`: one page that needs nothing else, and no script.

use std::fmt::Write;

use super::make::number;
use super::svg;
use super::text::{conditions, held_by, sentences};
use super::view::{Limits, Model};
use crate::html::escape;
use crate::html::plain::{page, warnings, Head};
use crate::place::short_file;
use crate::words::{count, percent};
use workspan_model::Ratio;

/// Lines of a model's path that the page shows.
const LINES: usize = 12;

/// The page.
pub fn html(view: &Limits) -> String {
    let cut = (!view.complete).then_some("cut short: these are the limits of what was analysed");
    let warnings = warnings(cut.into_iter().chain(view.warnings.iter().map(String::as_str)));
    let paths: String = view.models.iter().chain(&view.control).map(|model| path(view, model)).collect();
    let body = format!(
        r#"{warnings}{svg}
<p class="dim">Parallelism: instructions over the longest chain of instructions that need each other, if each takes one
cycle and there are as many processors as one likes. Blue: the seven models; grey: variants of control.</p>
<h2>Models</h2>
{models}<p class="dim">{conditions}</p>
{further}<h2>Where critical paths lead</h2>
{paths}"#,
        svg = svg::svg(view),
        models = models(view),
        further = further(view),
        conditions = escape::text(&conditions(view)),
    );
    let head = Head {
        of: "limits",
        command: &view.conditions.command,
        made_at: view.conditions.made_at,
        headline: &view.text,
    };
    page(&head, &body)
}

fn models(view: &Limits) -> String {
    let mut out = String::from(
        "<div class=\"scroll\"><table><tr><th class=\"name\">model</th><th>parallelism</th><th>critical path</th>\
         <th class=\"name\">what counts</th></tr>\n",
    );
    for model in view.models.iter().chain(&view.control) {
        let parallelism = model.parallelism.map_or_else(|| "-".to_owned(), number);
        let _ = writeln!(
            out,
            "<tr><td class=\"name\">{}</td><td>{parallelism}</td><td>{}</td><td class=\"name\">{}</td></tr>",
            escape::text(&model.name),
            count(model.critical_path),
            escape::text(&model.meaning)
        );
    }
    out + "</table></div>\n"
}

/// What goes beyond the models: in words, and the profile as a drawing.
fn further(view: &Limits) -> String {
    let rows = sentences(view);
    if rows.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h2>Windows, widths, reuse of memory</h2>\n<div class=\"scroll\"><table>\n");
    for (what, found) in rows {
        let _ = writeln!(
            out,
            "<tr><td class=\"name\">{}</td><td class=\"name\">{}</td></tr>",
            escape::text(what),
            escape::text(&found)
        );
    }
    out.push_str("</table></div>\n");
    for profile in &view.profile {
        let name = escape::text(&profile.model).to_string();
        let _ = write!(
            out,
            "<h3>Parallelism over the run: {name}</h3>\n{}<p class=\"dim\">Instructions in a cycle, if each runs as early as it \
             can; {} cycles a bar, burstiness {:.2}, at most {}.</p>\n",
            svg::profile(profile),
            count(profile.cycles),
            profile.burstiness,
            number(profile.highest)
        );
    }
    out
}

fn path(view: &Limits, model: &Model) -> String {
    let mut out = format!(
        "<details><summary>{}</summary><div class=\"scroll\"><table><tr><th>instructions</th><th>share</th>\
         <th class=\"name\">held by</th><th class=\"name\">line</th><th class=\"name\">function</th></tr>\n",
        escape::text(&model.name)
    );
    for line in view.lines.iter().filter(|line| line.model == model.name).take(LINES) {
        let place = match line.line {
            0 => short_file(&line.file).to_owned(),
            number => format!("{}:{number}", short_file(&line.file)),
        };
        let _ = writeln!(
            out,
            "<tr><td>{:.0}</td><td>{}</td><td class=\"name\">{}</td><td class=\"name\"><code>{}</code></td>\
             <td class=\"name\"><code>{}</code></td></tr>",
            line.instructions_on_path,
            percent(Ratio(line.share)),
            escape::text(&held_by(line)),
            escape::text(&place),
            escape::text(line.function.as_deref().unwrap_or("")),
        );
    }
    out + "</table></div></details>\n"
}
