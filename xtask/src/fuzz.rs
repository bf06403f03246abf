//! `cargo xtask fuzz`: runs the fuzz targets for a limited time, and counts their inputs.
//!
//! What `cargo fuzz` does with a nightly compiler is done here with whatever there is: a target is compiled with LLVM's
//! coverage for libFuzzer, and with checks. No address sanitizer: nothing that is fuzzed is unsafe. Inputs that were
//! found worth keeping are in `target/fuzz/corpus`, what a target failed on in `target/fuzz/found`, named by the target.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

use anyhow::{ensure, Context};

use crate::{setup, shell, tidy};

/// Options.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Targets; all of them if none is named.
    names: Vec<String>,
    /// Seconds for each.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Inputs for each, if they take less time than that.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    inputs: Option<u64>,
}

/// What a target begins with, beside what it has found before: the files of a folder.
const SEEDS: &[(&str, &str)] = &[
    ("recording", "crates/workspan/tests/fixtures"),
    ("strands", "crates/workspan-store/tests/golden/1.0.strands"),
    ("graph", "crates/workspan-graph/tests/fixtures"),
];

/// How the library is built that is a seed of `executable`.
const DEBUG_INFO: &[&[&str]] = &[
    &["-Cdebuginfo=2", "-Copt-level=3", "-Cdwarf-version=4"],
    &["-Cdebuginfo=2", "-Copt-level=3", "-Cdwarf-version=5"],
    &["-Cdebuginfo=line-tables-only", "-Cdwarf-version=5"],
];

/// Longest input.
const LENGTH: u32 = 1 << 16;
/// Memory of a target, and of one allocation, in MiB.
const MEMORY: u32 = 1024;
const ALLOCATION: u32 = 256;
/// Seconds after which an input takes too long.
const TOO_LONG: u32 = 20;

/// What rustc is given, but for the flags of LLVM's coverage.
const FLAGS: &[&str] = &["--cfg=fuzzing", "-Ccodegen-units=1", "-Cdebug-assertions", "-Coverflow-checks"];
/// Those, each behind `-sanitizer-coverage-`.
const COVERAGE: &[&str] = &["level=4", "inline-8bit-counters", "pc-table", "trace-compares"];

/// Seconds for each target in `cargo xtask ci`.
const BRIEFLY: u32 = 20;
/// Inputs that any machine gets through in that time: fewer, and a target does nothing.
const FEWEST: u64 = 500;

/// Runs the verb.
pub(crate) fn main(options: &Options) -> anyhow::Result<()> {
    setup::fuzzing()?;
    let known = targets()?;
    for name in &options.names {
        ensure!(known.contains(name), "there is no fuzz target `{name}`, but {}", known.join(", "));
    }
    let wanted: Vec<&String> =
        known.iter().filter(|name| options.names.is_empty() || options.names.contains(name)).collect();
    let programs = build()?;
    let results = side_by_side(&wanted, |name| run(name, options, &programs.join(name)));
    let mut all = 0;
    let mut failed = Vec::new();
    for (name, result) in wanted.iter().zip(results) {
        match result {
            Ok(inputs) => {
                println!("{name:<12} {inputs:>12} inputs");
                all += inputs;
            }
            Err(error) => {
                println!("{name:<12} {error:#}");
                failed.push(name.as_str());
            }
        }
    }
    println!("{:<12} {all:>12} inputs", "in all");
    ensure!(failed.is_empty(), "fuzz targets that failed: {}", failed.join(", "));
    Ok(())
}

/// All targets, each for a short time: a step of `cargo xtask ci`.
pub(crate) fn briefly() -> anyhow::Result<()> {
    main(&Options { names: Vec::new(), seconds: BRIEFLY, inputs: None })
}

