//! `cargo xtask ci`: what continuous integration does. Every step runs, even after one that failed, and a step whose tool
//! is missing installs it or fails.
//!
//! **Cost:** it must take less than 45 minutes from nothing, on two cores, tests included. What is large is compiled once:
//! `workspan-query` is linted while it is built for the tests, and skipped where only its interface would be compiled,
//! which for DataFusion takes half as long again.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::{fuzz, licences, setup, shell, soundness, test, tidy};

/// Options.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Leave out the tests: `cargo xtask test` runs them.
    #[arg(long)]
    no_test: bool,
    /// Run only the steps whose names begin like this.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
}

/// Something to do.
struct Step {
    name: &'static str,
    act: Box<dyn FnOnce() -> anyhow::Result<()>>,
}

struct Done {
    name: &'static str,
    time: Duration,
    error: Option<anyhow::Error>,
}

/// Runs the verb.
pub(crate) fn main(options: &Options) -> anyhow::Result<()> {
    setup::components()?;
    let mut done = Vec::new();
    for step in steps(options)? {
        eprintln!("--- {}", step.name);
        let start = Instant::now();
        let error = (step.act)().err();
        if let Some(error) = &error {
            eprintln!("error: {error:#}");
        }
        done.push(Done { name: step.name, time: start.elapsed(), error });
    }
    print!("{}", summary(&done));
    let failed = done.iter().filter(|step| step.error.is_some()).count();
    anyhow::ensure!(failed == 0, "{failed} of {} steps failed", done.len());
    Ok(())
}

/// In this order: what fails most often, and soonest, comes first; last what uses the builds of the tests.
fn steps(options: &Options) -> anyhow::Result<Vec<Step>> {
    let mut steps = vec![
        step("format", format),
        step("tidy", tidy::main),
        step("clippy", clippy),
        step("documentation", documentation),
        step("licences", licences::main),
        step("fuzz", fuzz::briefly),
        step("nightly", soundness::setup),
    ];
    steps.extend(
        soundness::checks().into_iter().map(|mut check| step(check.name, move || shell::run(&mut check.command))),
    );
    if !options.no_test {
        steps.push(step("test", || test::main(&test::Options { no_setup: false })));
        steps.push(step("queries", clippy_of_queries));
    }
    if !options.only.is_empty() {
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        let none = format!("no step begins like that; there are {}", names.join(", "));
        steps.retain(|step| options.only.iter().any(|start| step.name.starts_with(start.as_str())));
        anyhow::ensure!(!steps.is_empty(), none);
    }
    Ok(steps)
}

fn step(name: &'static str, act: impl FnOnce() -> anyhow::Result<()> + 'static) -> Step {
    Step { name, act: Box::new(act) }
}

/// Cargo with these words.
fn cargo(words: &str) -> Command {
    let mut command = shell::cargo();
    command.args(words.split_whitespace());
    command
}

/// The workspace, and the packages that are workspaces of their own.
fn format() -> anyhow::Result<()> {
    shell::run(&mut cargo("fmt --all --check"))?;
    for manifest in tidy::repository()?.paths_ending_in("/Cargo.toml") {
        if ["programs/", "fuzz/"].iter().any(|folder| manifest.starts_with(folder)) {
            shell::run(cargo("fmt --check --manifest-path").arg(manifest))?;
        }
    }
    Ok(())
}

fn clippy() -> anyhow::Result<()> {
    let words = "clippy --workspace --exclude workspan-query --all-targets --locked -- -D warnings";
    shell::run(without_libraries(&mut cargo(words)))
}

/// What `workspan` carries along is not compiled for what nobody runs: optimised, it takes longer than all lints.
fn without_libraries(command: &mut Command) -> &mut Command {
    command.env("WORKSPAN_WITHOUT_LIBRARIES", "1")
}

/// With the builds of DataFusion that the tests have made: `cargo clippy` would have it compiled once more.
fn clippy_of_queries() -> anyhow::Result<()> {
    let mut command = cargo("build --profile checks --all-targets --locked --package workspan-query");
    // With them cargo chooses the features and profiles of the tests' builds: with others, DataFusion would be built anew.
    command.args(["--package", "workspan-report", "--package", "workspan-store", "--package", "xtask"]);
    // Lints need no optimisation; our own crates are compiled for them a second time.
    command.args(["--config", "profile.checks.opt-level=0"]);
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    shell::run(&mut command)
}

fn documentation() -> anyhow::Result<()> {
    let mut command = cargo("doc --workspace --exclude workspan-query --no-deps --document-private-items --locked");
    shell::run(without_libraries(command.env("RUSTDOCFLAGS", "-D warnings")))
}

fn summary(done: &[Done]) -> String {
    let line = |result: &str, name: &str, time| format!("{result:<6}  {name:<17}  {}\n", shell::minutes(time));
    let steps = done.iter().map(|step| line(if step.error.is_some() { "FAILED" } else { "ok" }, step.name, step.time));
    let total = done.iter().map(|step| step.time).sum();
    steps.chain([line("total", "", total)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(no_test: bool, only: &[&str]) -> anyhow::Result<Vec<&'static str>> {
        let only = only.iter().map(|start| (*start).to_owned()).collect();
        Ok(steps(&Options { no_test, only })?.iter().map(|step| step.name).collect())
    }

    #[test]
    fn steps_can_be_chosen() {
        assert_eq!(names(false, &["cl"]).unwrap(), ["clippy"]);
        assert_eq!(names(false, &["test", "quer"]).unwrap(), ["test", "queries"]);
        assert!(names(true, &["test"]).is_err());
        let error = names(false, &["none"]).unwrap_err().to_string();
        assert!(error.contains("there are format, tidy, "), "{error}");
        assert!(names(false, &[]).unwrap().len() > names(true, &[]).unwrap().len());
    }

    #[test]
    fn the_summary_names_every_step() {
        let done = [
            Done { name: "format", time: Duration::from_millis(900), error: None },
            Done { name: "test", time: Duration::from_secs(301), error: Some(anyhow::anyhow!("no")) },
        ];
        let expected = "\
ok      format             0.9 s
FAILED  test               5 min 01 s
total                      5 min 01 s
";
        assert_eq!(summary(&done), expected);
    }
}
