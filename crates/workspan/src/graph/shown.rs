//! A table as text, JSON or CSV.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::args::graph::Form;
use crate::table::{self, Align};

/// Rows of values under names.
#[derive(Debug)]
pub struct Table<'t> {
    /// Key of the rows in JSON.
    pub name: &'t str,
    /// Keys of the columns, in JSON and CSV.
    pub columns: &'t [&'t str],
    /// Values: texts, numbers, or nothing.
    pub rows: Vec<Vec<Value>>,
}

/// The table in a form. `head` stands before the text, `fields` beside the rows in JSON; the text has `most` rows.
pub fn write(form: &Form, table: &Table<'_>, head: &str, fields: Value, most: usize) -> String {
    if form.json {
        let row = |row: &Vec<Value>| {
            Value::Object(
                table.columns.iter().zip(row).map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
            )
        };
        let mut document = Map::from_iter([("schema_version".to_owned(), 1.into())]);
        if let Value::Object(fields) = fields {
            document.extend(fields);
        }
        document.insert(table.name.to_owned(), table.rows.iter().map(row).collect());
        return format!("{:#}\n", Value::Object(document));
    }
    if form.csv {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let mut text = line(table.columns.iter().map(|name| (*name).to_owned()).collect());
        text.extend(table.rows.iter().map(|row| line(row.iter().map(|value| quoted(&plain(value))).collect())));
        return text;
    }
    let mut rows = vec![table.columns.iter().map(|name| name.replace('_', " ")).collect::<Vec<_>>()];
    rows.extend(table.rows.iter().take(most).map(|row| row.iter().map(plain).collect()));
    let is_text = |column: usize| table.rows.iter().any(|row| row.get(column).is_some_and(Value::is_string));
    let aligned: Vec<Align> =
        (0..table.columns.len()).map(|column| if is_text(column) { Align::Left } else { Align::Right }).collect();
    let mut text = format!("{head}\n\n{}", table::write(&rows, &aligned));
    if table.rows.len() > most {
        let rows = table.rows.len();
        let _ = write!(text, "\n{} more: see them with --top {rows}\n", rows - most);
    }
    text
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{:.4}", number.as_f64().unwrap_or(0.0)),
        other => other.to_string(),
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
