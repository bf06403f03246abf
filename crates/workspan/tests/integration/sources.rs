//! Sources of rayon-core other than the registry: vendored, local, of an unknown version, changed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::build::{self, cargo_workspan, scratch};
use crate::command::{report, run, Ended};

const MAIN: &str = "fn main() {\n    rayon_core::join(|| (), || ());\n}\n";

/// A project that depends on rayon-core.
fn project(name: &str, dependency: &str) -> PathBuf {
    build::program("endings");
    let folder = scratch(name);
    fs::create_dir(folder.join("src")).expect("writable");
    let manifest = format!(
        "[workspace]\nexclude = [\"rayon-core\"]\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \
         \"2021\"\n[dependencies]\nrayon-core = {dependency}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
    fs::write(folder.join("src/main.rs"), MAIN).expect("writable");
    folder
}

/// The source of rayon-core that `programs/endings` uses.
fn rayon_core() -> PathBuf {
    let mut command = build::cargo();
    command.args(["metadata", "--format-version", "1", "--offline", "--locked", "--manifest-path"]);
    let ended = run(command.arg(build::root().join("programs/endings/Cargo.toml")));
    let metadata: Value = serde_json::from_slice(&ended.check_success().stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    let package = packages.iter().find(|package| package["name"] == "rayon-core").expect("it is a dependency");
    Path::new(package["manifest_path"].as_str().expect("a path")).parent().expect("a folder").to_owned()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("it exists") {
        let path = entry.expect("it exists").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::write(target, fs::read(&path).expect("it is a file")).expect("writable");
        }
    }
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).expect("it is there");
    assert!(text.contains(from), "{from}");
    fs::write(file, text.replace(from, to)).expect("writable");
}

/// `cargo vendor`, and a cargo that has nothing else: neither registry nor network.
#[test]
fn vendored() {
    let folder = project("vendored", "\"1\"");
    let mut command = build::cargo();
    let vendor = run(command.args(["vendor", "--offline"]).current_dir(&folder));
    fs::create_dir(folder.join(".cargo")).expect("writable");
    fs::write(folder.join(".cargo/config.toml"), &vendor.check_success().stdout).expect("writable");
    let before = fs::read(folder.join("Cargo.lock")).expect("made by cargo vendor");
    let mut command = cargo_workspan();
    command.current_dir(&folder).args(["run", "--offline"]).env("CARGO_HOME", scratch("vendored-home"));
    run(&mut command).check_success();
    assert_eq!(report(&folder, "workspan.wspan")["program"]["tasks"], 1);
    assert_eq!(fs::read(folder.join("Cargo.lock")).expect("it is there"), before);
}

/// A folder of the user's: as published it gets hooks, and what is changed there is compiled again, or refused.
#[test]
fn local() {
    let folder = project("local", "{ path = \"rayon-core\" }");
    let core = folder.join("rayon-core");
    copy(&rayon_core(), &core);
    let build = || {
        let mut command = cargo_workspan();
        run(command.current_dir(&folder).args(["build", "--offline"]))
    };
    let compiles = |build: Ended| build.check_success().err().contains("Compiling rayon-core v1.13.0");
    assert!(compiles(build()));
    assert!(!compiles(build()));
    let join = core.join("src/join/mod.rs");
    replace(&join, "pub fn join<A,", "#[doc(alias = \"fork\")]\npub fn join<A,");
    assert!(compiles(build()));
    let program = folder.join("target/workspan/debug/local");
    let before = fs::metadata(&program).and_then(|file| file.modified()).expect("it was built");
    // An anchor is gone.
    replace(&join, "job_b.run_inline(injected)", "job_b.run_inline({ injected })");
    let ended = build();
    ended.check_error(2, &["the source of rayon-core 1.13.0", "is not the published one", "join/mod.rs"]);
    assert!(!ended.err().contains("Compiling"), "{}", ended.err());
    assert_eq!(fs::metadata(&program).and_then(|file| file.modified()).expect("it stays"), before);
}

/// Neither too old nor too new is run without hooks.
#[test]
fn unknown_versions() {
    let folder = project("versions", "{ path = \"rayon-core\" }");
    let core = folder.join("rayon-core");
    copy(&rayon_core(), &core);
    for (from, to) in [("1.13.0", "1.10.2"), ("1.10.2", "1.14.0"), ("1.14.0", "2.0.0")] {
        replace(&core.join("Cargo.toml"), &format!("version = \"{from}\""), &format!("version = \"{to}\""));
        let _ = fs::remove_file(folder.join("Cargo.lock"));
        let mut command = cargo_workspan();
        let ended = run(command.current_dir(&folder).args(["run", "--offline"]));
        ended.check_error(2, &[&format!("rayon-core {to} is not supported"), "1.11 to 1.13"]);
        assert!(!folder.join("target").exists());
    }
}
