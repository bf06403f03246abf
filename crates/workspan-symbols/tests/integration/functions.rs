//! Every place that a fixture prints is in the function that it prints.

use workspan_symbols::{Executable, Place};

use crate::build::{fixtures, program, run, rustc, scratch, Program};

/// How a fixture is compiled.
#[derive(Clone, Copy)]
struct Build {
    name: &'static str,
    options: &'static [&'static str],
    /// Functions that were inlined have only short names.
    short_names: bool,
}

const FULL: &[&str] = &["-Cdebuginfo=2"];
const LINES: &[&str] = &["-Cdebuginfo=line-tables-only"];

/// Looks up all places that the program has printed.
#[track_caller]
fn check(program: &Program, short_names: bool) {
    let places: Vec<_> = program.lines.iter().map(|line| place(line)).collect();
    assert!(!places.is_empty());
    let found = Executable::parse(&program.bytes).expect("rustc makes sound files").functions(&places);
    assert!(found.files_known);
    assert_eq!(found.problem, None);
    let mut wrong = Vec::new();
    for (line, name) in program.lines.iter().zip(&found.names) {
        let expected = line[3].as_str();
        let short = expected.rsplit("::").next();
        let right = expected.split('|').any(|expected| name.as_deref() == Some(expected));
        let right = right || short_names && name.as_deref() == short;
        if !right {
            wrong.push(format!("{}: {name:?}", line.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn place(line: &[String]) -> Place<'_> {
    let number = |at: usize| line[at].parse().expect("fixtures print numbers");
    Place { file: &line[0], line: number(1), column: number(2) }
}

#[track_caller]
fn check_build(build: Build) {
    for level in ["-Copt-level=0", "-Copt-level=1", "-Copt-level=3"] {
        let options: Vec<_> = build.options.iter().copied().chain([level]).collect();
        let name = format!("{}{level}", build.name);
        check(&program(&name, "functions.rs", &options), build.short_names);
    }
}

#[test]
fn full_debug_information() {
    check_build(Build { name: "full", options: FULL, short_names: false });
}

#[test]
fn line_tables_only() {
    check_build(Build { name: "lines", options: LINES, short_names: true });
}

#[test]
fn limited_debug_information() {
    check_build(Build { name: "limited", options: &["-Cdebuginfo=1"], short_names: false });
}

#[test]
fn dwarf_5() {
    check_build(Build { name: "full-5", options: &["-Cdebuginfo=2", "-Cdwarf-version=5"], short_names: false });
    let options = &["-Cdebuginfo=line-tables-only", "-Cdwarf-version=5"];
    check_build(Build { name: "lines-5", options, short_names: true });
}

#[test]
fn dwarf_4() {
    check_build(Build { name: "full-4", options: &["-Cdebuginfo=2", "-Cdwarf-version=4"], short_names: false });
}

#[test]
fn other_manglings_and_layouts() {
    let options = &["-Cdebuginfo=2", "-Csymbol-mangling-version=v0"];
    check_build(Build { name: "v0", options, short_names: false });
    let options = &["-Cdebuginfo=line-tables-only", "-Csymbol-mangling-version=v0", "-Ccodegen-units=1"];
    check_build(Build { name: "v0-lines", options, short_names: true });
    let options = &["-Cdebuginfo=2", "-Crelocation-model=static"];
    check_build(Build { name: "static", options, short_names: false });
    let options = &["-Cdebuginfo=2", "-Clto=fat"];
    check_build(Build { name: "lto", options, short_names: false });
    let options = &["-Cdebuginfo=2", "-Clink-arg=-Wl,--compress-debug-sections=zlib"];
    check_build(Build { name: "compressed", options, short_names: false });
}

#[test]
fn a_dependency_with_a_file_of_the_same_name() {
    for (name, debug) in [("same-name-full", FULL), ("same-name-lines", LINES)] {
        let out = scratch(name);
        let out = out.to_str().expect("the path is UTF-8");
        let fixtures = fixtures().join("same_name");
        let dep = fixtures.join("dep/src/lib.rs");
        let dep = dep.to_str().expect("the path is UTF-8");
        // Cargo gives the path of a dependency's root whole, that of the workspace's relative.
        rustc(
            &fixtures.join("dep"),
            &[&[dep, "--crate-name=dep", "--crate-type=rlib", "--out-dir", out], debug].concat(),
        );
        let executable = &format!("{out}/app");
        let arguments = ["src/main.rs", "--crate-name=app", "-o", executable, "-L", out, "--extern=dep"];
        rustc(&fixtures.join("app"), &[&arguments, debug].concat());
        let program = run(executable.as_ref());
        assert_eq!(program.lines.len(), 4);
        assert_eq!(program.lines[0][0], "src/code.rs");
        assert!(program.lines[2][0].ends_with("same_name/dep/src/code.rs"));
        check(&program, false);
    }
}

#[test]
fn without_debug_information_nothing_is_known() {
    let program = program("none", "functions.rs", &["-Cdebuginfo=0"]);
    let places: Vec<_> = program.lines.iter().map(|line| place(line)).collect();
    let executable = Executable::parse(&program.bytes).expect("rustc makes sound files");
    let found = executable.functions(&places);
    // The standard library has some, but it knows nothing of our files.
    assert!(executable.has_debug_info());
    assert!(!found.files_known);
    assert!(found.names.iter().all(Option::is_none));
    let stripped = crate::build::program("stripped", "functions.rs", &["-Cdebuginfo=2", "-Cstrip=debuginfo"]);
    let executable = Executable::parse(&stripped.bytes).expect("rustc makes sound files");
    assert!(!executable.has_debug_info());
    assert!(!executable.functions(&places).files_known);
}

#[test]
fn places_that_are_nowhere() {
    let program = program("nowhere", "functions.rs", FULL);
    let executable = Executable::parse(&program.bytes).expect("rustc makes sound files");
    let place = |file, line| Place { file, line, column: 1 };
    let places = [
        place("functions.rs", 1_000_000),
        place("other.rs", 10),
        place("", 10),
        place("functions.rs", 0),
        place("/", 1),
    ];
    assert_eq!(executable.functions(&places).names, vec![None; places.len()]);
    assert_eq!(executable.functions(&[]).names, Vec::<Option<String>>::new());
}
