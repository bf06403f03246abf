//! `cargo workspan build --memory`, and cargo below `workspan build`: what is compiled, and when again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{err, folder, json, record_as, success};

const MANIFEST: &str = "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
/// A build script is not instrumented, so it finds no run-time to call.
const SCRIPT: &str = "fn main() { println!(\"cargo:rustc-env=LENGTH={}\", \"1000\".len()); }\n";
const PROGRAM: &str = "\
fn main() {
    let length: u64 = env!(\"LENGTH\").parse().unwrap();
    let mut numbers = vec![0_u64; 1000];
    for (index, number) in numbers.iter_mut().enumerate() {
        *number = index as u64 * std::hint::black_box(length);
    }
    println!(\"{}\", numbers.iter().map(|number| std::hint::black_box(*number)).sum::<u64>());
}
";

fn project(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::create_dir(folder.join("src")).expect("writable");
    for (file, text) in [("Cargo.toml", MANIFEST), ("build.rs", SCRIPT), ("src/main.rs", PROGRAM)] {
        fs::write(folder.join(file), text).expect("writable");
    }
    folder
}

#[track_caller]
fn run(folder: &Path, program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_remove("CARGO_TARGET_DIR");
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    success(command.output().expect("it can be run"))
}

#[test]
fn cargo_builds_for_graphs() {
    let folder = project("cargo-memory");
    let cargo = || run(&folder, Path::new(env!("CARGO_BIN_EXE_cargo-workspan")), &["workspan", "build", "--memory"]);
    let first = err(&cargo());
    let program = format!("target/workspan-memory/{}-unknown-linux-gnu/debug/sums", std::env::consts::ARCH);
    assert!(first.contains("run it: workspan graph record -- ") && first.contains(&program), "{first}");
    assert!(!err(&cargo()).contains("Compiling"));
    let output = record_as(&folder, &[&format!("./{program}")]);
    assert_eq!(output, "1998000\n");
    let report = json(&folder, "report");
    assert_eq!(report["complete"], true, "{report:#}");
    assert!(report["accesses"]["stores"].as_u64() >= Some(1000), "{report:#}");
}

/// Cargo knows the pass by what the wrapper answers.
#[test]
fn with_another_pass_cargo_compiles_again() {
    let folder = project("cargo-other-pass");
    let ours = Path::new(env!("CARGO_BIN_EXE_workspan"));
    // Installed elsewhere, it is another.
    let other = folder.join("workspan");
    fs::hard_link(ours, &other).or_else(|_| fs::copy(ours, &other).map(drop)).expect("writable");
    let built = |workspan| err(&run(&folder, workspan, &["build", "--", "cargo", "build"])).contains("Compiling");
    assert_eq!([ours, ours, &other, &other].map(built), [true, false, true, false]);
}
