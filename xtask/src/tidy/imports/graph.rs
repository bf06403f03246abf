//! Which file of a crate uses which: arrows, and the circles that they make.
//!
//! An arrow goes from a file to the file that *has* what it names. A module that only hands on what its parts have
//! (`pub use part::Name`, and nothing else of `Name`) is a front, not a user: who imports by way of it uses the part.
//! Modules are files here; one within a file belongs to it. Cost: a search from each file over all arrows.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Import, Names};

/// Front upon front: enough for any crate, and an end for those that hand on each other's names.
const MOST_FRONTS: usize = 16;

/// The files of a crate.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// By module, as `a::b`; the root is empty.
    modules: BTreeMap<String, File>,
    /// From, to, both as modules; with the line of the first use, and the names used.
    arrows: BTreeMap<String, BTreeMap<String, Use>>,
}

#[derive(Debug)]
struct File {
    path: String,
    names: Names,
}

/// Why there is an arrow.
#[derive(Debug, Default)]
pub(super) struct Use {
    pub(super) line: usize,
    pub(super) names: BTreeSet<String>,
}

/// Files of which each uses each, by way of one another.
#[derive(Debug)]
pub(super) struct Circle<'a> {
    /// Path, and which others of the circle it uses.
    pub(super) files: Vec<(&'a str, Vec<(&'a str, &'a Use)>)>,
}

impl Graph {
    /// Of the files below a crate's `src/`, as paths and code.
    pub(super) fn of<'a>(source: &str, files: impl Iterator<Item = (&'a str, String)>) -> Graph {
        let mut graph = Graph::default();
        for (path, code) in files {
            let inner = path.strip_prefix(source).unwrap_or(path);
            // Programs use their crate as anybody does.
            if !inner.starts_with("bin/") {
                let file = File { path: path.to_owned(), names: Names::of(&code) };
                graph.modules.insert(module_of(inner), file);
            }
        }
        let modules: Vec<String> = graph.modules.keys().cloned().collect();
        for from in modules {
            let uses = graph.uses_of(&from);
            graph.arrows.insert(from, uses);
        }
        graph
    }

    pub(super) fn files(&self) -> usize {
        self.modules.len()
    }

    pub(super) fn arrows(&self) -> usize {
        self.arrows.values().map(BTreeMap::len).sum()
    }

    /// All circles.
    pub(super) fn circles(&self) -> Vec<Circle<'_>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.modules.keys().map(|from| (from.as_str(), self.reached_from(from))).collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for (from, to) in &reached {
            if !to.contains(from) || seen.contains(from) {
                continue;
            }
            let members: BTreeSet<&str> = to.iter().copied().filter(|other| reached[other].contains(from)).collect();
            seen.extend(members.iter().copied());
            let files = members.iter().map(|file| (self.path(file), self.uses_within(file, &members))).collect();
            circles.push(Circle { files });
        }
        circles
    }

    fn uses_within<'a>(&'a self, file: &str, members: &BTreeSet<&str>) -> Vec<(&'a str, &'a Use)> {
        let uses = self.arrows.get(file).into_iter().flatten();
        uses.filter(|(to, _)| members.contains(to.as_str())).map(|(to, names)| (self.path(to), names)).collect()
    }

    fn path(&self, module: &str) -> &str {
        self.modules.get(module).map_or("", |file| &file.path)
    }

    fn reached_from(&self, from: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(at) = next.pop() {
            for to in self.arrows.get(at).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(to.as_str()) {
                    next.push(to);
                }
            }
        }
        reached
    }

    fn uses_of(&self, from: &str) -> BTreeMap<String, Use> {
        let mut uses: BTreeMap<String, Use> = BTreeMap::new();
        let names = &self.modules[from].names;
        let mut add = |path: &[String], line| {
            let Some((module, name)) = self.find(from, path, 0) else {
                return;
            };
            // A module itself is used by way of the paths that begin with it.
            if let Some(name) = name.filter(|_| module != from) {
                let found = uses.entry(module).or_insert(Use { line, ..Use::default() });
                found.names.insert(name);
            }
        };
        for import in &names.imports {
            if !import.public || names.says(&import.name) {
                add(&import.path, import.line);
            }
        }
        for path in &names.paths {
            add(&path.segments, path.line);
        }
        uses
    }

    /// The module that has what a path names, and the name in it, unless the path is the module's own.
    fn find(&self, from: &str, path: &[String], fronts: usize) -> Option<(String, Option<String>)> {
        let (first, mut rest) = path.split_first()?;
        let mut module = match first.as_str() {
            "crate" => String::new(),
            "self" => from.to_owned(),
            "super" => parent(from)?,
            _ => {
                let inner = child(from, first);
                if self.modules.contains_key(&inner) {
                    inner
                } else {
                    return self.imported(from, first, rest, fronts).filter(|_| !rest.is_empty());
                }
            }
        };
        while let Some((next, after)) = rest.split_first() {
            if next == "super" {
                module = parent(&module)?;
            } else if self.modules.contains_key(&child(&module, next)) {
                module = child(&module, next);
            } else {
                return match self.import(&module, next) {
                    // Perhaps of another crate.
                    Some(_) => self.imported(&module, next, after, fronts),
                    None => Some((module, Some(next.clone()))),
                };
            }
            rest = after;
        }
        Some((module, None))
    }

    fn import(&self, module: &str, name: &str) -> Option<&Import> {
        self.modules.get(module)?.names.imports.iter().find(|import| import.name == name)
    }

    /// What `name` is if a module has it from elsewhere in the crate.
    fn imported(&self, module: &str, name: &str, rest: &[String], fronts: usize) -> Option<(String, Option<String>)> {
        let import = self.import(module, name)?;
        if fronts == MOST_FRONTS {
            return None;
        }
        // `use name;` would find itself.
        let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
        if import.path.len() == 1 {
            return None;
        }
        self.find(module, &path, fronts + 1)
    }
}

