//! What hooks do while the program holds a lock: everybody else waits for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::scratch;
use crate::command::{run, workspan};
use crate::threads::threads;

/// Items that threads take by turns: each is a lock, and as many of a queue are two.
const ITEMS: u64 = 500;

/// A library that stands between the collector and the C library.
fn between(folder: &Path, name: &str, text: &str) -> PathBuf {
    let (source, library) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    fs::write(&source, text).expect("the target directory is writable");
    let mut command = Command::new("gcc");
    command.args(["-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    let output = command.output().expect("gcc, which these tests need");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

/// How often the program of `command` took a lock, and the system calls that it made with one.
fn counted(folder: &Path, mut command: Command) -> (u64, u64) {
    let file = folder.join("counted");
    let _ = fs::remove_file(&file);
    let output = command.env("KERNEL_CALLS", &file).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&file).expect("the library has written it");
    let numbers: Vec<u64> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    (numbers[0], numbers[1])
}

/// A busy machine switches at system calls. Whoever is switched out with a lock keeps all others from it, for milliseconds: then threads
/// that hardly ever waited for each other run in turn, and the report says so. So hooks look at the kernel's clocks before a lock is
/// taken, and after it has been given back. Each strand here is long enough for such a look, and each lock held for long enough to
/// have a region. A switch under a lock costs some calls: that is one lock in a hundred on a busy machine, and the bound is one call for each.
#[test]
fn the_kernel_is_not_asked_under_a_lock() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("under-lock");
    fs::create_dir_all(&folder).expect("the target directory is writable");
    let (program, library) = (threads("turns"), between(&folder, "kernel_calls", include_str!("kernel_calls.c")));
    let mut native = Command::new(&program);
    native.arg(ITEMS.to_string()).env("LD_PRELOAD", &library);
    let (locks, own) = counted(&folder, native);
    assert!(locks > 3 * ITEMS && own <= 2 * ITEMS, "{own} calls under {locks} locks");
    let mut profiled = workspan(&folder);
    profiled.arg("record").arg("--").arg(&program).arg(ITEMS.to_string()).env("LD_PRELOAD", &library);
    let (locks, all) = counted(&folder, profiled);
    // Who waits at the condition is woken under the lock, by the program itself.
    assert!(locks > 3 * ITEMS && all <= own.max(ITEMS) + locks / 2, "{all} calls under {locks} locks, {own} natively");
}

/// Hooks under a hot lock make it busier than it is in the program alone. So who finds it taken looks again before it sleeps: here each
/// lock is free at the second look, and nobody sleeps for one but the thread that waits for what another one holds all the time.
#[test]
fn who_finds_a_lock_taken_looks_again_before_it_sleeps() {
    const LOCKS: u64 = 2_000;
    let folder = scratch("under-lock-busy");
    let library = between(&folder, "busy_locks", include_str!("busy_locks.c"));
    let counted = folder.join("counted");
    let mut command = workspan(&folder);
    command.arg("record").arg("--").arg(threads("bench")).args(["lock", &LOCKS.to_string()]);
    run(command.env("LD_PRELOAD", &library).env("BUSY_LOCKS", &counted)).check_success();
    let slept = fs::read_to_string(&counted).expect("the library has written it");
    let slept: u64 = slept.trim().parse().expect("a number");
    assert!(slept <= 2, "{slept} sleeps for {LOCKS} locks");
}
