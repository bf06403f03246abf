//! Rules for Rust files.

use workspan_instrument::source::blanked;

use super::{Repository, Violation};

/// Lines in a file. What is longer holds more than one concept.
const LONGEST: usize = 600;

/// Files that may be longer, how long, and why.
const LONGER: &[(&str, usize, &str)] = &[];

/// Where unsafe code may be: the collectors and what programs report to them, the kernel's counters, programs made to be measured, and programs and
/// libraries made to be looked at by tests.
const UNSAFE: &[&str] = &[
    "crates/workspan-collect/",
    "crates/workspan-rayon/",
    "crates/workspan-preload/",
    "crates/workspan-pass/",
    "crates/workspan-pass-rt/",
    "crates/workspan-mpi/",
    "crates/workspan-probe/",
    "crates/workspan-tool/",
    "crates/workspan-trace/src/drain.rs",
    "crates/workspan-emulator/",
    "crates/workspan-events/src/perf.rs",
    "crates/workspan-events/src/sampling.rs",
    "crates/workspan-symbols/tests/fixtures/",
    "programs/",
];

/// Every file begins with what it is about.
pub(super) fn header(repository: &Repository) -> Vec<Violation> {
    let without = repository.ending_in(".rs").filter(|(_, text)| !text.starts_with("//! "));
    without.map(|(path, _)| Violation::new(path, 1, "a file without a `//!` header")).collect()
}

/// No file is too long.
pub(super) fn length(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in repository.ending_in(".rs") {
        let lines = text.lines().count();
        let exception = LONGER.iter().find(|(longer, ..)| *longer == path);
        let most = exception.map_or(LONGEST, |(_, most, _)| *most);
        if lines > most {
            found.push(Violation::new(path, most, format!("{lines} lines, more than {most}: split it by concept")));
        } else if exception.is_some() && lines <= LONGEST {
            found.push(Violation::new(path, 1, "no longer too long: remove its exception in xtask/src/tidy/source.rs"));
        }
    }
    found
}

/// Unsafe code is where it belongs, each block with its proof.
pub(super) fn proofs(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in repository.ending_in(".rs") {
        let lines: Vec<&str> = text.lines().collect();
        for (index, code) in blanked(text).lines().enumerate() {
            let Some(at) = unsafe_code(code) else {
                continue;
            };
            if !UNSAFE.iter().any(|folder| path.starts_with(folder)) {
                found.push(Violation::new(path, index + 1, "unsafe code outside the collectors"));
            } else if needs_proof(&code[at..]) && !has_proof(&lines, index) {
                found.push(Violation::new(path, index + 1, "unsafe code without a `// SAFETY:` comment"));
            }
        }
    }
    found
}

/// Where a line has the keyword `unsafe`, but for types of functions and attributes.
fn unsafe_code(code: &str) -> Option<usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices("unsafe").map(|(at, _)| at).find(|at| {
        let (before, after) = (&code[..*at], &code[at + "unsafe".len()..]);
        let pointer = after.trim_start().starts_with("extern") && after.contains("fn(");
        !before.ends_with(word) && !after.starts_with(word) && !after.starts_with('(') && !pointer
    })
}

/// Blocks and implementations are proved where they stand. What an unsafe function demands is in its documentation,
/// which clippy demands.
fn needs_proof(code: &str) -> bool {
    let rest = code["unsafe".len()..].trim_start();
    rest.is_empty() || rest.starts_with('{') || rest.starts_with("impl")
}

/// True if the comment above the statement around a line, or in it, is a proof.
fn has_proof(lines: &[&str], index: usize) -> bool {
    const STATEMENT: usize = 12;
    if lines[index].contains("SAFETY:") {
        return true;
    }
    let above = lines[..index].iter().rev().take(STATEMENT).take_while(|line| {
        let line = line.trim();
        // The statement before this one.
        !line.is_empty() && (!line.ends_with(';') || line.starts_with("//"))
    });
    above.into_iter().any(|line| line.contains("SAFETY:"))
}

/// Nothing is left for later.
pub(super) fn unfinished(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in repository.ending_in(".rs") {
        for (line, code) in (1..).zip(blanked(text).lines()) {
            for banned in ["todo!", "unimplemented!", "dbg!", "#[ignore"] {
                if code.contains(banned) {
                    found.push(Violation::new(path, line, format!("`{banned}`: finish it, or leave it out")));
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
    fn headers_are_missed() {
        check(header, &[("a.rs", "//! A.\n"), ("b.rs", "use a;\n"), ("c.txt", "")], &["b.rs:1: "]);
    }

    #[test]
    fn long_files_are_found() {
        let (longest, longer) = ("\n".repeat(LONGEST), "\n".repeat(LONGEST + 1));
        check(length, &[("a.rs", &longest), ("b.rs", &longer)], &["b.rs:600: 601 lines"]);
    }

    #[test]
    fn unsafe_code_is_proved_and_in_its_place() {
        let code = "\
#[unsafe(no_mangle)]
// unsafe { }
let f: unsafe extern \"C\" fn(u8);
// SAFETY: a proof.
let x =
    unsafe { y() };
let z = unsafe { y() };

unsafe impl Send for A {}
// SAFETY: another proof.
unsafe impl Sync for A {}
unsafe { z() } // SAFETY: beside it.
";
        let path = "crates/workspan-collect/src/a.rs";
        check(
            proofs,
            &[(path, code)],
            &["crates/workspan-collect/src/a.rs:7: ", "crates/workspan-collect/src/a.rs:9: "],
        );
        check(
            proofs,
            &[("crates/workspan-read/src/a.rs", "// SAFETY: no.\nunsafe { }")],
            &["crates/workspan-read/src/a.rs:2: "],
        );
    }

    #[test]
    fn unfinished_code_is_found() {
        let code = "fn f() { todo!() }\n// todo!\n#[ignore = \"slow\"]\nlet a = dbg!(b);\n";
        check(unfinished, &[("a.rs", code)], &["a.rs:1: `todo!`", "a.rs:3: `#[ignore`", "a.rs:4: `dbg!`"]);
    }
}
