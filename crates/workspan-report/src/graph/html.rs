//! `workspan graph … --html`: one page that needs nothing else, and no script.

use std::fmt::Write as _;

use super::{Drawing, Page, Section, Table};
use crate::html::plain::{page, table, warnings, Head};
use crate::html::{chart, escape, heat};

/// Rows that a table of the page has at most.
const MOST: usize = 200;

/// The page.
pub fn html(of: &Page<'_>) -> String {
    let sections: String = of.sections.iter().map(section).collect();
    let body = warnings(of.warnings.iter().map(String::as_str)) + &contents(of.sections) + &sections;
    page(&Head { of: of.of, command: of.command, made_at: of.made_at, headline: of.headline }, &body)
}

/// Where each section is, if there are several.
fn contents(sections: &[Section]) -> String {
    if sections.len() < 2 {
        return String::new();
    }
    let link = |section: &Section| format!("<a href=\"#{}\">{}</a>", id(section), escape::text(section.title));
    format!("<p>{}</p>\n", sections.iter().map(link).collect::<Vec<_>>().join(" · "))
}

fn id(section: &Section) -> String {
    section.title.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

fn section(section: &Section) -> String {
    let mut out = format!("<h2 id=\"{}\">{}</h2>\n", id(section), escape::text(section.title));
    for line in section.text.lines().filter(|line| !line.is_empty()) {
        // A string takes any text.
        let _ = writeln!(out, "<p>{}</p>", escape::text(line));
    }
    if !section.help.is_empty() {
        let _ = writeln!(out, "<p class=\"dim\">{}</p>", escape::text(&section.help));
    }
    for drawing in &section.drawings {
        out.push_str(&match drawing {
            Drawing::Chart(drawn) => chart::svg(drawn),
            Drawing::Heat(drawn) => heat::svg(drawn),
        });
    }
    out.extend(section.tables.iter().map(rows));
    out
}

fn rows(shown: &Table) -> String {
    if shown.rows.is_empty() {
        return String::new();
    }
    let header: Vec<&str> = shown.header.iter().map(String::as_str).collect();
    let mut out = table(&header, &shown.names, shown.rows.iter().take(MOST).cloned());
    if shown.rows.len() > MOST {
        let more = shown.rows.len() - MOST;
        let _ = writeln!(out, "<p class=\"dim\">{more} more rows: --csv and --json have all</p>");
    }
    out
}
