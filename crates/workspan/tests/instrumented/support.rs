//! Building and recording small programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use serde_json::Value;

/// An empty folder of this name, which no other test uses.
pub(crate) fn folder(name: &str) -> PathBuf {
    static OWNERS: Mutex<BTreeMap<String, ThreadId>> = Mutex::new(BTreeMap::new());
    let own = std::thread::current().id();
    let owner = *OWNERS.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_insert(own);
    assert_eq!(owner, own, "two tests use the folder {name}: each would remove what the other writes");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instrumented").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("removable");
    }
    fs::create_dir_all(&folder).expect("writable");
    folder
}

/// `workspan`, in a folder, with the cache in the folder of tests; every module is verified.
pub(crate) fn workspan(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("it can be run")
}

/// The same, not run yet.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workspan"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
        .env("WORKSPAN_PASS_VERIFY", "1")
        .env_remove("CC")
        .env_remove("CXX")
        .env_remove("FC")
        .stdin(Stdio::null());
    command
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
pub(crate) fn success(output: Output) -> Output {
    assert!(output.status.success(), "{:?}: {}", output.status, err(&output));
    output
}

/// Builds by a command line after `workspan build --`.
#[track_caller]
pub(crate) fn build(folder: &Path, command: &str) {
    let arguments: Vec<&str> = ["build", "--"].into_iter().chain(command.split(' ')).collect();
    success(workspan(folder, &arguments));
}

/// Writes a source file and builds it into `prog`.
#[track_caller]
pub(crate) fn build_source(folder: &Path, file: &str, text: &str, command: &str) {
    fs::write(folder.join(file), text).expect("writable");
    build(folder, &format!("{command} {file} -o prog"));
}

/// Records `./prog` into `run.graph`; its output.
#[track_caller]
pub(crate) fn record(folder: &Path) -> String {
    record_as(folder, &["./prog"])
}

/// Records a command into `run.graph`; its output.
#[track_caller]
pub(crate) fn record_as(folder: &Path, command: &[&str]) -> String {
    let arguments: Vec<&str> = ["graph", "record", "-o", "run.graph", "--"].iter().chain(command).copied().collect();
    out(&success(workspan(folder, &arguments)))
}

/// The JSON of a command on `run.graph`.
#[track_caller]
pub(crate) fn json(folder: &Path, command: &str) -> Value {
    let output = workspan(folder, &["graph", command, "run.graph", "--json"]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", err(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}
