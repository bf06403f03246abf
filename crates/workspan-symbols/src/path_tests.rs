//! Names that the compiler gives to closures and types, and what is made of them.

use super::*;

#[track_caller]
fn check(type_name: &str, expected: Option<&str>) {
    assert_eq!(function_from_type_name(type_name).as_deref(), expected, "{type_name}");
}

#[track_caller]
fn check_simple(name: &str, expected: &str) {
    assert_eq!(simplify(name), expected, "{name}");
}

#[test]
fn a_closure_names_its_function() {
    check("fib::fib::{{closure}}", Some("fib::fib"));
    check("fib::fib::{{closure}}::{{closure}}", Some("fib::fib"));
    check("rayon_core::join::join::call<u64, fib::fib::{{closure}}>::{{closure}}", Some("fib::fib"));
    check("app::outer::{{closure}}::inner::{{closure}}", Some("app::outer::inner"));
    check("app::run<u64, app::Item<u8>>::{{closure}}", Some("app::run"));
    check("app::main::{closure#0}", Some("app::main"));
    check("app::main::{closure_env#1}<u64>", Some("app::main"));
}

#[test]
fn no_closure_of_the_program_names_nothing() {
    check("", None);
    check("u64", None);
    check("app::double", None);
    check("fn(u64) -> u64", None);
    check("core::iter::adapters::map::Map<I, core::ops::function::FnOnce::call_once::{{closure}}>", None);
    check("rayon_core::join::join::call<u64, app::double>::{{closure}}", None);
    check("crossbeam_utils::thread::scope::{{closure}}", None);
    check("{{closure}}", None);
}

#[test]
fn the_first_closure_counts() {
    check("(app::first::{{closure}}, app::second::{{closure}})", Some("app::first"));
    check(
        "(rayon::iter::map::Map<rayon::vec::IntoIter<app::Item>, app::main::{{closure}}>, fn(u8))",
        Some("app::main"),
    );
    check("app::wrap<app::inner::{{closure}}>::{{closure}}", Some("app::wrap"));
    check("app::Wrap<app::inner::{{closure}}>", Some("app::inner"));
    check("app::Wrap<(), [app::Item; 3], &mut app::inner::{{closure}}>", Some("app::inner"));
    check("[app::inner::{{closure}}; 2]", Some("app::inner"));
    check("*const app::inner::{{closure}}", Some("app::inner"));
}

#[test]
fn types_that_are_not_paths_are_passed_over() {
    check("(dyn core::ops::Fn(app::X) -> app::Y + core::marker::Send, app::f::{{closure}})", Some("app::f"));
    check("alloc::boxed::Box<dyn for<'a> core::ops::Fn(&'a u8) -> &'a u8>, app::f::{{closure}}", Some("app::f"));
    check("for<'a> fn(&'a u8) -> app::f::{{closure}}", Some("app::f"));
    check("unsafe extern \"C\" fn(*mut u8) -> !, app::f::{{closure}}", Some("app::f"));
    check("dyn core::iter::Iterator<Item = app::f::{{closure}}>", Some("app::f"));
    check("app::Char<'>'>, app::f::{{closure}}", Some("app::f"));
    check("app::Char<'\\''>, app::f::{{closure}}", Some("app::f"));
    check("app::Text<\"a>\\\">\">, app::f::{{closure}}", Some("app::f"));
    check("app::Array<{ N + 1 }>, app::f::{{closure}}", Some("app::f"));
    check("app::Array<3>, app::Array<-3>, app::f::{{closure}}", Some("app::f"));
}

