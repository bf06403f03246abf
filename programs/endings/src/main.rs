//! Ways in which a program ends: `endings HOW [STATUS]`.
//!
//! Each but `never` first forks once: a join of two branches of 1000 ticks of the virtual clock. What then happens inside
//! a region happens in the first branch of the join in [`inside`], after 300 ticks there.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, thread};

extern "C" {
    fn _exit(status: i32) -> !;
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
}

const SIGTERM: i32 = 15;

static OTHER_BRANCH_RAN: AtomicBool = AtomicBool::new(false);
static ASKED_TO_END: AtomicBool = AtomicBool::new(false);

extern "C" fn ask_to_end(_signal: i32) {
    ASKED_TO_END.store(true, Ordering::Relaxed);
}

fn main() {
    // The usual text names the thread by a number that differs between runs.
    std::panic::set_hook(Box::new(|_| eprintln!("panicked")));
    let arguments: Vec<String> = env::args().collect();
    let how = arguments.get(1).map_or("", String::as_str);
    let status = arguments.get(2).map_or(0, |text| text.parse().expect("a number"));
    if how != "never" {
        warm_up();
    }
    match how {
        "exit" | "never" => {}
        "panic" => inside(|| panic!("as requested")),
        "abort" => inside(|| process::abort()),
        "exit-inside" => inside(|| process::exit(status)),
        "_exit" => {
            talk();
            // SAFETY: ends the process without exit handlers.
            unsafe { _exit(status) }
        }
        "hang" => inside(|| {
            // So that it is always the same tasks that have ended; this takes two workers.
            while !OTHER_BRANCH_RAN.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(50));
            tell_ready();
            loop {
                thread::sleep(Duration::from_secs(1));
            }
        }),
        "graceful" => {
            // SAFETY: the handler does nothing but store a flag.
            unsafe { signal(SIGTERM, ask_to_end) };
            tell_ready();
            while !ASKED_TO_END.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        "children" => {
            for _ in 0..2 {
                let child = Command::new(env::current_exe().expect("there is /proc")).arg("exit").status();
                assert!(child.expect("the program runs").success());
            }
        }
        "fork" => forked(),
        "exec" => {
            let error = Command::new("/bin/sh").args(["-c", "echo another program; exit 5"]).exec();
            panic!("cannot run a shell: {error}");
        }
        "workers" => println!("{} workers", rayon::current_num_threads()),
        // 8000 ticks, on the other path in eight parts side by side.
        "asks" if rayon::current_num_threads() == 1 => workspan_probe::tick(8000),
        "asks" => rayon::scope(|scope| (0..8).for_each(|_| scope.spawn(|_| workspan_probe::tick(1000)))),
        "environment" => {
            for (name, value) in env::vars().filter(|(name, _)| name.contains("WORKSPAN") || name.contains("RUSTC")) {
                println!("{name}={value}");
            }
        }
        _ => {
            eprintln!("usage: endings HOW [STATUS]");
            process::exit(2);
        }
    }
    talk();
    process::exit(status);
}

fn warm_up() {
    rayon::join(|| workspan_probe::tick(1000), || workspan_probe::tick(1000));
}

fn inside(then: impl FnOnce() + Send) {
    rayon::join(
        || {
            workspan_probe::tick(300);
            then();
        },
        || {
            workspan_probe::tick(200);
            OTHER_BRANCH_RAN.store(true, Ordering::Relaxed);
        },
    );
}

/// In the child the collector sleeps: it may fork tasks there, and nothing is counted twice.
fn forked() {
    // SAFETY: the child uses only what works after a fork: `workspan_probe::tick`, and `_exit`.
    match unsafe { fork() } {
        0 => {
            workspan_probe::tick(1_000_000);
            // SAFETY: as above.
            unsafe { _exit(0) }
        }
        child => {
            let mut status = 0;
            // SAFETY: `status` is a valid place for the answer.
            assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0);
        }
    }
}

/// Bytes that are no text, without a line end, on both streams.
fn talk() {
    io::stdout().write_all(b"out: \xff\x00 and no more").expect("stdout is open");
    io::stdout().flush().expect("stdout is open");
    io::stderr().write_all(b"err: \xfe\n").expect("stderr is open");
}

fn tell_ready() {
    println!("ready {}", process::id());
    io::stdout().flush().expect("stdout is open");
}
