//! Rules for files of all kinds.

use super::{Repository, Violation};

/// Folders whose insides belong to one machine.
const FOLDERS: &[&str] = &["home", "root", "Users", "work"];

/// Users in examples.
const PEOPLE: &[&str] = &["me", "u", "user", "you"];

/// The one source of packages.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// No file names a place on somebody's machine.
pub(super) fn machine_paths(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in &repository.files {
        for (line, text) in (1..).zip(text.lines()) {
            if let Some(place) = machine_path(text) {
                found.push(Violation::new(path, line, format!("`{place}` is a place on one machine")));
            }
        }
    }
    found
}

fn machine_path(line: &str) -> Option<&str> {
    let starts = line.match_indices('/').map(|(at, _)| at).filter(|at| {
        // In a longer path, or after a `~`, it means something else.
        !line[..*at].ends_with(|c: char| c.is_alphanumeric() || "_.-~/})>]*$".contains(c))
    });
    for at in starts {
        let mut parts = line[at + 1..].splitn(3, '/');
        let (Some(folder), Some(rest)) = (parts.next(), parts.next()) else {
            continue;
        };
        let name: &str = rest.split(|c: char| !c.is_alphanumeric() && !"_.-".contains(c)).next().unwrap_or(rest);
        if FOLDERS.contains(&folder) && !PEOPLE.contains(&name) {
            return Some(&line[at..at + folder.len() + name.len() + 2]);
        }
    }
    None
}

/// Packages come from the public registry, and nothing says otherwise.
pub(super) fn registries(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in &repository.files {
        let lock = path.ends_with("Cargo.lock");
        let configuration = path.ends_with(".cargo/config.toml");
        for (line, text) in (1..).zip(text.lines()) {
            let foreign = lock && text.strip_prefix("source = \"").is_some_and(|s| s.trim_end_matches('"') != REGISTRY);
            let replaced = configuration && (text.starts_with("[source") || text.starts_with("[registr"));
            // How the address of a registry looks.
            let named = text.contains(concat!("spar", "se+")) || text.contains(concat!("/api", "/cargo/"));
            if foreign || replaced || named {
                found.push(Violation::new(path, line, "a registry that is not crates.io"));
            }
        }
    }
    found
}

/// What a document links to is there.
pub(super) fn links(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in repository.ending_in(".md") {
        let mut code = false;
        for (line, text) in (1..).zip(text.lines()) {
            code ^= text.trim_start().starts_with("```");
            if code {
                continue;
            }
            for target in targets(text) {
                let file = target.split('#').next().unwrap_or(target).trim_end_matches('/');
                if file.is_empty() || target.contains(':') {
                    continue;
                }
                let file = resolved(path, file);
                let folder = format!("{file}/");
                if !repository.files.keys().any(|path| *path == file || path.starts_with(&folder)) {
                    found.push(Violation::new(path, line, format!("links to {target}, which is not there")));
                }
            }
        }
    }
    found
}

/// What a line of Markdown links to.
fn targets(line: &str) -> Vec<&str> {
    let after = |mark: &'static str, end: char| {
        line.match_indices(mark).filter_map(move |(at, _)| line[at + mark.len()..].split(end).next())
    };
    after("](", ')').chain(after("src=\"", '"')).collect()
}

/// A path relative to the file `from`, without `.` and `..`.
fn resolved(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn places_on_a_machine_are_found() {
        let place = |folder: &str| format!("see {}{folder}/project\n", '/');
        let text = [
            place("work"),
            place("root"),
            place("home"),
            "/home/me/app, target/work/x, ~/work/x, https://example.org/home/x\n".to_owned(),
            place("Users"),
        ]
        .concat();
        check(machine_paths, &[("a.md", &text)], &["a.md:1: ", "a.md:2: ", "a.md:3: ", "a.md:5: "]);
    }

    #[test]
    fn foreign_registries_are_found() {
        let lock = format!("source = \"{REGISTRY}\"\nsource = \"git+https://example.org/a\"\n");
        let url = concat!("spar", "se+https://example.org/index/");
        check(
            registries,
            &[(".cargo/config.toml", "[alias]\n[source.crates-io]\n"), ("a/Cargo.lock", &lock), ("b.md", url)],
            &[".cargo/config.toml:2: ", "a/Cargo.lock:2: ", "b.md:1: "],
        );
    }

    #[test]
    fn broken_links_are_found() {
        let text = "[a](../README.md#x) [b](b.md) [c](https://example.org) [d](#d)\n<img src=\"c.png\">\n[e](.)\n\
                    ```\n[f](f.md)\n```\n";
        check(
            links,
            &[("README.md", ""), ("docs/a.md", text)],
            &["docs/a.md:1: links to b.md", "docs/a.md:2: links to c.png"],
        );
    }
}
