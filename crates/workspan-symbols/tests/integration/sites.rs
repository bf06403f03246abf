//! Sites get their functions.

use workspan_model::{Function, Site, SiteKind};
use workspan_symbols::{symbolise, Error, Module, Symbolised};

use crate::build::program;

fn site(kind: SiteKind, file: &str, line: u32, column: u32, type_name: &str) -> Site {
    Site { type_name: type_name.to_owned(), ..Site::at(kind, file, line, column) }
}

fn function(name: &str, from_debug_info: bool) -> Option<Function> {
    Some(Function { name: name.to_owned(), from_debug_info, offset: None })
}

#[test]
fn debug_information_comes_first() {
    let program = program("sites", "functions.rs", &["-Cdebuginfo=2"]);
    let line: u32 = program.lines[0][1].parse().expect("fixtures print numbers");
    let known = Site { function: function("known", false), ..site(SiteKind::Spawn, "functions.rs", line, 5, "") };
    let mut sites = [
        site(SiteKind::Join, "functions.rs", line, 5, "elsewhere::wrong::{{closure}}"),
        site(SiteKind::Join, "other.rs", line, 5, "(core::x::{{closure}}, app::other::{{closure}})"),
        site(SiteKind::Join, "other.rs", line, 5, "app::operator"),
        site(SiteKind::Serial { from: None, to: None }, "functions.rs", line, 5, "app::serial::{{closure}}"),
        site(SiteKind::Thread, "", 0, 0, "app::spawner::{{closure}}"),
        known,
    ];
    let done = symbolise(&[Module::executable(&program.bytes)], "", &mut sites);
    let expected = Symbolised { has_debug_info: true, from_debug_info: 1, from_type_names: 2, ..Symbolised::default() };
    assert_eq!(done, expected);
    let functions = sites.map(|site| site.function);
    let expected = [
        function("functions::main", true),
        function("app::other", false),
        None,
        None,
        function("app::spawner", false),
        function("known", false),
    ];
    assert_eq!(functions, expected);
}

#[test]
fn a_short_name_is_made_whole_by_the_type_of_a_closure() {
    let program = program("sites-short", "functions.rs", &["-Cdebuginfo=line-tables-only", "-Copt-level=3"]);
    let of = |function: &str| {
        let line = program.lines.iter().find(|line| line[3] == function).expect("the fixture prints it");
        let number = |at: usize| line[at].parse().expect("fixtures print numbers");
        site(SiteKind::ParIter, &line[0], number(1), number(2), "")
    };
    let inlined = of("functions::Grid::inherent_inline");
    let own = Site { type_name: "functions::Grid<T>::inherent_inline::{{closure}}".to_owned(), ..inlined.clone() };
    let callers = Site { type_name: "functions::main::{{closure}}".to_owned(), ..inlined.clone() };
    let mut sites = [inlined, own, callers];
    assert_eq!(symbolise(&[Module::executable(&program.bytes)], "", &mut sites).from_debug_info, 3);
    let names = sites.map(|site| site.function.map(|function| function.name));
    assert_eq!(names[0].as_deref(), Some("inherent_inline"));
    assert_eq!(names[1].as_deref(), Some("functions::Grid::inherent_inline"));
    assert_eq!(names[2].as_deref(), Some("inherent_inline"));
}

#[test]
fn without_an_executable_the_types_of_closures_must_do() {
    for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fELF", &[0xff; 4096]] {
        let mut sites = [site(SiteKind::Scope, "src/main.rs", 3, 5, "app::main::{{closure}}")];
        let done = symbolise(&[Module::executable(bytes)], "", &mut sites);
        assert!(matches!(done.problem, Some(Error::NotAnExecutable(_))));
        assert!(!done.has_debug_info);
        assert_eq!(done.from_type_names, 1);
        assert_eq!(sites[0].function, function("app::main", false));
    }
}
