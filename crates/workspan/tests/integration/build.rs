//! Building test programs, once each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository exists")
}

/// Where test programs are built.
pub(crate) fn target() -> PathBuf {
    root().join("target/programs")
}

/// `cargo workspan`, quiet.
pub(crate) fn cargo_workspan() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-workspan"));
    command.arg("workspan");
    // What the test run itself was called with must not reach the project under test.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && !["CARGO_HOME", "CARGO_TERM_COLOR"].contains(&&*text) || text == "RUSTFLAGS" {
            command.env_remove(&name);
        }
    }
    command
}

/// The executable of `programs/<name>`, built with hooks in release mode.
pub(crate) fn program(name: &str) -> PathBuf {
    release(&root().join("programs").join(name), name)
}

/// The executable `name` of a project, built with hooks in release mode.
pub(crate) fn release(project: &Path, name: &str) -> PathBuf {
    static BUILT: OnceLock<Mutex<BTreeMap<PathBuf, PathBuf>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().expect("no build has panicked");
    if let Some(path) = built.get(project) {
        return path.clone();
    }
    // Projects of the repository share what they have in common.
    let target = if project.starts_with(target()) { project.join("target") } else { target() };
    let output = cargo_workspan()
        .args(["build", "--release", "--quiet", "--target-dir"])
        .arg(&target)
        .arg("--manifest-path")
        .arg(project.join("Cargo.toml"))
        .output()
        .expect("cargo-workspan runs");
    assert!(output.status.success(), "building {}: {}", project.display(), String::from_utf8_lossy(&output.stderr));
    let path = target.join("workspan/release").join(name);
    built.insert(project.to_owned(), path.clone());
    path
}
