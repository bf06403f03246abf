//! `workspan export`: a recording in the format of another tool.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{fs, mem};

use anyhow::{bail, Context};
use serde_json::json;
use workspan_analysis::bounded_by_locks;
use workspan_analysis::calls::{calls, from_totals, with_threads, Options};
use workspan_analysis::profile;
use workspan_analysis::verdict::PROCESSORS;
use workspan_export::stacks::{self, Stacks};
use workspan_export::timeline::{timeline, LeftOut, Timeline};
use workspan_export::{
    chrome, cilkscale, dot, firefox, folded, graph, graphml, speedscope, strand_table, tables, taskprof,
};
use workspan_model::{Nanos, Recording, Run};
use workspan_report::calls::{answer, csv as calls_csv, Answer, Source as CallsFrom, Steal};
use workspan_report::{judged, typical_run, Judging, Report};

use crate::args::export::{Export, Format, Table, Weight};
use crate::evidence::Said;
use crate::exit::Outcome;
use crate::overwrite::Overwrites;
use crate::strands::{self, StoredRows};
use crate::{evidence, files, output};

/// Slices of a timeline, unless another number is given.
const SLICES: usize = 1_000_000;
/// Strands of a graph, unless another number is given.
const NODES: usize = 2_000;

/// Runs the verb.
pub fn run(args: &Export) -> anyhow::Result<Outcome> {
    args.check()?;
    let source = Source::open(args)?;
    let files = args.output.iter().filter(|_| args.table != Some(Table::All));
    Overwrites::new().recording(&source.file).output(files)?;
    let mut written = Written::default();
    match (args.format, args.table) {
        (Format::Csv, Some(Table::All)) => all_tables(args, &source, &mut written)?,
        _ => {
            let file = args.output.as_deref().filter(|file| *file != Path::new("-"));
            let made = Made::new(args, &source)?;
            written.left_out = made.left_out();
            made.note_excluded(&source);
            written.to(file, args.table, |out| made.write(args, &source, out))?;
        }
    }
    if let Some(rows) = &source.rows {
        rows.report_problems();
    }
    if args.json {
        output::data(&written.json(args, &source))?;
    }
    Ok(Outcome::OK)
}

/// What is exported.
struct Source {
    file: PathBuf,
    /// As the report has it: the critical path is at least what a lock was held.
    recording: Recording,
    /// Which run, from 0.
    number: usize,
    run: Run,
    rows: Option<StoredRows>,
}

impl Source {
    fn open(args: &Export) -> anyhow::Result<Source> {
        let file = strands::recording_of(&args.file);
        let recording = files::read(&file)?.recording;
        let number = match args.run {
            Some(number) => number as usize - 1,
            None => typical_run(&recording).with_context(|| format!("{} holds no complete run", file.display()))?,
        };
        let runs = recording.runs.len();
        if number >= runs {
            bail!("{} has {runs} runs: there is no run {} (--run)", file.display(), number + 1);
        }
        let recorded = u32::try_from(number + 1).context("too many runs")?;
        let needs = matches!(args.format, Format::Perfetto | Format::Chrome | Format::Dot | Format::Graphml)
            || args.table == Some(Table::Strands)
            // What the collector reported was computed with the cost that was requested then.
            || args.steal.is_some();
        let rows = match strands::folder(&file) {
            Err(error) if needs => return Err(error),
            Err(_) => None,
            Ok(_) => Some(strands::open(&file, recorded)?.rows),
        };
        let recording = match bounded_by_locks(&recording) {
            Cow::Owned(bounded) => bounded,
            Cow::Borrowed(_) => recording,
        };
        let run = recording.runs[number].clone();
        Ok(Source { file, recording, number, run, rows })
    }

    fn rows(&self) -> anyhow::Result<&StoredRows> {
        self.rows
            .as_ref()
            .with_context(|| format!("{} holds no strands (record again with `--strands`)", self.file.display()))
    }

    fn stacks(&self) -> Stacks {
        stacks::stacks(&self.recording, &self.run)
    }

    fn timeline(&self, limit: usize) -> anyhow::Result<Timeline> {
        timeline(&self.recording, &self.run, self.rows()?, limit).context("cannot read the strands")
    }

