//! Runs a program under the emulator, whose plugin writes a trace into a ring of memory.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::Context;
use workspan_emulator::ring::{Remarks, CODE};

use super::analysis::Feed;
use super::emulator::Emulator;
use super::plugin::Plugin;
use crate::signals::Caught;

/// How the run ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Of the program.
    pub status: ExitStatus,
    /// True if we ended it, because no more was wanted.
    pub stopped: bool,
    /// What the trace does not show.
    pub remarks: Remarks,
    /// Instructions whose bytes could not be read.
    pub lost: u64,
    /// From the program's start to the end of the analysis.
    pub wall: Duration,
}

/// Milliseconds to wait for a chunk before looking whether the program still runs.
const LOOK: i64 = 20;

/// Feeds what `program` does.
pub fn run(emulator: &Emulator, program: &Path, command: &[OsString], feed: &mut Feed<'_>) -> anyhow::Result<Ended> {
    let plugin = Plugin::new()?;
    let caught = Caught::new()?;
    let began = Instant::now();
    let mut child = Command::new(&emulator.path);
    child.arg("-plugin").arg(plugin.argument()).arg("-0").arg(&command[0]).arg(program).args(&command[1..]);
    let mut child = child.spawn().with_context(|| format!("cannot run {}", emulator.path.display()))?;
    let passed_on = caught.pass_on_to(&child);
    let mut reader = Reader { plugin: &plugin, taken: 0, words: Vec::new() };
    let mut stopped = false;
    let mut status = None;
    while status.is_none() {
        match reader.read(feed, LOOK) {
            Some(true) => {}
            Some(false) => {
                stopped = true;
                plugin.ring.stop();
                break;
            }
            None => status = child.try_wait()?,
        }
    }
    if stopped {
        end(&mut child)?;
    } else {
        while reader.read(feed, 0).is_some() {}
        while reader.read_rest(feed).is_some() {}
    }
    let status = child.wait()?;
    drop(passed_on);
    Ok(Ended { status, stopped, remarks: plugin.ring.remarks(), wall: began.elapsed(), lost: 0 })
}

/// The program is not needed any more.
fn end(child: &mut Child) -> io::Result<()> {
    match child.kill() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}

/// Empties the ring.
struct Reader<'p> {
    plugin: &'p Plugin,
    taken: u32,
    words: Vec<u64>,
}

impl Reader<'_> {
    /// `None` if there is nothing; else whether more is wanted.
    fn read(&mut self, feed: &mut Feed<'_>, millis: i64) -> Option<bool> {
        self.words.clear();
        let processor = self.plugin.ring.read(&mut self.taken, &mut self.words, millis)?;
        Some(self.feed(feed, processor))
    }

    fn read_rest(&mut self, feed: &mut Feed<'_>) -> Option<bool> {
        self.words.clear();
        let processor = self.plugin.ring.read_rest(&mut self.words)?;
        Some(self.feed(feed, processor))
    }

    fn feed(&self, feed: &mut Feed<'_>, processor: u32) -> bool {
        // Code belongs to no thread.
        let thread = if processor == CODE { 0 } else { processor as usize % MOST };
        feed(thread, &self.words)
    }
}

/// Virtual processors that are distinguished.
const MOST: usize = 1024;

impl Ended {
    /// The signal that ended the program, if one did.
    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}
