//! `workspan merge`: repeated runs merged strand by strand, and the line about it after `record`.

use std::cell::RefCell;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context};
use workspan_analysis::strands::merge::{merge, Keep, Merged};
use workspan_analysis::{replay, Replayed, Rows};
use workspan_model::{Recording, Strand};
use workspan_report::merged::{answer, json, text, word};
use workspan_report::text::Style;
use workspan_store::{folder_of, Meta, StoreError, Writer};

use crate::exit::Outcome;
use crate::record::strands::{check_writable, keep_former};
use crate::strands::Stored;
use crate::{args, files, output, strands};

/// Runs the verb.
pub fn run(args: &args::Merge) -> anyhow::Result<Outcome> {
    let keep = match args.keep {
        args::Keep::Min => Keep::Minimum,
        args::Keep::Median => Keep::Median,
    };
    let (recording, rows) = open(&args.file, keep)?;
    ensure!(!is_lost(&args.file, &args.output), "the output would overwrite its input: choose another file with -o");
    files::check_writable(&args.output)?;
    check_writable(&args.output)?;
    let runtime = format!("{}, {} of {} runs", recording.runtime, word(keep), recording.runs.len());
    let merged = Recording { runtime, runs: recording.runs[..1].to_vec(), ..recording.clone() };
    let folder = folder_of(&args.output);
    // What is left of a failed attempt goes with it.
    let beside = files::temporary_folder(&folder).with_context(|| format!("cannot write {}", folder.display()))?;
    let replayed = write(&merged, &rows, beside.path(), &args.output)?;
    fs::rename(beside.keep(), &folder).with_context(|| format!("cannot write {}", folder.display()))?;
    rows.report_problems();
    let mut view = answer(&recording, keep, &rows.merged(), &replayed);
    view.warnings.splice(0..0, rows.doubt(&recording, &replayed));
    let style = Style { colour: output::colour_stdout(), top: args.top };
    output::data(&if args.json { json(&view) + "\n" } else { text(&view, style) })?;
    Ok(Outcome::OK)
}

/// True if writing to `output`, or moving away what is there, would take what belongs to `file`.
fn is_lost(file: &Path, output: &Path) -> bool {
    let mut former = output.as_os_str().to_owned();
    former.push(".old");
    let places = |file: &Path| [file.to_owned(), folder_of(file)].map(|place| fs::canonicalize(place).ok());
    let read = places(file);
    let written = [places(output), places(Path::new(&former))];
    written.into_iter().flatten().flatten().any(|place| read.contains(&Some(place)))
}

/// What the runs of a recording amount to when they are merged, in one line.
pub fn in_a_line(file: &Path) -> anyhow::Result<String> {
    let (recording, rows) = open(file, Keep::Minimum)?;
    let replayed = replay(&recording, &rows).context("cannot read the strands")?;
    Ok(answer(&recording, Keep::Minimum, &rows.merged(), &replayed).text)
}

fn open(file: &Path, keep: Keep) -> anyhow::Result<(Recording, MergedRows)> {
    let recording = strands::open(file, 1)?.recording;
    let runs = u32::try_from(recording.runs.len()).unwrap_or(u32::MAX);
    ensure!(
        runs > 1,
        "{} holds a single run: there is nothing to merge (record again with `--strands --repeat N`)",
        file.display()
    );
    for number in 2..=runs {
        strands::open_beside(&recording, file, number)?;
    }
    let rows = MergedRows { folder: folder_of(file), runs, keep, read: RefCell::default() };
    Ok((recording, rows))
}

/// Writes the merged run to `file` and its strands to `folder`, where they are to be moved from. What was at `file` is moved away.
fn write(merged: &Recording, rows: &MergedRows, folder: &Path, file: &Path) -> anyhow::Result<Replayed> {
    write_strands(merged, rows, folder)?;
    let replayed = replay(merged, &strands::rows(folder, 1)).context("cannot read the strands")?;
    let runs = merged.runs.iter().map(|run| replayed.clone().into_run(run)).collect();
    files::write(file, &Recording { runs, ..merged.clone() })?;
    keep_former(file)?;
    Ok(replayed)
}

fn write_strands(recording: &Recording, rows: &MergedRows, folder: &Path) -> anyhow::Result<()> {
    let meta = Meta {
        command: recording.command.clone(),
        made_at: recording.made_at,
        made_by: recording.made_by.clone(),
        runtime: recording.runtime.clone(),
        clock: recording.runs.first().map(|run| run.clock).unwrap_or_default(),
        ticks_per_second: recording.machine.ticks_per_second,
    };
    let mut writer = Writer::create(folder, 1, &meta)?;
    let mut failed = None;
    rows.read(&mut |batch| match writer.push(batch) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })
    .context("cannot read the strands")?;
    let partial = rows.read.borrow().problems.first().map(|(run, problem)| format!("of run {run}: {problem}"));
    let finished = writer.finish(recording, partial.as_deref());
    match failed {
        Some(error) => Err(error).context("cannot write the strands"),
        None => finished.map(|_| ()).context("cannot write the strands"),
    }
}

/// The rows of all runs of a folder, merged each time that they are requested.
#[derive(Debug)]
struct MergedRows {
    folder: PathBuf,
    runs: u32,
    keep: Keep,
    read: RefCell<Read>,
}

/// What was reported when they were last read.
#[derive(Clone, Debug, Default)]
struct Read {
    merged: Merged,
    /// By run, from 1.
    problems: Vec<(u32, workspan_store::Problem)>,
}

impl MergedRows {
    fn merged(&self) -> Merged {
        self.read.borrow().merged.clone()
    }

    /// By how much what they amount to may be off.
    fn doubt(&self, recording: &Recording, replayed: &Replayed) -> Option<String> {
        let (number, problem) = self.read.borrow().problems.first().cloned()?;
        let run = recording.runs.get(number as usize - 1)?;
        Some(strands::doubt(&format!("run {number}: {problem}"), replayed.work, replayed.span, run))
    }

    fn report_problems(&self) {
        for (run, problem) in &self.read.borrow().problems {
            output::note(&format!("warning: {}, run {run}: {problem}", self.folder.display()));
        }
    }
}

impl Rows for MergedRows {
    type Error = StoreError;

    fn read(&self, take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>) -> Result<(), StoreError> {
        let numbers = 1..=self.runs;
        let open = |run| Stored::open(&self.folder, run, self.runs as usize);
        let mut readers = numbers.map(open).collect::<Result<Vec<Stored>, StoreError>>()?;
        let merged = merge(readers.iter_mut(), self.keep, take)?;
        let problems = (1..)
            .zip(&readers)
            .flat_map(|(run, reader)| reader.problems().iter().cloned().map(move |problem| (run, problem)));
        *self.read.borrow_mut() = Read { merged, problems: problems.collect() };
        Ok(())
    }
}
