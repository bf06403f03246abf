//! Plain English: words that readers stumble over do not come back.
//!
//! The rule reads sentences: documents whole, and of Rust files comments and text literals. Names in backticks, in braces and in
//! links are names of code and of JSON fields, which are another matter. What it does not cover yet is in [`NOT_YET`], by
//! folder, so that nothing is left unsaid.

use workspan_instrument::source::blanked;

use super::{Repository, Violation};

/// Words, and what to write instead. A word is matched whole, in any case; one space matches one space.
const WORDS: &[(&[&str], &str)] = &[
    (&["tell", "tells", "told", "telling"], "report, show, say; of a person: learn"),
    (&["untold"], "not reported"),
    (&["foretell", "foretold"], "predict, predicted"),
    (&["uncounted"], "excluded, or not counted"),
    (&["left out"], "excluded, skipped"),
    (&["so many"], "N, or the number"),
    (&["asked for", "asks for"], "requested, requests"),
    (&["of ours", "of theirs"], "Workspan's, the program's"),
    (&["mend", "mends", "mended"], "fix, fixed"),
    (&["come true", "came true", "comes true"], "the prediction was reached"),
    (&["it is taken that"], "assumes"),
    (&["may be believed"], "is accurate to"),
    (&["half as slow again"], "took 1.5 times as long"),
];

/// Words that users must not meet: code and its comments have verbs, pieces and stretches.
const FOR_USERS: &[(&[&str], &str)] = &[
    (&["verb", "verbs"], "command"),
    (&["piece", "pieces", "stretch", "stretches"], "segment, or chunk of a loop"),
    (&["bracket", "brackets"], "range, lower and upper bound"),
];

/// What users read: these documents, and text literals of these crates.
const USERS_READ: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "docs/cli.md",
    "docs/tools.md",
    "crates/workspan/src/",
    "crates/workspan-report/src/",
];

/// Where comments have not been gone through, and why.
const NOT_YET: &[(&str, &str)] = &[("xtask/src/tidy/words.rs", "these lists")];

/// Sentences that need the word: file, part of the line, reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("crates/workspan-model/src/events.rs", "counts are told with four digits", MADE_FROM),
    ("crates/workspan-analysis/src/events.rs", "are told with four digits", MADE_FROM),
    ("crates/workspan-analysis/src/events.rs", "told with three digits", MADE_FROM),
    ("crates/workspan/src/args/guide.rs", "jq -r '.verbs[].verb'", "the name of a field"),
    ("crates/workspan-page/src/session.rs", "at most so many parts, rounded up", MADE_FROM),
];

/// Why a text literal of the engine's sources stays until they change.
const MADE_FROM: &str = "the engine of the page is made from it: `cargo xtask web --wasm`";

/// No sentence has one of the words.
pub(super) fn plain(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in &repository.files {
        if NOT_YET.iter().any(|(folder, _)| path.starts_with(folder)) {
            continue;
        }
        let user = USERS_READ.iter().any(|folder| path.starts_with(folder));
        for (line, comment, literal) in sentences(path, text) {
            let of_users = if path.ends_with(".md") { &comment } else { &literal };
            let both = format!("{comment} {literal}");
            let general = WORDS.iter().filter_map(|(words, better)| Some((first_of(words, &both)?, better)));
            let users = FOR_USERS.iter().filter(|_| user);
            let users = users.filter_map(|(words, better)| Some((first_of(words, of_users)?, better)));
            for (word, better) in general.chain(users) {
                let allowed = ALLOWED.iter().any(|(file, part, _)| path == file && both.contains(part));
                if !allowed {
                    found.push(Violation::new(path, line, format!("`{word}`: write {better}")));
                }
            }
        }
    }
    found
}

/// The first of `words` that `text` has.
fn first_of(words: &[&'static str], text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let has = |word: &str| {
        text.match_indices(word)
            .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word))
    };
    words.iter().copied().find(|word| has(word))
}

