//! The repository's files as values, and what is said of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{fmt, fs};

use anyhow::Context;

use super::code::product;
use crate::shell;

/// What the rules look at: contents by path below the root.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    pub(super) files: BTreeMap<String, String>,
}

/// Something against a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Violation {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) text: String,
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

impl Violation {
    pub(super) fn new(path: &str, line: usize, text: impl Into<String>) -> Violation {
        Violation { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

impl Repository {
    /// Paths with this ending.
    pub(crate) fn paths_ending_in<'a>(&'a self, end: &'a str) -> impl Iterator<Item = &'a str> {
        self.files.keys().map(String::as_str).filter(move |path| path.ends_with(end))
    }

    /// Path and contents of the files with this ending.
    pub(super) fn ending_in<'a>(&'a self, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.ends_with(end))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The crates of the workspace: name, and the path of its manifest.
    pub(super) fn crates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.paths_ending_in("/Cargo.toml").filter_map(|path| {
            let folder = path.strip_suffix("/Cargo.toml")?;
            let name = folder.strip_prefix("crates/").or_else(|| folder.strip_prefix("xtask").map(|_| "xtask"))?;
            (!name.contains('/')).then_some((name, path))
        })
    }

    /// Path and code of what a crate is made of, without its tests.
    pub(super) fn product(&self, name: &str) -> impl Iterator<Item = (&str, String)> {
        let folder = if name == "xtask" { "xtask/src/".to_owned() } else { format!("crates/{name}/src/") };
        let tests = |path: &str| path.ends_with("/tests.rs") || path.ends_with("_tests.rs");
        self.ending_in(".rs")
            .filter(move |(path, _)| path.starts_with(&folder) && !tests(path))
            .map(|(path, text)| (path, product(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Repository {
        /// A made-up repository.
        pub(in crate::tidy) fn of(files: &[(&str, &str)]) -> Repository {
            Repository { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
        }
    }

    #[test]
    fn without_version_control_everything_but_build_results_is_looked_at() {
        let root = shell::root();
        let found = below(&root, &root).unwrap();
        assert!(found.iter().any(|path| path == "xtask/src/tidy/mod.rs"));
        assert!(!found.iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
    }
}