#[test]
fn methods_of_implementations() {
    check("<app::Grid as app::Run>::run::{{closure}}", Some("<app::Grid as app::Run>::run"));
    check("<app::Grid<u8, [u8; 4]> as app::Run<u8>>::run::{{closure}}", Some("<app::Grid as app::Run>::run"));
    check("<impl app::Run for alloc::vec::Vec<app::x::{{closure}}>>::run::{{closure}}", {
        Some("<impl app::Run for alloc::vec::Vec>::run")
    });
    check("app::grid::<impl app::Run for app::Grid<u8>>::run::{{closure}}", {
        Some("app::grid::<impl app::Run for app::Grid>::run")
    });
    check("app::Grid<T>::run::{{closure}}", Some("app::Grid::run"));
    check("<app::Grid<T>>::run::{{closure}}", Some("app::Grid::run"));
    check("<&mut app::Grid as app::Run>::run::{{closure}}", Some("<&mut app::Grid as app::Run>::run"));
    check("<[u8] as app::Run>::run::{{closure}}", Some("<[u8] as app::Run>::run"));
}

#[test]
fn implementations_in_rayon_for_types_of_the_program_are_not_the_programs() {
    let prefix =
        "<alloc::vec::Vec<app::Item> as rayon::iter::FromParallelIterator<app::Item>>::from_par_iter::{{closure}}";
    check(prefix, None);
    check(&format!("({prefix}, app::main::{{{{closure}}}})"), Some("app::main"));
    check("<(app::A, app::B) as rayon::iter::ParallelExtend>::par_extend::{{closure}}", None);
    check("<fn(app::A) as core::fmt::Pointer>::fmt::{{closure}}", None);
    check("rayon::vec::<impl rayon::iter::Trait for app::Item>::f::{{closure}}", None);
}

#[test]
fn a_name_cut_short_gives_what_is_complete() {
    let whole = "rayon_core::join::join::call<u64, fib::fib::{{closure}}>::{{closure}}";
    for end in 0..whole.len() {
        let name = function_from_type_name(&whole[..end]);
        let complete = whole[..end].contains("{{closure}}");
        assert_eq!(name.as_deref(), complete.then_some("fib::fib"), "{}", &whole[..end]);
    }
}

#[test]
fn odd_text_is_read_to_its_end() {
    for text in [
        "<",
        ">",
        "::",
        "a::",
        "::a",
        "<a as",
        "<a as >::{{closure}}",
        "}{",
        "''",
        "'",
        "\"",
        "a<'",
        "{{{",
        "é::ü<",
        "\u{0}",
    ] {
        let _ = simplify(text);
        let _ = function_from_type_name(text);
    }
    for open in ["<", "(", "[", "{", "a<", "<a as <", "&", "'a ", "::<impl "] {
        let _ = function_from_type_name(&open.repeat(100_000));
    }
    assert_eq!(
        function_from_type_name(&format!("{}app::f::{{{{closure}}}}", "(".repeat(50))).as_deref(),
        Some("app::f")
    );
}

#[test]
fn symbols_are_shortened() {
    check_simple("app::main", "app::main");
    check_simple("app::main::{{closure}}", "app::main");
    check_simple("app::main::{closure#0}::{closure#1}", "app::main");
    check_simple("app::main::{{closure}}::helper", "app::main::helper");
    check_simple("app::sum::<u64, app::Item>", "app::sum");
    check_simple("app::sum::<u64>::{closure#0}", "app::sum");
    check_simple("<app::Grid<u64> as app::Run>::run::{closure#2}", "<app::Grid as app::Run>::run");
    check_simple("<app::Grid<u64>>::run::<u8>", "app::Grid::run");
    check_simple(
        "app::x::<impl core::ops::Add<u8> for app::Y<Z>>::add",
        "app::x::<impl core::ops::Add for app::Y>::add",
    );
    check_simple("core::ops::function::FnOnce::call_once{{vtable.shim}}", "core::ops::function::FnOnce::call_once");
    check_simple("app::main.cold", "app::main");
    check_simple("{closure#0}<app::main::{closure_env#0}>", "");
    check_simple("run_inline<app::A, (u8, u8)>", "run_inline");
    check_simple("_start", "_start");
}

#[test]
fn last_segments() {
    assert_eq!(last_segment("app::Grid::run"), "run");
    assert_eq!(last_segment("<app::Grid as app::Run>::run"), "run");
    assert_eq!(last_segment("main"), "main");
}
