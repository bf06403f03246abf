//! `--strands`: from what the threads have logged to the folder of strands beside the recording.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context;
use workspan_model::{Clock, ContextId, Ending, Recording, Run, Strand};
use workspan_read::log::{convert_seen, Converted, Setting, Stopped};
use workspan_store::{folder_of, names, Meta, StoreError, Summary, Writer};

use super::progress::Progress;
use super::spool::Spool;
use crate::{output, signals};

/// What one run has logged.
#[derive(Debug)]
pub struct RunLog {
    /// The logs.
    pub spool: Spool,
    /// By the collector's number, the recording's contexts.
    pub contexts: Vec<ContextId>,
    /// When it began, and whether threads gave up.
    pub state: workspan_read::log::State,
}

impl RunLog {
    /// Whether all that was logged has come to us.
    fn kept(&self) -> Kept {
        if self.spool.failed().is_some() || self.state.stopped {
            Kept::Some
        } else {
            Kept::All
        }
    }
}

/// An error if the strands of a recording at `file` could not be written: better before a long run than after it.
pub fn check_writable(file: &Path) -> anyhow::Result<()> {
    let folder = folder_of(file);
    let in_the_way = fs::metadata(&folder).is_ok_and(|found| !found.is_dir());
    anyhow::ensure!(!in_the_way, "cannot write {}: a file of this name is in the way", folder.display());
    let special = fs::metadata(file).is_ok_and(|found| !found.is_file());
    anyhow::ensure!(
        !special,
        "--strands: no folder of strands can be beside {} (choose a file with -o)",
        file.display()
    );
    Ok(())
}

/// Moves the folder of strands that belongs to a former recording to where that has been moved: after it, so that a new one that
/// cannot be written leaves both where they are.
pub fn keep_former(file: &Path) -> anyhow::Result<()> {
    move_former(file).context("cannot move the strands of the former recording")
}

fn move_former(file: &Path) -> io::Result<()> {
    let folder = folder_of(file);
    if !folder.is_dir() {
        return Ok(());
    }
    let mut old = file.as_os_str().to_owned();
    old.push(".old");
    let old = folder_of(Path::new(&old));
    if old.is_dir() {
        names::remove(&old)?;
    }
    fs::rename(folder, old)
}

/// Whether strands were lost here: on a full disk, by a request to end, not by the program's own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// None.
    All,
    /// Some.
    Some,
}

/// Writes the strands of all runs of `recording`, which will be at `file`.
pub fn write(recording: &Recording, logs: &[RunLog], file: &Path) -> anyhow::Result<Kept> {
    let mut all_kept = Kept::All;
    let records = logs.iter().map(|log| log.spool.len()).sum();
    let mut progress = Progress::new("strands", records);
    let folder = folder_of(file);
    let mut sums = (0, 0);
    for (number, (run, log)) in (1..).zip(recording.runs.iter().zip(logs)) {
        let meta = Meta {
            command: recording.command.clone(),
            made_at: recording.made_at,
            made_by: recording.made_by.clone(),
            runtime: recording.runtime.clone(),
            clock: run.clock,
            ticks_per_second: recording.machine.ticks_per_second,
        };
        let writer = Writer::create(&folder, number, &meta)?;
        let (summary, kept) = write_run(recording, run, log, writer, &mut progress)?;
        sums = (sums.0 + summary.strands, sums.1 + summary.bytes);
        if kept == Kept::Some {
            all_kept = kept;
        }
    }
    drop(progress);
    output::message(&format!("wrote {} strands to {} ({} bytes)", sums.0, output::path(&folder), sums.1));
    Ok(all_kept)
}

