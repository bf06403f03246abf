//! Writes an answer: as a table, as CSV, as JSON.

use std::io::{self, BufWriter, StdoutLock, Write};

use serde_json::{Number, Value};
use workspan_query::{Cell, Column, Sink};
use workspan_report::table::{self, Align};
use workspan_report::words::csv_cell;

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Columns side by side.
    Table,
    /// An object for each row.
    Json,
    /// RFC 4180.
    Csv,
}

/// Rows by which the widths of a table's columns are chosen.
const HELD: usize = 1000;

/// Writes an answer row by row.
#[derive(Debug)]
pub(crate) struct Answer {
    to: BufWriter<StdoutLock<'static>>,
    form: Form,
    columns: Vec<Column>,
    /// Rows of a table that have not been written.
    held: Vec<Vec<String>>,
    /// Of the columns of a table, once they are chosen.
    widths: Option<Vec<usize>>,
}

impl Sink for Answer {
    fn columns(&mut self, columns: &[Column]) -> io::Result<()> {
        self.columns = columns.to_vec();
        let names = columns.iter().map(|column| column.name.clone()).collect();
        match self.form {
            Form::Table => self.held.push(names),
            Form::Csv => self.csv(&names)?,
            Form::Json => {}
        }
        Ok(())
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        match self.form {
            Form::Table => {
                self.held.push(cells.iter().map(|cell| words(cell).replace(['\n', '\r'], " ")).collect());
                if self.held.len() > HELD {
                    self.write_held()?;
                }
                Ok(())
            }
            Form::Csv => self.csv(&cells.iter().map(words).collect::<Vec<_>>()),
            Form::Json => {
                // In the order of the columns, which an object of serde_json would not keep.
                let pair =
                    |(column, cell): (&Column, &Cell)| format!("{}:{}", Value::from(column.name.as_str()), value(cell));
                let pairs: Vec<String> = self.columns.iter().zip(cells).map(pair).collect();
                writeln!(self.to, "{{{}}}", pairs.join(","))
            }
        }
    }
}

impl Answer {
    /// To stdout.
    pub(crate) fn new(form: Form) -> Answer {
        let to = BufWriter::new(io::stdout().lock());
        Answer { to, form, columns: Vec::new(), held: Vec::new(), widths: None }
    }

    /// After the last row.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.write_held()?;
        self.to.flush()
    }

    /// The rows of a table; those that come later have the same widths, if they fit.
    fn write_held(&mut self) -> io::Result<()> {
        let aligns: Vec<Align> =
            self.columns.iter().map(|column| if column.numeric { Align::Right } else { Align::Left }).collect();
        let width = |c: usize| self.held.iter().map(|row| row[c].chars().count()).max().unwrap_or(0);
        let widths = self.widths.get_or_insert_with(|| (0..aligns.len()).map(width).collect());
        self.to.write_all(table::write_wide(&self.held, &aligns, widths).as_bytes())?;
        self.held.clear();
        Ok(())
    }

    /// A line as RFC 4180 has it.
    fn csv(&mut self, cells: &[String]) -> io::Result<()> {
        let quoted: Vec<_> = cells.iter().map(|cell| csv_cell(cell)).collect();
        writeln!(self.to, "{}", quoted.join(","))
    }
}

fn words(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Float(number) => number.to_string(),
        Cell::Truth(truth) => truth.to_string(),
        Cell::Text(text) => text.clone(),
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => Number::from_i128(*number).map_or_else(|| number.to_string().into(), Value::Number),
        // What JSON has no number for is null.
        Cell::Float(number) => Value::from(*number),
        Cell::Truth(truth) => Value::Bool(*truth),
        Cell::Text(text) => Value::String(text.clone()),
    }
}
