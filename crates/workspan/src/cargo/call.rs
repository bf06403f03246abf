//! Calling cargo.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::exit::Outcome;
use crate::signals;

/// Runs cargo to its end, which becomes ours.
pub(super) fn run(command: &mut Command) -> anyhow::Result<Outcome> {
    let caught = signals::Caught::new()?;
    let mut child = command.spawn().context("cannot run cargo")?;
    let _passed_on = caught.pass_on_to(&child);
    Ok(Outcome::of(child.wait().context("cannot wait for cargo")?))
}

/// Builds, and hands the executables to `report`, which checks what is in them.
pub(super) fn build(
    command: &mut Command,
    report: impl FnOnce(Vec<PathBuf>) -> anyhow::Result<()>,
) -> anyhow::Result<Outcome> {
    let caught = signals::Caught::new()?;
    let mut child = command
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo")?;
    let _passed_on = caught.pass_on_to(&child);
    let mut programs = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            programs.extend(executable(&line.context("cannot read cargo's messages")?));
        }
    }
    let status = child.wait().context("cannot wait for cargo")?;
    if !status.success() {
        return Ok(Outcome::of(status));
    }
    report(programs)?;
    Ok(Outcome::OK)
}

fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    Some(PathBuf::from(message.get("executable")?.as_str()?))
}
