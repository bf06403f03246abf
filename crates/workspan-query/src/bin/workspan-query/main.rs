//! The program `workspan-query`: answers a query over a folder of strands or a task graph. `workspan query` runs it.
//!
//! A program of its own because DataFusion takes several times as long to compile as all of Workspan.
//!
//! **Contract with `workspan query`:** `workspan-query [--json | --csv] -- FOLDER SQL`. stdout is the answer, stderr is
//! messages; exit status 0, or 2 with a message on stderr.

mod answer;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use answer::{Answer, Form};
use clap::Parser;
use workspan_query::{GraphFolder, QueryError};

/// Wrong usage, or input or output that failed; as of all commands of Workspan.
const FAILED: u8 = 2;

const EXAMPLE: &str = "\
Example:
  workspan-query workspan.strands 'select * from site_totals order by work_ns desc limit 10'

`workspan query` runs this program; `workspan query --help` lists tables and views.";

/// Answer a question in SQL about recorded strands or a task graph.
#[derive(Debug, Parser)]
#[command(name = "workspan-query", version, after_help = EXAMPLE, max_term_width = 100)]
struct Arguments {
    /// The folder of strands, NAME.strands, or of a task graph, NAME.graph.
    folder: PathBuf,
    /// The question.
    sql: String,
    /// Write a JSON object for each row, one a line.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Write values with commas between (RFC 4180), names first.
    #[arg(long)]
    csv: bool,
}

impl Arguments {
    fn form(&self) -> Form {
        match (self.json, self.csv) {
            (true, _) => Form::Json,
            (false, true) => Form::Csv,
            (false, false) => Form::Table,
        }
    }
}

fn main() -> ExitCode {
    match answer(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the answer has enough of it.
        Err(QueryError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            say(&format_args!("error: {error}"));
            ExitCode::from(FAILED)
        }
    }
}

fn answer(arguments: &Arguments) -> Result<(), QueryError> {
    let folder = &arguments.folder;
    if workspan_query::is_graph(folder) {
        return answer_of_graph(arguments);
    }
    let survey = workspan_store::survey(folder).map_err(|error| QueryError::Query(error.to_string()))?;
    for (run, problem) in &survey.problems {
        say(&format_args!("warning: {}, run {run}: {problem}", folder.display()));
    }
    let mut answer = Answer::new(arguments.form());
    workspan_query::run(folder, &survey, &arguments.sql, &mut answer)?;
    answer.end().map_err(QueryError::Output)
}

fn answer_of_graph(arguments: &Arguments) -> Result<(), QueryError> {
    let graph = GraphFolder::open(&arguments.folder)?;
    for problem in graph.problems() {
        say(&format_args!("warning: {}: {problem}", arguments.folder.display()));
    }
    let mut answer = Answer::new(arguments.form());
    graph.run(&arguments.sql, &mut answer)?;
    answer.end().map_err(QueryError::Output)
}

/// A message with our name.
fn say(message: &dyn Display) {
    // There is nowhere left to report a failure to.
    let _ = writeln!(io::stderr().lock(), "workspan-query: {message}");
}
