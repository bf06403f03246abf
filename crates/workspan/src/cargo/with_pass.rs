//! Cargo with compilers that run the pass.
//!
//! Cargo builds for the machine's target, in a target directory of its own: so rustc is called with `--target` for what runs in the
//! program, and without it for build scripts and procedural macros, which stay as they are.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::profile;
use super::programs::cargo;
use super::project::Project;
use super::split::Split;
use crate::instrument::library;

/// A call of cargo that is almost complete.
pub(super) struct Call {
    /// Lacks the program's arguments.
    pub(super) command: Command,
    /// The platform that cargo builds for.
    pub(super) triple: String,
    /// The target directory.
    pub(super) target: PathBuf,
}

/// Cargo with `verb`, in `folder` of the project's target directory.
pub(super) fn call(verb: &str, folder: &str, split: &Split) -> anyhow::Result<Call> {
    let project = Project::find(&split.cargo)?;
    let installed = library::install()?;
    let target = split.cargo_value("--target-dir").map_or_else(|| project.target_directory.clone(), PathBuf::from);
    let target = std::path::absolute(target.join(folder)).context("cannot find the working directory")?;
    forget_others(&target, &installed.folder)?;
    let triple = split.target_triple()?;
    let name = profile::name(verb, split);
    let mut command = Command::new(cargo());
    command.arg(verb).args(split.cargo_without("--target-dir")).arg("--target-dir").arg(&target);
    if split.cargo_value("--target").is_none() {
        command.args(["--target", &triple]);
    }
    if project.has_lock_file && !split.has_any(&["--locked", "--frozen"]) {
        command.arg("--locked");
    }
    // Code of libraries is needed as it is: link-time optimisation would take it elsewhere.
    for setting in [format!("profile.{name}.lto=\"off\""), format!("profile.{name}.strip=\"none\"")] {
        command.arg("--config").arg(setting);
    }
    command.env("RUSTC_WRAPPER", installed.bin.join("rustc-wrapper"));
    Ok(Call { command, triple, target })
}

/// What another pass has compiled goes: with a nightly rustc, cargo would hand parts of it to rustc as kept from the last time.
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
