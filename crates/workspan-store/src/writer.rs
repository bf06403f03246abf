//! Writing the strands of a run.

pub(crate) mod part;
pub(crate) mod rows;
mod run;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use workspan_model::{Recording, Strand};

use crate::{names, StoreError, GROUP_ROWS, PART_GROUPS};
use part::Part;
use rows::Rows;
pub use run::{Meta, Summary};

/// Writes the strands of a run, as they come in serial order.
///
/// **Memory:** a row group, and the depth of the tree of tasks.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    run: u32,
    meta: Meta,
    rows: Rows,
    part: Option<Part>,
    parts: u32,
    /// Strands and bytes of the parts that stand at their place.
    kept: (u64, u64),
    stopped: bool,
}

impl Writer {
    /// Begins a run, counted from 1. With the first one, what a former recording has left in the folder is removed.
    pub fn create(folder: &Path, run: u32, meta: &Meta) -> Result<Writer, StoreError> {
        fs::create_dir_all(folder)
            .and_then(|()| if run == 1 { names::clear(folder) } else { Ok(()) })
            .map_err(|error| StoreError::io(folder, error))?;
        let writer = Writer {
            folder: folder.to_owned(),
            run,
            meta: meta.clone(),
            rows: Rows::new(run),
            part: None,
            parts: 0,
            kept: (0, 0),
            stopped: false,
        };
        // These stand if nobody comes to write better ones.
        tables::write_meta(&writer.folder, run, meta, tables::State::Unfinished, None)?;
        if run == 1 {
            tables::write_sites(&writer.folder, &Recording::default())?;
            tables::write_contexts(&writer.folder, &Recording::default())?;
        }
        Ok(writer)
    }

    /// Takes the next strands. After an error, none is taken any more; what has been written can still be finished.
    pub fn push(&mut self, strands: &[Strand]) -> Result<(), StoreError> {
        self.push_seen(strands, &[])
    }

    /// The same with the number by which a tool saw each of them; 0, or none at all, where it saw none.
    pub fn push_seen(&mut self, strands: &[Strand], seen: &[u64]) -> Result<(), StoreError> {
        if self.stopped {
            return Err(StoreError::Stopped { path: self.folder.clone() });
        }
        self.take(strands, seen).inspect_err(|_| self.stop())
    }

    fn take(&mut self, mut strands: &[Strand], mut seen: &[u64]) -> Result<(), StoreError> {
        while !strands.is_empty() {
            let room = GROUP_ROWS - self.rows.len();
            let (now, later) = strands.split_at(strands.len().min(room));
            let (seen_now, seen_later) = seen.split_at(seen.len().min(room));
            self.rows.push(now, seen_now)?;
            if self.rows.len() == GROUP_ROWS {
                self.write_group()?;
            }
            (strands, seen) = (later, seen_later);
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), StoreError> {
        let part = match &mut self.part {
            Some(part) => part,
            None => self.part.insert(Part::create(&self.folder, self.run, self.parts)?),
        };
        part.write(&self.rows)?;
        self.rows.clear();
        if part.groups() == PART_GROUPS {
            self.close_part()?;
        }
        Ok(())
    }

    fn close_part(&mut self) -> Result<(), StoreError> {
        if let Some(part) = self.part.take() {
            let (strands, bytes) = part.close()?;
            self.kept = (self.kept.0 + strands, self.kept.1 + bytes);
            self.parts += 1;
        }
        Ok(())
    }

    /// What is not whole makes room for the little that is still to be written.
    fn stop(&mut self) {
        self.stopped = true;
        self.rows.clear();
        self.part = None;
    }

    /// Ends the run, and writes the sites and contexts of the recording, those of former runs included.
    ///
    /// `partial` says why strands are missing; if writing has failed before, they are missing, too.
    pub fn finish(mut self, recording: &Recording, partial: Option<&str>) -> Result<Summary, StoreError> {
        let last = if self.stopped || self.rows.len() == 0 { Ok(()) } else { self.write_group() };
        let last = last.and_then(|()| self.close_part());
        if last.is_err() {
            self.stop();
        }
        let summary = Summary {
            strands: self.kept.0,
            tasks: u64::try_from(self.rows.tasks()).unwrap_or(0),
            bytes: self.kept.1,
            parts: self.parts,
        };
        let partial = partial.or(self.stopped.then_some("strands could not be written"));
        let state = partial.map_or(tables::State::Complete, tables::State::Partial);
        tables::write_sites(&self.folder, recording)?;
        tables::write_contexts(&self.folder, recording)?;
        tables::write_meta(&self.folder, self.run, &self.meta, state, Some(&summary))?;
        last.map(|()| summary)
    }
}
