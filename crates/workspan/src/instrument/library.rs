//! The pass, the run-time and the compilers' stand-ins, as files in the user's [`cache`], since they are loaded into compilers and
//! programs.
//!
//! The folder's name is a hash of its content: programs that were built with another version of workspan keep theirs.
//!
//! Archivers, and commands with a version or with the machine's name, as in `gcc-12` and `x86_64-linux-gnu-g++`, have a stand-in if they
//! are in `PATH`: a build that looks for a compiler finds none that is not there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::archive;
use crate::cache;

static PASS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pass.so"));
static MPI: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/mpi.so"));
static RUN_TIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rt.so"));
/// For programs that an emulator runs; empty where it could not be built.
static OTHER_RUN_TIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rt-other.so"));

/// The processor of those programs.
pub const OTHER: &str = if cfg!(target_arch = "x86_64") { "aarch64" } else { "x86_64" };

/// Name of the run-time's file, without `lib` and `.so`.
pub const RUN_TIME_NAME: &str = "workspan_pass_rt";

/// Commands that are stood in for, and what they compile.
const COMMANDS: &[(&str, &[&str])] = &[
    ("c", &["cc", "gcc", "clang", "c99", "c89", "c17"]),
    ("cxx", &["c++", "g++", "clang++"]),
    ("fortran", &["gfortran", "flang", "flang-new", "f77", "f95", "fc"]),
    ("rust", &["rustc-wrapper"]),
];

/// The stand-in of a command: that of the same name without the version and the machine's name.
pub fn stand_in(command: &str) -> Option<&'static str> {
    let mut all = COMMANDS.iter().filter(|(language, _)| *language != "rust").flat_map(|(_, names)| *names);
    let name = plain_name(command);
    all.find(|known| **known == name).copied()
}

/// A command's name without the version and the machine's name.
fn plain_name(command: &str) -> &str {
    let machine = [env::consts::ARCH, "-linux-gnu-"].concat();
    let name = command.strip_prefix(&machine).unwrap_or(command);
    match name.rsplit_once('-') {
        Some((name, version)) if version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => name,
        _ => name,
    }
}

/// Where the files are.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The pass.
    pub pass: PathBuf,
    /// The folder of the run-time.
    pub folder: PathBuf,
    /// The folder of the run-time for the other processor; nothing if this workspan has none.
    pub other: Option<PathBuf>,
    /// What stands in for MPI's functions.
    pub mpi: PathBuf,
    /// The folder of the stand-ins.
    pub bin: PathBuf,
    /// This program, quoted for a shell.
    pub program: String,
}

/// Writes the files, if they are not there yet.
pub fn install() -> anyhow::Result<Installed> {
    anyhow::ensure!(
        !PASS.is_empty() && !RUN_TIME.is_empty(),
        "this workspan was built without instrumentation: that works on Linux with glibc, on x86-64 and aarch64"
    );
    let cache = cache::folder().context(
        "cannot keep the instrumentation: there is no cache folder in which only you can write; set XDG_CACHE_HOME to one",
    )?;
    let us = env::current_exe().context("cannot find this program's file")?;
    // `cargo workspan` has it beside itself.
    let us =
        if us.file_name().is_some_and(|name| name == "cargo-workspan") { us.with_file_name("workspan") } else { us };
    let identity = us.to_string_lossy().into_owned();
    let folder = cache.join(format!(
        "instrument-{:016x}",
        cache::hash(&[PASS, RUN_TIME, OTHER_RUN_TIME, MPI, identity.as_bytes()].concat())
    ));
    let installed = Installed {
        pass: folder.join("libworkspan_pass.so"),
        mpi: folder.join("libworkspan_mpi.so"),
        bin: folder.join("bin"),
        other: (!OTHER_RUN_TIME.is_empty()).then(|| folder.join(OTHER)),
        folder: folder.clone(),
        program: format!("'{}'", identity.replace('\'', "'\\''")),
    };
    for made in [&folder, &installed.bin] {
        cache::make_folder(made).with_context(|| format!("cannot make {}", made.display()))?;
    }
    write(&installed.pass, PASS)?;
    write(&installed.mpi, MPI)?;
    write(&folder.join(format!("lib{RUN_TIME_NAME}.so")), RUN_TIME)?;
    if let Some(other) = &installed.other {
        cache::make_folder(other).with_context(|| format!("cannot make {}", other.display()))?;
        write(&other.join(format!("lib{RUN_TIME_NAME}.so")), OTHER_RUN_TIME)?;
    }
    for (language, names) in COMMANDS {
        let script = script(&installed, &format!("compile-as {language}"));
        for name in *names {
            write(&installed.bin.join(name), script.as_bytes())?;
        }
    }
    Ok(installed)
}

/// Stands in for what `PATH` has with a version or with the machine's name.
pub fn stand_in_for_all(installed: &Installed) -> anyhow::Result<()> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders =
        env::split_paths(&path).filter(|folder| *folder != installed.bin).filter_map(|at| fs::read_dir(at).ok());
    for entry in folders.flat_map(|entries| entries.filter_map(Result::ok)) {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| archive::COMMANDS.contains(&plain_name(name))) {
            let script = script(installed, &format!("{} \"${{0##*/}}\"", archive::VERB));
            write(&installed.bin.join(&name), script.as_bytes())?;
            continue;
        }
        let Some(known) = name.to_str().and_then(stand_in).filter(|known| name != *known) else {
            continue;
        };
        let script = fs::read(installed.bin.join(known)).context("cannot read what was just written")?;
        write(&installed.bin.join(&name), &script)?;
    }
    Ok(())
}

/// What a stand-in runs, with its own arguments.
fn script(installed: &Installed, verb: &str) -> String {
    format!("#!/bin/sh\nexec {} {verb} -- \"$@\"\n", installed.program)
}

fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    if cache::is_ours(path) && fs::read(path).is_ok_and(|found| found == content) {
        return Ok(());
    }
    cache::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_the_machine_may_be_in_a_name() {
        let here = |name: &str| [env::consts::ARCH, "-linux-gnu-", name].concat();
        for (name, known) in [
            ("gcc", Some("gcc")),
            ("gcc-12", Some("gcc")),
            ("clang++-19", Some("clang++")),
            ("flang-new-19", Some("flang-new")),
            ("flang-new", Some("flang-new")),
            ("gcc-4.9", Some("gcc")),
            (&here("g++-12"), Some("g++")),
            (&here("gfortran"), Some("gfortran")),
            ("other-machine-linux-gnu-gcc", None),
            ("gcc-ar", None),
            ("gcc-ar-12", None),
            ("clang-format-19", None),
            ("clang-cpp", None),
            ("rustc-wrapper", None),
            ("ccache", None),
        ] {
            assert_eq!(stand_in(name), known, "{name}");
        }
    }
}
