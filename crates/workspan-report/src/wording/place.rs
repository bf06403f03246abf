//! How places are written.

use schemars::JsonSchema;
use serde::Serialize;
use workspan_model::{Recording, Site, SiteId, SiteKind};

pub use super::path::short_file;
use super::ran::Ran;

/// Place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// File as the compiler saw it; empty if it is not known.
    pub file: String,
    /// Line, from 1; 0 if it is not known.
    pub line: u32,
    /// Column, from 1; 0 if it is not known.
    pub column: u32,
    /// For want of file and line: a function, or a file of code, and how far behind its beginning the place is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Another site has the same line: as text, the column says which it is.
    #[serde(skip)]
    #[schemars(skip)]
    pub with_column: bool,
}

/// `file:line`, clickable in most terminals. Long folders of registries are cut to the package.
pub fn short(file: &str, line: u32) -> String {
    if starts_threads(file) {
        return "std::thread::spawn".to_owned();
    }
    format!("{}:{line}", short_file(file))
}

/// True for the file in which Rust's standard library starts every thread of every program: its lines say nothing of the program.
pub fn starts_threads(file: &str) -> bool {
    file.split_once("library/std/src/sys/").is_some_and(|(_, rest)| rest.contains("thread"))
}

/// A file below `folder`, where the reader is, as it is called from there; any other file as it is.
pub fn below<'f>(folder: &str, file: &'f str) -> &'f str {
    let folder = folder.trim_end_matches('/');
    if folder.is_empty() {
        // Everything is below the root, so that it says nothing.
        return file;
    }
    file.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).unwrap_or(file)
}

/// A place as text.
pub fn text(place: &Place) -> String {
    place
        .code
        .clone()
        .unwrap_or_else(|| in_line(&place.file, place.line, Some(place.column).filter(|_| place.with_column)))
}

/// `file:line`, or `file:line:column` where the column matters.
pub fn in_line(file: &str, line: u32, column: Option<u32>) -> String {
    match column {
        Some(column) if !starts_threads(file) => format!("{}:{column}", short(file, line)),
        _ => short(file, line),
    }
}

/// Of more sites than these, none is compared with all others.
const FEW: usize = 2048;

/// True if another site of the same kind has the same line and another column: two threads that are created in one line, say.
pub fn column_matters(recording: &Recording, site: &Site) -> bool {
    let others =
        if recording.sites.len() > FEW || site.line == 0 || site.column == 0 { &[][..] } else { &recording.sites };
    let same = |other: &Site| (other.kind, other.line) == (site.kind, site.line) && other.file == site.file;
    others.iter().any(|other| other.column != 0 && other.column != site.column && same(other))
}

/// The place of a site that has one: all but serial code have.
pub fn of(recording: &Recording, site: &Site) -> Option<Place> {
    let Site { file, line, column, .. } = site;
    let code = code(recording, site);
    let with_column = column_matters(recording, site);
    (!file.is_empty() || code.is_some()).then(|| Place {
        file: file.clone(),
        line: *line,
        column: *column,
        code,
        with_column,
    })
}

/// Where the code of a site is that has no place in the source: in a function, or else in a file.
pub fn code(recording: &Recording, site: &Site) -> Option<String> {
    let address = site.bare_address()?;
    if let Some(function) = &site.function {
        return Some(match function.offset.filter(|offset| *offset > 0) {
            Some(offset) => format!("{}+{offset:#x}", function.name),
            None => function.name.clone(),
        });
    }
    let program = recording.command.first().map_or("", String::as_str);
    let file = if site.module.is_empty() { program } else { &site.module };
    Some(format!("{}+{address:#x}", file.rsplit('/').next().unwrap_or(file)))
}

/// The place of a site by its id.
pub fn of_id(recording: &Recording, id: Option<SiteId>) -> Option<Place> {
    of(recording, recording.sites.get(id?.0 as usize)?)
}

/// True if serial code of this kind is none: tasks or threads that it has begun run meanwhile.
pub fn is_beside(recording: &Recording, kind: SiteKind) -> bool {
    let SiteKind::Serial { from: Some(from), .. } = kind else { return false };
    recording.sites.get(from.0 as usize).is_some_and(|site| site.kind == SiteKind::Beside)
}

