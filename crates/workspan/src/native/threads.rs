//! Programs with threads of their own among the runtimes.

use std::io;
use std::path::Path;

use object::File;

use super::environment;
use crate::args::RunOptions;
use crate::doctor::check::Check;
use crate::doctor::sections::{linking, places};
use crate::openmp::program::is_of_system;
use crate::openmp::{elf, loader};
use crate::rayon;
use crate::runtime::{Around, Environment, Family, Look, Runtime, Sections};

/// Its row.
pub const FAMILY: Family = Family { look, doctor: Vec::new, without: |_| None };

/// A program that creates threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program;

/// What creates threads: of C, of C11, and of C++ as the two standard libraries have it.
const CREATE: [&str; 3] = [
    "pthread_create",
    "thrd_create",
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
];

fn look(executable: &Path, sections: Sections<'_>) -> Look {
    match creates_threads(executable) {
        // A program of rayon has to be built with hooks: its threads alone would say nothing.
        Ok(true) if !rayon::is_in(sections) => Look::Uses(Box::new(Program)),
        Ok(_) => Look::Not,
        Err(error) => Look::Failed(error),
    }
}

/// The program or a library of its own calls what creates threads, and the dynamic loader loads it.
fn creates_threads(executable: &Path) -> io::Result<bool> {
    if !elf::try_dynamic(executable)?.is_some_and(|dynamic| dynamic.is_dynamic) {
        return Ok(false);
    }
    if elf::calls(executable, &CREATE) {
        return Ok(true);
    }
    let libraries = loader::libraries(executable)?;
    let own =
        libraries.iter().filter(|library| !is_of_system(&library.name)).filter_map(|library| library.path.as_deref());
    Ok(own.into_iter().any(|library| elf::calls(library, &CREATE)))
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

    fn check(&self, executable: &Path, idle_only: bool) -> anyhow::Result<()> {
        let program = executable.display();
        anyhow::ensure!(
            !idle_only,
            "{program} creates its threads itself: `workspan scale` cannot set their number, and cannot measure their idle time. \
             Record the program instead, with `workspan record --strands -- {program}`. `workspan predict` then predicts the speed on \
             more processors"
        );
        Ok(())
    }

    fn on_one_worker(&self, _: RunOptions, _: u32) -> anyhow::Result<RunOptions> {
        anyhow::bail!(
            "the program creates its threads itself, and Workspan cannot set their number: both runs would be the same. If an \
             argument of the program sets the number, record it with one thread and with several, with `workspan record --strands -o \
             FILE`, and compare the files with `workspan diff FILE FILE`"
        )
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
