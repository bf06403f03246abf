//! `cargo xtask fuzz`: runs the fuzz targets, one after the other, for a limited time.
//!
//! What `cargo fuzz` does with a nightly compiler is done here with whatever there is: a target is compiled with LLVM's
//! coverage for libFuzzer, and with checks. No address sanitizer: nothing that is fuzzed is unsafe. Inputs that were
//! found worth keeping are in `target/fuzz/corpus`, what a target failed on in `target/fuzz/found`, named by the target.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{ensure, Context};

use crate::{shell, tidy};

/// Options.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Targets; all of them if none is named.
    names: Vec<String>,
    /// Seconds for each.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

/// What a target begins with, beside what it has found before: the files of a folder.
const SEEDS: &[(&str, &str)] =
    &[("recording", "crates/workspan/tests/fixtures"), ("strands", "crates/workspan-store/tests/golden/1.0.strands")];

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

/// Runs the verb.
pub(crate) fn main(options: &Options) -> anyhow::Result<()> {
    let known = targets()?;
    for name in &options.names {
        ensure!(known.contains(name), "there is no fuzz target `{name}`, but {}", known.join(", "));
    }
    let wanted = known.iter().filter(|name| options.names.is_empty() || options.names.contains(name));
    let programs = build()?;
    for name in wanted {
        run(name, options.seconds, &programs.join(name))?;
    }
    Ok(())
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
    let host = host()?;
    let words = ["build", "--release", "--quiet", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--bins"];
    let mut command = shell::cargo();
    // With a platform named, build scripts and macros are compiled as ever.
    command.args(words).args(["--target", &host, "--target-dir"]).arg(&target);
    shell::run(command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")))?;
    Ok(target.join(host).join("release"))
}

/// The platform that rustc builds for.
fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no platform")
}

fn run(name: &str, seconds: u32, program: &std::path::Path) -> anyhow::Result<()> {
    let folder = |kind: &str| shell::target().join("fuzz").join(kind).join(name);
    let (corpus, found) = (folder("corpus"), folder("found"));
    for folder in [&corpus, &found] {
        fs::create_dir_all(folder)?;
    }
    for (number, seed) in seeds(name)?.into_iter().enumerate() {
        fs::copy(seed, corpus.join(format!("seed-{number}")))?;
    }
    let mut command = Command::new(program);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={LENGTH}"));
    command.arg(format!("-rss_limit_mb={MEMORY}")).arg(format!("-malloc_limit_mb={ALLOCATION}"));
    command.arg(format!("-timeout={TOO_LONG}")).arg(format!("-artifact_prefix={}/", found.display()));
    shell::run(command.args(["-print_final_stats=1", "-verbosity=0"]).arg(&corpus))
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
