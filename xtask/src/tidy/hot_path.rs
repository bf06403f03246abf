//! What runs at every spawn and join of a profiled program: no allocation, lock, system call, hash or formatting, and
//! nothing that can panic on its own.

use workspan_instrument::source::closing;

use super::code::product;
use super::{Repository, Violation};

/// Files of the hot path, and which of their functions are on it; all that are not `#[cold]` if none is named.
const HOT: &[(&str, &[&str])] = &[
    ("crates/workspan-collect/src/join.rs", &[]),
    ("crates/workspan-collect/src/strand.rs", &[]),
    (
        "crates/workspan-collect/src/clock.rs",
        &["read", "read_often", "count_later", "next_batch", "begin_batch", "count_batch", "read_long"],
    ),
];

/// What must not be there: words of code, and what they amount to.
const BANNED: &[(&str, &[&str])] = &[
    ("allocation", &["alloc", "Box", "Vec", "vec", "String", "Rc", "Arc", "to_owned", "to_string", "collect", "mmap"]),
    ("lock", &["Mutex", "RwLock", "Condvar", "Once", "OnceLock", "LazyLock", "lock", "futex", "park", "sleep"]),
    ("system call", &["libc", "syscall", "asm", "std", "getrusage", "clock_gettime"]),
    ("hash", &["HashMap", "HashSet", "BTreeMap", "BTreeSet", "Hasher", "hash"]),
    ("formatting", &["format", "format_args", "write", "writeln", "print", "println", "eprintln", "fmt", "Display"]),
    ("panic", &["panic", "unwrap", "expect", "assert", "assert_eq", "assert_ne", "unreachable", "todo"]),
];

/// Functions of the hot path do nothing that takes long.
pub(super) fn stays_hot(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, names) in HOT {
        let Some(text) = repository.files.get(*path) else {
            // A made-up repository need not have collectors.
            if repository.files.keys().any(|path| path.starts_with("crates/workspan-collect/src/")) {
                found.push(Violation::new(path, 1, "is named in xtask/src/tidy/hot_path.rs, but is not there"));
            }
            continue;
        };
        let code = product(text);
        let functions = functions(&code);
        for name in names.iter().filter(|name| !functions.iter().any(|function| function.name == **name)) {
            found.push(Violation::new(
                path,
                1,
                format!("has no function `{name}`, which xtask/src/tidy/hot_path.rs names"),
            ));
        }
        let hot =
            |function: &&Function<'_>| if names.is_empty() { !function.cold } else { names.contains(&function.name) };
        for function in functions.iter().filter(hot) {
            if function.cold {
                let text = format!("`{}` is on the hot path, and marked as cold", function.name);
                found.push(Violation::new(path, function.line, text));
            }
            for (line, text) in (function.line..).zip(function.text.lines()) {
                let banned = |word: &str| BANNED.iter().find(|(_, words)| words.contains(&word)).map(|(what, _)| *what);
                let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                for (word, what) in words.filter_map(|word| Some((word, banned(word)?))) {
                    let text = format!("`{word}` on the hot path, in `{}`: no {what} there", function.name);
                    found.push(Violation::new(path, line, text));
                }
            }
        }
    }
    found
}

struct Function<'a> {
    name: &'a str,
    /// Marked so: whoever calls it expects to pay for it.
    cold: bool,
    /// Of its `fn`.
    line: usize,
    /// From its `fn` to its last brace.
    text: &'a str,
}

/// All functions with a body.
fn functions(code: &str) -> Vec<Function<'_>> {
    let starts = code
        .match_indices("fn ")
        .map(|(at, _)| at)
        .filter(|at| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    let function = |at: usize| {
        let rest = &code[at + "fn ".len()..];
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())?;
        let open = at + code[at..].find(['{', ';']).filter(|open| code[at + open..].starts_with('{'))?;
        let text = &code[at..=closing(code, open)?];
        // Attributes: between what comes before, and this.
        let before = code[..at].rfind(['}', '{', ';']).map_or(0, |end| end + 1);
        let line = code[..at].matches('\n').count() + 1;
        Some(Function { name, cold: code[before..at].contains("#[cold]"), line, text })
    };
    starts.filter_map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn what_takes_long_is_found_on_the_hot_path() {
        let join = "\
//! Join.
pub fn fork() {
    let all = Vec::new(); // Box
}
#[cold]
#[inline(never)]
fn seldom() { format!(\"\"); }
fn of_type(f: fn(u8) -> u8) { f(1).unwrap(); debug_assert!(true); }
#[cfg(test)]
mod tests { fn t() { assert!(true); } }
";
        let clock = "\
fn read() { go() }
fn read_often() { STATE.lock() }
fn count_later() {}
fn next_batch() {}
#[cold]
fn begin_batch() {}
fn count_batch() {}
fn consult() { libc::getrusage() }
";
        check(
            stays_hot,
            &[(HOT[0].0, join), (HOT[2].0, clock)],
            &[
                "crates/workspan-collect/src/join.rs:3: `Vec` on the hot path, in `fork`: no allocation",
                "crates/workspan-collect/src/join.rs:8: `unwrap` on the hot path, in `of_type`: no panic",
                "crates/workspan-collect/src/strand.rs:1: is named",
                "crates/workspan-collect/src/clock.rs:1: has no function `read_long`",
                "crates/workspan-collect/src/clock.rs:2: `lock` on the hot path, in `read_often`: no lock",
                "crates/workspan-collect/src/clock.rs:6: `begin_batch` is on the hot path, and marked",
            ],
        );
    }
}
