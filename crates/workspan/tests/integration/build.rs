//! Building test programs, once each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

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
    as_from_a_shell(&mut command);
    command
}

/// `cargo` itself.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    as_from_a_shell(&mut command);
    command
}

/// What the test run itself was called with must not reach the project under test.
fn as_from_a_shell(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let of_cargo = text.starts_with("CARGO_") && !["CARGO_HOME", "CARGO_TERM_COLOR"].contains(&&*text);
        if of_cargo || ["RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"].contains(&&*text) {
            command.env_remove(&name);
        }
    }
}

/// The executable of `programs/<name>`, built with hooks in release mode.
pub(crate) fn program(name: &str) -> PathBuf {
    release(&root().join("programs").join(name), name)
}

/// The executable `name` of a project, built with hooks in release mode.
pub(crate) fn release(project: &Path, name: &str) -> PathBuf {
    let mut built = built();
    if let Some(path) = built.get(project) {
        return path.clone();
    }
    // Projects of the repository share what they have in common.
    let target = if project.starts_with(target()) { project.join("target") } else { target() };
    let mut command = cargo_workspan();
    command.args(["build", "--release", "--quiet"]);
    run(&mut command, project, &target);
    let path = target.join("workspan/release").join(name);
    built.insert(project.to_owned(), path.clone());
    path
}

/// The executable of `programs/<name>`, built as ever.
pub(crate) fn native(name: &str) -> PathBuf {
    let mut built = built();
    let path = target().join("native/release").join(name);
    if built.contains_key(&path) {
        return path;
    }
    let mut command = cargo();
    command.args(["build", "--release", "--quiet", "--locked"]);
    run(&mut command, &root().join("programs").join(name), &target().join("native"));
    built.insert(path.clone(), path.clone());
    path
}

fn built() -> MutexGuard<'static, BTreeMap<PathBuf, PathBuf>> {
    static BUILT: OnceLock<Mutex<BTreeMap<PathBuf, PathBuf>>> = OnceLock::new();
    BUILT.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(command: &mut Command, project: &Path, target: &Path) {
    command.arg("--target-dir").arg(target).arg("--manifest-path").arg(project.join("Cargo.toml"));
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "building {}: {}", project.display(), String::from_utf8_lossy(&output.stderr));
}

/// An empty folder of this name, which no other test uses.
pub(crate) fn scratch(name: &str) -> PathBuf {
    static OWNERS: Mutex<BTreeMap<String, ThreadId>> = Mutex::new(BTreeMap::new());
    let own = std::thread::current().id();
    let owner = *OWNERS.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_insert(own);
    assert_eq!(owner, own, "two tests use the folder {name}: each would remove what the other writes");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("nobody else uses it");
    }
    fs::create_dir_all(&folder).expect("the target directory is writable");
    folder
}
