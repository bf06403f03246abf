//! Random programs whose dependences an interpreter computes from the definition, against `workspan depend`: as C, Fortran and Rust.
//!
//! The interpreter keeps every access with its whole way from the root of the execution tree, and compares each access with all that
//! came before: no shadow, no groups, no compression. Several programs are functions of one file, to compile fewer.

mod interpreter;
mod language;
mod program;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use self::interpreter::Interpreter;
use self::language::Language;
use self::program::Writer;
use crate::support::{build, err, folder, success, workspan};

/// Files, and programs in each. 50 files are 2000 programs.
const FILES: u64 = 6;
const PROGRAMS: u64 = 40;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }
}

/// A node of the tree as an access saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) id: usize,
    /// Line of the loop; 0: a call.
    pub(crate) line: u32,
    pub(crate) function: usize,
    pub(crate) iteration: u64,
    /// The call that the access happened in.
    pub(crate) call: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) site: usize,
    pub(crate) line: u32,
    pub(crate) path: Vec<Node>,
}

/// Kind, line of the source, line of the sink, function, line of the loop that carries it.
pub(crate) type Key = (String, u32, u32, String, u32);
/// Count, least and greatest distance.
pub(crate) type Found = BTreeMap<Key, (u64, u64, u64)>;

/// Where two accesses meet.
pub(crate) struct Between {
    /// Of both accesses, or of the calls that they were made in.
    pub(crate) lines: (u32, u32),
    /// Line of the loop that carries a dependence, or 0.
    pub(crate) carrier: u32,
    /// As the later one saw it.
    pub(crate) node: Node,
    pub(crate) distance: u64,
}

/// The nearest common ancestor of two accesses.
pub(crate) fn between(from: &Seen, to: &Seen) -> Between {
    let common = from.path.iter().zip(&to.path).take_while(|(a, b)| a.id == b.id).count();
    let differs = (0..common).find(|at| from.path[*at].iteration != to.path[*at].iteration);
    let at = differs.unwrap_or(common - 1);
    let (a, b) = (from.path[at], to.path[at]);
    let carrier = if differs.is_some() { b.line } else { 0 };
    // The frame around: whether the access was made by a call of it.
    let line = |seen: &Seen, node: Node| if node.call == 0 { seen.line } else { node.call };
    let lines = (line(from, a), line(to, b));
    Between { lines, carrier, node: b, distance: b.iteration.abs_diff(a.iteration) }
}

/// Counts a dependence.
pub(crate) fn note(found: &mut Found, key: Key, least: u64, most: u64) {
    let entry = found.entry(key).or_insert((0, u64::MAX, 0));
    *entry = (entry.0 + 1, entry.1.min(least), entry.2.max(most));
}

/// What `workspan depend` found in the functions of one program.
pub(crate) fn reported(json: &serde_json::Value, program: u64, wanted: impl Fn(&str) -> bool) -> Found {
    let mut found = Found::new();
    let prefix = format!("f{program}_");
    for each in json["dependences"].as_array().expect("a list") {
        let function = each["function"].as_str().expect("a text");
        if !function.starts_with(&prefix) || !wanted(each["variable"].as_str().unwrap_or_default()) {
            continue;
        }
        let line = |point: &serde_json::Value| u32::try_from(point["line"].as_u64().unwrap_or(0)).expect("a line");
        let key = (
            each["kind"].as_str().expect("a text").to_owned(),
            line(&each["source"]),
            line(&each["sink"]),
            function.to_owned(),
            line(&each["carried_by"]),
        );
        let number = |value: &serde_json::Value| value.as_u64().expect("a number");
        let distance = &each["distance"];
        let entry = found.entry(key).or_insert((0, u64::MAX, 0));
        entry.0 += number(&each["count"]);
        entry.1 = entry.1.min(number(&distance["min"]));
        entry.2 = entry.2.max(number(&distance["max"]));
    }
    found
}

/// What was not found, or not expected.
pub(crate) fn difference(expected: &Found, found: &Found) -> String {
    let mut difference = String::new();
    for (key, value) in expected.iter().filter(|(key, value)| found.get(*key) != Some(*value)) {
        let _ = writeln!(difference, "expected {key:?} {value:?}, found {:?}", found.get(key));
    }
    for (key, value) in found.iter().filter(|(key, _)| !expected.contains_key(*key)) {
        let _ = writeln!(difference, "not expected: {key:?} {value:?}");
    }
    difference
}

