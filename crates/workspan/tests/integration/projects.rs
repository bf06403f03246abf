//! `cargo workspan` on projects of all kinds. They share what cargo builds for them, and need no network: versions are
//! those of `programs/endings`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::build::{self, cargo_workspan, scratch};
use crate::command::{report, run, workspan, Ended};

/// A program whose region has two branches.
const MAIN: &str = "fn main() {
    let name = env!(\"CARGO_PKG_NAME\");
    let (a, b) = rayon::join(|| 3, || 4);
    println!(\"{name} {:?}\", std::env::args().skip(1).collect::<Vec<_>>());
    std::process::exit(a + b);
}
";

/// Writes files into a new folder.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = scratch(name);
    write(&folder, files);
    folder
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (file, text) in files {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("writable");
        fs::write(file, text).expect("writable");
    }
}

fn manifest(name: &str, rest: &str) -> String {
    format!(
        "[workspace]\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\n{rest}"
    )
}

/// A lock file for `packages`, each with its dependencies in quotes.
fn lock(packages: &[(&str, &str)]) -> String {
    let endings = fs::read_to_string(build::root().join("programs/endings/Cargo.lock")).expect("it is there");
    let mut blocks: Vec<String> = endings.split("\n[[package]]\n").map(str::to_owned).collect();
    blocks.retain(|block| !block.starts_with("name = \"endings\"") && !block.starts_with("name = \"workspan-probe\""));
    for (name, dependencies) in packages {
        blocks.push(format!("name = \"{name}\"\nversion = \"0.0.0\"\ndependencies = [{dependencies}]\n"));
    }
    blocks[1..].sort_unstable();
    blocks.join("\n[[package]]\n")
}

/// A package with a program that uses rayon.
fn package(name: &str) -> PathBuf {
    // What it needs has been downloaded then.
    build::program("endings");
    folder(
        name,
        &[
            ("Cargo.toml", &manifest(name, "rayon = \"1\"\n")),
            ("Cargo.lock", &lock(&[(name, "\"rayon\"")])),
            ("src/main.rs", MAIN),
        ],
    )
}

/// `cargo workspan` in `folder`, offline and with the shared target directory.
fn cargo(folder: &Path, verb: &str, rest: &[&str]) -> Ended {
    run(&mut cargo_in(folder, verb, rest))
}

fn cargo_in(folder: &Path, verb: &str, rest: &[&str]) -> Command {
    let mut command = cargo_workspan();
    command.current_dir(folder).args([verb, "--offline", "--quiet", "--target-dir"]).arg(build::target()).args(rest);
    command
}

/// All files of a project, with their contents.
fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it exists") {
            let path = entry.expect("it exists").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.clone(), fs::read(&path).expect("it is a file")));
            }
        }
    }
    found.sort_unstable();
    found
}

fn sites(report: &Value) -> Vec<String> {
    let sites = report["sites"].as_array().expect("a list");
    let mut places: Vec<_> =
        sites.iter().map(|site| format!("{}:{}", site["file"].as_str().unwrap_or(""), site["line"])).collect();
    places.sort_unstable();
    places
}

#[test]
fn run_leaves_the_project_as_it_is() {
    let project = package("untouched");
    let before = snapshot(&project);
    let ended = cargo(&project, "run", &["--release", "--", "--release", "-o", "two words"]);
    assert_eq!(ended.code(), Some(7), "{}", ended.err());
    assert_eq!(ended.out(), "untouched [\"--release\", \"-o\", \"two words\"]\n");
    assert!(ended.err().contains("parallelism "), "{}", ended.err());
    let found = report(&project, "workspan.wspan");
    assert_eq!(sites(&found), ["src/main.rs:3"]);
    fs::remove_file(project.join("workspan.wspan")).expect("it was written");
    assert!(snapshot(&project) == before);
    // From another folder, with cargo's options and ours in any order.
    let elsewhere = scratch("elsewhere");
    let manifest = project.join("Cargo.toml");
    let manifest = manifest.to_str().expect("a plain path");
    let options = ["-o", "a.wspan", "--manifest-path", manifest, "--workers=1", "--bin", "untouched", "--json=a.json"];
    let ended = cargo(&elsewhere, "run", &[&options[..], &["--release"]].concat());
    assert_eq!((ended.code(), ended.err()), (Some(7), String::new()));
    assert_eq!(report(&elsewhere, "a.wspan")["program"]["workers"], 1);
    assert!(elsewhere.join("a.json").exists());
    assert!(snapshot(&project) == before);
}

