//! As rustc's wrapper: `cargo` calls us in place of rustc, with rustc's path and arguments.
//!
//! For the crates `rayon_core` and `rayon` the root file is replaced by that of an instrumented copy, which is made on
//! the spot from the very source that cargo resolved. Everything else passes through, to a wrapper that the user has
//! already, if any.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use anyhow::Context;
use clap::CommandFactory;
use nix::fcntl::{Flock, FlockArg};
use workspan_instrument::{fingerprint, instrument, Package, Runtime};

use crate::record::output::PER_PROGRAM;
use crate::runtime::Variable;
use crate::{args, exit, output};

/// Marks this process as the wrapper: the folder for instrumented copies.
const FOLDER: &str = "WORKSPAN_INSTRUMENT";
/// The wrapper that the user has already.
const NEXT: &str = "WORKSPAN_NEXT_WRAPPER";
const WRAPPER: &str = "RUSTC_WRAPPER";

/// Runs as rustc's wrapper if cargo called us as that.
pub fn run_if_asked(arguments: &[OsString]) -> Option<ExitCode> {
    let folder = PathBuf::from(env::var_os(FOLDER)?);
    let program = arguments.get(1).filter(|word| !is_ours(word))?;
    let error = match compile(program, &arguments[2..], &folder) {
        Ok(never) => match never {},
        Err(error) => error,
    };
    output::error(&error);
    Some(ExitCode::from(exit::FAILED))
}

/// True for our own verbs and options: cargo also calls us as the runner of programs. Anything else is rustc, or a
/// wrapper for the user's workspace (`RUSTC_WORKSPACE_WRAPPER`) that comes between.
fn is_ours(word: &OsStr) -> bool {
    let word = word.to_string_lossy();
    word.starts_with('-') || word == "help" || args::Workspan::command().find_subcommand(&*word).is_some()
}

enum Never {}

fn compile(rustc: &OsStr, arguments: &[OsString], folder: &Path) -> anyhow::Result<Never> {
    let mut arguments = arguments.to_vec();
    if let Some(runtime) = crate_name(&arguments).and_then(runtime_of) {
        if let Some(root) = arguments.iter_mut().find(|a| a.to_string_lossy().ends_with("src/lib.rs")) {
            *root = replacement(runtime, root, folder)?.into();
        }
    }
    let mut command = match env::var_os(NEXT).filter(|next| !next.is_empty()) {
        Some(next) => {
            let mut command = Command::new(next);
            command.arg(rustc);
            command
        }
        None => Command::new(rustc),
    };
    // Replaces this process, and returns only to say why not.
    Err(command.args(&arguments).exec()).with_context(|| format!("cannot run {}", rustc.to_string_lossy()))
}

fn crate_name(arguments: &[OsString]) -> Option<&OsStr> {
    let at = arguments.iter().position(|a| a == "--crate-name")?;
    arguments.get(at + 1).map(OsString::as_os_str)
}

fn runtime_of(name: &OsStr) -> Option<Runtime> {
    match name.to_str()? {
        "rayon_core" => Some(Runtime::RayonCore),
        "rayon" => Some(Runtime::Rayon),
        _ => None,
    }
}

/// The root file of the instrumented copy of the package whose root file is `root`.
fn replacement(runtime: Runtime, root: &OsStr, folder: &Path) -> anyhow::Result<PathBuf> {
    let root = env::current_dir().context("cannot find the working directory")?.join(root);
    let package = root.parent().and_then(Path::parent).context("a crate root without a package")?;
    // Cargo passes the package's version to rustc, and so to its wrapper.
    let version = env::var("CARGO_PKG_VERSION").context("cargo did not set CARGO_PKG_VERSION")?;
    let package = Package { runtime, version, folder: package.to_owned() };
    Ok(instrument(&package, folder)?.root)
}

/// Variables with which cargo calls us as wrapper.
pub fn environment(folder: &Path) -> anyhow::Result<Vec<(OsString, OsString)>> {
    let mut variables =
        vec![(WRAPPER.into(), super::programs::workspan()?.into()), (FOLDER.into(), absolute(folder)?.into())];
    if let Some(next) = env::var_os(WRAPPER).filter(|next| !next.is_empty()) {
        variables.push((NEXT.into(), next));
    }
    Ok(variables)
}

fn absolute(folder: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(folder).with_context(|| format!("cannot make {} absolute", folder.display()))
}

/// Undoes [`environment`] for the program that cargo starts: it sees the user's own variables.
pub fn restored_environment() -> Vec<Variable> {
    if env::var_os(FOLDER).is_none() {
        return Vec::new();
    }
    vec![(WRAPPER.into(), env::var_os(NEXT)), (NEXT.into(), None), (FOLDER.into(), None), (PER_PROGRAM.into(), None)]
}

/// Cargo does not notice that our hooks have changed. If they have, what it knows of the two crates is removed from the
/// target directory, so that it compiles them, and what depends on them, again.
pub fn forget_stale(target: &Path, sources: &Path) -> io::Result<()> {
    let stamp = target.join(".hooks");
    let wanted = format!("{:016x}\n", fingerprint());
    let fresh = || fs::read_to_string(&stamp).is_ok_and(|found| found == wanted);
    if fresh() {
        return Ok(());
    }
    fs::create_dir_all(target)?;
    // Two at the same time: the second must not remove what the first has begun to build.
    let lock = fs::File::create(target.join(".hooks.lock"))?;
    let _lock = Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, errno)| io::Error::from(errno))?;
    if fresh() {
        return Ok(());
    }
    remove_if_there(sources)?;
    for folder in fingerprints(target, 3)? {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("rayon-") {
                remove_if_there(&entry.path())?;
            }
        }
    }
    fs::write(&stamp, &wanted)
}

/// The folders `.fingerprint` up to `depth` levels below `folder`.
fn fingerprints(folder: &Path, depth: usize) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        other => other?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.ends_with(".fingerprint") {
            found.push(path);
        } else if depth > 0 && path.is_dir() {
            found.extend(fingerprints(&path, depth - 1)?);
        }
    }
    Ok(found)
}

fn remove_if_there(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
