//! What a back end has found, as text, JSON, CSV or a page.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use serde_json::{Map, Value};
use workspan_graph::bounds::Bounds;
use workspan_graph::file::Recording;
use workspan_graph::missing::problems;
use workspan_model::Nanos;
use workspan_report::graph::{html, Drawing, Page, Section, Table as Rows};
use workspan_report::place::short_file;
use workspan_report::words::{csv_cell, memory};

use super::sampled::{self, Numbers};
use crate::args::graph::Form;
use crate::table::{self, Align};
use crate::{files, output};

/// Rows of values under names.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Key of the rows in JSON.
    pub name: &'static str,
    /// Keys of the columns, in JSON and CSV.
    pub columns: &'static [&'static str],
    /// Values: texts, numbers, or nothing.
    pub rows: Vec<Vec<Value>>,
}

/// What a back end has found.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The command.
    pub of: &'static str,
    /// What it is about, over its section of a page.
    pub title: &'static str,
    /// How its drawings and tables are read.
    pub help: &'static str,
    /// The figures in words.
    pub head: String,
    /// What JSON has beside the rows.
    pub fields: Value,
    /// The rows.
    pub table: Table,
    /// The whole text, where it is more than the head and the table.
    pub text: Option<String>,
    /// The rows of JSON, where they are not those of the table.
    pub json: Option<Vec<Value>>,
    /// How the numbers come from a graph that is a sample.
    pub numbers: Numbers,
    /// What only a page shows.
    pub drawings: Vec<Drawing>,
}

/// Writes an answer in the form that is wanted.
pub fn write(form: &Form, recording: &Recording, answer: &Answer) -> anyhow::Result<()> {
    if let Some(file) = &form.html {
        return page(file, recording, answer.of, &answer.head, std::slice::from_ref(answer));
    }
    if let Some(sentence) = sampled::sentence(recording, answer.numbers).filter(|_| form.csv) {
        // CSV has no room for it.
        output::note(&sentence);
    }
    output::data(&text(form, recording, answer))?;
    if let Some(sentence) = cut(recording) {
        output::note(&sentence);
    }
    Ok(())
}

/// Accesses that were too long to be looked at whole.
fn cut(recording: &Recording) -> Option<String> {
    let (count, most) = (recording.cut.count(), Bounds::of(recording).most());
    (count > 0).then(|| {
        format!(
            "accesses that are longer than {}, or than memory: {count}; only their first bytes are in these numbers",
            memory(most)
        )
    })
}

/// Writes a page of several answers.
pub fn page(
    file: &Path,
    recording: &Recording,
    of: &'static str,
    head: &str,
    answers: &[Answer],
) -> anyhow::Result<()> {
    let sections: Vec<Section> = answers.iter().map(|answer| section(recording, answer)).collect();
    let mut warnings = problems(recording);
    warnings.extend(cut(recording));
    warnings
        .extend(sampled::in_short(recording).map(|short| format!("{short}; each section says what that means for it")));
    let page = html(&Page {
        of,
        command: &recording.meta.command,
        made_at: recording.meta.made_at,
        headline: head.lines().next().unwrap_or_default(),
        warnings: &warnings,
        sections: &sections,
    });
    files::replace(file, page.as_bytes()).with_context(|| format!("cannot write {}", output::path(file)))?;
    output::note(&format!("wrote {}", output::path(file)));
    Ok(())
}

/// Of a table, a page has this number of rows.
const ROWS_OF_A_PAGE: usize = 100;

fn section(recording: &Recording, answer: &Answer) -> Section {
    let table = &answer.table;
    // Counts by number of contexts are what the drawing shows.
    let is_object = |column: &usize| table.rows.iter().any(|row| row.get(*column).is_some_and(Value::is_object));
    let columns: Vec<usize> = (0..table.columns.len()).filter(|column| !is_object(column)).collect();
    let names = (0..).zip(&columns).filter(|(_, column)| is_text(table, **column)).map(|(place, _)| place);
    let cell = |row: &Vec<Value>, column: &usize| {
        row.get(*column).map_or_else(String::new, |value| shown(table.columns[*column], value))
    };
    let left = table.rows.len().saturating_sub(ROWS_OF_A_PAGE);
    let more = if left == 0 { String::new() } else { format!(" {left} more rows: see them with --json.") };
    Section {
        title: answer.title,
        text: match sampled::sentence(recording, answer.numbers) {
            Some(sentence) => format!("{} ({sentence})", answer.head),
            None => answer.head.clone(),
        },
        help: answer.help.to_owned() + &more,
        drawings: answer.drawings.clone(),
        tables: vec![Rows {
            header: columns.iter().map(|column| heading(table.columns[*column])).collect(),
            names: names.collect(),
            rows: table
                .rows
                .iter()
                .take(ROWS_OF_A_PAGE)
                .map(|row| columns.iter().map(|column| cell(row, column)).collect())
                .collect(),
        }],
    }
}

