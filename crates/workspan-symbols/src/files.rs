//! Which of the wanted files a unit's line program mentions.

use std::collections::HashMap;

use gimli::{FileEntry, LineProgramHeader, UnitRef};

use crate::budget::{Budget, Stop};
use crate::executable::Slice;

/// A wanted file in a unit's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mention {
    /// Index in the unit's table.
    pub(crate) index: u64,
    /// Position among the wanted files.
    pub(crate) file: usize,
}

/// The wanted files, by the last part of their path.
#[derive(Debug)]
pub(crate) struct WantedFiles<'p> {
    paths: Vec<&'p str>,
    by_name: HashMap<&'p [u8], Vec<usize>>,
}

impl<'p> WantedFiles<'p> {
    /// Each of `files` once, in order.
    pub(crate) fn new(files: impl Iterator<Item = &'p str>) -> WantedFiles<'p> {
        let mut paths: Vec<&str> = files.filter(|file| !file.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut by_name: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (index, path) in paths.iter().enumerate() {
            by_name.entry(base_name(path.as_bytes())).or_default().push(index);
        }
        WantedFiles { paths, by_name }
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn position(&self, file: &str) -> Option<usize> {
        self.paths.binary_search(&file).ok()
    }

    /// The wanted files in a unit's table.
    pub(crate) fn mentioned<'s>(
        &self,
        unit: UnitRef<'_, Slice<'s>>,
        of_workspace: bool,
        header: &LineProgramHeader<Slice<'s>>,
        budget: &Budget,
    ) -> Result<Vec<Mention>, Stop> {
        let mut found = Vec::new();
        for (index, entry) in table(header) {
            let Ok(name) = unit.attr_string(entry.path_name()) else {
                continue;
            };
            budget.charge(1 + name.len() / 16)?;
            let Some(candidates) = self.by_name.get(base_name(&name)) else {
                continue;
            };
            let path = Path::of(unit, header, entry)?;
            budget.charge(path.length + candidates.len())?;
            let mut same = candidates.iter().filter(|file| path.is(self.paths[**file], of_workspace));
            if let Some(file) = same.next() {
                found.push(Mention { index, file: *file });
            }
        }
        Ok(found)
    }
}

/// The files of a unit's table, by index.
pub(crate) fn table<'h, 's>(
    header: &'h LineProgramHeader<Slice<'s>>,
) -> impl Iterator<Item = (u64, &'h FileEntry<Slice<'s>, usize>)> {
    let first = if header.version() >= 5 { 0 } else { 1 };
    (first..).zip(header.file_names())
}

fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|b| *b == b'/').next().unwrap_or(path)
}

/// A file of a unit's table.
#[derive(Debug)]
pub(crate) struct Path<'s> {
    /// Folder of the compilation.
    home: &'s [u8],
    /// The same; empty if the path is absolute.
    base: &'s [u8],
    folder: &'s [u8],
    name: &'s [u8],
    length: usize,
}

impl<'s> Path<'s> {
    pub(crate) fn of(
        unit: UnitRef<'_, Slice<'s>>,
        header: &LineProgramHeader<Slice<'s>>,
        entry: &FileEntry<Slice<'s>, usize>,
    ) -> Result<Path<'s>, Stop> {
        let name = unit.attr_string(entry.path_name())?.slice();
        // Folder 0 is that of the compilation.
        let folder = match entry.directory(header).filter(|_| entry.directory_index() != 0) {
            Some(folder) => unit.attr_string(folder)?.slice(),
            None => &[],
        };
        let home = unit.comp_dir.map_or(&[][..], |home| home.slice());
        let absolute = |path: &[u8]| path.starts_with(b"/");
        let (base, folder) = match () {
            () if absolute(name) => (&[][..], &[][..]),
            () if absolute(folder) => (&[][..], folder),
            () => (home, folder),
        };
        Ok(Path { home, base, folder, name, length: base.len() + folder.len() + name.len() })
    }

    /// Bytes of the path.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The path, absolute unless the compiler did not know its own folder.
    pub(crate) fn whole(&self) -> String {
        let parts: Vec<_> = self.parts().map(String::from_utf8_lossy).collect();
        let absolute = [self.base, self.folder, self.name].into_iter().find(|path| !path.is_empty());
        let root = if absolute.is_some_and(|path| path.starts_with(b"/")) { "/" } else { "" };
        format!("{root}{}", parts.join("/"))
    }

    /// The path within the folder of the compilation, if the compiler was given one.
    pub(crate) fn relative(&self) -> Option<String> {
        let relative = !self.base.is_empty() && !self.name.is_empty();
        relative.then(|| {
            let parts: Vec<_> = parts(self.folder).chain(parts(self.name)).map(String::from_utf8_lossy).collect();
            parts.join("/")
        })
    }

    fn parts(&self) -> impl DoubleEndedIterator<Item = &'s [u8]> {
        parts(self.base).chain(parts(self.folder)).chain(parts(self.name))
    }

    /// True if this is the wanted file. A relative path names a file of the workspace: dependencies have files of the
    /// same name, below their own folder.
    fn is(&self, wanted: &str, of_workspace: bool) -> bool {
        let wanted = wanted.as_bytes();
        if wanted.starts_with(b"/") {
            self.parts().eq(parts(wanted))
        } else {
            of_workspace && self.parts().eq(parts(self.home).chain(parts(wanted)))
        }
    }
}

