//! What no ordinary test sees: undefined behaviour (Miri), orders of steps of several threads (loom), data races of real threads
//! (ThreadSanitizer). Each check is one command, which ends by itself.
//!
//! They need the nightly toolchain with `miri` and `rust-src` ([`setup()`]); without them a check fails.

use std::process::Command;

use crate::{setup, shell};

/// What the nightly toolchain has to have.
const COMPONENTS: [&str; 2] = ["miri", "rust-src"];

/// Installs them where they are missing.
pub(crate) fn setup() -> anyhow::Result<()> {
    setup::nightly(&COMPONENTS)
}

/// Something to run.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) command: Command,
}

/// All checks, the quick ones first.
pub(crate) fn checks() -> Vec<Check> {
    let models = "--package workspan-preload --test loom --profile checks -- --nocapture";
    let mut checks = vec![Check { name: "loom", command: with_flags("test", "loom", "--cfg loom", models) }];
    for (name, words, besides) in [
        ("wire", "--package workspan-wire", ""),
        ("read", "--package workspan-read --lib", ""),
        // Blocks of its pool stay for ever, and are known by address alone.
        ("dag", "--package workspan-preload --test integration", "-Zmiri-ignore-leaks"),
        ("collect", "--package workspan-collect --test integration", ""),
    ] {
        // Both models of who may use what: programs may rely on neither's leave alone.
        for (model, flag) in [("stacked", ""), ("tree", "-Zmiri-tree-borrows")] {
            let mut command = cargo(&format!("+nightly miri test --locked {words}"), "miri");
            command.env("MIRIFLAGS", format!("-Zmiri-permissive-provenance -Zmiri-disable-isolation {besides} {flag}"));
            // Miri takes seconds for a case that the processor does in microseconds; the tests have all of them.
            command.env("PROPTEST_CASES", "4");
            checks.push(Check { name: named("miri", name, model), command });
        }
    }
    let words = format!(
        "-Zbuild-std --target {} --package workspan-preload --features alone --test integration --release threads",
        host()
    );
    let command = with_flags("+nightly test", "tsan", "-Zsanitizer=thread --cfg tsan", &words);
    checks.push(Check { name: "tsan", command });
    checks
}

/// Cargo with these words, in a target directory of its own below the usual one: other flags would have all built anew.
fn cargo(words: &str, folder: &str) -> Command {
    let mut command = shell::cargo();
    command.args(words.split_whitespace()).env("CARGO_TARGET_DIR", shell::target().join(folder));
    command
}

fn with_flags(verb: &str, folder: &str, flags: &str, words: &str) -> Command {
    let mut command = cargo(&format!("{verb} --locked {words}"), folder);
    command.env("RUSTFLAGS", flags);
    command
}

fn host() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// A name for the few checks that there are.
fn named(tool: &str, what: &str, model: &str) -> &'static str {
    let name = [tool, what, model].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ");
    Box::leak(name.into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        let mut names: Vec<_> = checks().iter().map(|check| check.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(["loom", "miri dag tree", "tsan"].iter().all(|name| names.contains(name)), "{names:?}");
    }
}
