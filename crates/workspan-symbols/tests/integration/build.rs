//! Builds and runs fixtures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the fixtures, absolute.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Folder for what is built, one for each test.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("symbols").join(name);
    fs::create_dir_all(&folder).expect("the target directory can be written to");
    folder
}

/// Runs rustc in `folder`, as cargo does in the workspace's.
#[track_caller]
pub(crate) fn rustc(folder: &Path, arguments: &[&str]) {
    let output = Command::new("rustc")
        .args(["--edition=2021", "-Adead_code"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("rustc is there: it has built this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A built fixture.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) bytes: Vec<u8>,
    /// What it printed, by line.
    pub(crate) lines: Vec<Vec<String>>,
}

/// Builds `file`, in the folder of the fixtures, and runs it.
#[track_caller]
pub(crate) fn program(test: &str, file: &str, options: &[&str]) -> Program {
    let output = scratch(test).join(file.trim_end_matches(".rs"));
    let mut arguments = vec![file, "-o", output.to_str().expect("the path is UTF-8")];
    arguments.extend(options);
    rustc(&fixtures(), &arguments);
    run(&output)
}

/// Runs a built fixture.
#[track_caller]
pub(crate) fn run(executable: &Path) -> Program {
    let output = Command::new(executable).output().expect("it was just built");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("fixtures print UTF-8");
    let lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    Program { bytes: fs::read(executable).expect("it was just built"), lines }
}
