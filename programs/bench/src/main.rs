//! Programs whose cost, profiled and not, `cargo xtask bench` compares. Each knows its answer and checks it.
//!
//! * `bench NAME REPEAT`: runs one of [`loads::LOADS`] this number of times, then prints `peak_kib`, the largest resident set
//!   of this process, shared memory included.
//! * `bench tree DEPTH STEPS`: a balanced tree of joins with 2^DEPTH leaves, each `STEPS` steps of arithmetic, so that
//!   all leaves are equal; region parallelism 2^DEPTH.
//! * `bench spawns COUNT`: this number of spawns in a loop before the one sync; then prints `peak_kib`.
//! * `bench rate`: steps per microsecond, the median over some fifty samples.
//! * `bench busy SECONDS`: keeps one processor busy.

mod loads;
mod steps;

use std::time::{Duration, Instant};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    match (words.first().copied(), number(1), number(2)) {
        (Some("rate"), None, None) => println!("{}", steps::per_microsecond()),
        (Some("busy"), Some(seconds), None) => busy(Duration::from_secs(seconds)),
        (Some("spawns"), Some(count), None) => loads::spawns(u32::try_from(count).unwrap_or(u32::MAX)),
        (Some("tree"), Some(depth), Some(count)) => loads::tree(depth, count),
        (Some(name), Some(repeat), None) => match loads::LOADS.iter().find(|load| load.name == name) {
            Some(load) => (load.run)(repeat),
            None => usage(),
        },
        _ => usage(),
    }
    if let Some(peak) = peak_kib() {
        println!("peak_kib {peak}");
    }
}

fn usage() {
    eprintln!(
        "usage: bench NAME REPEAT | bench tree DEPTH STEPS | bench spawns COUNT | bench rate | bench busy SECONDS"
    );
    std::process::exit(2);
}

fn busy(time: Duration) {
    let started = Instant::now();
    while started.elapsed() < time {
        steps::run(100_000);
    }
}

/// Largest resident set of this process so far. Not what the kernel reports to whoever waits for it, which is never less than
/// what the waiting process had when it started this one.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