fn is_text(table: &Table, column: usize) -> bool {
    table.rows.iter().any(|row| row.get(column).is_some_and(Value::is_string))
}

fn text(form: &Form, recording: &Recording, answer: &Answer) -> String {
    let table = &answer.table;
    if form.json {
        let mut document = Map::from_iter([("schema_version".to_owned(), 1.into())]);
        if let Value::Object(fields) = &answer.fields {
            document.extend(fields.clone());
        }
        if let Some(sample) = sampled::json(recording, answer.numbers) {
            document.insert("recorded_sample".to_owned(), sample);
        }
        if !table.name.is_empty() {
            let rows = answer.json.clone().unwrap_or_else(|| objects(table));
            document.insert(table.name.to_owned(), Value::Array(rows));
        }
        return format!("{:#}\n", Value::Object(document));
    }
    if form.csv {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let mut text = line(table.columns.iter().map(|name| (*name).to_owned()).collect());
        text.extend(
            table.rows.iter().map(|row| line(row.iter().map(|value| csv_cell(&plain(value)).into()).collect())),
        );
        return text;
    }
    let text = answer.text.clone().unwrap_or_else(|| {
        let text = in_columns(&answer.head, table, form.top);
        if table.rows.is_empty() {
            text
        } else {
            format!("{text}\n{}\n", answer.help)
        }
    });
    match sampled::sentence(recording, answer.numbers) {
        Some(sentence) => format!("! {sentence}\n{text}"),
        None => text,
    }
}

fn objects(table: &Table) -> Vec<Value> {
    let row = |row: &Vec<Value>| {
        Value::Object(table.columns.iter().zip(row).map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    };
    table.rows.iter().map(row).collect()
}

/// The head over the first rows.
pub fn in_columns(head: &str, table: &Table, most: usize) -> String {
    let mut rows = vec![table.columns.iter().map(|name| heading(name)).collect::<Vec<_>>()];
    let cells = |row: &Vec<Value>| table.columns.iter().zip(row).map(|(name, value)| shown(name, value)).collect();
    rows.extend(table.rows.iter().take(most).map(cells));
    let align = |column: usize| if is_text(table, column) { Align::Left } else { Align::Right };
    let aligned: Vec<Align> = (0..table.columns.len()).map(align).collect();
    let mut text = format!("{head}\n\n{}", table::write(&rows, &aligned));
    if table.rows.len() > most {
        let rows = table.rows.len();
        let _ = write!(text, "\n{} more: see them with --top {rows}\n", rows - most);
    }
    text
}

/// A column's key as a reader sees it: what its unit is, the values say.
fn heading(column: &str) -> String {
    match column {
        "ns" => "time".to_owned(),
        _ => column.strip_suffix("_ns").unwrap_or(column).replace('_', " "),
    }
}

/// As a reader calls it: shares as per cent, times with their unit, files of packages and toolchains without the folders that these lie
/// in.
fn shown(column: &str, value: &Value) -> String {
    let text = plain(value);
    match value {
        Value::Number(number) if column == "share" || column.ends_with("_ratio") => {
            number.as_f64().map_or(text, |share| format!("{:.1} %", 100.0 * share))
        }
        Value::Number(number) if column == "ns" || column.ends_with("_ns") => {
            number.as_i64().map_or(text, |nanos| Nanos(nanos).to_string())
        }
        Value::String(_) if text.starts_with('/') => short_file(&text).to_owned(),
        _ => text,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{:.4}", number.as_f64().unwrap_or(0.0)),
        other => other.to_string(),
    }
}

/// A part of a whole; 0 of nothing.
#[expect(clippy::cast_precision_loss, reason = "a ratio that is shown")]
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