#[test]
fn a_program_that_was_built_runs_anywhere() {
    let project = package("portable");
    let ended = cargo(&project, "build", &["--release"]);
    assert!(ended.check_success().err().contains("built instrumented (rayon-core 1."), "{}", ended.err());
    let elsewhere = scratch("anywhere");
    let program = elsewhere.join("renamed");
    fs::copy(build::target().join("workspan/release/portable"), &program).expect("it was built");
    let ended = run(workspan(&elsewhere).args(["record", "--"]).arg(&program));
    assert_eq!((ended.code(), ended.out()), (Some(7), "portable []\n".to_owned()), "{}", ended.err());
    assert_eq!(sites(&report(&elsewhere, "workspan.wspan")), ["src/main.rs:3"]);
}

#[test]
fn members_of_a_workspace() {
    build::program("endings");
    let member = |name: &str, dependencies: &str| manifest(name, dependencies).replace("[workspace]\n", "");
    let folder = folder(
        "members",
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two\", \"plain\"]\nresolver = \"2\"\n"),
            ("Cargo.lock", &lock(&[("one", "\"rayon\""), ("two", "\"rayon\""), ("plain", "")])),
            ("one/Cargo.toml", &member("one", "rayon = \"1\"\n")),
            ("one/src/main.rs", MAIN),
            ("two/Cargo.toml", &member("two", "rayon = \"1\"\n")),
            ("two/src/main.rs", MAIN),
            ("plain/Cargo.toml", &member("plain", "")),
            ("plain/src/main.rs", "fn main() {}"),
        ],
    );
    let before = snapshot(&folder);
    let ended = cargo(&folder, "run", &["--release", "-p", "two"]);
    assert_eq!((ended.code(), ended.out()), (Some(7), "two []\n".to_owned()), "{}", ended.err());
    assert_eq!(sites(&report(&folder, "workspan.wspan")), ["two/src/main.rs:3"]);
    fs::remove_file(folder.join("workspan.wspan")).expect("it was written");
    // A member without rayon has nothing to record, and is not run in silence.
    cargo(&folder, "run", &["--release", "-p", "plain"]).check_error(2, &["plain is not instrumented"]);
    let ended = cargo(&folder, "build", &["--release"]);
    assert!(ended.check_success().err().contains("plain does not use rayon"), "{}", ended.err());
    assert!(snapshot(&folder) == before);
}

