//! `cargo xtask tidy`: rules of the repository that no compiler knows. They are also a test.
//!
//! A rule is a function from the repository's files, as values, to what violates it, so that each is tested with a
//! violation planted in a made-up repository.

mod crates;
mod embedded;
mod forgiving;
mod hot_path;
mod imports;
pub(crate) mod made;
mod source;
mod texts;
mod words;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{fmt, fs};

use anyhow::Context;

use crate::shell;

/// What the rules look at: contents by path below the root.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    files: BTreeMap<String, String>,
}

/// Something against a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    path: String,
    line: usize,
    text: String,
}

type Rule = fn(&Repository) -> Vec<Violation>;

const RULES: &[Rule] = &[
    crates::dependencies,
    crates::manifests,
    crates::modules,
    crates::talk,
    imports::circles,
    source::header,
    source::length,
    source::proofs,
    source::unfinished,
    forgiving::once,
    forgiving::clocks,
    hot_path::stays_hot,
    texts::machine_paths,
    texts::registries,
    texts::links,
    words::plain,
    embedded::complete,
    made::up_to_date,
];

impl Violation {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Violation {
        Violation { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Runs the verb.
pub(crate) fn main() -> anyhow::Result<()> {
    let repository = repository()?;
    let found = violations(&repository);
    for violation in &found {
        println!("{violation}");
    }
    anyhow::ensure!(found.is_empty(), "{} places are against the rules of the repository", found.len());
    println!("{} files are tidy", repository.files.len());
    Ok(())
}

/// Shows how the files of each crate use one another.
pub(crate) fn imports() -> anyhow::Result<()> {
    imports::print(&repository()?);
    Ok(())
}

fn violations(repository: &Repository) -> Vec<Violation> {
    let mut found: Vec<Violation> = RULES.iter().flat_map(|rule| rule(repository)).collect();
    found.sort();
    found
}

/// All files under version control; without it, as in an unpacked archive, all files.
pub(crate) fn repository() -> anyhow::Result<Repository> {
    let root = shell::root();
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(&root).output();
    let paths = match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8(output.stdout).context("the name of a file is not UTF-8")?;
            text.split_terminator('\0').map(str::to_owned).collect()
        }
        _ => below(&root, &root)?,
    };
    let mut files = BTreeMap::new();
    for path in paths {
        // Listed, but just removed.
        let Ok(bytes) = fs::read(root.join(&path)) else {
            continue;
        };
        files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
    }
    Ok(Repository { files })
}

fn below(root: &Path, folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("target") && !path.ends_with(".git") {
                found.extend(below(root, &path)?);
            }
        } else {
            found.push(path.strip_prefix(root)?.to_string_lossy().into_owned());
        }
    }
    Ok(found)
}

impl Repository {
    /// Paths with this ending.
    pub(crate) fn paths_ending_in<'a>(&'a self, end: &'a str) -> impl Iterator<Item = &'a str> {
        self.files.keys().map(String::as_str).filter(move |path| path.ends_with(end))
    }

    /// Path and contents of the files with this ending.
    fn ending_in<'a>(&'a self, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.ends_with(end))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The crates of the workspace: name, and the path of its manifest.
    fn crates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.paths_ending_in("/Cargo.toml").filter_map(|path| {
            let folder = path.strip_suffix("/Cargo.toml")?;
            let name = folder.strip_prefix("crates/").or_else(|| folder.strip_prefix("xtask").map(|_| "xtask"))?;
            (!name.contains('/')).then_some((name, path))
        })
    }

    /// Path and code of what a crate is made of, without its tests.
    fn product(&self, name: &str) -> impl Iterator<Item = (&str, String)> {
        let folder = if name == "xtask" { "xtask/src/".to_owned() } else { format!("crates/{name}/src/") };
        let tests = |path: &str| path.ends_with("/tests.rs") || path.ends_with("_tests.rs");
        self.ending_in(".rs")
            .filter(move |(path, _)| path.starts_with(&folder) && !tests(path))
            .map(|(path, text)| (path, source::product(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Repository {
        /// A made-up repository.
        pub(super) fn of(files: &[(&str, &str)]) -> Repository {
            Repository { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
        }
    }

    /// Of the made-up `files`, the rule objects to exactly these: `path:line: part of the text`.
    #[track_caller]
    pub(super) fn check(rule: Rule, files: &[(&str, &str)], expected: &[&str]) {
        let found: Vec<String> = rule(&Repository::of(files)).iter().map(Violation::to_string).collect();
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "expected {expected}…, found {found}");
        }
    }

    #[test]
    fn the_repository_is_tidy() {
        let found = violations(&repository().unwrap());
        assert!(found.is_empty(), "{}", found.iter().map(|v| format!("\n{v}")).collect::<String>());
    }

    #[test]
    fn without_version_control_everything_but_build_results_is_looked_at() {
        let root = shell::root();
        let found = below(&root, &root).unwrap();
        assert!(found.iter().any(|path| path == "xtask/src/tidy/mod.rs"));
        assert!(!found.iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
    }
}
