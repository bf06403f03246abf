//! Every address that a program in C, C++ or Fortran reports has the place and the function that it reports.

use std::fs;
use std::path::{Path, PathBuf};

use workspan_model::{merge_sites, Function, Recording, Site, SiteKind};
use workspan_symbols::{debug_file_candidates, is_debug_file_of, symbolise, Module, Symbolised};

use crate::native::{run, sources, Compiler, Native};

/// Symbolises what a program reported, seen from the folder of its sources.
fn look(native: &Native, debug_file: Option<&[u8]>) -> (Vec<Site>, Symbolised) {
    let (bytes, library) = (native.bytes(), native.library_bytes());
    let path = native.library.to_str().expect("the path is UTF-8");
    let modules =
        [Module { debug_file, ..Module::executable(&bytes) }, Module { path, bytes: &library, debug_file: None }];
    let mut sites = native.sites();
    let folder = sources();
    let done = symbolise(&modules, folder.to_str().expect("the path is UTF-8"), &mut sites);
    (sites, done)
}

/// `short`: line tables alone have only the last part of some names.
#[track_caller]
fn check(native: &Native, debug_file: Option<&[u8]>, short: bool) {
    let (sites, done) = look(native, debug_file);
    assert_eq!(done.problem, None);
    assert!(done.has_debug_info);
    let mut wrong = Vec::new();
    for (told, site) in native.told.iter().zip(&sites) {
        let name = site.function.as_ref().map_or("", |function| function.name.as_str());
        let short = |expected: &str| short && (expected.ends_with(&format!("::{name}")) || is_call(expected));
        let same = |expected: &str| name == expected || short(expected);
        let right = site.file == told.file && site.line == told.line && told.function.split('|').any(same);
        if !right {
            wrong.push(format!("{}:{} {}: {site:?}", told.file, told.line, told.function));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", native.executable.display());
    assert_eq!(done.placed, sites.len());
}

/// By its last part alone such a name could be that of a lambda, which is none.
fn is_call(name: &str) -> bool {
    name.ends_with("operator()")
}

#[track_caller]
fn check_builds(compiler: Compiler, builds: &[(&[&str], bool)]) {
    for level in ["-O0", "-O2", "-O3"] {
        for (options, short) in builds {
            let options = [options, &[level][..]].concat();
            let native = Native::build(&format!("{compiler:?}{}", options.concat()), compiler, &options);
            check(&native, None, *short);
        }
    }
}

/// Options of the C and C++ compilers.
const BUILDS: &[(&[&str], bool)] = &[
    (&["-g"], false),
    (&["-g", "-no-pie"], false),
    (&["-gdwarf-4"], false),
    (&["-gdwarf-5", "-gz=zlib"], false),
    (&["-g1"], true),
];

#[test]
fn c_by_clang() {
    check_builds(Compiler::Clang, BUILDS);
}

#[test]
fn c_by_gcc() {
    check_builds(Compiler::Gcc, BUILDS);
}

#[test]
fn cpp_by_clang() {
    check_builds(Compiler::ClangCpp, BUILDS);
}

#[test]
fn cpp_by_gcc() {
    check_builds(Compiler::Gpp, BUILDS);
}

#[test]
fn fortran_by_gfortran() {
    check_builds(Compiler::Gfortran, &[(&["-g"], false), (&["-g", "-no-pie"], false), (&["-g1"], true)]);
}

#[test]
fn fortran_by_flang() {
    check_builds(Compiler::Flang, &[(&["-g"], false), (&["-g", "-no-pie"], false)]);
}

/// What the site is called for want of a place: function and offset.
fn names(sites: &[Site]) -> Vec<(&str, bool)> {
    let name = |site: &Site| {
        assert_eq!((site.file.as_str(), site.line, &site.via), ("", 0, &None));
        let function: Option<&Function> = site.function.as_ref();
        assert!(function.is_none_or(|function| !function.from_debug_info));
        function.is_some_and(|function| function.offset.is_some_and(|offset| offset > 0))
    };
    sites.iter().map(|site| (site.function.as_ref().map_or("", |f| f.name.as_str()), name(site))).collect()
}

#[test]
fn without_debug_information_symbols_must_do() {
    for (compiler, options, expected) in [
        (Compiler::Gcc, ["-O0"], &["main", "tasks", "loops", "in_library", "own"][..]),
        (Compiler::Clang, ["-O0"], &["main", ".omp_task_entry.", "tasks", "loops", "in_library", "own"]),
        (Compiler::Gpp, ["-O0"], &["app::Grid::Grid", "app::Grid::solve", "app::Grid::operator<<", "lambdas", "call"]),
        (Compiler::ClangCpp, ["-O0"], &["app::Grid::~Grid", "app::Grid::operator bool", "lambdas", "main"]),
        (Compiler::Gfortran, ["-O0"], &["solver::step", "main program", "outside", "inner", "within"]),
        (Compiler::Flang, ["-O0"], &["solver::step", "main program", "outside", "solver::step::inner", "within"]),
    ] {
        let native = Native::build(&format!("{compiler:?}-plain"), compiler, &options);
        let (sites, done) = look(&native, None);
        assert_eq!((done.has_debug_info, done.placed, done.from_debug_info), (false, 0, 0), "{compiler:?}");
        assert_eq!(done.from_symbols, sites.len());
        let names = names(&sites);
        for name in expected {
            assert!(names.contains(&(name, true)), "{compiler:?}: {name} in {names:?}");
        }
        assert!(names.iter().all(|(name, offset)| !name.is_empty() && *offset), "{compiler:?}: {names:?}");
    }
}

/// A library keeps the names of what others call.
#[test]
fn stripped_programs() {
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        let native = Native::build(&format!("{compiler:?}-stripped"), compiler, &["-O1", "-g"]);
        for file in [&native.executable, &native.library] {
            run("strip", &[file.to_str().expect("the path is UTF-8")]);
        }
        let (sites, done) = look(&native, None);
        assert!(!done.has_debug_info);
        let (names, library) = (names(&sites), native.library.to_str());
        for ((name, _), told) in names.iter().zip(&native.told) {
            let exported = Some(told.module.as_str()) == library && told.function == "in_library";
            assert!(!exported || *name == "in_library", "{name} for {told:?}");
            assert!(told.function != "own" || name.is_empty(), "{name} for {told:?}");
        }
        assert!(names.contains(&("in_library", true)));
    }
}

/// Moves debug information and symbols to a file of their own.
fn split(native: &Native, debug: &Path, link: bool) {
    let (executable, debug) = (native.executable.to_str().expect("UTF-8"), debug.to_str().expect("UTF-8"));
    run("objcopy", &["--only-keep-debug", executable, debug]);
    run("strip", &[executable]);
    if link {
        run("objcopy", &[&format!("--add-gnu-debuglink={debug}"), executable]);
    }
}

#[test]
fn debug_information_in_a_file_of_its_own() {
    for (compiler, link) in [(Compiler::Gcc, true), (Compiler::ClangCpp, true), (Compiler::Gfortran, false)] {
        // Without a build id the check sum must do.
        for id in ["-Wl,--build-id=sha1", "-Wl,--build-id=none"] {
            let native = Native::build(&format!("{compiler:?}-split{id}"), compiler, &["-O2", "-g", id]);
            let debug = native.executable.with_file_name("program.debug");
            split(&native, &debug, link);
            assert!(!look(&native, None).1.placed > 0);
            let (bytes, debug_bytes) = (native.bytes(), fs::read(&debug).expect("it was just written"));
            check(&native, Some(&debug_bytes), false);
            let candidates = debug_file_candidates(&native.executable, &bytes);
            let beside = |name: &str| native.executable.with_file_name(name);
            assert_eq!(candidates.contains(&debug), link);
            assert_eq!(candidates.contains(&beside(".debug").join("program.debug")), link);
            let by_id: Vec<&PathBuf> =
                candidates.iter().filter(|path| path.starts_with("/usr/lib/debug/.build-id")).collect();
            assert_eq!(by_id.len(), usize::from(id.ends_with("sha1")));
            // The names of folder and file are those of the id together.
            assert!(by_id.iter().all(|path| path.iter().rev().nth(1).is_some_and(|folder| folder.len() == 2)));
            let known = link || id.ends_with("sha1");
            assert_eq!(is_debug_file_of(&debug_bytes, &bytes), known);
            assert!(!is_debug_file_of(&native.library_bytes(), &bytes));
            assert!(!is_debug_file_of(b"", &bytes) && !is_debug_file_of(&bytes, b""));
        }
    }
    assert_eq!(debug_file_candidates(Path::new("/bin/x"), b"no executable"), Vec::<PathBuf>::new());
}

/// Compilers report the name of the file as they were given it, from where they ran.
#[test]
fn places_that_a_compiler_told() {
    let native = Native::build("told", Compiler::Clang, &["-O2", "-g"]);
    let bytes = native.bytes();
    let told = native.told.iter().find(|told| told.line > 0 && told.module.is_empty()).expect("there are some");
    let from = |directory: &Path, file: &str, function: &str, address: Option<u64>| {
        let mut sites = [Site {
            file: file.to_owned(),
            line: 7,
            column: 3,
            type_name: function.to_owned(),
            addresses: address.into_iter().collect(),
            ..told.site()
        }];
        let modules = [Module::executable(&bytes)];
        let done = symbolise(&modules, directory.to_str().expect("the path is UTF-8"), &mut sites);
        assert!(done.has_debug_info);
        let [site] = sites;
        assert_eq!((site.line, site.column), (7, 3));
        (site.file, site.function.map_or(String::new(), |function| function.name))
    };
    let known = Some(told.address);
    let here = sources();
    let above = here.parent().expect("it has one");
    let answer = |file: &str, function: &str| (file.to_owned(), function.to_owned());
    assert_eq!(from(&here, "c.c", "app::Grid<double>::solve", known), answer("c.c", "app::Grid::solve"));
    assert_eq!(from(above, "c.c", "unknown", known), answer("native/c.c", &told.function));
    assert_eq!(from(above, "../x/./c.c", "", known), answer("x/c.c", &told.function));
    assert_eq!(from(above, "c.c", "solve", None), answer("native/c.c", "solve"));
    assert_eq!(from(above, "other.c", "solve", None), answer("other.c", "solve"));
    let file = here.join("c.c");
    let file = file.to_str().expect("the path is UTF-8");
    assert_eq!(from(above, file, "solve", None), answer("native/c.c", "solve"));
    assert_eq!(from(Path::new("/nowhere"), "c.c", "solve", known), answer(file, "solve"));
    // Flang reports lines and no file.
    let native = Native::build("told-flang", Compiler::Flang, &["-O1", "-g"]);
    let told = native.told.iter().find(|told| told.function == "solver::step").expect("there is one");
    let site = |function: &str| Site {
        file: "FIRModule".to_owned(),
        line: 22,
        column: 11,
        type_name: function.to_owned(),
        ..told.site()
    };
    let without_address = Site { addresses: Vec::new(), ..site("step") };
    let mut sites = [site("step"), site("_QQmain"), without_address];
    symbolise(&[Module::executable(&native.bytes())], here.to_str().expect("the path is UTF-8"), &mut sites);
    let found = sites.map(|site| (site.file, site.line, site.function.expect("it was reported").name));
    let file = || "fortran.F90".to_owned();
    let expected = ["solver::step", "main program", "solver::step"].map(|function| (file(), 22, function.to_owned()));
    assert_eq!(found, expected);
}

/// Inlined into the program's own code, from a file that is not below its folder.
#[test]
fn callers_of_code_in_other_places() {
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        let native = Native::build_source(&format!("{compiler:?}-callers"), compiler, "program/main.c", &["-O2", "-g"]);
        let mut sites = native.sites();
        let folder = sources().join("program");
        symbolise(&[Module::executable(&native.bytes())], folder.to_str().expect("it is UTF-8"), &mut sites);
        let header = sources().join("inlined.h");
        for site in &sites {
            assert_eq!((Some(site.file.as_str()), site.line), (header.to_str(), 5));
            assert_eq!(site.via, Some(("main.c".to_owned(), 5)));
        }
        // Several addresses may be one place.
        let mut recording = Recording { sites, ..Recording::default() };
        merge_sites(&mut recording);
        assert_eq!(recording.sites.len(), 1);
    }
}