    /// The report: of this run alone, or of all runs. Of the verdict only if it is requested: it takes schedules.
    fn report(&self, args: &Export, alone: bool, verdict: bool) -> anyhow::Result<Report> {
        let recording = if alone {
            Cow::Owned(Recording { runs: vec![self.run.clone()], ..self.recording.clone() })
        } else {
            Cow::Borrowed(&self.recording)
        };
        let processors = args.processors.unwrap_or(PROCESSORS);
        let Said { evidence, doubt } = match &self.rows {
            Some(rows) if verdict => evidence::from_rows(&self.recording, &self.run, rows, processors)?,
            _ => Said::default(),
        };
        if let Some(doubt) = doubt {
            output::note(&format!("warning: {doubt}"));
        }
        judged(&recording, &Judging { processors, evidence, has_strands: self.rows.is_some() })
            .with_context(|| format!("{} holds no complete run", self.file.display()))
    }

    fn calls(&self, args: &Export) -> anyhow::Result<Answer> {
        let most = profile(&self.recording, &self.run).program.uniform.and_then(|uniform| uniform.parallelism);
        let Some(rows) = &self.rows else {
            let (recording, run) = (&self.recording, &self.run);
            let steal = (run.burdened_span > Nanos::ZERO).then(|| Steal::of(None, recording, run));
            return Ok(answer(
                recording,
                false,
                CallsFrom::Collector(steal),
                &with_threads(recording, run, from_totals(recording, run, profile(recording, run).program.on_one)),
                most,
            ));
        };
        let steal = Steal::of(args.steal, &self.recording, &self.run);
        let on_one = profile(&self.recording, &self.run).program.on_one;
        let options = Options { heights: false, steal: steal.cost(), on_one };
        let computed = calls(&self.recording, rows, &options).context("cannot read the strands")?;
        let computed = with_threads(&self.recording, &self.run, computed);
        Ok(answer(&self.recording, false, CallsFrom::Strands(steal), &computed, most))
    }
}

/// What is to be written, as far as it can fail before.
enum Made {
    Trace(Timeline),
    Stacks(Stacks, Option<Timeline>),
    Graph(graph::Graph),
    Rows,
}

impl Made {
    fn new(args: &Export, source: &Source) -> anyhow::Result<Made> {
        let limit = |default: usize| args.limit.map_or(default, |limit| limit as usize);
        Ok(match args.format {
            Format::Perfetto | Format::Chrome => Made::Trace(source.timeline(limit(SLICES))?),
            Format::Firefox | Format::Speedscope => {
                let timeline = source.rows.is_some().then(|| source.timeline(limit(SLICES))).transpose()?;
                Made::Stacks(source.stacks(), timeline)
            }
            Format::Folded => Made::Stacks(source.stacks(), None),
            Format::Dot | Format::Graphml => {
                let most = limit(NODES);
                let made = graph::graph(&source.recording, source.rows()?, most).context("cannot read the strands")?;
                match made {
                    Ok(graph) => Made::Graph(graph),
                    Err(graph::TooLarge { strands }) => bail!(
                        "the run has {strands} strands, and a graph of more than {most} is hard to lay out: add --limit \
                         {strands} to write it nevertheless, or choose --format perfetto for a run of any size"
                    ),
                }
            }
            Format::Csv | Format::Cilkscale | Format::Taskprof => Made::Rows,
        })
    }

    fn left_out(&self) -> Option<LeftOut> {
        match self {
            Made::Trace(timeline) | Made::Stacks(_, Some(timeline)) => Some(timeline.left_out),
            _ => None,
        }
    }

    /// Reports what is not in the file, on stderr.
    fn note_excluded(&self, source: &Source) {
        if let Some(LeftOut { strands, time, arrows }) = self.left_out() {
            if strands > 0 {
                output::note(&format!(
                    "excluded the {strands} shortest strands ({time} of work and waiting in total) and {arrows} arrows: \
                     --limit N keeps more"
                ));
            }
        }
        if let Made::Stacks(stacks, _) = self {
            for (weight, what) in [(stacks::Weight::Work, "work"), (stacks::Weight::Critical, "critical path")] {
                let missing = stacks.below_zero(weight);
                if missing < Nanos::ZERO {
                    output::note(&format!("excluded contexts below zero: the {what} adds up to {} more", -missing));
                }
            }
        }
        if !source.run.complete() {
            output::note("warning: the run is not complete; `workspan report` lists what is missing");
        }
    }

    fn write(&self, args: &Export, source: &Source, out: &mut dyn Write) -> anyhow::Result<()> {
        let recording = &source.recording;
        match self {
            Made::Trace(timeline) => chrome::write(recording, timeline, out)?,
            Made::Stacks(stacks, timeline) => match args.format {
                Format::Firefox => firefox::write(recording, stacks, timeline.as_ref(), out)?,
                Format::Speedscope => speedscope::write(stacks, timeline.as_ref(), out)?,
                _ => folded::write(stacks, weight(args.weight.unwrap_or(Weight::Work)), out)?,
            },
            Made::Graph(graph) if args.format == Format::Dot => dot::write(recording, graph, out)?,
            Made::Graph(graph) => graphml::write(recording, graph, out)?,
            Made::Rows => rows(args, source, out)?,
        }
        Ok(())
    }
}

