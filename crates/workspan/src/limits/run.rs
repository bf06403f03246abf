//! Runs a program under the emulator, and analyses its trace meanwhile.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::Context;
use workspan_emulator::ring::{Remarks, CODE};
use workspan_limits::Stream;

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
    /// From the program's start to the end of the analysis.
    pub wall: Duration,
}

/// Milliseconds to wait for a chunk before looking whether the program still runs.
const LOOK: i64 = 20;

/// Feeds what `program` does to `stream`.
pub fn run<const N: usize, const T: usize, const A: bool>(
    emulator: &Emulator,
    program: &Path,
    command: &[OsString],
    stream: &mut Stream<N, T, A>,
) -> anyhow::Result<Ended> {
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
        if reader.read(stream, LOOK) {
            if stream.is_full() {
                stopped = true;
                plugin.ring.stop();
                break;
            }
        } else {
            status = child.try_wait()?;
        }
    }
    if stopped {
        end(&mut child)?;
    } else {
        while reader.read(stream, 0) {}
        while reader.read_rest(stream) {}
    }
    let status = child.wait()?;
    drop(passed_on);
    stream.finish();
    Ok(Ended { status, stopped, remarks: plugin.ring.remarks(), wall: began.elapsed() })
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
    fn read<const N: usize, const T: usize, const A: bool>(
        &mut self,
        stream: &mut Stream<N, T, A>,
        millis: i64,
    ) -> bool {
        self.words.clear();
        let found = self.plugin.ring.read(&mut self.taken, &mut self.words, millis);
        self.feed(stream, found)
    }

    fn read_rest<const N: usize, const T: usize, const A: bool>(&mut self, stream: &mut Stream<N, T, A>) -> bool {
        self.words.clear();
        let found = self.plugin.ring.read_rest(&mut self.words);
        self.feed(stream, found)
    }

    fn feed<const N: usize, const T: usize, const A: bool>(
        &self,
        stream: &mut Stream<N, T, A>,
        processor: Option<u32>,
    ) -> bool {
        let Some(processor) = processor else { return false };
        // Code belongs to no thread.
        let thread = if processor == CODE { 0 } else { processor as usize % MOST };
        stream.feed(thread, &self.words);
        true
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