/// The module of a file below `src/`.
fn module_of(inner: &str) -> String {
    let module = inner.strip_suffix(".rs").unwrap_or(inner);
    let module = if matches!(module, "lib" | "main") { "" } else { module };
    let module = if module == "mod" { "" } else { module.strip_suffix("/mod").unwrap_or(module) };
    module.replace('/', "::")
}

fn child(module: &str, name: &str) -> String {
    if module.is_empty() {
        name.to_owned()
    } else {
        format!("{module}::{name}")
    }
}

fn parent(module: &str) -> Option<String> {
    (!module.is_empty()).then(|| module.rsplit_once("::").map_or(String::new(), |(parent, _)| parent.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], arrows: &[&str]) {
        let graph = Graph::of("src/", files.iter().map(|(path, code)| (*path, (*code).to_owned())));
        let shown = |(from, uses): (&String, &BTreeMap<String, Use>)| {
            let from = from.clone();
            let each = |(to, found): (&String, &Use)| {
                format!("{from} -> {to}: {}", found.names.iter().cloned().collect::<Vec<_>>().join(", "))
            };
            uses.iter().map(each).collect::<Vec<_>>()
        };
        assert_eq!(graph.arrows.iter().flat_map(shown).collect::<Vec<_>>(), arrows);
    }

    #[test]
    fn names_are_followed_to_the_file_that_has_them() {
        check(
            &[
                ("src/lib.rs", "mod a; mod b; pub use b::inner::Deep; pub use a::Shown; fn f(_: Shown) {}"),
                ("src/a.rs", "use crate::Deep; use super::b; fn g() { b::call(); std::fs::read(); b::inner::Other }"),
                ("src/b/mod.rs", "mod inner; pub(crate) use inner::Deep; pub(crate) fn call() {}"),
                ("src/b/inner.rs", "use super::super::a::Shown as S;"),
                ("src/bin/c.rs", "use crate::a::Shown;"),
            ],
            &[" -> a: Shown", "a -> b: call", "a -> b::inner: Deep, Other", "b::inner -> a: Shown"],
        );
    }

    #[test]
    fn fronts_of_each_other_come_to_an_end() {
        let (a, b) = ("pub use super::b::C;", "pub use super::a::C;");
        check(&[("src/lib.rs", "mod a; mod b; fn f(_: a::C) {}"), ("src/a.rs", a), ("src/b.rs", b)], &[]);
    }

    #[test]
    fn what_comes_from_another_crate_is_no_arrow() {
        check(&[("src/lib.rs", "mod a; pub use other::table;"), ("src/a.rs", "use crate::table::{self, Align};")], &[]);
    }
}
