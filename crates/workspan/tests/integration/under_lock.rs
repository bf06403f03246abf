//! What hooks do while the program holds a lock: everybody else waits for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::workspan;
use crate::threads::threads;

/// Items that threads take by turns: each is a lock, and as many of a queue are two.
const ITEMS: u64 = 500;

/// A library that counts system calls under locks.
fn counter(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("kernel_calls.c"), folder.join("kernel_calls.so"));
    fs::write(&source, include_str!("kernel_calls.c")).expect("the target directory is writable");
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
    let (program, library) = (threads("turns"), counter(&folder));
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
