//! Programs with threads of their own among the runtimes: all that the dynamic loader loads, and that none of the others knows.

use std::path::Path;

use object::File;

use super::environment;
use crate::args::RunOptions;
use crate::doctor::check::Check;
use crate::doctor::sections::{linking, places};
use crate::openmp::elf;
use crate::rayon;
use crate::runtime::{Around, Environment, Family, Look, Runtime, Sections};

/// Its row.
pub const FAMILY: Family = Family { look, doctor: Vec::new, without: |_| None };

/// A program that the dynamic loader loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program;

fn look(executable: &Path, sections: Sections<'_>) -> Look {
    match elf::try_dynamic(executable) {
        // Such a program has to be built with hooks: its threads alone would say nothing.
        Ok(Some(dynamic)) if dynamic.is_dynamic && !rayon::is_in(sections) => Look::Uses(Box::new(Program)),
        Ok(_) => Look::Not,
        Err(error) => Look::Failed(error),
    }
}

/// Why nothing was recorded of `program`.
pub(super) fn silence(program: &str) -> String {
    format!(
        "the collector did not report from {program}: the program ended before `main`, the system did not let a \
         library be loaded into it, or it could not map the shared memory (see `workspan doctor`)"
    )
}

impl Runtime for Program {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn describe(&self) -> String {
        "threads".to_owned()
    }

    fn check(&self, _: &Path, _: bool) -> anyhow::Result<()> {
        Ok(())
    }

    fn environment(&self, executable: &Path, around: Around<'_>) -> anyhow::Result<Environment> {
        environment::of(executable, around)
    }

    fn logical_cores(&self, options: &RunOptions) -> Option<u32> {
        // It may load oneTBB while it runs.
        Some(options.logical_cores.unwrap_or(0))
    }

    fn silence(&self, program: &str) -> String {
        silence(program)
    }

    fn doctor(&self, file: &File<'_>) -> Vec<Check> {
        let found = Check::ok("program", "threads", "no sign of rayon, OpenMP or oneTBB")
            .means("Threads that the program creates are profiled; tasks of its own pools are not seen.");
        vec![found, places(file), linking(file)]
    }
}
