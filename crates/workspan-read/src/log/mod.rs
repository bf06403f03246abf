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

mod across;
mod entry;
mod index;
mod input;
mod open;
mod rows;
mod track;
mod waits;
mod walk;

#[cfg(test)]
mod tests;

use std::io;
use std::mem::{offset_of, size_of};

use workspan_model::strand::Strand;
use workspan_wire::shm::{Header, Instant};

pub use input::{Converted, Logs, Setting, Stopped};

use crate::memory::Snapshot;

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

/// Gives `push` the strands in serial order, some at a time.
pub fn convert<E>(
    logs: &(impl Logs + ?Sized),
    setting: &Setting<'_>,
    mut push: impl FnMut(&[Strand]) -> Result<(), E>,
) -> Result<Converted, Stopped<E>> {
    convert_seen(logs, setting, |strands, _| push(strands))
}

/// The same with the number by which a tool saw each strand: 0 if it saw none that is this row's. A row that several of a
/// thread's strands make up has the number of the first.
pub fn convert_seen<E>(
    logs: &(impl Logs + ?Sized),
    setting: &Setting<'_>,
    push: impl FnMut(&[Strand], &[u64]) -> Result<(), E>,
) -> Result<Converted, Stopped<E>> {
    let mut source = entry::Source::new(logs);
    let index = index::Index::new(&mut source, setting.complete).map_err(Stopped::Read)?;
    walk::Walk::new(source, index, rows::Rows::new(setting, push)).run()
}
