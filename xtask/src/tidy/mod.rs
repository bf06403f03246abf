//! `cargo xtask tidy`: rules of the repository that no compiler knows. They are also a test.
//!
//! A rule is a function from the repository's files, as values, to what violates it, so that each is tested with a
//! violation planted in a made-up repository.

mod code;
mod crates;
mod embedded;
mod forgiving;
mod hot_path;
mod imports;
pub(crate) mod made;
mod repository;
mod source;
mod texts;
mod words;

use repository::Violation;
pub(crate) use repository::{repository, Repository};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