/// Writes, builds and profiles files of programs, and compares each program. Gives back how many, and how many dependences they have.
fn compare(language: Language, files: u64, profile: impl Fn(&str, &str) -> serde_json::Value) -> (u64, usize) {
    let (mut compared, mut dependences) = (0, 0);
    for file in 0..files {
        let mut writer = Writer::new(language, 0x9e37_79b9 + file * 7919);
        writer.put(language.begin_file());
        let mut expected = Vec::new();
        while expected.len() < usize::try_from(PROGRAMS).expect("small") {
            let (text, line) = (writer.text.len(), writer.line);
            let functions = writer.program();
            let mut interpreter = Interpreter::new(&functions, language);
            interpreter.call(2, (0, 0), 0, true);
            if interpreter.steps >= 60_000 {
                // Too long: another one in its place.
                writer.text.truncate(text);
                writer.line = line;
                continue;
            }
            expected.push(interpreter.found);
            writer.program += 1;
        }
        let calls: Vec<String> = (0..PROGRAMS).map(|program| format!("f{program}_2();")).collect();
        let (objects, end) = language.end_file(&calls);
        let json = profile(&objects, &(writer.text + &end));
        for (program, expected) in (0..).zip(&expected) {
            let found = reported(&json, program, |name| language.wants(name));
            let difference = difference(expected, &found);
            assert!(difference.is_empty(), "{language:?}, file {file}, program {program}:\n{difference}");
            compared += 1;
            dependences += expected.len();
        }
    }
    (compared, dependences)
}

fn files(usually: u64) -> u64 {
    std::env::var("WORKSPAN_DEPEND_FILES").ok().and_then(|files| files.parse().ok()).unwrap_or(usually)
}

/// The profile of `./prog`.
pub(crate) fn profile(folder: &Path) -> serde_json::Value {
    let output = workspan(folder, &["depend", "-o", "run.depend", "--json", "--", "./prog"]);
    assert!(output.status.success(), "{}", err(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn random_programs_have_the_dependences_of_the_definition() {
    let folder = folder("depend-oracle");
    let files = files(FILES);
    let (compared, dependences) = compare(Language::C, files, |_, text| {
        fs::write(folder.join("prog.c"), text).expect("writable");
        build(&folder, "cc -O2 -w prog.c -o prog");
        profile(&folder)
    });
    assert!(compared == files * PROGRAMS && dependences > 100, "{compared} programs, {dependences} dependences");
}

#[test]
fn random_programs_in_fortran_have_the_dependences_of_the_definition() {
    let folder = folder("depend-oracle-fortran");
    let files = files(2);
    let (compared, dependences) = compare(Language::Fortran, files, |objects, text| {
        fs::write(folder.join("objects.f90"), objects).expect("writable");
        fs::write(folder.join("prog.f90"), text).expect("writable");
        build(&folder, "gfortran -O1 -c objects.f90");
        build(&folder, "gfortran -O1 -w prog.f90 objects.o -o prog");
        profile(&folder)
    });
    assert!(compared == files * PROGRAMS && dependences > 100, "{compared} programs, {dependences} dependences");
}

#[test]
fn random_programs_in_rust_have_the_dependences_of_the_definition() {
    let folder = folder("depend-oracle-rust");
    fs::create_dir(folder.join("src")).expect("writable");
    let manifest = "[package]\nname = \"prog\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
    let files = files(2);
    let (compared, dependences) = compare(Language::Rust, files, |_, text| {
        fs::write(folder.join("src/main.rs"), text).expect("writable");
        let output = success(
            Command::new(env!("CARGO_BIN_EXE_cargo-workspan"))
                .args(["workspan", "depend", "--release", "-o", "run.depend", "--json=run.json"])
                .current_dir(&folder)
                .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
                .env_remove("CARGO_TARGET_DIR")
                .output()
                .expect("it can be run"),
        );
        let text = fs::read(folder.join("run.json")).unwrap_or_else(|_| panic!("{}", err(&output)));
        serde_json::from_slice(&text).expect("JSON")
    });
    assert!(compared == files * PROGRAMS && dependences > 100, "{compared} programs, {dependences} dependences");
}
