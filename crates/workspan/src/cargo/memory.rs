//! `cargo workspan build --memory`: a program whose tasks and memory accesses `workspan graph record` writes down.

use std::path::PathBuf;

use super::split::Split;
use super::{call, with_pass};
use crate::exit::Outcome;
use crate::instrument::check::{self, State};
use crate::output;

/// The folder below the target directory.
const FOLDER: &str = "workspan-memory";

/// Builds, and checks that the pass has run on every executable.
pub(super) fn build(split: &Split) -> anyhow::Result<Outcome> {
    let mut with_pass = with_pass::call("build", FOLDER, split)?;
    call::build(&mut with_pass.command, report_built)
}

fn report_built(programs: Vec<PathBuf>) -> anyhow::Result<()> {
    anyhow::ensure!(!programs.is_empty(), "no executable was built; name a package that has one by `-p PACKAGE`");
    for program in programs {
        let name = output::quoted(&program);
        anyhow::ensure!(
            check::state(&program) == State::Instrumented,
            "{} was built without instrumentation: {}",
            program.display(),
            "another wrapper of rustc comes first; unset RUSTC_WRAPPER and `build.rustc-wrapper` of cargo's configuration"
        );
        output::note(&format!("built with instrumentation; run it: workspan graph record -- {name}"));
    }
    Ok(())
}
