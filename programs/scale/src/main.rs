//! Programs that lose speedup, each to known causes, for `workspan scale`.
//!
//! | call | is |
//! |---|---|
//! | `work STEPS` | the sequential baseline of the next five: this number of steps of arithmetic |
//! | `pieces STEPS` | the same in 256 equal pieces, in parallel: nothing is lost |
//! | `serial STEPS PERCENT` | so much of it serial, the rest in pieces: P − 1 workers wait for PERCENT of the steps |
//! | `more STEPS PERCENT` | in pieces, with this number of steps more: algorithmic overhead of PERCENT of the steps |
//! | `slower STEPS PERCENT` | in pieces, each with this number of steps more if there are several workers: work inflation |
//! | `tasks STEPS TASKS` | in pieces, with this number of empty tasks: task overhead |
//! | `counters STEPS BYTES` | two tasks, each with a counter; the counters lie this number of bytes apart: 8 is false sharing, 256 is none |
//! | `array M L G R` | the array benchmark of Acar et al. 4 |
//! | `array-baseline M L G R` | the same, sequential |
//! | `sleep WHERE MILLIS` | blocks: `serial`, in the main thread; `task`, in two tasks; `alone`, in one of two |
//! | `threads COUNT MILLIS` | this number of threads of its own, each of which is blocked after it has forked once |
//! | `pool WORKERS` | a pool of WORKERS, whatever is requested |
//! | `status STATUS STEPS` | in pieces, and ends with STATUS |
//! | `fail STATUS` | writes to standard error and ends with STATUS |

mod array;
#[path = "../../bench/src/steps.rs"]
mod steps;

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    match (words.first().copied(), number(1), number(2)) {
        (Some("rate"), None, None) => println!("{}", steps::per_microsecond()),
        (Some("work"), Some(steps), None) => steps::run(steps),
        (Some("pieces"), Some(steps), None) => pieces(steps),
        (Some("serial"), Some(steps), Some(percent)) => {
            steps::run(steps * percent / 100);
            pieces(steps * (100 - percent) / 100);
        }
        (Some("more"), Some(steps), Some(percent)) => pieces(steps * (100 + percent) / 100),
        (Some("slower"), Some(steps), Some(percent)) => {
            let several = rayon::current_num_threads() > 1;
            pieces(if several { steps * (100 + percent) / 100 } else { steps });
        }
        (Some("tasks"), Some(steps), Some(count)) => with_tasks(steps, count),
        (Some("counters"), Some(steps), Some(bytes)) => counters(steps, bytes),
        (Some("array"), ..) => array::parallel(&array::Shape::of(&words[1..])),
        (Some("array-baseline"), ..) => array::sequential(&array::Shape::of(&words[1..])),
        (Some("sleep"), None, Some(millis)) => sleep(words[1], Duration::from_millis(millis)),
        (Some("threads"), Some(count), Some(millis)) => threads(count, Duration::from_millis(millis)),
        (Some("pool"), Some(workers), None) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::try_from(workers).unwrap_or(1)).build();
            pool.expect("a pool").install(|| pieces(1_000_000));
        }
        (Some("status"), Some(status), Some(steps)) => {
            pieces(steps);
            std::process::exit(i32::try_from(status).unwrap_or(1));
        }
        (Some("fail"), Some(status), None) => {
            eprintln!("this program fails");
            std::process::exit(i32::try_from(status).unwrap_or(1));
        }
        _ => {
            eprintln!("usage: see the head of main.rs");
            std::process::exit(2);
        }
    }
}

/// This number of steps in equal pieces.
fn pieces(steps: u64) {
    divide(256, &|| steps::run(steps / 256));
}

fn divide(count: u64, piece: &(dyn Fn() + Sync)) {
    if count == 1 {
        piece();
    } else {
        rayon::join(|| divide(count / 2, piece), || divide(count - count / 2, piece));
    }
}

/// The same, each piece followed by its share of tasks that do nothing.
fn with_tasks(steps: u64, count: u64) {
    let share = count / 256;
    divide(256, &|| {
        steps::run(steps / 256);
        if share > 0 {
            divide(share, &|| {
                black_box(());
            });
        }
    });
}

/// Adds to two counters that lie this number of bytes apart; the additions of one depend on each other.
fn counters(steps: u64, bytes: u64) {
    let memory: Vec<AtomicU64> = (0..512).map(|_| AtomicU64::new(0)).collect();
    // Both within a line, unless they are to be further apart: lines are of 64 bytes, and fetched in pairs.
    let start = (0..64).find(|at| std::ptr::from_ref(&memory[*at]) as usize % 256 == 0).unwrap_or(0);
    let count = |at: usize| {
        for _ in 0..steps {
            memory[at].fetch_add(1, Ordering::Relaxed);
        }
    };
    let other = start + usize::try_from(bytes / 8).unwrap_or(1);
    rayon::join(|| count(start), || count(other));
    assert_eq!(memory[start].load(Ordering::Relaxed), steps);
}

fn threads(count: u64, time: Duration) {
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                rayon::join(|| (), || ());
                thread::sleep(time);
            });
        }
    });
}

fn sleep(place: &str, time: Duration) {
    match place {
        "serial" => thread::sleep(time),
        "task" => {
            rayon::join(|| thread::sleep(time), || thread::sleep(time));
        }
        "alone" => {
            rayon::join(|| thread::sleep(time), || ());
        }
        _ => panic!("sleep serial, task or alone"),
    }
}
