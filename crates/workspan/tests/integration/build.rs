//! Building test programs, once each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository exists")
}

/// Where test programs are built.
pub fn target() -> PathBuf {
    root().join("target/programs")
}

/// `cargo workspan`, quiet.
pub fn cargo_workspan() -> Command {
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
pub fn program(name: &str) -> PathBuf {
    static BUILT: OnceLock<Mutex<BTreeMap<String, PathBuf>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().expect("no build has panicked");
    if let Some(path) = built.get(name) {
        return path.clone();
    }
    let output = cargo_workspan()
        .args(["build", "--release", "--quiet", "--target-dir"])
        .arg(target())
        .arg("--manifest-path")
        .arg(root().join("programs").join(name).join("Cargo.toml"))
        .output()
        .expect("cargo-workspan runs");
    assert!(output.status.success(), "building {name}: {}", String::from_utf8_lossy(&output.stderr));
    let path = target().join("workspan/release").join(name);
    built.insert(name.to_owned(), path.clone());
    path
}