/// Gives `push` the strands of a run of `recording`, and the numbers by which a tool saw them.
pub fn convert_run<E>(
    recording: &Recording,
    run: &Run,
    log: &RunLog,
    push: impl FnMut(&[Strand], &[u64]) -> Result<(), E>,
) -> Result<Converted, Stopped<E>> {
    let setting = Setting {
        contexts: &log.contexts,
        ticks_per_second: recording.machine.ticks_per_second,
        started: if run.clock == Clock::Virtual { 0 } else { log.state.started },
        complete: run.ending == Ending::Clean && !log.state.stopped && log.spool.failed().is_none(),
    };
    convert_seen(&log.spool, &setting, push)
}

/// Hands the strands of a run to `take`, until that has enough. Returns why they are not all, if so.
pub fn rows_of_run(
    recording: &Recording,
    run: &Run,
    log: &RunLog,
    take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>,
) -> Option<String> {
    let push = |strands: &[Strand], _: &[u64]| match take(strands) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(()),
    };
    match convert_run(recording, run, log, push) {
        Ok(converted) => why_partial(run, log, &converted),
        Err(Stopped::Read(error)) => Some(unreadable(&error)),
        Err(Stopped::Write(())) => None,
    }
}

/// Why the conversion of a log ends early.
enum Early {
    Store(StoreError),
    /// Somebody wants us to end.
    Stopped,
}

fn write_run(
    recording: &Recording,
    run: &Run,
    log: &RunLog,
    mut writer: Writer,
    progress: &mut Progress,
) -> anyhow::Result<(Summary, Kept)> {
    let converted = convert_run(recording, run, log, |strands: &[Strand], seen: &[u64]| {
        if signals::stopped() {
            return Err(Early::Stopped);
        }
        progress.add(strands.len() as u64);
        writer.push_seen(strands, seen).map_err(Early::Store)
    });
    let (partial, mut kept) = match &converted {
        Ok(converted) => (why_partial(run, log, converted), log.kept()),
        Err(Stopped::Read(error)) => (Some(unreadable(error)), Kept::Some),
        Err(Stopped::Write(Early::Stopped)) => (Some("the conversion was interrupted".to_owned()), Kept::Some),
        Err(Stopped::Write(Early::Store(error))) => {
            (Some(format!("strands could not be written: {}", root_cause(error))), Kept::Some)
        }
    };
    if let Some(partial) = &partial {
        output::note(&format!("warning: not all strands are recorded: {partial}"));
    } else {
        kept = Kept::All;
    }
    if let Ok(Converted { unfinished: unfinished @ 1.., .. }) = &converted {
        let what = if *unfinished == 1 {
            "1 task or thread that nobody waits for"
        } else {
            "tasks and threads that nobody waits for"
        };
        let count = if *unfinished == 1 { String::new() } else { format!("{unfinished} ") };
        output::note(&format!("{count}{what} had not ended when the program did"));
    }
    let summary = writer.finish(recording, partial.as_deref()).context("cannot write the strands")?;
    Ok((summary, kept))
}

fn unreadable(error: &io::Error) -> String {
    format!("the logs cannot be read: {error}")
}

fn root_cause(error: &StoreError) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

fn why_partial(run: &Run, log: &RunLog, converted: &Converted) -> Option<String> {
    let mut reasons = Vec::new();
    if let Some(error) = log.spool.failed() {
        reasons.push(format!("there was no place for more: {error}"));
    } else if log.state.stopped {
        reasons.push("what was logged was not taken in time".to_owned());
    }
    match run.ending {
        Ending::Clean => {}
        Ending::InsideRegion => reasons.push("the program ended inside a region".to_owned()),
        Ending::Unseen => reasons.push("the program's end was not seen".to_owned()),
    }
    let Converted { strands: _, cut, unfinished: _, lone: _, lost, stray } = converted;
    for (count, one, several) in [
        (cut, "1 task had not ended", "tasks had not ended"),
        (lost, "1 task could not be placed", "tasks could not be placed"),
        (stray, "1 record made no sense", "records made no sense"),
    ] {
        match *count {
            0 => {}
            1 => reasons.push(one.to_owned()),
            n => reasons.push(format!("{n} {several}")),
        }
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
