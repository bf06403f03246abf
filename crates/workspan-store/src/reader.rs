//! Reading the strands of a run.

mod group;
#[cfg(test)]
mod hostile_tests;
pub(crate) mod meta;
pub(crate) mod part;
mod seen;
mod workers;

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use workspan_model::Strand;

use crate::{names, Problem, StoreError};
use group::{Decoder, Wanted};
pub use meta::Stored;
use part::Part;
pub use seen::seen;
use workers::{Job, Ticket, Workers};

/// Row groups that are decoded ahead of the one that is used, for each thread.
const AHEAD: usize = 2;

/// Reads the strands of a run in serial order.
///
/// **Memory:** a few row groups for each thread, whatever the length of the run; see [`Reader::next_batch`].
#[derive(Debug)]
pub struct Reader {
    folder: PathBuf,
    stored: Option<Stored>,
    run: u32,
    wanted: Wanted,
    workers: Workers,
    /// The next part to open, and the row groups of the last one that have not been requested.
    next_part: u32,
    groups: Option<(Arc<Part>, usize)>,
    under_way: VecDeque<(Arc<Part>, Ticket)>,
    batch: Vec<Strand>,
    delivered: u64,
    ended: bool,
    problems: Vec<Problem>,
}

impl Reader {
    /// Opens the strands of a run, counted from 1.
    pub fn open(folder: &Path, run: u32) -> Result<Reader, StoreError> {
        Reader::open_among(folder, run, 1)
    }

    /// The same for one of several runs that are read side by side: the threads are shared between them.
    pub fn open_among(folder: &Path, run: u32, runs: usize) -> Result<Reader, StoreError> {
        let stored = meta::read(folder, run)?;
        let first = Part::open(folder, run, 0)?;
        if stored.is_none() && first.is_none() {
            return Err(StoreError::Empty { path: folder.to_owned() });
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8) / runs.max(1);
        Ok(Reader {
            folder: folder.to_owned(),
            stored,
            run,
            wanted: Wanted { times: true },
            // One row group is decoded faster than a thread begins.
            workers: Workers::new(if first.as_ref().is_some_and(|part| part.groups() > 1) { threads } else { 0 }),
            next_part: 0,
            groups: None,
            under_way: VecDeque::new(),
            batch: Vec::new(),
            delivered: 0,
            ended: false,
            problems: Vec::new(),
        })
    }

    /// The numbers of the runs in a folder.
    pub fn runs(folder: &Path) -> Result<Vec<u32>, StoreError> {
        let entries = fs::read_dir(folder).map_err(|error| StoreError::io(folder, error))?;
        let number = |entry: fs::DirEntry| {
            let name = entry.file_name();
            let name = name.to_str()?;
            names::parse_meta(name).or_else(|| names::parse_part(name).map(|(run, _)| run))
        };
        let mut runs: Vec<u32> = entries.flatten().filter_map(number).collect();
        runs.sort_unstable();
        runs.dedup();
        Ok(runs)
    }

    /// Leaves out when strands began and which thread ran them, which are then zero: quicker, and enough for work and span.
    #[must_use]
    pub fn without_times(mut self) -> Reader {
        self.wanted.times = false;
        self
    }

    /// What was known of the run as a whole; `None` if that is lost.
    pub fn stored(&self) -> Option<&Stored> {
        self.stored.as_ref()
    }

    /// What the writer has said is wrong, or has left unsaid, before anything is read.
    pub fn known_problem(&self) -> Option<Problem> {
        meta::problems(self.stored.as_ref())
    }

    /// What is wrong, as far as it is known: all of it after the last batch.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The next strands, at most a row group of them; `None` after the last one that can be read.
    pub fn next_batch(&mut self) -> Result<Option<&[Strand]>, StoreError> {
        if self.ended {
            return Ok(None);
        }
        self.workers.recycle(std::mem::take(&mut self.batch));
        while self.under_way.len() <= self.workers.threads() * AHEAD {
            let Some((part, job)) = self.next_job()? else {
                break;
            };
            self.under_way.push_back((part, self.workers.begin(job)));
        }
        let Some((part, ticket)) = self.under_way.pop_front() else {
            self.end();
            return Ok(None);
        };
        match self.workers.finish(ticket) {
            Some(strands) => {
                self.delivered += strands.len() as u64;
                self.batch = strands;
                Ok(Some(&self.batch))
            }
            None => {
                self.problems.push(Problem::Damaged { file: part.name().to_owned(), after: self.delivered });
                self.end();
                Ok(None)
            }
        }
    }

    fn next_job(&mut self) -> Result<Option<(Arc<Part>, Job)>, StoreError> {
        loop {
            if let Some((part, group)) = &mut self.groups {
                if *group < part.groups() {
                    let job = Job { part: part.clone(), group: *group, wanted: self.wanted };
                    *group += 1;
                    return Ok(Some((job.part.clone(), job)));
                }
            }
            let Some(part) = Part::open(&self.folder, self.run, self.next_part)? else {
                return Ok(None);
            };
            self.next_part += 1;
            self.groups = Some((Arc::new(part), 0));
        }
    }

    fn end(&mut self) {
        self.ended = true;
        self.under_way.clear();
        self.problems.extend(meta::problems(self.stored.as_ref()));
        let written = self.stored.as_ref().and_then(|stored| stored.strands).unwrap_or(0);
        if written > self.delivered && self.problems.is_empty() {
            self.problems.push(Problem::Missing { found: self.delivered, written });
        }
    }
}

/// Reports the strands of a part in memory, row group by row group, up to the first one that makes no sense. Without
/// `checked` its checksums do not matter: for tests of what they protect.
pub fn decode_part(bytes: &[u8], checked: bool, mut each: impl FnMut(&[Strand])) {
    let part = Part::of_bytes(bytes, checked);
    let Some(mut decoder) = Decoder::new() else {
        return;
    };
    let mut strands = Vec::new();
    for group in 0..part.groups() {
        if decoder.decode(&part, group, Wanted { times: true }, &mut strands).is_none() {
            return;
        }
        each(&strands);
    }
}
