//! `cargo xtask ci`: what continuous integration does. Every step runs, even after one that failed.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::{setup, shell, soundness, test, tidy};

/// Options.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Leave out the tests: `cargo xtask test` runs them.
    #[arg(long)]
    no_test: bool,
}

/// Something to do, and whether it can be done here.
struct Step {
    name: &'static str,
    act: Act,
}

type Act = Box<dyn FnOnce() -> anyhow::Result<()>>;

struct Done {
    name: &'static str,
    time: Duration,
    error: Option<anyhow::Error>,
}

/// Runs the verb.
pub(crate) fn main(options: &Options) -> anyhow::Result<()> {
    setup::components()?;
    let mut done = Vec::new();
    for step in steps(options) {
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

fn steps(options: &Options) -> Vec<Step> {
    let mut steps = vec![
        step("format", format),
        step("clippy", || {
            shell::run(cargo("clippy --workspace --all-targets --locked").args(["--", "-D", "warnings"]))
        }),
        step("tidy", tidy::main),
        step("documentation", || {
            shell::run(
                cargo("doc --workspace --no-deps --document-private-items --locked").env("RUSTDOCFLAGS", "-D warnings"),
            )
        }),
    ];
    // They are a workspace of their own, which nothing else compiles.
    steps.push(step("fuzz targets", || {
        let target = shell::target().join("fuzz");
        shell::run(cargo("check --quiet --locked --manifest-path fuzz/Cargo.toml --target-dir").arg(target))
    }));
    if shell::succeeds(&mut cargo("deny --version")) {
        // Advisories would need the network.
        steps.push(step("deny", || shell::run(&mut cargo("deny --offline check bans licenses sources"))));
    }
    if !options.no_test {
        steps.push(step("test", || test::main(&test::Options { no_setup: false })));
    }
    steps.push(step("nightly", soundness::setup));
    steps.extend(soundness::checks().into_iter().map(|mut check| step(check.name, move || shell::run(&mut check.command))));
    steps
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

fn summary(done: &[Done]) -> String {
    let line = |result: &str, name: &str, time| format!("{result:<6}  {name:<13}  {}\n", shell::minutes(time));
    let steps = done.iter().map(|step| line(if step.error.is_some() { "FAILED" } else { "ok" }, step.name, step.time));
    let total = done.iter().map(|step| step.time).sum();
    steps.chain([line("total", "", total)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_every_step() {
        let done = [
            Done { name: "format", time: Duration::from_millis(900), error: None },
            Done { name: "test", time: Duration::from_secs(301), error: Some(anyhow::anyhow!("no")) },
        ];
        let expected = "\
ok      format         0.9 s
FAILED  test           5 min 01 s
total                  5 min 01 s
";
        assert_eq!(summary(&done), expected);
    }
}
