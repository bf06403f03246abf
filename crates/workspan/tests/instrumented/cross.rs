//! Programs for another processor, under an emulator. Without a cross-compiler, the emulator, or a workspan that was built where
//! both toolchains are, what is tested is what the build says.

use std::process::Command;

use crate::support::{err, folder, json, out, success, workspan};

/// Two threads add to a sum under a lock, 100 times each, and read 1000 numbers each.
const PROGRAM: &str = "\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;
static volatile long *numbers;
static void *run(void *p) {
    long own = 0;
    for (int i = 0; i < 1000; i++) own += numbers[i];
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        sum += own;
        pthread_mutex_unlock(&lock);
    }
    return p;
}
int main(void) {
    numbers = malloc(1000 * sizeof *numbers);
    for (int i = 0; i < 1000; i++) numbers[i] = i;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf(\"%ld\\n\", sum);
    return 0;
}
";

fn is_there(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
#[cfg(target_arch = "x86_64")]
#[expect(clippy::print_stderr, reason = "says that it did not run")]
fn a_program_for_aarch64_runs_under_an_emulator() {
    let folder = folder("cross");
    std::fs::write(folder.join("prog.c"), PROGRAM).expect("writable");
    let line =
        ["build", "--", "clang-19", "--target=aarch64-linux-gnu", "-O1", "-g", "-pthread", "prog.c", "-o", "prog"];
    let built = workspan(&folder, &line);
    if !built.status.success() {
        let words = err(&built);
        let compiler = is_there("aarch64-linux-gnu-gcc");
        assert!(words.contains("rustup target add aarch64-unknown-linux-gnu") || !compiler, "{words}");
        eprintln!("not run: this workspan has no run-time for aarch64, or there is no cross-compiler");
        return;
    }
    if !is_there("qemu-aarch64") {
        eprintln!("not run: there is no qemu-aarch64");
        return;
    }
    let record = ["graph", "record", "-o", "run.graph", "--", "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "./prog"];
    let recorded = success(workspan(&folder, &record));
    assert_eq!(out(&recorded), "99900000\n");
    let report = json(&folder, "report");
    assert_eq!(report["complete"], true, "{report:#}");
    // Two creations and joins; a lock and an unlock are a sync task each.
    let tasks = ["create", "join", "sync"].map(|kind| report["tasks"][kind].as_u64());
    assert_eq!(tasks, [Some(2), Some(2), Some(400)], "{report:#}");
    // `numbers` is read 2000 times and written 1000 times, `sum` 200 times each and read once more.
    let stores = report["accesses"]["stores"].as_u64().expect("a number");
    assert!((1200..1220).contains(&stores), "{report:#}");
    let found = json(&folder, "races");
    assert_eq!(found["races"], serde_json::Value::Array(Vec::new()), "{found:#}");
    // Its counter is the kernel's clock, not that of a processor that is not there.
    let wall = report["wall_ns"].as_u64().expect("a number");
    assert!(wall > 0, "{report:#}");
    // Objects on their own, and programs for this machine beside it.
    success(workspan(&folder, &["build", "--", "clang-19", "-target", "aarch64-linux-gnu", "-c", "prog.c"]));
    success(workspan(&folder, &["build", "--", "clang-19", "-pthread", "prog.c", "-o", "own"]));
    let recorded = success(workspan(&folder, &["graph", "record", "-o", "own.graph", "--", "./own"]));
    assert_eq!(out(&recorded), "99900000\n");
}

/// The same in C++: a lock and an unlock for each of 30 additions.
const CPP: &str = "\
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>
std::mutex lock;
long sum;
int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([i] {
            for (int k = 0; k < 10; k++) {
                std::lock_guard<std::mutex> guard(lock);
                sum += i;
            }
        });
    for (auto &thread : threads) thread.join();
    std::printf(\"%ld\\n\", sum);
}
";
const MANIFEST: &str = "[package]\nname = \"crossed\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
const RUST: &str = "\
use std::sync::Mutex;
fn main() {
    let sum = Mutex::new(0);
    std::thread::scope(|scope| {
        for i in 0..3 {
            let sum = &sum;
            scope.spawn(move || (0..10).for_each(|_| *sum.lock().unwrap() += i));
        }
    });
    println!(\"{}\", sum.into_inner().unwrap());
}
";

/// Records `PROGRAM` under the emulator, and checks what it prints and creates, and that nothing races.
#[track_caller]
#[cfg(target_arch = "x86_64")]
fn check(folder: &std::path::Path, program: &str, syncs: u64) {
    let record = ["graph", "record", "-o", "run.graph", "--", "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program];
    assert_eq!(out(&success(workspan(folder, &record))), "30\n");
    let report = json(folder, "report");
    assert_eq!(report["complete"], true, "{report:#}");
    assert_eq!([&report["tasks"]["create"], &report["tasks"]["sync"]], [3, syncs], "{report:#}");
    let found = json(folder, "races");
    assert_eq!(found["races"], serde_json::Value::Array(Vec::new()), "{found:#}");
}

#[test]
#[cfg(target_arch = "x86_64")]
#[expect(clippy::print_stderr, reason = "says that it did not run")]
fn programs_in_cpp_and_rust_for_aarch64_run_under_an_emulator() {
    let folder = folder("cross-cpp");
    if !is_there("aarch64-linux-gnu-g++") || !is_there("qemu-aarch64") {
        eprintln!("not run: there is no aarch64-linux-gnu-g++, or no qemu-aarch64");
        return;
    }
    std::fs::write(folder.join("prog.cpp"), CPP).expect("writable");
    let line = ["build", "--", "clang++-19", "--target=aarch64-linux-gnu", "-O1", "-pthread", "prog.cpp", "-o", "prog"];
    let built = workspan(&folder, &line);
    if !built.status.success() {
        let words = err(&built);
        assert!(words.contains("rustup target add aarch64-unknown-linux-gnu"), "{words}");
        eprintln!("not run: this workspan has no run-time for aarch64");
        return;
    }
    check(&folder, "./prog", 60);
    std::fs::create_dir(folder.join("src")).expect("writable");
    std::fs::write(folder.join("Cargo.toml"), MANIFEST).expect("writable");
    std::fs::write(folder.join("src/main.rs"), RUST).expect("writable");
    let mut cargo = Command::new(env!("CARGO_BIN_EXE_cargo-workspan"));
    cargo.args(["workspan", "build", "--memory", "--target", "aarch64-unknown-linux-gnu"]).current_dir(&folder);
    cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc").env_remove("CARGO_TARGET_DIR");
    cargo.env("XDG_CACHE_HOME", std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    success(cargo.output().expect("it can be run"));
    // Locks of the standard library are atomic operations, no tasks.
    check(&folder, "target/workspan-memory/aarch64-unknown-linux-gnu/debug/crossed", 0);
}

#[test]
fn processors_without_a_run_time_are_refused() {
    let folder = folder("cross-other");
    std::fs::write(folder.join("prog.c"), "int main(void) { return 0; }\n").expect("writable");
    let built = workspan(&folder, &["build", "--", "clang-19", "--target=riscv64-linux-gnu", "prog.c", "-o", "prog"]);
    let words = "programs for riscv64 cannot be instrumented: those for x86_64 and aarch64 can";
    assert!(!built.status.success() && err(&built).contains(words), "{}", err(&built));
    assert!(!folder.join("prog").exists());
}
