//! Strands that were recorded, for the commands that need them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context};
use workspan_analysis::strands::merge::Source;
use workspan_analysis::strands::{places, Place};
use workspan_analysis::{replay, Rows};
use workspan_model::{Nanos, Ratio, Recording, Run, Strand};
use workspan_store::{folder_of, Problem, Reader, StoreError};

use crate::{files, output, signals};

/// A run that was recorded strand by strand.
#[derive(Debug)]
pub struct Recorded {
    /// The recording that it belongs to.
    pub recording: Recording,
    /// The run.
    pub run: Run,
    /// Its strands.
    pub rows: StoredRows,
}

/// Rows that are read from files each time that they are requested.
#[derive(Debug)]
pub struct StoredRows {
    folder: PathBuf,
    run: u32,
    problems: RefCell<Vec<Problem>>,
}

/// Opens a run, counted from 1, of a recording, which may be named by its folder of strands.
pub fn open(file: &Path, number: u32) -> anyhow::Result<Recorded> {
    let file = &recording_of(file);
    is_there(file)?;
    let recording = files::read(file)?.recording;
    folder(file)?;
    let Some(run) = recording.runs.get(number as usize - 1).cloned() else {
        bail!("{} has {} runs: there is no run {number} (--run)", file.display(), recording.runs.len());
    };
    let rows = open_beside(&recording, file, number)?;
    Ok(Recorded { recording, run, rows })
}

/// Opens the strands of a run, counted from 1, of a recording that has been read from `file`.
pub fn open_beside(recording: &Recording, file: &Path, number: u32) -> anyhow::Result<StoredRows> {
    let folder = folder(file)?;
    let reader = Reader::open(&folder, number).context("cannot read the strands")?;
    check_belongs(&reader, recording, &folder)?;
    Ok(rows(&folder, number))
}

/// A folder whose beginning is lost says nothing; one that says something else is of another recording.
fn check_belongs(reader: &Reader, recording: &Recording, folder: &Path) -> anyhow::Result<()> {
    let other = |stored: &workspan_store::Stored| {
        (stored.made_at, &stored.command) != (recording.made_at, &recording.command.join(" "))
    };
    if reader.stored().is_some_and(other) {
        bail!("{} does not belong to the recording beside it (record again with `--strands`)", folder.display());
    }
    Ok(())
}

/// The recording beside a folder of strands; anything else is one itself.
pub fn recording_of(file: &Path) -> PathBuf {
    files::beside_strands(file).unwrap_or_else(|| file.to_owned())
}

/// The strands of a run, counted from 1, in a folder, of whatever recording they are.
pub fn rows(folder: &Path, run: u32) -> StoredRows {
    StoredRows { folder: folder.to_owned(), run, problems: RefCell::default() }
}

/// An error if there is no recording whose strands could be read.
fn is_there(file: &Path) -> anyhow::Result<()> {
    if !file.exists() {
        bail!(
            "there is no {}: record one with `--strands`, by `cargo workspan run` or `workspan record`",
            file.display()
        );
    }
    Ok(())
}

/// The folder of strands that belongs to a recording.
pub fn folder(file: &Path) -> anyhow::Result<PathBuf> {
    let folder = folder_of(file);
    if !folder.is_dir() {
        is_there(file)?;
        bail!(
            "{} holds no strands: there is no folder {} (record again with `--strands`)",
            file.display(),
            folder.display()
        );
    }
    Ok(folder)
}

impl Recorded {
    /// By how much what was drawn from its strands may be off; None if they are all there.
    pub fn doubt(&self) -> anyhow::Result<Option<String>> {
        self.rows.doubt(&self.recording, &self.run)
    }

    /// Where its strands are.
    pub fn places(&self) -> anyhow::Result<BTreeSet<Place>> {
        places(&self.recording, &self.rows).context("cannot read the strands")
    }
}

/// By how much what is drawn from strands may be off that are not all there: `work` and `span` are theirs, `run` has those
/// that the collector measured.
pub fn doubt(reason: &str, work: Nanos, span: Nanos, run: &Run) -> String {
    let (whole, longest) = (run.work(), run.span);
    let (found, measured) = (work.over(span), whole.over(longest));
    let off = [
        whole.over(work),
        longest.over(span),
        found.zip(measured).and_then(|(f, m)| (m.0 > 0.0).then(|| Ratio(f.0 / m.0))),
    ];
    let off =
        off.iter().map(|ratio| ratio.map_or(f64::INFINITY, |ratio| ratio.0.max(ratio.0.recip()))).fold(1.0, f64::max);
    let off = match off {
        off if off < 1.005 => "by less than 1 %".to_owned(),
        off if off < 1e6 => format!("by up to {off:.2} times"),
        _ => "by any factor".to_owned(),
    };
    let number = |ratio: Option<Ratio>| ratio.map_or_else(|| "none".to_owned(), |ratio| ratio.to_string());
    format!(
        "{reason}. The strands that there are have {work} of {whole} of work and parallelism {}, where the collector measured \
         {}: what is drawn from them may be off {off}",
        number(found),
        number(measured)
    )
}

impl StoredRows {
    /// What was wrong when they were last read, and by how much what was drawn from them may be off; None if nothing was.
    pub fn doubt(&self, recording: &Recording, run: &Run) -> anyhow::Result<Option<String>> {
        let Some(problem) = self.problems.borrow().first().map(ToString::to_string) else {
            return Ok(None);
        };
        let found = replay(recording, self).context("cannot read the strands")?;
        Ok(Some(doubt(&problem, found.work, found.span, run)))
    }

    /// Reports what was wrong when they were last read.
    pub fn report_problems(&self) {
        for problem in self.problems.borrow().iter() {
            output::note(&format!("warning: {}: {problem}", self.folder.display()));
        }
    }
}

impl Rows for StoredRows {
    type Error = StoreError;

    fn read(&self, take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>) -> Result<(), StoreError> {
        let mut reader = Reader::open(&self.folder, self.run)?;
        // Also where whoever reads them has enough before the end.
        *self.problems.borrow_mut() = reader.known_problem().into_iter().collect();
        while let Some(strands) = reader.next_batch()? {
            if signals::stopped() {
                let source = std::io::ErrorKind::Interrupted.into();
                return Err(StoreError::Io { path: self.folder.clone(), source });
            }
            // Small enough to stay in the cache when several analyses look at them.
            if strands.chunks(1024).try_for_each(&mut *take).is_break() {
                return Ok(());
            }
        }
        *self.problems.borrow_mut() = reader.problems().to_vec();
        Ok(())
    }
}

/// A run's rows, to be read beside those of others.
#[derive(Debug)]
pub struct Stored(Reader);

impl Stored {
    /// Opens one of `runs` runs of a folder.
    pub fn open(folder: &Path, run: u32, runs: usize) -> Result<Stored, StoreError> {
        Reader::open_among(folder, run, runs).map(Stored)
    }

    /// What was wrong so far.
    pub fn problems(&self) -> &[Problem] {
        self.0.problems()
    }
}

impl Source for Stored {
    type Error = StoreError;

    fn next_batch(&mut self) -> Result<Option<&[Strand]>, StoreError> {
        self.0.next_batch()
    }
}

impl Source for &mut Stored {
    type Error = StoreError;

    fn next_batch(&mut self) -> Result<Option<&[Strand]>, StoreError> {
        self.0.next_batch()
    }
}
