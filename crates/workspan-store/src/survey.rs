//! What is in a folder, for those who read the files by other means.

use std::path::{Path, PathBuf};

use crate::reader::meta;
use crate::reader::part::Part;
use crate::{names, Problem, Reader, StoreError};

/// The files of a folder that can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Parts of all runs.
    pub parts: Vec<PathBuf>,
    /// What is known of the runs.
    pub metas: Vec<PathBuf>,
    /// The runs, and how many strands of each these parts hold.
    pub runs: Vec<(u32, u64)>,
    /// What is wrong with the others, by run.
    pub problems: Vec<(u32, Problem)>,
}

/// Looks at all files of strands, and compares their checksums: who reads them then reads what was written.
pub fn survey(folder: &Path) -> Result<Survey, StoreError> {
    let mut survey = Survey::default();
    for run in Reader::runs(folder)? {
        let stored = meta::read(folder, run)?;
        if stored.is_some() {
            survey.metas.push(folder.join(names::meta(run)));
        }
        let mut strands = 0;
        let mut damaged = None;
        let mut bytes = Vec::new();
        for number in 0.. {
            let Some(part) = Part::open(folder, run, number)? else {
                break;
            };
            let rows: Option<u64> =
                (0..part.groups()).map(|group| Some(part.read(group, &mut bytes)?.rows() as u64)).sum();
            let Some(rows) = rows else {
                damaged = Some(Problem::Damaged { file: part.name().to_owned(), after: strands });
                break;
            };
            strands += rows;
            survey.parts.push(folder.join(part.name()));
        }
        survey.runs.push((run, strands));
        let problems = damaged.into_iter().chain(meta::problems(stored.as_ref()));
        let mut problems: Vec<Problem> = problems.collect();
        let written = stored.and_then(|stored| stored.strands).unwrap_or(0);
        if problems.is_empty() && written > strands {
            problems.push(Problem::Missing { found: strands, written });
        }
        survey.problems.extend(problems.into_iter().map(|problem| (run, problem)));
    }
    if survey.parts.is_empty() {
        return Err(StoreError::Empty { path: folder.to_owned() });
    }
    Ok(survey)
}
