//! Whether the licences of all packages that are compiled may be combined with ours (MIT OR Apache-2.0).
//!
//! Of what `cargo deny` checks this is all that the repository needs: that every package comes from the public registry is
//! a rule of `cargo xtask tidy`, and two versions of one package cost compile time, no more. `cargo deny` itself takes
//! minutes to compile.

use std::process::Command;

use anyhow::{ensure, Context};
use serde_json::Value;

use crate::shell;

/// Unicode-3.0 is for tables of characters; BSD-3-Clause and Zlib are of what reads and writes Parquet, and answers queries;
/// MIT-0 and CC0-1.0 ask for nothing; NCSA is libFuzzer's, which is in no program that anybody gets.
const ALLOWED: &[&str] = &[
    "Apache-2.0",
    "MIT",
    "Unicode-3.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-3-Clause",
    "Zlib",
    "MIT-0",
    "CC0-1.0",
    "NCSA",
];

/// Workspaces whose packages are looked at.
const MANIFESTS: &[&str] = &["Cargo.toml", "fuzz/Cargo.toml"];

/// Does the step.
pub(crate) fn main() -> anyhow::Result<()> {
    let mut seen = 0;
    for manifest in MANIFESTS {
        let metadata = metadata(manifest)?;
        let packages = metadata["packages"].as_array().context("no packages in what `cargo metadata` says")?;
        let refused: Vec<String> = packages.iter().filter_map(refused).collect();
        ensure!(
            refused.is_empty(),
            "packages of {manifest} whose licences are not known to fit:\n{}",
            refused.join("\n")
        );
        seen += packages.len();
    }
    println!("the licences of {seen} packages fit");
    Ok(())
}

/// Of this platform: what others need is not downloaded.
fn metadata(manifest: &str) -> anyhow::Result<Value> {
    let mut command = shell::cargo();
    command.args(["metadata", "--locked", "--format-version=1", "--all-features", "--filter-platform"]);
    command.arg(shell::host()?).args(["--manifest-path", manifest]);
    output(&mut command)
}

fn output(command: &mut Command) -> anyhow::Result<Value> {
    let line = shell::line(command);
    let output = command.output().with_context(|| format!("cannot run `{line}`"))?;
    ensure!(output.status.success(), "`{line}` failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What there is to say of a package that does not fit.
fn refused(package: &Value) -> Option<String> {
    let name = package["name"].as_str().unwrap_or("?");
    match package["license"].as_str() {
        Some(licence) if fits(licence) => None,
        // Our own.
        None if package["source"].is_null() => None,
        Some(licence) => Some(format!("  {name}: {licence}")),
        None => Some(format!("  {name}: none that cargo knows")),
    }
}

/// True if an SPDX expression can be met with allowed licences.
fn fits(expression: &str) -> bool {
    // The slash is of older packages.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    either(&mut words) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words<'_>) -> bool {
    let mut fits = both(words);
    while words.next_if_eq(&"OR").is_some() {
        fits |= both(words);
    }
    fits
}

fn both(words: &mut Words<'_>) -> bool {
    let mut fits = one(words);
    while words.next_if_eq(&"AND").is_some() {
        fits &= one(words);
    }
    fits
}

fn one(words: &mut Words<'_>) -> bool {
    match words.next() {
        Some("(") => {
            let fits = either(words);
            words.next() == Some(")") && fits
        }
        Some(name) if words.next_if_eq(&"WITH").is_some() => {
            ALLOWED.contains(&format!("{name} WITH {}", words.next().unwrap_or_default()).as_str())
        }
        Some(name) => ALLOWED.contains(&name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn expressions_are_understood() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "Unlicense/MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
            "GPL-2.0 OR (MIT AND Zlib)",
        ] {
            assert!(fits(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR Apache-2.0",
            "MIT)",
            "MIT WITH Classpath-exception-2.0",
            "MIT MIT",
        ] {
            assert!(!fits(bad), "{bad}");
        }
    }

    #[test]
    fn packages_that_do_not_fit_are_named() {
        assert_eq!(refused(&json!({"name": "a", "license": "MIT"})), None);
        assert_eq!(refused(&json!({"name": "b", "license": "GPL-3.0"})), Some("  b: GPL-3.0".to_owned()));
        let source = "registry+https://github.com/rust-lang/crates.io-index";
        assert_eq!(refused(&json!({"name": "c", "source": source})), Some("  c: none that cargo knows".to_owned()));
        assert_eq!(refused(&json!({"name": "ours", "source": null})), None);
    }
}
