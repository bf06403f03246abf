//! Which crate may use what.

use super::{Repository, Violation};

/// Crates that may depend on nothing but what is named; tests may depend on anything.
const ONLY: &[(&str, &[&str])] = &[
    // Collectors live in other people's programs, and their text is compiled inside rayon-core.
    ("workspan-wire", &[]),
    ("workspan-collect", &["workspan-wire", "libc", "linux-raw-sys"]),
    ("workspan-rayon", &["workspan-wire", "workspan-collect", "libc", "linux-raw-sys"]),
    ("workspan-preload", &["workspan-wire", "workspan-collect", "libc", "linux-raw-sys"]),
    ("workspan-probe", &["libc", "workspan-macros"]),
    // They live in compilers and in instrumented programs, and are compiled by rustc alone.
    ("workspan-trace", &[]),
    ("workspan-pass", &["workspan-trace"]),
    ("workspan-pass-rt", &["workspan-trace"]),
    ("workspan-mpi", &["workspan-trace"]),
    // The emulator loads it: compiled by the compiler alone.
    ("workspan-emulator", &["workspan-wire"]),
    // Values and pure functions.
    ("workspan-model", &[]),
    ("workspan-analysis", &["workspan-model"]),
    ("workspan-limits", &["workspan-wire", "iced-x86"]),
    ("workspan-depend", &["workspan-graph", "workspan-trace", "thiserror"]),
    // It runs in a browser.
    ("workspan-page", &["workspan-analysis", "workspan-model"]),
];

/// Dependencies that only the crates named may have.
const RESERVED: &[(&str, &[&str])] = &[
    ("anyhow", &["workspan", "xtask"]),
    ("clap", &["workspan", "workspan-query", "xtask"]),
    // Serialisation happens at the rim, from types of its own.
    ("serde", &["workspan-report"]),
    // Each of them is large, and has its own idea of columns: behind one crate.
    ("parquet", &["workspan-store"]),
    ("datafusion", &["workspan-query"]),
];

/// Families of packages that nobody names: whoever needs one has it from its crate above.
const FAMILIES: &[&str] = &["arrow", "datafusion-", "object_store", "parquet_"];

/// Crates whose modules of `std` are limited, and to what they may not reach.
const PURE: &[(&str, &[&str])] = &[
    ("workspan-model", &["env", "fs", "io", "net", "os", "process", "sync", "thread", "time"]),
    ("workspan-analysis", &["env", "fs", "io", "net", "os", "process", "sync", "thread", "time"]),
    ("workspan-limits", &["env", "fs", "io", "net", "os", "process", "sync", "thread", "time"]),
    ("workspan-depend", &["env", "fs", "io", "net", "os", "process", "sync", "thread", "time"]),
    ("workspan-page", &["env", "fs", "io", "net", "os", "process", "sync", "thread", "time"]),
    ("workspan-graph", &["env", "net", "os", "process", "thread", "time"]),
    ("workspan-report", &["env", "fs", "net", "os", "process", "thread", "time"]),
    ("workspan-export", &["env", "fs", "net", "os", "process", "sync", "thread", "time"]),
    ("workspan-symbols", &["env", "fs", "net", "os", "process", "thread", "time"]),
    // They read and write files, but only those that they are given.
    // `os`: file names are bytes.
    ("workspan-store", &["env", "net", "process", "time"]),
    // It opens the folder of strands, to have a plain name for it.
    ("workspan-query", &["env", "net", "time"]),
];

/// The crates that print and exit.
const TALKERS: &[&str] = &["workspan", "xtask"];

/// Forbidden edges between crates.
pub(super) fn dependencies(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, path) in repository.crates() {
        for (line, dependency) in uses(&repository.files[path]) {
            let only = ONLY.iter().find(|(krate, _)| *krate == name);
            if only.is_some_and(|(_, allowed)| !allowed.contains(&dependency)) {
                found.push(Violation::new(path, line, format!("{name} must not depend on {dependency}")));
            }
            let reserved = RESERVED.iter().find(|(package, _)| *package == dependency);
            if let Some((_, crates)) = reserved.filter(|(_, crates)| !crates.contains(&name)) {
                let text = format!("only {} may depend on {dependency}", crates.join(" and "));
                found.push(Violation::new(path, line, text));
            }
            if FAMILIES.iter().any(|family| dependency.starts_with(family)) {
                found.push(Violation::new(path, line, format!("no crate may depend on {dependency}")));
            }
        }
    }
    found
}

/// The dependencies that a manifest names, but for those of tests, with their lines.
fn uses(manifest: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (line, text) in (1..).zip(manifest.lines()) {
        if let Some(table) = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            // `[dependencies]`, `[build-dependencies]`, `[target.….dependencies]`, `[dependencies.NAME]`.
            let table = table.rsplit_once("ependencies").filter(|(before, _)| !before.ends_with("dev-d"));
            inside = table.is_some_and(|(_, after)| after.is_empty());
            found.extend(table.and_then(|(_, after)| after.strip_prefix('.')).map(|name| (line, name)));
        } else if inside && !text.starts_with('#') {
            found.extend(text.split(['=', '.', ' ']).next().filter(|name| !name.is_empty()).map(|name| (line, name)));
        }
    }
    found
}

