//! `cargo workspan depend`: build a sequential program with code for dependences, and follow a run of it.
//!
//! Cargo builds for the machine's target, in a target directory of its own: so rustc is called with `--target` for what runs in the
//! program, and without it for build scripts and procedural macros, which stay as they are.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::profile;
use super::programs::{cargo, runner};
use super::project::Project;
use super::split::Split;
use crate::instrument::{companion, library};

/// The folder below the target directory.
const FOLDER: &str = "workspan-depend";

/// The call of cargo. `words`: what runs the program.
pub(super) fn command(words: Vec<String>, split: &Split) -> anyhow::Result<Command> {
    let project = Project::find(&split.cargo)?;
    let installed = library::install()?;
    let target = split.cargo_value("--target-dir").map_or_else(|| project.target_directory.clone(), PathBuf::from);
    let target = std::path::absolute(target.join(FOLDER)).context("cannot find the working directory")?;
    forget_others(&target, &installed.folder)?;
    let triple = split.target_triple()?;
    let name = profile::name("run", split);
    let mut command = Command::new(cargo());
    command.arg("run").args(split.cargo_without("--target-dir")).arg("--target-dir").arg(&target);
    if split.cargo_value("--target").is_none() {
        command.args(["--target", &triple]);
    }
    if project.has_lock_file && !split.has_any(&["--locked", "--frozen"]) {
        command.arg("--locked");
    }
    // Code of the library is needed as it is: link-time optimisation would take it elsewhere.
    let mut settings = vec![format!("profile.{name}.lto=\"off\""), format!("profile.{name}.strip=\"none\"")];
    settings.push(runner(&words, &triple)?);
    for setting in settings {
        command.arg("--config").arg(setting);
    }
    command.env("RUSTC_WRAPPER", installed.bin.join("rustc-wrapper"));
    // Beside cargo's own, so that cargo leaves it alone.
    command.env(companion::RUST, target.join("kept-by-rustc"));
    if !split.program.is_empty() {
        command.arg("--").args(&split.program);
    }
    Ok(command)
}

/// Cargo does not notice that the pass has changed: then everything is built again.
fn forget_others(target: &Path, pass: &Path) -> anyhow::Result<()> {
    let stamp = target.join(".pass");
    let wanted: OsString = pass.file_name().unwrap_or_default().to_owned();
    let wanted = wanted.to_string_lossy().into_owned();
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let cannot = || format!("cannot use the target directory {}", target.display());
    if target.exists() {
        fs::remove_dir_all(target).with_context(cannot)?;
    }
    fs::create_dir_all(target).and_then(|()| fs::write(&stamp, wanted)).with_context(cannot)
}