/// A file's path as seen from a folder: relative if it lies below it, as rustc writes paths.
pub(crate) fn seen_from(folder: &str, path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match (part, kept.last()) {
            ("..", Some(last)) if *last != ".." => {
                kept.pop();
            }
            ("..", None) if absolute => {}
            _ => kept.push(part),
        }
    }
    let mut rest = kept.as_slice();
    let below = absolute
        && folder.starts_with('/')
        && folder.split('/').filter(|part| !part.is_empty()).all(|part| match rest.split_first() {
            Some((first, after)) if *first == part => {
                rest = after;
                true
            }
            _ => false,
        });
    match (below, absolute) {
        (true, _) => rest.join("/"),
        (false, true) => format!("/{}", kept.join("/")),
        (false, false) => kept.join("/"),
    }
}

/// The path of a file that was named from a folder.
pub(crate) fn below(folder: Option<&str>, file: &str) -> String {
    match folder {
        Some(folder) if !file.starts_with('/') => format!("{folder}/{file}"),
        _ => file.to_owned(),
    }
}

/// The parts of a path that matter.
fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|b| *b == b'/').filter(|part| !part.is_empty() && *part != b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(home: &str, folder: &str, name: &str, wanted: &str, expected: bool) {
        let (home, folder, name) = (home.as_bytes(), folder.as_bytes(), name.as_bytes());
        let base = if folder.starts_with(b"/") { &[] } else { home };
        let path = Path { home, base, folder, name, length: 0 };
        assert_eq!(path.is(wanted, true), expected);
        assert_eq!(path.is(wanted, false), expected && wanted.starts_with('/'));
    }

    #[test]
    fn the_same_file() {
        check("/home/me/app", "", "src/main.rs", "src/main.rs", true);
        check("/home/me/app", "src", "main.rs", "src/main.rs", true);
        check("/home/me/app", "./src/", "main.rs", "./src/main.rs", true);
        check("/home/me/app", "/home/me/app/src", "main.rs", "src/main.rs", true);
        check("/home/me/app", "/opt/dep/src", "lib.rs", "/opt/dep/src/lib.rs", true);
        check("/opt/dep", "src", "lib.rs", "/opt/dep/src/lib.rs", true);
    }

    #[test]
    fn another_file() {
        check("/home/me/app", "part/src", "main.rs", "src/main.rs", false);
        check("/home/me/app", "/elsewhere/src", "main.rs", "src/main.rs", false);
        check("/home/me/app", "src", "main.rs", "main/src/main.rs", false);
        check("/home/me/app", "src", "domain.rs", "src/main.rs", false);
        check("/home/me/app", "/opt/dep/src", "lib.rs", "/dep/src/lib.rs", false);
    }

    #[test]
    fn paths_seen_from_a_folder() {
        for (path, expected) in [
            ("/home/me/app/src/main.c", "src/main.c"),
            ("/home/me/app/build/../src/./main.c", "src/main.c"),
            ("/home/me/application/main.c", "/home/me/application/main.c"),
            ("/home/me/lib/../main.c", "/home/me/main.c"),
            ("/../usr/include/x.h", "/usr/include/x.h"),
            ("../main.c", "../main.c"),
            ("a/../../main.c", "../main.c"),
            ("", ""),
        ] {
            assert_eq!(seen_from("/home/me/app", path), expected, "{path}");
            assert_eq!(seen_from("/home/me/app/", path), expected, "{path}");
        }
        assert_eq!(seen_from("", "/home/me/a.c"), "/home/me/a.c");
        assert_eq!(seen_from("/", "/home/me/a.c"), "home/me/a.c");
    }

    #[test]
    fn whole_paths() {
        let of = |base: &'static str, folder: &'static str, name: &'static str| {
            let path =
                Path { home: b"", base: base.as_bytes(), folder: folder.as_bytes(), name: name.as_bytes(), length: 0 };
            path.whole()
        };
        assert_eq!(of("/home/me", "src", "a.c"), "/home/me/src/a.c");
        assert_eq!(of("", "/usr/include", "a.h"), "/usr/include/a.h");
        assert_eq!(of("", "", "/a.c"), "/a.c");
        assert_eq!(of("", "src", "a.c"), "src/a.c");
        assert_eq!(of(".", "src", "a.c"), "src/a.c");
    }

    #[test]
    fn files_are_found_by_name() {
        let wanted = WantedFiles::new(["src/b.rs", "src/a.rs", "", "src/b.rs"].into_iter());
        assert_eq!(wanted.len(), 2);
        assert_eq!(wanted.position("src/a.rs"), Some(0));
        assert_eq!(wanted.position("src/b.rs"), Some(1));
        assert_eq!(wanted.position("b.rs"), None);
    }
}
