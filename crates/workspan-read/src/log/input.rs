//! What a conversion takes and what it gives, but for the strands.

use std::io;

use workspan_model::ContextId;
use workspan_wire::log::Record;

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
