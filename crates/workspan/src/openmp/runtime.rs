//! OpenMP among the runtimes.

use std::path::Path;

use object::File;

use super::program::{self, Program};
use super::{doctor, environment};
use crate::args::RunOptions;
use crate::doctor::check::Check;
use crate::doctor::sections::{linking, places};
use crate::runtime::{Environment, Family, Look, Runtime, Sections};

/// Its row.
pub const FAMILY: Family = Family { look, doctor: doctor::checks, without: |_| None };

fn look(executable: &Path, _: Sections<'_>) -> Look {
    program::look(executable).map_or(Look::Not, |program| Look::Uses(Box::new(program)))
}

impl Runtime for Program {
    fn name(&self) -> &'static str {
        "OpenMP"
    }

    fn describe(&self) -> String {
        Program::describe(self)
    }

    fn check(&self, _: &Path, _: bool) -> anyhow::Result<()> {
        // What is in the way is said when the environment is made, which looks for what can stand in.
        Ok(())
    }

    fn environment(&self, executable: &Path, options: &RunOptions) -> anyhow::Result<Environment> {
        environment::of(self, executable, options)
    }

    fn logical_cores(&self, options: &RunOptions) -> Option<u32> {
        // With virtual cores a program runs on one CPU: only if requested.
        options.logical_cores
    }

    fn most_workers(&self) -> u32 {
        environment::MOST_THREADS
    }

    fn on_one_worker(&self, options: RunOptions, workers: u32) -> anyhow::Result<RunOptions> {
        anyhow::ensure!(
            options.logical_cores.is_none(),
            "--logical-cores is for rayon: leave it out, a team of OpenMP has --workers threads in all runs"
        );
        // A team of one would be other loops, without tasks.
        Ok(RunOptions { workers: None, logical_cores: Some(workers), ..options })
    }

    fn silence(&self, program: &str) -> String {
        format!(
            "the collector did not report from {program}: the program ended before `main`, the system did not let a \
             library be loaded into it, or it could not map the shared memory (see `workspan doctor`)"
        )
    }

    fn doctor(&self, file: &File<'_>) -> Vec<Check> {
        vec![doctor::of_program(self), places(file), linking(file)]
    }
}
