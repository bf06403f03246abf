//! Runs of which only time and idle time are requested: the collectors do next to nothing.

use std::ffi::OsString;

use anyhow::Context;
use workspan_model::{Exit, Nanos};
use workspan_read::{attached, read_busy, Attached, Busy, Request};

use super::child::{self, Streams};
use super::{memory, request, target, Program};
use crate::args::RunOptions;
use crate::machine::Pauses;

/// A program that is to be run many times.
#[derive(Debug)]
pub struct Watched<'c> {
    program: Program<'c>,
    options: RunOptions,
    request: Request,
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// How it ended.
    pub exit: Exit,
    /// From before its start to its end.
    pub time: Nanos,
    /// CPU time it took.
    pub cpu: Nanos,
    /// What its threads did; `None` if the collector did not report.
    pub busy: Option<Busy>,
}

impl Run {
    /// What `workers` waited for work, all together. Before and after the collector the main thread is at work, and
    /// workers that are not there wait (docs/methods/scale.md). Below zero if more threads than these were at work.
    pub fn idle(&self, workers: u32) -> Option<Nanos> {
        let Busy { busy, wall, .. } = self.busy?;
        let available = self.time * i64::from(workers);
        let idle = available - busy - (self.time - wall).at_least_zero();
        // Two clocks: what they differ by may be more than what nobody waited.
        let difference = Nanos(available.0 / CLOCKS_DIFFER);
        Some(if idle < -difference { idle } else { idle.at_least_zero() })
    }
}

/// The two clocks that time and idle time are from differ by less than one part of this number.
const CLOCKS_DIFFER: i64 = 1_000;

impl<'c> Watched<'c> {
    /// `command` with this number of workers.
    pub fn new(command: &'c [OsString], workers: u32, ticks_per_second: u64) -> anyhow::Result<Watched<'c>> {
        let mut options =
            RunOptions { workers: Some(workers), logical_cores: Some(0), idle_only: true, ..RunOptions::default() };
        let target = target::of_command(command)?;
        let mut program = Program::new(command, &target, &options)?;
        if !program.runtime.measures_idle_alone() {
            options.idle_only = false;
            program = Program::new(command, &target, &options)?;
        }
        let machine = workspan_model::Machine { ticks_per_second, ..workspan_model::Machine::default() };
        let request = request(&options, &*program.runtime, &machine, Pauses::default());
        Ok(Watched { program, options, request })
    }

    /// What runs it, in words.
    pub fn runtime(&self) -> String {
        self.program.runtime.describe()
    }

    /// Its name alone.
    pub fn runtime_name(&self) -> &'static str {
        self.program.runtime.name()
    }

    /// Runs it once.
    pub fn run(&self, streams: Streams<'_>) -> anyhow::Result<Run> {
        let memory =
            memory::SharedMemory::new(&self.request).context("cannot make shared memory (see `workspan doctor`)")?;
        let environment = super::environment(&self.program, &self.options, &memory);
        let ended = child::run_with(self.program.command, &environment, streams)?;
        let snapshot = memory.snapshot();
        let busy = match attached(&snapshot).context("cannot read the shared memory")? {
            Attached::Yes => Some(read_busy(&snapshot, ended.ticks).context("cannot read the shared memory")?),
            Attached::No | Attached::OtherVersion(_) => None,
        };
        Ok(Run { exit: ended.exit, time: ended.wall, cpu: ended.cpu, busy })
    }

    /// Why a run did not report.
    pub fn silence(&self) -> String {
        self.program.silence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_clocks_differ_by_is_forgiven() {
        for (busy, idle) in [(1_500, 500), (2_000, 0), (2_002, 0), (2_003, -3), (3_000, -1_000)] {
            let (time, busy) = (Nanos(1_000), Busy { busy: Nanos(busy), wall: Nanos(1_000), ..Busy::default() });
            let run = Run { exit: Exit::Code(0), time, cpu: Nanos::ZERO, busy: Some(busy) };
            assert_eq!(run.idle(2), Some(Nanos(idle)));
        }
    }
}
