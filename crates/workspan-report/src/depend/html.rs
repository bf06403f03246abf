//! `workspan depend --html`: one page that needs nothing else, and no script.

use std::fmt::Write as _;

use workspan_model::Ratio;

use super::graphs::html::section;
use super::text::{
    self, about_sizes, by_calls, describe, headline, meaning, ranked, row, share, spawnable, HEADS, LEAST, MEANS,
};
use super::view::{Depend, Loop};
use crate::html::escape;
use crate::html::plain::{page, warnings, Head};
use crate::place::short_file;

/// Loops that a table of the page has at most.
const MOST: usize = 500;

/// The page. `line`: a line of a source file, where there is one.
pub fn html(view: &Depend, made_at: u64, line: &dyn Fn(&str, u32) -> Option<String>) -> String {
    let warnings = warnings(view.warnings.iter().map(String::as_str));
    let body = warnings + &candidates(view) + &refused(view) + &calls(view) + &models(view);
    let body = body + &section(&view.critical_paths, line) + &coverage(view);
    let headline = headline(view);
    let head = Head { of: "depend", command: &view.command, made_at, headline: &headline };
    page(&head, &body)
}

fn table(head: &[&str], rows: &str) -> String {
    let head: String = head.iter().map(|name| format!("<th class=\"name\">{name}</th>")).collect();
    format!("<div class=\"scroll\"><table><tr>{head}</tr>\n{rows}</table></div>\n")
}

fn place(each: &Loop) -> String {
    format!("<code>{}</code>", escape::text(&text::place(each)))
}

fn candidates(view: &Depend) -> String {
    let work = view.models.first().map_or(0, |model| model.work);
    let mut rows = String::new();
    let (gain, small): (Vec<&Loop>, Vec<&Loop>) =
        ranked(view, true).into_iter().partition(|each| each.speedup >= LEAST);
    for each in gain.into_iter().take(MOST) {
        let inside = each
            .inside
            .as_ref()
            .map_or_else(String::new, |outer| format!(" <span class=\"dim\">(inside line {})</span>", outer.line));
        let _ = writeln!(
            rows,
            "<tr><td>{:.2}x</td><td>{}</td><td class=\"name\">{}{inside}</td><td class=\"name\"><code>{}</code></td></tr>",
            each.speedup,
            share(each.work, work),
            place(each),
            escape::text(&each.change)
        );
    }
    let small = match small.len() {
        0 => String::new(),
        count => {
            format!("<p class=\"dim\">{count} more can run in parallel, but do too little work to gain from it.</p>\n")
        }
    };
    if rows.is_empty() {
        return small;
    }
    format!(
        "<h2>Loops to run in parallel</h2>\n{}{small}<p class=\"dim\">Speedup of the whole program on {} processors. Workspan assumes that \
         starting and ending a parallel loop costs {} instructions.</p>\n",
        table(&["speedup", "work", "loop", "write"], &rows),
        view.processors,
        view.overhead
    )
}

fn refused(view: &Depend) -> String {
    let work = view.models.first().map_or(0, |model| model.work);
    let mut out = String::new();
    for each in ranked(view, false).into_iter().take(MOST) {
        let all: String = each
            .blockers
            .iter()
            .map(|blocker| {
                format!(
                    "<li>{} <span class=\"dim\">{} times</span></li>\n",
                    escape::text(&describe(blocker, each)),
                    blocker.count
                )
            })
            .collect();
        let _ = writeln!(
            out,
            "<details><summary>{} <span class=\"dim\">{} of the work; {}</span></summary><ul>\n{all}</ul></details>",
            place(each),
            share(each.work, work),
            if each.speedup < LEAST {
                "no gain".to_owned()
            } else {
                format!("if it could, the program would run {:.2}x faster", each.speedup)
            }
        );
    }
    if out.is_empty() {
        out
    } else {
        format!("<h2>Loops that cannot run in parallel, and what forbids it</h2>\n{out}")
    }
}

fn calls(view: &Depend) -> String {
    let bound = by_calls(view);
    let (worth, small) = spawnable(view);
    if bound < LEAST || worth.is_empty() && small.is_empty() {
        return String::new();
    }
    let work = view.models.first().map_or(0, |model| model.work);
    let mut rows = String::new();
    for call in worth.iter().take(MOST) {
        let [share, count, length, continuation, spawn, wait] = row(call, work);
        let cells = [share, count, length, continuation].map(|cell| format!("<td>{cell}</td>")).concat();
        let code =
            [spawn, wait].map(|cell| format!("<td class=\"name\"><code>{}</code></td>", escape::text(&cell))).concat();
        let _ = writeln!(rows, "<tr>{cells}{code}</tr>");
    }
    let mut out = "<h2>Calls that other work can run beside</h2>\n".to_owned();
    if !worth.is_empty() {
        out += &table(&HEADS, &rows);
        let _ = writeln!(
            out,
            "<p class=\"dim\">As tasks, together at most {bound:.2}x on {} processors. {MEANS}.</p>",
            view.processors
        );
    }
    for sentence in about_sizes(view, &worth[..worth.len().min(MOST)], &small) {
        let _ = writeln!(out, "<p class=\"dim\">{}</p>", escape::text(&sentence));
    }
    out
}

fn models(view: &Depend) -> String {
    let mut rows = String::new();
    for model in &view.models {
        let _ = writeln!(
            rows,
            "<tr><td class=\"name\">{}</td><td>{}</td><td>{}</td><td class=\"name\">{}</td></tr>",
            escape::text(&model.name),
            Ratio(model.parallelism),
            model.span,
            meaning(&model.name)
        );
    }
    format!(
        "<h2>Task models</h2>\n{}<p class=\"dim\">Parallelism of the program as it is, on unlimited processors: work divided by \
         span, in instructions.</p>\n",
        table(&["model", "parallelism", "span", "a task is"], &rows)
    )
}

fn coverage(view: &Depend) -> String {
    let found = &view.coverage;
    let mut out = format!(
        "<h2>Coverage</h2>\n<p>{} of {} lines were executed in {}. Dependences are seen only where code ran.</p>\n<ul>\n",
        found.executed,
        found.lines,
        match view.runs.len() {
            1 => "1 run".to_owned(),
            runs => format!("{runs} runs"),
        }
    );
    for each in found.unreached.iter().take(MOST) {
        let text = format!("{}:{}-{}", short_file(&each.file), each.first, each.last);
        let _ = writeln!(out, "<li><code>{}</code> not reached</li>", escape::text(&text));
    }
    out + "</ul>\n"
}
