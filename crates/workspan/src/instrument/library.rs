//! The pass, the run-time and the compilers' stand-ins, as files in the user's cache.
//!
//! The folder's name is a hash of its content: programs that were built with another version of workspan keep theirs.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

static PASS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pass.so"));
static MPI: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/mpi.so"));
static RUN_TIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rt.so"));

/// Name of the run-time's file, without `lib` and `.so`.
pub const RUN_TIME_NAME: &str = "workspan_pass_rt";

/// Commands that are stood in for, and what they compile.
const COMMANDS: &[(&str, &[&str])] = &[
    ("c", &["cc", "gcc", "clang", "c99", "c89", "c17"]),
    ("cxx", &["c++", "g++", "clang++"]),
    ("fortran", &["gfortran", "flang", "flang-new", "f77", "f95", "fc"]),
    ("rust", &["rustc-wrapper"]),
];

/// Where the files are.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The pass.
    pub pass: PathBuf,
    /// The folder of the run-time.
    pub folder: PathBuf,
    /// What stands in for MPI's functions.
    pub mpi: PathBuf,
    /// The folder of the stand-ins.
    pub bin: PathBuf,
}

/// Writes the files, if they are not there yet.
pub fn install() -> anyhow::Result<Installed> {
    anyhow::ensure!(
        !PASS.is_empty() && !RUN_TIME.is_empty(),
        "this workspan was built without instrumentation: that works on Linux with glibc, on x86-64 and aarch64"
    );
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    let cache = cache.unwrap_or_else(env::temp_dir).join("workspan");
    let us = env::current_exe().context("cannot find this program's file")?;
    // `cargo workspan` has it beside itself.
    let us =
        if us.file_name().is_some_and(|name| name == "cargo-workspan") { us.with_file_name("workspan") } else { us };
    let identity = us.to_string_lossy().into_owned();
    let folder = cache.join(format!("instrument-{:016x}", hash(&[PASS, RUN_TIME, MPI, identity.as_bytes()])));
    let installed = Installed {
        pass: folder.join("libworkspan_pass.so"),
        mpi: folder.join("libworkspan_mpi.so"),
        bin: folder.join("bin"),
        folder: folder.clone(),
    };
    fs::create_dir_all(&installed.bin).with_context(|| format!("cannot make {}", installed.bin.display()))?;
    write(&installed.pass, PASS, 0o644)?;
    write(&installed.mpi, MPI, 0o755)?;
    write(&folder.join(format!("lib{RUN_TIME_NAME}.so")), RUN_TIME, 0o755)?;
    for (language, names) in COMMANDS {
        let quoted = identity.replace('\'', "'\\''");
        let script = format!("#!/bin/sh\nexec '{quoted}' compile-as {language} -- \"$@\"\n");
        for name in *names {
            write(&installed.bin.join(name), script.as_bytes(), 0o755)?;
        }
    }
    Ok(installed)
}

/// Writes a file so that nobody sees half of it.
fn write(path: &Path, content: &[u8], mode: u32) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|found| found == content) {
        return Ok(());
    }
    let beside = path.with_extension(format!("tmp{}", std::process::id()));
    fs::write(&beside, content)
        .and_then(|()| fs::set_permissions(&beside, Permissions::from_mode(mode)))
        .and_then(|()| fs::rename(&beside, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// FNV-1a.
fn hash(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
