//! The collectors are compiled from their text, so that text must be complete.

use super::{Repository, Violation};

const EMBED: &str = "crates/workspan-instrument/src/embed.rs";

/// `files!("workspan-…": "lib.rs" …)` names every file of that crate.
pub(super) fn complete(repository: &Repository) -> Vec<Violation> {
    let Some(text) = repository.files.get(EMBED) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (at, _) in text.match_indices("files!(\"") {
        let line = text[..at].matches('\n').count() + 1;
        let list = text[at..].split(");").next().unwrap_or_default();
        // Every second part is in quotes.
        let mut quoted = list.split('"').skip(1).step_by(2);
        let folder = format!("crates/{}/src/", quoted.next().unwrap_or_default());
        let names: Vec<&str> = quoted.collect();
        for path in repository.files.keys() {
            if path.strip_prefix(&folder).is_some_and(|name| !names.contains(&name)) {
                found.push(Violation::new(EMBED, line, format!("{path} is not embedded")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn a_file_that_is_not_embedded_is_found() {
        let embed = "//! Files.\nconst A: Files = files!(\"a\": \"lib.rs\"\n    \"b/c.rs\");\n";
        let files =
            [(EMBED, embed), ("crates/a/src/lib.rs", ""), ("crates/a/src/b/c.rs", ""), ("crates/a/src/d.rs", "")];
        check(complete, &files, &["crates/workspan-instrument/src/embed.rs:2: crates/a/src/d.rs is not embedded"]);
    }
}
