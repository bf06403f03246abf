//! Names of rows, from samples that are made up.

use super::*;

fn function(name: &str) -> Function {
    Function { name: name.to_owned(), own: !name.starts_with("lib") }
}

/// Calls, innermost first: name, line, inlined into what comes next.
type Calls = &'static [(&'static str, u32, bool)];

fn named(chains: &[(Calls, usize)]) -> Option<Ran> {
    let mut known = Known::new();
    let mut samples = Vec::new();
    let mut address = 0;
    for (calls, times) in chains {
        let frames: Vec<Frame> = calls
            .iter()
            .enumerate()
            .map(|(at, (name, line, inlined))| {
                let around = calls[at..].iter().find(|(_, _, inlined)| !inlined).map(|(name, ..)| *name);
                let inlined = match (inlined, around) {
                    (false, _) => Inlined::No,
                    (true, Some("main")) => Inlined::IntoMain,
                    (true, _) => Inlined::Elsewhere,
                };
                Frame { function: function(name), file: "a.c".to_owned(), line: *line, inlined }
            })
            .collect();
        address += 1;
        let call = (PathBuf::from("prog"), address);
        known.insert(call.clone(), frames);
        let seen = Seen { row: ContextId(1), tid: 7, main_thread: true, calls: vec![call] };
        samples.extend(vec![seen; *times]);
    }
    common(SiteId(0), &samples, &known)
}

#[track_caller]
fn check(chains: &[(Calls, usize)], expected: &str) {
    assert_eq!(named(chains).map(|ran| ran.function).as_deref(), Some(expected));
}

#[test]
fn the_innermost_function_that_most_samples_have_in_common() {
    let chains: &[(Calls, usize)] = &[
        (&[("escape", 50, false), ("write", 41, false), ("main", 9, false)], 40),
        (&[("flush", 70, false), ("write", 45, false), ("main", 9, false)], 50),
        (&[("read", 3, false), ("main", 8, false)], 10),
    ];
    let ran = named(chains).expect("there are samples enough");
    assert_eq!((ran.function.as_str(), ran.lines, ran.within, ran.samples), ("write", (41, 45), 90, 100));
    assert_eq!(ran.callees, [("flush".to_owned(), 50), ("escape".to_owned(), 40)]);
}

#[test]
fn functions_of_libraries_come_after_those_of_the_program() {
    check(&[(&[("libcmp", 0, false), ("libsort", 0, false), ("order", 4, false), ("main", 9, false)], 20)], "order");
    check(&[(&[("libcmp", 0, false), ("libsort", 0, false)], 20)], "libcmp");
}

#[test]
fn helpers_that_are_inlined_stand_for_their_user() {
    check(&[(&[("mix", 2, true), ("read", 4, false), ("main", 9, false)], 20)], "read");
}

#[test]
fn phases_that_are_inlined_into_main_are_named() {
    check(&[(&[("mix", 2, true), ("read", 4, true), ("main", 9, false)], 20)], "read");
}

#[test]
fn of_two_phases_main_is_what_is_common() {
    let chains: &[(Calls, usize)] =
        &[(&[("read", 4, false), ("main", 8, false)], 20), (&[("write", 5, false), ("main", 9, false)], 30)];
    check(chains, "main");
    let ran = named(chains).expect("there are samples enough");
    assert_eq!(ran.callees, [("write".to_owned(), 30), ("read".to_owned(), 20)]);
}

#[test]
fn a_helper_of_two_phases_is_no_phase() {
    let chains: &[(Calls, usize)] = &[
        (&[("mix", 2, true), ("read", 4, false), ("main", 8, false)], 20),
        (&[("mix", 2, true), ("write", 5, false), ("main", 9, false)], 30),
    ];
    check(chains, "main");
}

#[test]
fn a_closure_that_is_inlined_into_its_function_is_that_function() {
    check(&[(&[("mix", 2, true), ("write", 4, true), ("write", 4, false), ("main", 9, false)], 20)], "write");
}

#[test]
fn recursion_counts_once() {
    let chains: &[(Calls, usize)] =
        &[(&[("fib", 4, false), ("fib", 5, false), ("fib", 5, false), ("main", 9, false)], 20)];
    let ran = named(chains).expect("there are samples enough");
    assert_eq!((ran.function.as_str(), ran.within, ran.lines), ("fib", 20, (4, 4)));
}

#[test]
fn what_begins_every_program_is_no_name() {
    assert_eq!(named(&[(&[("_start", 0, false)], 20)]), None);
}

#[test]
fn few_samples_name_what_is_in_all_of_them() {
    let write: Calls = &[("escape", 50, false), ("write", 41, false), ("main", 9, false)];
    let read: Calls = &[("read", 3, false), ("main", 8, false)];
    let ran = named(&[(write, 4)]).expect("all have it");
    assert_eq!((ran.function.as_str(), ran.samples, ran.callees.len()), ("escape", 4, 0));
    check(&[(write, 4), (read, 1)], "main");
}