/// A wrapper of rustc that the user has already still wraps it, and nothing of Workspan shows in the program.
#[test]
fn wrappers_of_rustc_are_chained() {
    use std::os::unix::fs::PermissionsExt;
    let project = package("wrapped");
    let wrapper = |name: &str| {
        let file = project.join(name);
        let log = project.join(format!("{name}.log"));
        fs::write(&file, format!("#!/bin/sh\necho \"$@\" >>{}\nexec \"$@\"\n", log.display())).expect("writable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
        (file, log)
    };
    let (outer, outer_log) = wrapper("outer");
    let (inner, inner_log) = wrapper("inner");
    let shown = "fn main() {
    rayon::join(|| (), || ());
    for (name, value) in std::env::vars().filter(|(name, _)| name.contains(\"WORKSPAN\") || name.contains(\"RUSTC\")) {
        println!(\"{name}={value}\");
    }
}
";
    write(&project, &[("src/main.rs", shown)]);
    let mut command = cargo_in(&project, "run", &["--release"]);
    let ended = run(command.env("RUSTC_WRAPPER", &outer).env("RUSTC_WORKSPACE_WRAPPER", &inner));
    ended.check_success();
    for log in [outer_log, inner_log] {
        let log = fs::read_to_string(log).expect("the wrapper was called");
        assert!(log.contains("--crate-name wrapped"), "{log}");
    }
    let mut seen: Vec<String> = ended.out().lines().map(str::to_owned).collect();
    seen.sort_unstable();
    // By this the hooks find their memory.
    assert!(seen.pop().is_some_and(|last| last.starts_with("WORKSPAN_SHM=/proc/")), "{seen:?}");
    let wrappers = [("WORKSPACE_WRAPPER", &inner), ("WRAPPER", &outer)];
    assert_eq!(seen, wrappers.map(|(name, file)| format!("RUSTC_{name}={}", file.display())));
}

#[test]
fn tests_have_a_recording_each() {
    build::program("endings");
    let test = "#[test]\nfn works() {\n    assert_eq!(rayon::join(|| 1, || 2), (1, 2));\n}\n";
    let project = folder(
        "tested",
        &[
            ("Cargo.toml", &manifest("tested", "rayon = \"1\"\n")),
            ("Cargo.lock", &lock(&[("tested", "\"rayon\"")])),
            ("src/lib.rs", &format!("/// ```\n/// assert_eq!(tested::two(), 2);\n/// ```\npub fn two() -> i32 {{ rayon::join(|| 1, || 2).1 }}\n{test}")),
            ("src/main.rs", &format!("fn main() {{}}\n{test}")),
            ("tests/outer.rs", test),
            ("tests/without.rs", "#[test]\nfn works() {}\n"),
        ],
    );
    let ended = cargo(&project, "test", &["--release"]);
    assert_eq!(ended.check_success().out().matches("test result: ok. 1 passed").count(), 5, "{}", ended.out());
    let mut files: Vec<_> = snapshot(&project).into_iter().map(|(path, _)| path).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "wspan"));
    // The last uses no rayon: its threads are what there is to profile.
    let tasks = [("outer", 1), ("tested-2", 1), ("tested", 1), ("without", 0)];
    let name = |test: &str| format!("workspan-{test}.wspan");
    assert_eq!(files, tasks.map(|(test, _)| project.join(name(test))));
    for (test, tasks) in tasks {
        assert_eq!(report(&project, name(test))["program"]["tasks"], tasks, "{test}");
    }
}

/// What is installed is in PATH. (Programs from the registry go the same way, by a temporary target directory.)
#[test]
fn installed_programs() {
    let project = package("installed");
    let root = scratch("installed-root");
    let mut command = cargo_workspan();
    command.args(["install", "--offline", "--quiet", "--locked", "--path"]).arg(&project).arg("--root").arg(&root);
    let ended = run(command.arg("--target-dir").arg(build::target()));
    let bin = root.join("bin");
    let note = format!("built instrumented (rayon-core 1.13.0); run it: workspan record -- {}", bin.display());
    assert!(ended.check_success().err().contains(&note), "{}", ended.err());
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let ended = run(workspan(&root).args(["record", "--", "installed"]).env("PATH", path));
    assert_eq!((ended.code(), ended.out()), (Some(7), "installed []\n".to_owned()), "{}", ended.err());
    assert_eq!(report(&root, "workspan.wspan")["program"]["tasks"], 1);
}

#[test]
fn projects_with_nothing_to_profile() {
    build::program("endings");
    let check = |files: &[(&str, &str)], verb: &str, words: &[&str]| {
        let folder = folder("nothing", files);
        let before = snapshot(&folder);
        let mut command = cargo_workspan();
        command.current_dir(&folder).args([verb, "--offline"]);
        let ended = run(&mut command);
        ended.check_error(2, words);
        assert_eq!(ended.out(), "");
        assert!(snapshot(&folder) == before, "{words:?}");
    };
    let no_rayon = manifest("nothing", "");
    let alone = "version = 4\n[[package]]\nname = \"nothing\"\nversion = \"0.0.0\"\n";
    let files = [("Cargo.toml", no_rayon.as_str()), ("Cargo.lock", alone), ("src/main.rs", "fn main() {}")];
    for verb in ["run", "build", "test", "bench"] {
        check(&files, verb, &["does not depend on rayon", "nothing to profile"]);
    }
    let library = manifest("nothing", "rayon = \"1\"\n");
    let locked = lock(&[("nothing", "\"rayon\"")]);
    let files = [("Cargo.toml", library.as_str()), ("Cargo.lock", &locked), ("src/lib.rs", "")];
    check(&files, "run", &["has no program to run", "cargo workspan test"]);
    check(&[("Cargo.toml", "no manifest")], "run", &["there is no cargo project here"]);
    let run_in_root = run(cargo_workspan().arg("run").current_dir("/"));
    run_in_root.check_error(2, &["could not find `Cargo.toml`", "there is no cargo project here"]);
}
