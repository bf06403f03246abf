//! What threads have logged ([`workspan_wire::log`]), as strands in serial order ([`workspan_model::strand`]).
//!
//! A thread's log is in the order of its own time. The model's order is that of a serial execution: a task stands where it
//! was created, whoever ran it and when. So the logs are read twice:
//!
//! 1. [`index`] finds the *pieces*: what a thread ran of a task apart from the task's creator.
//! 2. [`walk`] begins with the main thread's log and follows it; where a task was created that ran as a piece, it goes on
//!    with the piece and then comes back; pieces of others that lie in the way are passed over.
//!
//! **Memory:** the index, one entry per piece; otherwise bounded by the depth of the tree. What ran at its place, as all
//! of a program with one worker and no spawned tasks, needs no entry.
//!
//! **Cut off.** Every record is whole, but a log may end anywhere: pieces then lack their end, tasks their creator. What is
//! open is closed, pieces that nobody refers to become tasks that nobody waits for, and [`Converted`] says how many.
//!
//! **Units.** Costs in the logs are ticks. They become nanoseconds by way of positions: a strand costs what lies between
//! the nanoseconds of its end and of its begin. Rounding is monotone, so a position in nanoseconds is the position in
//! ticks, rounded down, along every path: spans are exact, and each strand is off by less than a nanosecond, in either
//! direction, so that sums of works are, too, but for what chance leaves of it. With the virtual clock a tick is a
//! nanosecond, and nothing is rounded.

mod entry;
mod index;
mod objects;
mod rows;
mod walk;

#[cfg(test)]
mod tests;

use std::io;
use std::mem::{offset_of, size_of};

use workspan_model::strand::Strand;
use workspan_model::ContextId;
use workspan_wire::log::Record;
use workspan_wire::shm::{Header, Instant};

use crate::snapshot::Snapshot;

/// The logs of all threads.
pub trait Logs {
    /// Number of logs.
    fn slots(&self) -> usize;
    /// Records in one.
    fn records(&self, slot: usize) -> u64;
    /// Appends up to `count` records from the one with number `at` on.
    fn read(&self, slot: usize, at: u64, count: usize, into: &mut Vec<Record>) -> io::Result<()>;
}

impl Logs for [Vec<Record>] {
    fn slots(&self) -> usize {
        self.len()
    }

    fn records(&self, slot: usize) -> u64 {
        self.get(slot).map_or(0, |log| log.len() as u64)
    }

    fn read(&self, slot: usize, at: u64, count: usize, into: &mut Vec<Record>) -> io::Result<()> {
        let from = usize::try_from(at).unwrap_or(usize::MAX);
        into.extend(self.get(slot).into_iter().flat_map(|log| log.iter().skip(from).take(count)));
        Ok(())
    }
}

/// What is known of a run besides its logs.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// By the collector's number, the recording's contexts.
    pub contexts: &'a [ContextId],
    /// Ticks of the clock per second.
    pub ticks_per_second: u64,
    /// The tick at which the program began; 0 with the virtual clock.
    pub started: u64,
    /// False if the logs may lack what had happened.
    pub complete: bool,
}

/// What the header says of the logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The tick at which the program began.
    pub started: u64,
    /// Something was not logged any more.
    pub stopped: bool,
}

/// Reads it.
pub fn state(snapshot: &(impl Snapshot + ?Sized)) -> io::Result<State> {
    let header = snapshot.read(0, size_of::<Header>())?;
    let word = |at: usize| header.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes);
    let started = offset_of!(Header, started) + offset_of!(Instant, ticks);
    let started = header.get(started..started + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes);
    let stopped = word(offset_of!(Header, log_stopped)) != 0 || word(offset_of!(Header, log_given_up)) != 0;
    Ok(State { started, stopped })
}

/// What became of the logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// Strands.
    pub strands: u64,
    /// Pieces that had not ended, the main thread's included, though somebody waited for them.
    pub cut: u64,
    /// Tasks and threads that nobody waited for, and that had not ended when the program did. All that they had done by then
    /// is there: a piece's end is written when it ends, and what was written before the program's end is taken after it.
    pub unfinished: u64,
    /// Pieces that nobody refers to: their tasks begin when they did, but nobody waits for them.
    pub lone: u64,
    /// Pieces that could not be placed: their strands are missing.
    pub lost: u64,
    /// Records that made no sense where they stood.
    pub stray: u64,
}

impl Converted {
    /// True if nothing is missing.
    pub fn whole(&self) -> bool {
        let Converted { strands: _, cut, unfinished: _, lone: _, lost, stray } = *self;
        (cut, lost, stray) == (0, 0, 0)
    }
}

/// Why a conversion stopped.
#[derive(Debug)]
pub enum Stopped<E> {
    /// The logs cannot be read.
    Read(io::Error),
    /// The strands are not taken.
    Write(E),
}

/// Gives `push` the strands in serial order, some at a time.
pub fn convert<E>(
    logs: &(impl Logs + ?Sized),
    setting: &Setting<'_>,
    push: impl FnMut(&[Strand]) -> Result<(), E>,
) -> Result<Converted, Stopped<E>> {
    let mut source = entry::Source::new(logs);
    let index = index::Index::new(&mut source, setting.complete).map_err(Stopped::Read)?;
    walk::Walk::new(source, index, rows::Rows::new(setting, push)).run()
}