/// Every crate says what it is and takes part in the workspace's lints.
pub(super) fn manifests(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (_, path) in repository.crates() {
        let text = &repository.files[path];
        for (wanted, missing) in [("description = \"", "description"), ("[lints]\nworkspace = true", "[lints]")] {
            if !text.contains(wanted) {
                found.push(Violation::new(path, 1, format!("a crate without {missing}")));
            }
        }
    }
    found
}

/// Pure crates do not reach for the world.
pub(super) fn modules(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, banned) in PURE {
        // A program in the crate may: it is what calls the library.
        for (path, code) in repository.product(name).filter(|(path, _)| !path.contains("/src/bin/")) {
            for (line, module) in std_modules(&code) {
                if banned.contains(&module) {
                    found.push(Violation::new(path, line, format!("{name} must not use std::{module}")));
                }
            }
        }
    }
    found
}

/// The modules of `std` that code names, with their lines.
fn std_modules(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, matched) in code.match_indices("std::") {
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + matched.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            found.push((line, word(rest)));
            continue;
        };
        let mut depth = 0;
        let parts = group.split_once(';').map_or(group, |(group, _)| group).split(|c| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            c == ',' && depth == 0
        });
        found.extend(parts.map(|part| (line, word(part.trim_start()))));
    }
    found
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(text)
}

/// Only the commands print and exit.
pub(super) fn talk(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, _) in repository.crates().filter(|(name, _)| !TALKERS.contains(name)) {
        for (path, code) in repository.product(name) {
            for (line, text) in (1..).zip(code.lines()) {
                for banned in ["println!", "print!", "process::exit", "process::abort"] {
                    if text.contains(banned) {
                        found.push(Violation::new(path, line, format!("`{banned}` outside {}", TALKERS.join(" and "))));
                        break;
                    }
                }
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
    fn forbidden_edges_are_found() {
        let collect = "[dependencies]\nworkspan-wire = { path = \"\" }\nworkspan-model = \"1\"\n\n[dev-dependencies]\nserde = \"1\"\n";
        let model = "[dependencies.serde]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies]\nlibc.workspace = true\n";
        let store = "[dependencies]\nparquet = \"58\"\narrow-array = \"58\"\ndatafusion = \"54\"\n";
        let read = "[build-dependencies]\nanyhow = \"1\"\n[dev-dependencies]\nclap = \"1\"\n[dev-dependencies.serde]\n";
        check(
            dependencies,
            &[
                ("crates/workspan-collect/Cargo.toml", collect),
                ("crates/workspan-model/Cargo.toml", model),
                ("crates/workspan-read/Cargo.toml", read),
                ("crates/workspan-store/Cargo.toml", store),
                ("xtask/Cargo.toml", "[dependencies]\nanyhow = \"1\"\n"),
            ],
            &[
                "crates/workspan-collect/Cargo.toml:3: workspan-collect must not depend on workspan-model",
                "crates/workspan-model/Cargo.toml:1: workspan-model must not depend on serde",
                "crates/workspan-model/Cargo.toml:1: only workspan-report may depend on serde",
                "crates/workspan-model/Cargo.toml:4: workspan-model must not depend on libc",
                "crates/workspan-read/Cargo.toml:2: only workspan and xtask may depend on anyhow",
                "crates/workspan-store/Cargo.toml:3: no crate may depend on arrow-array",
                "crates/workspan-store/Cargo.toml:4: only workspan-query may depend on datafusion",
            ],
        );
    }

    #[test]
    fn a_crate_has_a_description_and_lints() {
        let good = "description = \"It.\"\n[lints]\nworkspace = true\n";
        let files =
            [("crates/a/Cargo.toml", good), ("crates/b/Cargo.toml", "[package]"), ("programs/c/Cargo.toml", "")];
        check(
            manifests,
            &files,
            &["crates/b/Cargo.toml:1: a crate without description", "crates/b/Cargo.toml:1: a crate without [lints]"],
        );
    }

    #[test]
    fn pure_crates_stay_pure() {
        let code = "//! std::fs\nuse std::fmt;\nuse std::{iter, time::Instant};\nlet x = std::fs::read;\n\
                    #[cfg(test)]\nmod tests { use std::thread; }\n";
        check(
            modules,
            &[
                ("crates/workspan-analysis/src/a.rs", code),
                ("crates/workspan-analysis/src/bin/a.rs", code),
                ("crates/workspan-read/src/a.rs", code),
            ],
            &[
                "crates/workspan-analysis/src/a.rs:3: workspan-analysis must not use std::time",
                "crates/workspan-analysis/src/a.rs:4: workspan-analysis must not use std::fs",
            ],
        );
    }

    #[test]
    fn only_commands_print_and_exit() {
        let code = "// println!\nfn f() { eprintln!(\"a\") }\nfn g() { std::process::exit(1) }\n";
        check(
            talk,
            &[
                ("crates/workspan/Cargo.toml", ""),
                ("crates/workspan/src/a.rs", code),
                ("crates/workspan-read/Cargo.toml", ""),
                ("crates/workspan-read/src/a.rs", code),
                ("crates/workspan-read/src/a/tests.rs", code),
            ],
            &["crates/workspan-read/src/a.rs:2: `println!`", "crates/workspan-read/src/a.rs:3: `process::exit`"],
        );
    }
}
