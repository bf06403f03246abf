//! Tests run what they test once, and do not look at a clock: one that tries again until it passes, or that a slow machine
//! fails, shows nothing.

use std::collections::BTreeSet;

use workspan_instrument::source::{blanked, closing};

use super::code::product;
use super::{Repository, Violation};

/// Where waiting is bounded, for all tests.
const PATIENCE: &str = "workspan_testkit::patience";

/// Nothing is run again because it failed.
pub(super) fn once(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, code) in tests(repository) {
        for (line, text) in (1..).zip(code.lines()) {
            let again = words(text).any(|word| {
                let word = word.to_ascii_lowercase();
                ["retry", "retries", "attempt", "rerun"].iter().any(|name| word.contains(name))
            });
            if again {
                found.push(Violation::new(path, line, "a test runs what it tests once"));
            }
        }
        for (at, _) in code.match_indices("for _ in ") {
            let Some(body) = body(&code, at) else { continue };
            if let Some(what) = stops_early(body) {
                let line = code[..at].matches('\n').count() + 1;
                found.push(Violation::new(path, line, format!("a loop that {what}: a test runs what it tests once")));
            }
        }
    }
    found
}

/// No test looks at a clock.
pub(super) fn clocks(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, code) in tests(repository) {
        for (line, text) in (1..).zip(code.lines()) {
            let clock = words(text).find(|word| ["Instant", "SystemTime", "elapsed"].contains(word));
            if let Some(clock) = clock {
                found.push(Violation::new(path, line, format!("`{clock}` in a test: to wait, use {PATIENCE}")));
            }
        }
    }
    found
}

/// Path and code of all tests: files in a folder `tests`, and inline modules of others; lines stay where they are.
fn tests(repository: &Repository) -> impl Iterator<Item = (&str, String)> {
    repository.ending_in(".rs").map(|(path, text)| {
        let all = blanked(text);
        if path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs") {
            return (path, all);
        }
        let product = product(text);
        let lines = all.lines().zip(product.lines()).map(|(all, product)| if all == product { "" } else { all });
        (path, lines.collect::<Vec<_>>().join("\n"))
    })
}

/// Between the braces of the loop that begins at `at`.
fn body(code: &str, at: usize) -> Option<&str> {
    let open = at + code[at..].find('{')?;
    code.get(open + 1..closing(code, open)?)
}

/// How the body of a loop that counts nothing makes it one that goes on until something is right.
fn stops_early(body: &str) -> Option<&'static str> {
    if words(body).any(|word| ["return", "break"].contains(&word)) {
        return Some("ends early");
    }
    let statements = || body.split([';', '{', '}']).map(str::trim);
    let own: BTreeSet<&str> =
        statements().filter_map(|statement| statement.strip_prefix("let ")).flat_map(words).collect();
    let assigned = statements().filter_map(|statement| statement.split_once(" = ")).map(|(to, _)| to);
    let names = |to: &str| to.chars().all(|c| c.is_alphanumeric() || "_(), ".contains(c));
    let outer = assigned
        .filter(|to| names(to) && !words(to).any(|word| word == "let"))
        .flat_map(words)
        .any(|to| !own.contains(to));
    outer.then_some("replaces what it found before")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn loops_that_go_on_until_it_is_right_are_found() {
        let test = "\
//! Tests.
const ATTEMPTS: u32 = 3;
fn until() {
    for _ in 0..9 {
        if run().is_ok() {
            return;
        }
    }
    let mut ended = run();
    for _ in 0..4 {
        if ended.signal().is_some() { ended = run(); }
    }
    for _ in 0..3 { (a, mut b) = run(); }
    let mut sum = 0;
    for _ in 0..4 {
        let mut x = run();
        x = x + 1;
        sum += x;
        check(x);
        if let Ok(mut y) = run() { y.go(); }
    }
    for seed in 0..9 { if seed == 3 { return; } }
}
// Another attempt.
";
        check(
            once,
            &[("crates/a/tests/integration/a.rs", test), ("crates/a/src/a.rs", test)],
            &[
                "crates/a/tests/integration/a.rs:2: a test runs",
                "crates/a/tests/integration/a.rs:4: a loop that ends early",
                "crates/a/tests/integration/a.rs:10: a loop that replaces what it found before",
                "crates/a/tests/integration/a.rs:13: a loop that replaces what it found before",
            ],
        );
        let inline = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{}\n}}\n", test.replace("//! Tests.\n", ""));
        check(
            once,
            &[("crates/a/src/b.rs", &inline)],
            &["crates/a/src/b.rs:4: ", "crates/a/src/b.rs:6: ", "crates/a/src/b.rs:12: ", "crates/a/src/b.rs:15: "],
        );
    }

    #[test]
    fn clocks_in_tests_are_found() {
        let code = "use std::time::Instant;\nfn f() { assert!(began.elapsed() < LIMIT); } // Instant\n";
        let inline = "fn f() { Instant::now(); }\n#[cfg(test)]\nmod tests {\n    fn g() { SystemTime::now(); }\n}\n";
        check(
            clocks,
            &[
                ("crates/a/tests/a.rs", code),
                ("crates/a/src/a.rs", inline),
                ("crates/workspan-testkit/src/patience.rs", code),
            ],
            &[
                "crates/a/src/a.rs:4: `SystemTime`",
                "crates/a/tests/a.rs:1: `Instant`",
                "crates/a/tests/a.rs:2: `elapsed`",
            ],
        );
    }
}