fn weight(weight: Weight) -> stacks::Weight {
    match weight {
        Weight::Work => stacks::Weight::Work,
        Weight::Critical => stacks::Weight::Critical,
    }
}

fn rows(args: &Export, source: &Source, out: &mut dyn Write) -> anyhow::Result<()> {
    match (args.format, args.table) {
        (Format::Taskprof, _) => taskprof::write(&source.report(args, true, false)?, out)?,
        (Format::Cilkscale, _) => {
            let steal = Steal::of(args.steal, &source.recording, &source.run);
            let on_one = profile(&source.recording, &source.run).program.on_one;
            let options = Options { heights: false, steal: steal.cost(), on_one };
            let computed = source.rows.as_ref().map(|rows| calls(&source.recording, rows, &options));
            let computed = computed.transpose().context("cannot read the strands")?;
            cilkscale::write(&source.recording, &source.report(args, true, false)?, computed.as_ref(), out)?;
        }
        (_, Some(table)) => write_table(args, source, table, out)?,
        (_, None) => {}
    }
    Ok(())
}

fn write_table(args: &Export, source: &Source, table: Table, out: &mut dyn Write) -> anyhow::Result<()> {
    match table {
        Table::Strands => {
            strand_table::write(&source.recording, source.rows()?, out).context("cannot read the strands")??;
        }
        Table::Calls => out.write_all(calls_csv(&source.calls(args)?).as_bytes())?,
        _ => {
            let name = name(table);
            // All runs, unless one was requested.
            let verdict = matches!(table, Table::Verdict | Table::Losses);
            let report = source.report(args, args.run.is_some(), verdict)?;
            for table in tables::TABLES.iter().filter(|table| table.name == name) {
                table.write(&report, out)?;
            }
        }
    }
    Ok(())
}

/// The word by which a table is requested.
fn name(table: Table) -> String {
    clap::ValueEnum::to_possible_value(&table).map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Each table that there is in a file of its own.
fn all_tables(args: &Export, source: &Source, written: &mut Written) -> anyhow::Result<()> {
    let Some(folder) = args.output.as_deref().filter(|folder| *folder != Path::new("-")) else {
        bail!("`--table all` writes a file for each table: name a folder with `-o FOLDER`");
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
    let all = <Table as clap::ValueEnum>::value_variants();
    let file = |table: &Table| folder.join(name(*table)).with_extension("csv");
    Overwrites::new().recording(&source.file).output(&all.iter().map(file).collect::<Vec<_>>())?;
    let there = |table: &&Table| match table {
        Table::All => false,
        Table::Strands => source.rows.is_some(),
        _ => true,
    };
    for table in all.iter().filter(there) {
        written.to(Some(&file(table)), Some(*table), |out| write_table(args, source, *table, out))?;
    }
    Ok(())
}

/// What was written.
#[derive(Default)]
struct Written {
    files: Vec<(PathBuf, u64, Option<Table>)>,
    left_out: Option<LeftOut>,
}

impl Written {
    /// To a file, or to stdout.
    fn to(
        &mut self,
        file: Option<&Path>,
        table: Option<Table>,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Some(file) = file else {
            return output::stream(write).context("cannot write to standard output");
        };
        let mut bytes = 0;
        files::replace_with(file, |out| {
            let mut out = Counted { out, bytes: 0 };
            write(&mut out)?;
            bytes = out.bytes;
            Ok(())
        })
        .with_context(|| format!("cannot write {}", file.display()))?;
        self.files.push((file.to_owned(), bytes, table));
        Ok(())
    }

    fn json(&mut self, args: &Export, source: &Source) -> String {
        let format = clap::ValueEnum::to_possible_value(&args.format);
        let files = mem::take(&mut self.files);
        let files = files.into_iter().map(|(file, bytes, table)| {
            json!({ "file": file.display().to_string(), "bytes": bytes, "table": table.map(name) })
        });
        let left_out = self.left_out.map(
            |left_out| json!({ "strands": left_out.strands, "time_ns": left_out.time.0, "arrows": left_out.arrows }),
        );
        let answer = json!({
            "schema_version": 1,
            "recording": source.file.display().to_string(),
            "format": format.map(|format| format.get_name().to_owned()),
            "run": source.number + 1,
            "strands": source.rows.is_some(),
            "files": files.collect::<Vec<_>>(),
            "left_out": left_out,
        });
        format!("{answer:#}\n")
    }
}

/// Counts what is written.
struct Counted<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
