//! The panel of source lines: excerpts around sites, with their numbers beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::excerpt::excerpts;
use super::keys::{self, Keys};
use super::{bar, escape};
use crate::view::{Place, Report, Site};
use crate::{place, rows};

/// Source files by name.
pub type Sources = BTreeMap<String, String>;

/// Source files that the page is without though they exist: name, and why.
pub type LeftOut = [(String, String)];

/// Longer lines are cut: a generated file may have one of a megabyte.
const LONGEST: usize = 400;

/// The files to show, and where in the page their lines are.
#[derive(Debug)]
pub(crate) struct Listing<'a> {
    files: Vec<File<'a>>,
    missing: Vec<&'a str>,
    /// Those that exist but must not be shown, and why.
    left_out: &'a LeftOut,
}

#[derive(Debug)]
struct File<'a> {
    name: &'a str,
    text: Vec<&'a str>,
    marks: BTreeMap<u32, Vec<Mark<'a>>>,
    excerpts: Vec<RangeInclusive<u32>>,
}

/// What to write beside a line.
#[derive(Clone, Copy, Debug)]
struct Mark<'a> {
    site: &'a Site,
    /// The line only leads to the site, which is in a dependency.
    leads: bool,
}

impl<'a> Listing<'a> {
    /// Finds the lines of sites, those of the sites with the greatest share of the critical path first.
    pub(crate) fn of(report: &'a Report, sources: &'a Sources, left_out: &'a LeftOut) -> Listing<'a> {
        let mut order: Vec<&str> = Vec::new();
        let mut marks: BTreeMap<&str, BTreeMap<u32, Vec<Mark<'a>>>> = BTreeMap::new();
        let mut mark = |file: &'a str, line, mark| {
            if file.is_empty() {
                return;
            }
            let lines = marks.entry(file).or_insert_with(|| {
                order.push(file);
                BTreeMap::new()
            });
            lines.entry(line).or_default().push(mark);
        };
        for site in &report.sites {
            if let Some(via) = &site.via {
                mark(&via.file, via.line, Mark { site, leads: true });
            }
            mark(&site.file, site.line, Mark { site, leads: false });
        }
        let mut listing = Listing { files: Vec::new(), missing: Vec::new(), left_out };
        for name in order {
            let (Some(text), Some(marks)) = (sources.get(name), marks.remove(name)) else {
                if left_out.iter().all(|(file, _)| file != name) {
                    listing.missing.push(name);
                }
                continue;
            };
            let text: Vec<&str> = text.lines().collect();
            let lines: BTreeSet<u32> = marks.keys().copied().collect();
            let excerpts = excerpts(&lines, u32::try_from(text.len()).unwrap_or(u32::MAX));
            listing.files.push(File { name, text, marks, excerpts });
        }
        listing
    }

    /// The id of a line, if it is shown.
    pub(crate) fn anchor(&self, file: &str, line: u32) -> Option<String> {
        let (index, file) = self.files.iter().enumerate().find(|(_, f)| f.name == file)?;
        file.excerpts.iter().any(|lines| lines.contains(&line)).then(|| line_id(index, line))
    }

    /// A name, leading to its line if that is shown.
    pub(crate) fn link(&self, place: Option<&Place>, name: &str) -> String {
        let name = escape::prose(name);
        match place.and_then(|place| self.anchor(&place.file, place.line)) {
            Some(anchor) => format!("<a href=\"#{anchor}\">{name}</a>"),
            None => name,
        }
    }

    /// The panel.
    pub(crate) fn panel(&self, keys: &Keys<'_>) -> String {
        if self.files.is_empty() && self.missing.is_empty() && self.left_out.is_empty() {
            return "<p class=\"none\">There is no site to show.</p>".to_owned();
        }
        let help = if self.files.is_empty() { "" } else { HELP };
        let files: String = self.files.iter().enumerate().map(|(i, file)| file.write(i, keys)).collect();
        format!("{help}{files}{}{}", self.without_source(), self.refused())
    }

    fn without_source(&self) -> String {
        if self.missing.is_empty() {
            return String::new();
        }
        let names: Vec<String> = self.missing.iter().map(|name| escape::text(place::short_file(name))).collect();
        format!("<p class=\"none\">No source was found, or none was wanted, of {}.</p>\n", names.join(", "))
    }

