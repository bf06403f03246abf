//! What is committed though it is made from other sources belongs to them: `cargo xtask web` writes hashes of both.

use workspan_model::hash::Hash;

use super::code::product;
use super::{Repository, Violation};

/// The script of the HTML report.
pub(crate) const SCRIPT: &str = "crates/workspan-report/src/html/made/page.js";
/// Its engine.
pub(crate) const ENGINE: &str = "crates/workspan-report/src/html/made/page.wasm";
/// What they were made from.
pub(crate) const RECORD: &str = "crates/workspan-report/src/html/made/from.txt";

/// Each file that is made, and how that is done.
const MADE: &[(&str, &str)] = &[(SCRIPT, "cargo xtask web"), (ENGINE, "cargo xtask web --wasm")];

/// The record's text. Of the engine only if it was made, too: otherwise what is there is kept.
pub(crate) fn record(repository: &Repository, engine: bool) -> String {
    let old = repository.files.get(RECORD).map_or("", String::as_str);
    let line = |(path, _): &(&str, &str)| {
        let kept = old.lines().find(|line| line.starts_with(path)).filter(|_| *path == ENGINE && !engine);
        kept.map_or_else(|| now(repository, path), str::to_owned) + "\n"
    };
    MADE.iter().map(line).collect()
}

/// What is committed is what its sources make.
pub(super) fn up_to_date(repository: &Repository) -> Vec<Violation> {
    let record = repository.files.get(RECORD).map_or("", String::as_str);
    let stale = MADE.iter().filter(|(path, _)| repository.files.contains_key(*path)).filter(|(path, _)| {
        let now = now(repository, path);
        !record.lines().any(|line| line == now)
    });
    stale
        .map(|(path, how)| Violation::new(path, 1, format!("its sources have changed since it was made: `{how}`")))
        .collect()
}

fn now(repository: &Repository, path: &str) -> String {
    let own = repository.files.get(path).map_or(0, |text| hash(std::iter::once(text.as_str())));
    format!("{path} {own:016x} from {:016x}", sources(repository, path))
}

fn sources(repository: &Repository, path: &str) -> u64 {
    if path == SCRIPT {
        let of = |path: &str| path.starts_with("web/") && !path.ends_with(".md");
        let files = repository.files.iter().filter(|(path, _)| of(path));
        return hash(files.flat_map(|(path, text)| [path.as_str(), text.as_str()]));
    }
    // Comments, tests and white space make no difference.
    let code = |krate: &str| {
        let folder = format!("crates/{krate}/src/");
        let files = repository.files.iter().filter(move |(path, _)| path.starts_with(&folder));
        let bare = files.map(|(path, text)| (path.clone(), product_with_literals(text)));
        bare.collect::<Vec<_>>()
    };
    let all: Vec<(String, String)> =
        ["workspan-model", "workspan-analysis", "workspan-page"].into_iter().flat_map(code).collect();
    hash(all.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]))
}

/// The lines of a file that are product, without comments and white space.
fn product_with_literals(text: &str) -> String {
    let product = product(text);
    let lines = text.lines().zip(product.lines()).filter(|(_, product)| !product.trim().is_empty());
    // A comment at the end of a line is distinguished from a literal by what was blanked.
    lines.flat_map(|(line, product)| line.get(..product.trim_end().len()).unwrap_or(line).split_whitespace()).collect()
}

/// To distinguish versions of one text.
fn hash<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    let mut hash = Hash::new();
    for text in texts {
        hash.feed(text.as_bytes());
        hash.feed(&[0]);
    }
    hash.long()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    const PAGE: &str = "crates/workspan-page/src/lib.rs";

    fn files<'a>(script: &'a str, code: &'a str, made: &'a str, record: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![("web/src/main.ts", script), (PAGE, code), (SCRIPT, made), (ENGINE, "asm"), (RECORD, record)]
    }

    #[test]
    fn what_was_made_from_other_sources_is_found() {
        let code = "//! A.\nfn a() { 1 }\n";
        let repository = Repository::of(&files("a()", code, "a", ""));
        let record = record(&repository, true);
        check(up_to_date, &files("a()", code, "a", &record), &[]);
        // Comments are not compiled.
        check(up_to_date, &files("a()", "//! B.\nfn a()  { 1 } // c\n", "a", &record), &[]);
        check(up_to_date, &files("b()", code, "a", &record), &[&format!("{SCRIPT}:1: its sources")]);
        check(up_to_date, &files("a()", code, "b", &record), &[&format!("{SCRIPT}:1: its sources")]);
        check(up_to_date, &files("a()", "fn a() { 2 }\n", "a", &record), &[&format!("{ENGINE}:1: its sources")]);
        check(up_to_date, &files("a()", code, "a", ""), &[&format!("{SCRIPT}:1: "), &format!("{ENGINE}:1: ")]);
    }

    #[test]
    fn making_the_script_alone_leaves_the_engine_as_it_was() {
        let before = Repository::of(&files("a()", "fn a() {}", "a", ""));
        let first = record(&before, true);
        let after = Repository::of(&files("b()", "fn b() {}", "b", &first));
        let second = record(&after, false);
        assert_eq!(first.lines().nth(1), second.lines().nth(1));
        assert_ne!(first.lines().next(), second.lines().next());
    }
}
