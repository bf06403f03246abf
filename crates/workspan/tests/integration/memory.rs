//! Tasks that wait to be run take hardly more memory profiled than natively, however many they are.

use std::path::Path;
use std::process::Command;

use crate::build::{self, scratch};
use crate::command::{run, workspan};
use crate::openmp_build::{openmp, Compiler};

/// Most that a profiled program may take above the native one, shared memory included.
const GROWTH_KIB: u64 = 64 << 10;

/// Ten million spawns before the one sync. The only worker runs the body, so all of them wait.
#[test]
fn spawns() {
    check("spawns", &build::native("bench"), &build::program("bench"), &["spawns", "10000000"], 1);
}

/// The runtimes queue no more than a few hundred: there, what is held must not grow with the number of tasks that were.
#[test]
fn tasks_of_openmp() {
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let program = openmp("spawns.c", compiler);
        check(&format!("{compiler:?}"), &program, &program, &["1000000"], 2);
    }
}

/// One parallel region after another: what is kept of the critical path does not grow with them.
#[test]
fn regions_of_openmp() {
    let program = openmp("loops.c", Compiler::Clang);
    let folder = scratch("memory-regions");
    let [few, many] = ["2000", "60000"].map(|regions| {
        let mut command = workspan(&folder);
        command.args(["record", "--workers", "2", "--"]).arg(&program).args(["static", regions, "100"]);
        peak_kib(&mut command)
    });
    assert!(many < few + 2048, "{few} KiB, then {many} KiB");
}

#[track_caller]
fn check(name: &str, native: &Path, profiled: &Path, arguments: &[&str], workers: u32) {
    let folder = scratch(&format!("memory-{name}"));
    let workers = workers.to_string();
    let mut command = Command::new(native);
    let alone = peak_kib(command.args(arguments).env("RAYON_NUM_THREADS", &workers).env("OMP_NUM_THREADS", &workers));
    let mut command = workspan(&folder);
    let watched = peak_kib(command.args(["record", "--workers", &workers, "--"]).arg(profiled).args(arguments));
    assert!(watched < alone + GROWTH_KIB, "{name}: {watched} KiB, natively {alone} KiB");
}

/// What the program prints.
#[track_caller]
fn peak_kib(command: &mut Command) -> u64 {
    let ended = run(command);
    let out = ended.check_success().out();
    let peak = out.lines().find_map(|line| line.strip_prefix("peak_kib "));
    peak.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no peak: {out}"))
}