    fn refused(&self) -> String {
        let line = |(file, why): &(String, String)| {
            format!("<p class=\"none\">The source {} is excluded: {}.</p>\n", escape::text(file), escape::text(why))
        };
        self.left_out.iter().map(line).collect()
    }
}

const HELP: &str = r#"<p class="help">Numbers stand beside the line that creates tasks and include what these tasks ran, functions called included. Not
shown: which lines of those functions took the time. The source is as of when this page was written; if it changed after the
recording, numbers stand beside wrong lines.</p>
"#;

fn line_id(file: usize, line: u32) -> String {
    format!("L{file}-{line}")
}

impl File<'_> {
    fn write(&self, index: usize, keys: &Keys<'_>) -> String {
        let beyond: Vec<String> =
            self.marks.keys().filter(|line| self.line(**line).is_none()).map(u32::to_string).collect();
        let beyond = match beyond.as_slice() {
            [] => String::new(),
            lines => format!("<p class=\"none\">It has no line {}: it changed.</p>", lines.join(", ")),
        };
        let parts: Vec<String> = self
            .excerpts
            .iter()
            .map(|lines| lines.clone().map(|line| self.rows(index, line, keys)).collect::<String>())
            .collect();
        format!(
            r#"<details class="file" open><summary>{name}</summary>{beyond}<div class="scroll"><table class="src">
<thead><tr><th>critical (self)</th><th>work (total)</th><th>span (total)</th><th>parallelism</th><th>tasks</th><th>line</th><th></th></tr></thead>
<tbody>
{lines}</tbody></table></div></details>
"#,
            name = escape::text(place::short_file(self.name)),
            lines = parts.join("<tr class=\"gap\"><td colspan=\"5\"></td><td>⋯</td><td></td></tr>\n"),
        )
    }

    fn line(&self, line: u32) -> Option<&str> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        self.text.get(index).copied()
    }

    /// A line, once for each site on it.
    fn rows(&self, file: usize, line: u32, keys: &Keys<'_>) -> String {
        let code = code(self.line(line).unwrap_or_default());
        let id = line_id(file, line);
        let marks = self.marks.get(&line).map_or(&[] as &[Mark<'_>], Vec::as_slice);
        let Some((first, more)) = marks.split_first() else {
            return format!("<tr id=\"{id}\"><td colspan=\"5\"></td><td>{line}</td><td>{code}</td></tr>\n");
        };
        let note = |mark: &Mark<'_>| {
            let Site { kind, column, .. } = mark.site;
            match (mark.leads, marks.len()) {
                (true, _) => format!(" leads to {}", rows::site_name(mark.site).place),
                (false, 1) => String::new(),
                (false, _) => format!(" {kind}, column {column}"),
            }
        };
        let noted = |mark: &Mark<'_>| match note(mark) {
            note if note.is_empty() => note,
            note => format!(" <em>↳{}</em>", escape::text(&note)),
        };
        let row = |id: String, number: String, code: String, mark: &Mark<'_>| {
            let cells = numbers(mark.site);
            let key = keys.attribute(&mark.site.id);
            let swatch = keys.swatch(&mark.site.id);
            format!("<tr{id} class=\"hit\"{key}>{cells}<td>{swatch}{number}</td><td>{code}{}</td></tr>\n", noted(mark))
        };
        let head = row(format!(" id=\"{id}\""), line.to_string(), code, first);
        let tail: String = more.iter().map(|mark| row(String::new(), String::new(), String::new(), mark)).collect();
        head + &tail
    }
}

fn numbers(site: &Site) -> String {
    let [critical, work, span, parallelism, _, tasks, ..] = rows::site(site);
    format!(
        "<td{bar}><a href=\"#{anchor}\">{critical}</a></td><td>{work}</td><td>{span}</td><td>{parallelism}</td><td>{tasks}</td>",
        bar = bar::bar(site.critical_share),
        anchor = keys::anchor(&site.id),
    )
}

fn code(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => escape::text(&line[..end]) + "…",
        None => escape::text(line),
    }
}