/// The sentences of each line, without names of code: those of comments or of a document, and those of text literals.
fn sentences(path: &str, text: &str) -> Vec<(usize, String, String)> {
    if path.ends_with(".md") || path.starts_with("include/") {
        let mut code = false;
        let prose = |(line, text): (usize, &str)| {
            let fence = text.trim_start().starts_with("```");
            code ^= fence;
            let skip = code || fence || text.starts_with("    ");
            (line, if skip { String::new() } else { without_names(text) }, String::new())
        };
        return (1..).zip(text.lines()).map(prose).collect();
    }
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let blank = blanked(text);
    (1..).zip(text.lines().zip(blank.lines())).map(|(line, (text, blank))| of_code(line, text, blank)).collect()
}

/// A line of Rust: what is blank in `blank` and not in `text` is a comment or a literal.
fn of_code(line: usize, text: &str, blank: &str) -> (usize, String, String) {
    let (mut comment, mut literals) = (String::new(), String::new());
    let bytes = text.as_bytes();
    let hidden = |at: usize| blank.as_bytes().get(at) == Some(&b' ');
    let mut at = 0;
    while at < bytes.len() {
        if !hidden(at) || bytes[at] == b' ' {
            at += 1;
            continue;
        }
        let end = (at..bytes.len()).find(|i| !hidden(*i)).unwrap_or(bytes.len());
        let part = text.get(at..end).unwrap_or_default();
        if part.starts_with("//") {
            comment.push_str(part);
        } else if part.trim().contains(' ') {
            // A single word is a name.
            literals.push_str(part);
            literals.push(' ');
        }
        at = end;
    }
    (line, without_names(&comment), without_names(&literals))
}

/// A text without what stands in backticks, in braces, and behind `](`.
fn without_names(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '{', ']']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (open, close) = if from.starts_with('`') {
            (1, '`')
        } else if from.starts_with('{') {
            (1, '}')
        } else if from.starts_with("](") {
            (2, ')')
        } else {
            out.push(']');
            rest = &from[1..];
            continue;
        };
        match from[open..].find(close) {
            Some(end) => rest = &from[open + end + 1..],
            None => {
                // It goes on in the next line.
                rest = &from[open..];
            }
        }
        out.push(' ');
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn words_in_sentences_are_found() {
        let code = "//! Tells all.\nlet told = \"told\"; // fine\nlet b = \"it was asked for\";\n// `tells` {told} [x](tell.md)\n";
        let document = "It is told.\n```\ntold\n```\n    told\nso manyfold, `told`\nOf ours.\n";
        check(
            plain,
            &[("crates/a/src/a.rs", code), ("docs/a.md", document)],
            &[
                "crates/a/src/a.rs:1: `tells`",
                "crates/a/src/a.rs:3: `asked for`",
                "docs/a.md:1: `told`",
                "docs/a.md:7: `of ours`",
            ],
        );
    }

    #[test]
    fn users_meet_no_verbs_and_pieces() {
        let code = "// A verb.\nlet a = \"the verb `x`\";\nlet b = \"verb\";\nlet c = \"in\\\n two pieces\";\n";
        let files =
            [("crates/workspan/src/a.rs", code), ("crates/workspan-model/src/a.rs", code), ("README.md", "verbs\n")];
        let expected =
            ["README.md:1: `verbs`", "crates/workspan/src/a.rs:2: `verb`", "crates/workspan/src/a.rs:5: `pieces`"];
        check(plain, &files, &expected);
    }

    /// An exception for what is no longer there hides the next one.
    #[test]
    fn exceptions_are_needed() {
        let repository = super::super::repository().unwrap();
        for (file, part, _) in ALLOWED {
            let text = repository.files.get(*file).unwrap_or_else(|| panic!("{file} is gone"));
            assert!(text.contains(part), "{file} no longer has `{part}`");
        }
        for (folder, _) in NOT_YET {
            assert!(repository.files.keys().any(|path| path.starts_with(folder)), "{folder} is gone");
        }
    }
}
