//! Runs with the whole collector in a row, all of one recording, with streams of their own.

use std::ffi::OsString;

use workspan_model::Recording;

use super::child::Streams;
use super::{machine_for, one_run, symbols, target, Program};
use crate::args::RunOptions;
use crate::exit::Outcome;

/// Runs of a recording.
#[derive(Debug)]
pub struct Profiler {
    /// The runs so far, and their sites.
    pub recording: Recording,
    pauses: crate::machine::Pauses,
}

impl Profiler {
    /// None yet. Listens to the machine.
    pub fn new() -> Profiler {
        let (machine, pauses) = machine_for(&RunOptions::default());
        Profiler { recording: Recording { machine, ..Recording::default() }, pauses }
    }

    /// Adds a run of `command`, whose loops are split as on this machine.
    pub fn run(&mut self, command: &[OsString], workers: u32, streams: Streams<'_>) -> anyhow::Result<Outcome> {
        let options = RunOptions { workers: Some(workers), logical_cores: Some(0), ..RunOptions::default() };
        let target = target::of_command(command)?;
        let program = Program { streams, ..Program::new(command, &target, &options)? };
        if self.recording.command.is_empty() {
            self.recording.command = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        }
        let (outcome, _) = one_run(&program, &options, self.pauses, &[], &mut self.recording, &mut Vec::new(), None)?;
        Ok(outcome)
    }

    /// The recording, its sites with their functions.
    pub fn finish(mut self, program: &std::ffi::OsStr) -> anyhow::Result<Recording> {
        symbols::complete(&mut self.recording, &target::find(program)?);
        Ok(self.recording)
    }
}
