//! `cargo workspan depend`: build a sequential program with code for dependences, and follow a run of it.

use std::process::Command;

use super::programs::runner;
use super::split::Split;
use super::with_pass::{self, Call};
use crate::instrument::companion;

/// The folder below the target directory.
const FOLDER: &str = "workspan-depend";

/// The call of cargo. `words`: what runs the program.
pub(super) fn command(words: Vec<String>, split: &Split) -> anyhow::Result<Command> {
    let Call { mut command, triple, target } = with_pass::call("run", FOLDER, split)?;
    command.arg("--config").arg(runner(&words, &triple)?);
    // Beside cargo's own, so that cargo leaves it alone.
    command.env(companion::RUST, target.join("kept-by-rustc"));
    if !split.program.is_empty() {
        command.arg("--").args(&split.program);
    }
    Ok(command)
}