#[test]
fn what_is_not_known_stays_as_it_is() {
    let native = Native::build("unknown", Compiler::Gcc, &["-O2", "-g"]);
    let bytes = native.bytes();
    let site = |module: &str, address: u64| Site {
        kind: SiteKind::Parallel,
        module: module.to_owned(),
        addresses: vec![address],
        ..native.told[0].site()
    };
    let mut sites = [site("", 0), site("", u64::MAX), site("/elsewhere.so", 5), site(Site::UNKNOWN_MODULE, 7)];
    let before = sites.clone();
    let done = symbolise(&[Module::executable(&bytes)], "/", &mut sites);
    assert_eq!(sites, before);
    assert_eq!(done, Symbolised::default());
}

/// gcc gives calls of its runtime the line of whatever came before; the functions made of the bodies have that of the
/// directive.
#[test]
fn functions_that_compilers_make_begin_at_the_directive() {
    let folder = sources();
    let folder = folder.to_str().expect("the path is UTF-8");
    let text = fs::read_to_string(sources().join("c.c")).expect("it is there");
    let directive = |line: u32| {
        let line = text.lines().nth(line as usize - 1).unwrap_or_default();
        line.contains("#pragma omp parallel") || line.contains("#pragma omp task")
    };
    for level in ["-O0", "-O2"] {
        let native = Native::build(&format!("bodies{level}"), Compiler::Gcc, &["-g", level]);
        let bytes = native.bytes();
        let bodies = outlined(&native);
        assert_eq!(bodies.len(), 5, "{bodies:?}");
        let mut sites: Vec<Site> =
            bodies.iter().map(|(_, address)| Site { addresses: vec![*address], ..native.told[0].site() }).collect();
        symbolise(&[Module::executable(&bytes)], folder, &mut sites);
        for ((symbol, _), site) in bodies.iter().zip(&sites) {
            let function = site.function.as_ref().map(|function| function.name.as_str());
            assert_eq!(function, symbol.split('.').next(), "{site:?}");
            assert!(site.file == "c.c" && directive(site.line), "{symbol}: {site:?}");
        }
        // Without debug information the symbol reports which of them it is.
        run("strip", &["-g", native.executable.to_str().expect("the path is UTF-8")]);
        let mut sites: Vec<Site> =
            bodies.iter().map(|(_, address)| Site { addresses: vec![*address], ..native.told[0].site() }).collect();
        symbolise(&[Module::executable(&native.bytes())], folder, &mut sites);
        let names: Vec<_> = sites.iter().map(|site| site.function.as_ref().map_or("", |f| f.name.as_str())).collect();
        assert_eq!(names, bodies.iter().map(|(symbol, _)| symbol.as_str()).collect::<Vec<_>>());
    }
}

/// The functions that gcc has made of bodies, by symbol.
fn outlined(native: &Native) -> Vec<(String, u64)> {
    let output = std::process::Command::new("nm").arg(&native.executable).output().expect("binutils are there");
    let text = String::from_utf8(output.stdout).expect("symbols are ASCII");
    let symbol = |line: &str| {
        let mut words = line.split(' ');
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let name = words.nth(1).filter(|name| name.contains("._omp_fn.") && !name.ends_with(".cold"))?;
        Some((name.to_owned(), address))
    };
    text.lines().filter_map(symbol).collect()
}