/// What serial code is called: the function in which it spends its time, and where it lies between regions, or what runs `beside` it.
pub fn serial(from: Option<&Place>, to: Option<&Place>, ran: Option<&Ran>, beside: bool) -> String {
    let between = between(from, to, beside);
    let code = if beside { "code" } else { "serial code" };
    let parts: Vec<String> = match ran {
        None => [format!("{code} {between}").trim_end().to_owned()].into(),
        // Of several threads at a time it is serial within each alone.
        Some(ran) if from.is_none() && to.is_none() && ran.threads > 1 => {
            [format!("code of {}{}", ran.thread(), ran.clause()), between].into()
        }
        Some(ran) => [format!("{code}{}", ran.clause()), between, ran.thread()].into(),
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Where serial code lies between regions, or what runs `beside` it.
pub fn between(from: Option<&Place>, to: Option<&Place>, beside: bool) -> String {
    let at = text;
    match (from, to) {
        (Some(from), Some(to)) if beside && from != to => format!("beside {}, before {}", at(from), at(to)),
        (Some(from), _) if beside => format!("beside {}", at(from)),
        // Beside threads of the program, or of a program without any region.
        (None, None) => String::new(),
        (None, Some(to)) => format!("before {}", at(to)),
        (Some(from), None) => format!("after {}", at(from)),
        (Some(from), Some(to)) if from == to => format!("between runs of {}", at(from)),
        (Some(from), Some(to)) => format!("from {} to {}", at(from), at(to)),
    }
}

/// The name that a program gives a region that it marks.
pub fn marked(site: &Site) -> Option<&str> {
    (site.kind == SiteKind::Marked && !site.type_name.is_empty()).then_some(site.type_name.as_str())
}

/// The same, or which of an algorithm's bodies a site is: `stage 2, serial`. It stands behind the type of the body.
pub fn name(site: &Site) -> Option<&str> {
    let of_body = || site.type_name.split_once(' ').map(|(_, name)| name).filter(|_| site.kind.is_body());
    marked(site).or_else(of_body)
}

/// The name of a site in a list: its place, or where serial code lies.
pub fn label(recording: &Recording, site: &Site) -> String {
    match site.kind {
        SiteKind::Serial { from, to } => {
            let (from, to) = (of_id(recording, from), of_id(recording, to));
            let ran = recording.ran(site).map(Ran::of);
            serial(from.as_ref(), to.as_ref(), ran.as_ref(), is_beside(recording, site.kind))
        }
        _ => of(recording, site).as_ref().map_or_else(|| site.kind.name().to_owned(), text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_model::Function;

    #[track_caller]
    fn check(file: &str, expected: &str) {
        assert_eq!(short(file, 7), expected);
    }

    #[test]
    fn code_for_want_of_a_place() {
        let site = |module: &str, function: Option<(&str, Option<u64>)>| Site {
            kind: SiteKind::Task,
            file: String::new(),
            line: 0,
            column: 0,
            function: function.map(|(name, offset)| Function { name: name.to_owned(), from_debug_info: false, offset }),
            type_name: String::new(),
            module: module.to_owned(),
            addresses: vec![0x1234],
            via: None,
        };
        let recording = Recording { command: vec!["./bin/prog".to_owned()], ..Recording::default() };
        let check = |site: Site, expected: &str| assert_eq!(label(&recording, &site), expected);
        check(site("", Some(("main", Some(0x1f)))), "main+0x1f");
        check(site("/lib/liba.so", Some((".omp_task_entry.", Some(0)))), ".omp_task_entry.");
        check(site("", None), "prog+0x1234");
        check(site("/lib/liba.so", None), "liba.so+0x1234");
        check(site(Site::UNKNOWN_MODULE, None), "?+0x1234");
        check(Site { addresses: Vec::new(), ..site("", None) }, "task");
        check(Site { file: "a.c".to_owned(), line: 7, ..site("", Some(("f", None))) }, "a.c:7");
    }

    /// Two threads created in one line, and a lock there.
    #[test]
    fn sites_of_one_line_differ_by_column() {
        let site = |kind, line, column| Site::at(kind, "a.cpp", line, column);
        let sites = vec![
            site(SiteKind::Thread, 25, 15),
            site(SiteKind::Thread, 25, 29),
            site(SiteKind::Lock, 25, 40),
            site(SiteKind::Thread, 26, 15),
        ];
        let recording = Recording { sites, ..Recording::default() };
        let labels: Vec<String> = recording.sites.iter().map(|site| label(&recording, site)).collect();
        assert_eq!(labels, ["a.cpp:25:15", "a.cpp:25:29", "a.cpp:25", "a.cpp:26"]);
    }

    #[test]
    fn serial_code_without_a_region_is_before_none() {
        let ran = |threads| Ran {
            function: "f".to_owned(),
            file: String::new(),
            first_line: 0,
            last_line: 0,
            samples: 90,
            share: 1.0,
            callees: Vec::new(),
            threads,
            main_thread: false,
        };
        assert_eq!(serial(None, None, Some(&ran(4)), false), "code of 4 threads in `f`");
        assert_eq!(serial(None, None, Some(&ran(1)), false), "serial code in `f`, 1 thread");
        assert_eq!(serial(None, None, None, false), "serial code");
    }

    #[test]
    fn code_beside_tasks_is_not_serial() {
        let at = |line| Place { file: "a.cpp".to_owned(), line, column: 0, code: None, with_column: false };
        let (first, next) = (at(3), at(9));
        assert_eq!(serial(Some(&first), Some(&first), None, true), "code beside a.cpp:3");
        assert_eq!(serial(Some(&first), Some(&next), None, true), "code beside a.cpp:3, before a.cpp:9");
        assert_eq!(serial(Some(&first), None, None, false), "serial code after a.cpp:3");
    }

    #[test]
    fn the_standard_library_starts_threads() {
        let file = "/rustc/0123/library/std/src/sys/thread/unix.rs";
        assert_eq!(short(file, 108), "std::thread::spawn");
        assert_eq!(short("/rustc/0123/library/std/src/sync/mpmc.rs", 1), "library/std/src/sync/mpmc.rs:1");
    }

    #[test]
    fn files_are_called_as_the_reader_would() {
        for (folder, file, expected) in [
            ("/home/u/p", "/home/u/p/src/a.c", "src/a.c"),
            ("/home/u/p/", "/home/u/p/a.c", "a.c"),
            ("/home/u/p", "/home/u/prog/a.c", "/home/u/prog/a.c"),
            ("/home/u/p", "src/a.c", "src/a.c"),
            ("", "/a.c", "/a.c"),
            ("/", "/usr/include/a.h", "/usr/include/a.h"),
        ] {
            assert_eq!(below(folder, file), expected);
        }
    }

    #[test]
    fn folders_that_say_nothing_are_left_out() {
        check("src/main.rs", "src/main.rs:7");
        check("/home/u/.cargo/registry/src/index-0123/blake3-1.5.0/src/join.rs", "blake3-1.5.0/src/join.rs:7");
        check("/home/u/.cargo/git/checkouts/rayon-0123/abcd/src/lib.rs", "src/lib.rs:7");
        check("/rustc/0123/library/core/src/ops.rs", "library/core/src/ops.rs:7");
    }
}