/// What `work` makes of each item, as many at a time as there are processors.
fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(items.len()) {
            scope.spawn(|| {
                while let (at, Some(item)) = next_of(items, &next) {
                    let result = work(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(at, result);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn next_of<'i, T>(items: &'i [T], next: &AtomicUsize) -> (usize, Option<&'i T>) {
    let at = next.fetch_add(1, Ordering::Relaxed);
    (at, items.get(at))
}

/// The names of all targets.
fn targets() -> anyhow::Result<Vec<String>> {
    let repository = tidy::repository()?;
    let files = repository.paths_ending_in(".rs");
    let name = |file: &str| Some(file.strip_prefix("fuzz/fuzz_targets/")?.strip_suffix(".rs")?.to_owned());
    Ok(files.filter_map(name).collect())
}

/// Builds all targets; returns the folder that they are in.
fn build() -> anyhow::Result<PathBuf> {
    let target = shell::target().join("fuzz/build");
    let coverage = COVERAGE.iter().map(|flag| format!("-Cllvm-args=-sanitizer-coverage-{flag}"));
    let flags = FLAGS.iter().map(|&flag| flag.to_owned()).chain(["-Cpasses=sancov-module".to_owned()]).chain(coverage);
    let flags: Vec<String> = flags.collect();
    let host = shell::host()?;
    let words = ["build", "--release", "--quiet", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--bins"];
    let mut command = shell::cargo();
    // With a platform named, build scripts and macros are compiled as ever.
    command.args(words).args(["--target", &host, "--target-dir"]).arg(&target);
    shell::run(command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")))?;
    Ok(target.join(host).join("release"))
}

/// Runs a target; returns how many inputs it took.
fn run(name: &str, options: &Options, program: &Path) -> anyhow::Result<u64> {
    let folder = |kind: &str| shell::target().join("fuzz").join(kind).join(name);
    let (corpus, found) = (folder("corpus"), folder("found"));
    for folder in [&corpus, &found] {
        fs::create_dir_all(folder)?;
    }
    for (number, seed) in seeds(name)?.into_iter().enumerate() {
        fs::copy(seed, corpus.join(format!("seed-{number}")))?;
    }
    let mut command = Command::new(program);
    command.arg(format!("-max_total_time={}", options.seconds)).arg(format!("-max_len={LENGTH}"));
    command.args(options.inputs.map(|inputs| format!("-runs={inputs}")));
    command.arg(format!("-rss_limit_mb={MEMORY}")).arg(format!("-malloc_limit_mb={ALLOCATION}"));
    command.arg(format!("-timeout={TOO_LONG}")).arg(format!("-artifact_prefix={}/", found.display()));
    command.args(["-print_final_stats=1", "-verbosity=0"]).arg(&corpus);
    eprintln!("$ {}", shell::line(&command));
    let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {messages}", output.status);
    let inputs = inputs(&messages).with_context(|| format!("no count of inputs in: {messages}"))?;
    let least = options.inputs.unwrap_or(FEWEST).min(FEWEST);
    ensure!(inputs >= least, "only {inputs} inputs in {} s", options.seconds);
    Ok(inputs)
}

/// How many inputs libFuzzer says that it has run.
fn inputs(messages: &str) -> Option<u64> {
    let line = messages.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    line?.trim().parse().ok()
}

/// Files for a target to begin with.
fn seeds(name: &str) -> anyhow::Result<Vec<PathBuf>> {
    if name == "executable" {
        return DEBUG_INFO.iter().map(|options| library(options)).collect();
    }
    let Some((_, folder)) = SEEDS.iter().find(|(target, _)| *target == name) else {
        return Ok(Vec::new());
    };
    let entries = fs::read_dir(shell::root().join(folder)).with_context(|| format!("cannot read {folder}"))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// A library that is small, for every byte of it to matter.
fn library(options: &[&str]) -> anyhow::Result<PathBuf> {
    let folder = shell::target().join("fuzz/seeds");
    fs::create_dir_all(&folder)?;
    let library = folder.join(format!("tiny{}.so", options.concat()));
    let mut command = Command::new("rustc");
    command.args(["--crate-type=cdylib", "-Cpanic=abort", "-Clink-arg=-nostdlib", "-Ccodegen-units=1"]).args(options);
    command.arg(shell::root().join("crates/workspan-symbols/tests/fixtures/tiny.rs")).arg("-o").arg(&library);
    shell::run(&mut command)?;
    Ok(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_items() {
        let squares = side_by_side(&(0..100).collect::<Vec<u32>>(), |number| number * number);
        assert_eq!(squares, (0..100).map(|number| number * number).collect::<Vec<_>>());
        assert!(side_by_side(&[] as &[u8], |_| ()).is_empty());
    }

    #[test]
    fn the_count_is_read_from_what_the_fuzzer_says() {
        let messages = "Done 500 runs in 1 second(s)\nstat::number_of_executed_units: 512\nstat::peak_rss_mb: 30\n";
        assert_eq!((inputs(messages), inputs("nothing")), (Some(512), None));
    }
}
