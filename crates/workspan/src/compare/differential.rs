//! Two recordings node by node, for the verbs that ask.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context;
use workspan_analysis::differential::{differential, unite, Runs, United};
use workspan_analysis::strands::merge::Source;
use workspan_analysis::{Differential, Rows};
use workspan_model::{Recording, Strand};
use workspan_store::{folder_of, StoreError};

use crate::output;
use crate::strands::{self, Stored};

/// Sites of both recordings, and what their strands amount to.
#[derive(Debug)]
pub struct Compared {
    /// Sites and contexts.
    pub united: United,
    /// Node by node.
    pub found: Differential,
    /// What is missing of the strands, and by how much what is drawn from them may be off.
    pub doubts: Vec<String>,
}

/// A recording, and the file that it is.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The file.
    pub file: &'a Path,
    /// What it holds.
    pub recording: &'a Recording,
}

/// Compares all runs of two recordings; `None` if one of them has no strands.
pub fn compare(base: Side<'_>, new: Side<'_>) -> anyhow::Result<Option<Compared>> {
    if [base, new].iter().any(|side| !folder_of(side.file).is_dir()) {
        return Ok(None);
    }
    for side in [base, new] {
        for (number, _) in (1..).zip(&side.recording.runs) {
            strands::open_beside(side.recording, side.file, number)?;
        }
    }
    let united = unite(base.recording, new.recording);
    let all = base.recording.runs.len() + new.recording.runs.len();
    let problems = RefCell::default();
    let open = || Ok(Runs { base: open(base, all, &problems)?, new: open(new, all, &problems)? });
    let found = differential(&united, open).context("cannot read the strands")?;
    for problem in problems.borrow().iter() {
        output::note(&format!("warning: {problem}"));
    }
    let mut doubts = Vec::new();
    if !problems.borrow().is_empty() {
        for side in [base, new] {
            for (number, run) in (1..).zip(&side.recording.runs) {
                let rows = strands::open_beside(side.recording, side.file, number)?;
                rows.read(&mut |_| ControlFlow::Continue(())).context("cannot read the strands")?;
                let doubt = rows.doubt(side.recording, run)?;
                doubts.extend(doubt.map(|doubt| format!("{}, run {number}: {doubt}", output::path(side.file))));
            }
        }
    }
    Ok(Some(Compared { united, found, doubts }))
}

/// What was wrong with rows; rows may be read twice.
type Problems = RefCell<BTreeSet<String>>;

fn open<'p>(side: Side<'_>, all: usize, problems: &'p Problems) -> Result<Vec<Run<'p>>, StoreError> {
    let folder = folder_of(side.file);
    let run = |(number, _)| {
        let name = format!("{}, run {number}", folder.display());
        Ok(Run { rows: Stored::open(&folder, number, all)?, name, problems })
    };
    (1..).zip(&side.recording.runs).map(run).collect()
}

/// A run that reports in the end what was wrong.
#[derive(Debug)]
struct Run<'p> {
    rows: Stored,
    name: String,
    problems: &'p Problems,
}

impl Source for Run<'_> {
    type Error = StoreError;

    fn next_batch(&mut self) -> Result<Option<&[Strand]>, StoreError> {
        self.rows.next_batch()
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let problems = self.rows.problems().iter().map(|problem| format!("{}: {problem}", self.name));
        self.problems.borrow_mut().extend(problems);
    }
}
