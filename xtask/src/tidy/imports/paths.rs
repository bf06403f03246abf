//! What a file names: its `use` declarations, and the paths in the rest of its code.
//!
//! Both are read from code without comments and literals ([`Repository::product`](super::super::Repository)), as text: so
//! a path that a macro puts together is not seen.

/// One name that a `use` declaration brings into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// What is imported.
    pub(super) path: Vec<String>,
    /// The name it has here.
    pub(super) name: String,
    /// Others may import it from here.
    pub(super) public: bool,
    pub(super) line: usize,
}

/// A path in code, outside of `use` declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

/// What is in a file.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) imports: Vec<Import>,
    pub(super) paths: Vec<Path>,
    /// The code without its declarations of imports and modules.
    body: String,
}

impl Names {
    pub(super) fn of(code: &str) -> Names {
        let mut imports = Vec::new();
        let mut body = code.to_owned();
        for (start, tree, end) in declarations(code) {
            let line = line_of(code, start);
            let before = code[..start].trim_end();
            let public = before.ends_with("pub")
                || before.ends_with(')')
                    && before.rfind("pub(").is_some_and(|at| !before[at..].contains([';', '{', '}']));
            expand(tree, &[], &mut |path, name| imports.push(Import { path, name, public, line }));
            blank(&mut body, start, end);
        }
        for (start, word) in code.match_indices("mod ") {
            let rest = &code[start + word.len()..];
            let declared = rest.trim_start_matches(in_word).starts_with(';') && !code[..start].ends_with(in_word);
            if let Some(end) = rest.find(';').filter(|_| declared) {
                blank(&mut body, start, start + word.len() + end);
            }
        }
        let paths = paths(&body);
        Names { imports, paths, body }
    }

    /// True if the rest of the file has the word.
    pub(super) fn says(&self, word: &str) -> bool {
        self.body.match_indices(word).any(|(at, _)| {
            let (before, after) = (&self.body[..at], &self.body[at + word.len()..]);
            !before.ends_with(in_word) && !after.starts_with(in_word)
        })
    }
}

/// Where each `use` declaration begins, its tree, and where it ends.
fn declarations(code: &str) -> Vec<(usize, &str, usize)> {
    let mut found = Vec::new();
    for (at, word) in code.match_indices("use ") {
        let rest = &code[at + word.len()..];
        let begins = rest.trim_start().starts_with(|c: char| in_word(c) || c == '{' || c == ':');
        if !begins || code[..at].ends_with(|c: char| in_word(c) || c == '!') {
            continue;
        }
        if let Some(end) = rest.find(';') {
            found.push((at, &rest[..end], at + word.len() + end));
        }
    }
    found
}

/// Hands over each path of a tree of imports with its name.
fn expand(tree: &str, before: &[String], take: &mut impl FnMut(Vec<String>, String)) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let mut path = before.to_vec();
        path.extend(tree[..open].split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned));
        let group = tree[open + 1..].trim_end().strip_suffix('}').unwrap_or(&tree[open + 1..]);
        split(group).for_each(|part| expand(part, &path, take));
        return;
    }
    let (from, alias) = tree.split_once(" as ").map_or((tree, None), |(from, alias)| (from, Some(alias.trim())));
    let mut path = before.to_vec();
    path.extend(from.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned));
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(last) = path.last() {
        let name = alias.unwrap_or(last).to_owned();
        take(path, name);
    }
}

/// The parts of a group, which may have groups in them.
fn split(group: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let parts = group.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.filter(|part| !part.trim().is_empty())
}

/// All paths of two segments or more. The path of a visibility, as in `pub(in …)`, is none.
fn paths(code: &str) -> Vec<Path> {
    let mut found = Vec::new();
    let bytes = code.as_bytes();
    let mut at = 0;
    while let Some(next) = code[at..].find("::").map(|offset| at + offset) {
        let start = code[..next].rfind(|c| !in_word(c)).map_or(0, |before| before + 1);
        let mut segments = vec![code[start..next].to_owned()];
        let mut end = next;
        while code[end..].starts_with("::") && bytes.get(end + 2).is_some_and(|byte| in_word(char::from(*byte))) {
            let rest = &code[end + 2..];
            let length = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            segments.push(rest[..length].to_owned());
            end += 2 + length;
        }
        if segments.len() > 1 && start < next && !code[..start].ends_with("pub(in ") {
            found.push(Path { segments, line: line_of(code, start) });
        }
        at = end.max(next + 2);
    }
    found
}

fn blank(code: &mut String, start: usize, end: usize) {
    let blanks: String = code[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
    // One byte for each character: where something stands is only counted in lines.
    code.replace_range(start..end, &format!("{blanks:<width$}", width = end - start));
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, imports: &[&str], others: &[&str]) {
        let names = Names::of(code);
        let public = |import: &Import| if import.public { "pub " } else { "" };
        let shown = names.imports.iter().map(|i| format!("{}{} as {}", public(i), i.path.join("::"), i.name));
        assert_eq!(shown.collect::<Vec<_>>(), imports);
        assert_eq!(names.paths.iter().map(|path| path.segments.join("::")).collect::<Vec<_>>(), others);
    }

    #[test]
    fn trees_of_imports_are_expanded() {
        check("use a::b;", &["a::b as b"], &[]);
        check(
            "pub(super) use a::{self, b::{C, D as E}};",
            &["pub a as a", "pub a::b::C as C", "pub a::b::D as E"],
            &[],
        );
        check("pub(crate) fn f() { g(1) }\nuse crate::{\n    a,\n};", &["crate::a as a"], &[]);
        check("fn f() -> impl A + use<'_> { excuse b; }", &[], &[]);
    }

    #[test]
    fn paths_in_code_are_found() {
        check("use a::b; fn f(c: super::C) { b::d::<u8>() + <E as F>::g() }", &["a::b as b"], &["super::C", "b::d"]);
        check("pub(in crate::a) struct B;", &[], &[]);
    }

    #[test]
    fn words_are_looked_for_outside_of_imports() {
        let names = Names::of("pub mod D;\npub use a::B;\nfn f(c: C, bb: BB) {}");
        assert!(names.says("C") && !names.says("B") && !names.says("D"));
    }
}
