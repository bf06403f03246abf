//! `cargo workspan depend`: labelled loops in Rust, iterators among them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{err, folder, success};

const FILES: [&str; 13] = [
    "main.rs",
    "iterators.rs",
    "kernels.rs",
    "adapters.rs",
    "applied.rs",
    "tricky.rs",
    "folds.rs",
    "cells.rs",
    "choices.rs",
    "shown.rs",
    "leftover.rs",
    "library.rs",
    "vectors.rs",
];

#[test]
fn loops_of_rust_have_verdicts_at_their_lines() {
    let folder = folder("depend-rust");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/loops-rust");
    fs::create_dir(folder.join("src")).expect("writable");
    fs::copy(program.join("Cargo.toml"), folder.join("Cargo.toml")).expect("it is there");
    for file in FILES {
        fs::copy(program.join("src").join(file), folder.join("src").join(file)).expect("it is there");
    }
    let profile = run(&folder);
    // Only the program's own code is shown, none of the library's and of what that is made of, as its hash tables.
    for list in ["loops", "calls"] {
        let found = profile[list].as_array().expect("a list").iter();
        let others: Vec<&Value> = found
            .map(|each| &each["file"])
            .filter(|file| !FILES.iter().any(|own| **file == format!("src/{own}")))
            .collect();
        assert!(others.is_empty(), "{list} of others: {others:?}");
    }
    let (mut all, mut parallel, mut wrong, mut missed) = (0, 0, Vec::new(), Vec::new());
    for file in FILES {
        let source = fs::read_to_string(folder.join("src").join(file)).expect("readable");
        for (number, line) in (1_u64..).zip(source.lines()).skip(1) {
            let Some(label) = ["@parallel", "@clauses", "@serial"].into_iter().find(|label| line.contains(label))
            else {
                continue;
            };
            let loops = profile["loops"].as_array().expect("a list").iter();
            let mut own = loops.filter(|each| each["line"] == number && each["file"] == format!("src/{file}"));
            let at = || format!("{file}:{number}: {line}");
            all += 1;
            if label == "@serial" {
                let is_parallel = own.any(|each| each["parallel"] == "yes" || each["parallel"] == "with-clauses");
                wrong.extend(is_parallel.then(at));
            } else {
                let verdict = if label == "@clauses" { "with-clauses" } else { "yes" };
                parallel += 1;
                missed.extend((!own.any(|each| each["parallel"] == verdict)).then(at));
            }
        }
    }
    names_are_those_of_the_function_with_the_loop(&profile, &folder.join("src/vectors.rs"));
    assert!(wrong.is_empty(), "serial, and called parallel:\n{}", wrong.join("\n"));
    assert!(all >= 440, "{all}");
    assert!(missed.len() * 100 <= parallel * 2, "of {parallel}, missed:\n{}", missed.join("\n"));
}

/// Operators and assignments are functions: what these call `self`, and what they return, has the name that the loop's function gives it.
fn names_are_those_of_the_function_with_the_loop(profile: &Value, source: &Path) {
    let text = fs::read_to_string(source).expect("readable");
    for (function, list, names) in [
        ("attract", "reductions", vec!["force", "force.y", "force.z"]),
        ("centre", "reductions", vec!["centre", "centre.y", "centre.z"]),
        ("last", "lastprivate", vec!["way"]),
    ] {
        let begin = text.lines().position(|line| line.starts_with(&format!("fn {function}("))).expect("it is there");
        let is_loop = |(_, line): &(u64, &str)| line.contains("@clauses");
        let (line, _) = (1..).zip(text.lines()).skip(begin).find(is_loop).expect("it is there");
        let all = profile["loops"].as_array().expect("a list");
        let own = all.iter().find(|each| each["line"] == line && each["file"] == "src/vectors.rs").expect("it was run");
        let found: Vec<&str> = own[list]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["variable"].as_str().or(one.as_str()).expect("a text"))
            .collect();
        assert_eq!(found, names, "{function}, {list}");
    }
}

/// What a function returns has no memory in Rust, and whoever is given it waits all the same.
#[test]
fn a_call_waits_for_what_another_one_has_returned() {
    let folder = package("depend-rust-values", "");
    let base = |body: &str| {
        let text = format!(
            "use std::hint::black_box;
#[inline(never)]
fn slow(mut x: f64) -> f64 {{ for k in 0..1000 {{ x = x * 0.5 + k as f64; }} x }}
#[inline(never)]
fn both(x: f64) -> (f64, f64) {{ (slow(x), x) }}
#[inline(never)]
fn pick(v: &[f64], x: f64) -> &f64 {{ &v[slow(x) as usize % 3] }}
#[inline(never)]
fn part(v: &[f64], x: f64) -> &[f64] {{ &v[slow(x) as usize % 2..] }}
#[inline(never)]
fn maybe(v: &[f64], x: f64) -> Option<&f64> {{ v.get(slow(x) as usize % 2) }}
#[inline(never)]
fn take(x: &f64) -> f64 {{ slow(*x) }}
#[inline(never)]
fn first(x: &[f64]) -> f64 {{ slow(x[0]) }}
fn main() {{
    {body}
}}
"
        );
        fs::write(folder.join("src/main.rs"), text).expect("writable");
        let profile = run(&folder);
        assert_eq!(profile["models"][0]["name"], "base");
        profile["models"][0]["parallelism"].as_f64().expect("a number")
    };
    for body in [
        "let x = slow(1.0); let y = 2.0 * x; black_box(slow(y));",
        "black_box(slow(slow(1.0)));",
        "let (x, y) = both(1.0); black_box(slow(x + y));",
        "let v = black_box([1.0; 3]); black_box(take(pick(&v, 1.0)));",
        "let v = black_box([1.0; 3]); let x = pick(&v, 1.0); black_box(slow(2.0 * x));",
        "let v = black_box([1.0; 3]); black_box(first(part(&v, 1.0)));",
        "let v = black_box([1.0; 3]); if let Some(x) = maybe(&v, 1.0) { black_box(take(x)); }",
    ] {
        let found = base(body);
        assert!(found < 1.02, "{body}: {found}");
    }
    for body in [
        "let (x, y) = (slow(1.0), slow(2.0)); black_box(x + y);",
        "let v = black_box([1.0; 3]); let (x, y) = (pick(&v, 1.0), pick(&v, 2.0)); black_box(x + y);",
    ] {
        let found = base(body);
        assert!(found > 1.9, "{body}: {found}");
    }
}

#[test]
fn what_only_builds_refuses_options_of_a_run() {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-workspan"))
        .args(["workspan", "build", "--release", "--html", "page.html"])
        .current_dir(folder("depend-build-html"))
        .output()
        .expect("it can be run");
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("type `workspan record --html"), "{}", err(&output));
}

/// LLVM would make one load of two whose values meet, in the head of the loop, and take the place where values meet for the loop's.
#[test]
fn reads_and_loops_stay_on_their_lines_where_values_meet() {
    let text = "#![allow(warnings)]
static mut G: u32 = 3;
static mut P: [u32; 4] = [1, 2, 3, 4];
#[inline(never)]
unsafe fn last(x: u32) -> u32 {
    let mut y = 0;
    (&raw mut G).write_volatile(x);
    if x & 1 == 1 {
        y = (&raw mut P[x as usize & 3]).read_volatile();
        for _ in 0..4u32 {
            y = (&raw mut G).read_volatile();
        }
    }
    y
}
#[inline(never)]
unsafe fn meets(n: u32) {
    let mut x = 0u32;
    (&raw mut G).write_volatile(n);
    for i0 in 0..2u32 {
        if (5 + x) & 1 == 1 {
            for i1 in 0..4u32 {
                (&raw mut P[3]).write_volatile(i1);
                x = n;
            }
        }
        for i1 in 0..2u32 {
            (&raw mut G).write_volatile(i1);
        }
        if x & 1 == 1 {
            x = i0;
        }
    }
}
fn main() {
    unsafe {
        last(1);
        meets(3);
    }
}
";
    let profile = run(&package("depend-rust-meets", text));
    let line = |value: &Value| value["line"].as_u64().unwrap_or(0);
    let loops: Vec<(u64, &str)> = profile["loops"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|each| (line(each), each["parallel"].as_str().expect("a text")))
        .collect();
    assert_eq!(loops, [(10, "with-clauses"), (20, "no"), (22, "with-clauses"), (27, "with-clauses")]);
    let all = profile["dependences"].as_array().expect("a list").iter();
    let of_g = all.filter(|each| each["variable"] == "G" && each["function"] != "main");
    let found: Vec<(u64, u64, u64, u64)> = of_g
        .map(|each| {
            let count = each["count"].as_u64().expect("a number");
            (line(&each["source"]), line(&each["sink"]), line(&each["carried_by"]), count)
        })
        .collect();
    assert_eq!(found, [(7, 11, 0, 4), (19, 28, 0, 1), (28, 28, 20, 1), (28, 28, 27, 2)]);
}

/// Compiles a program and profiles it; `line` is one that it prints.
#[track_caller]
fn prints(name: &str, text: &str, line: &str) {
    let output = depend(&package(name, text), &[]);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.lines().any(|printed| printed == line), "{out}");
}

/// A loop that calls may leave by unwinding, where what it carries is read: in LLVM's form nothing may stand before the beginning of that.
#[test]
fn loops_that_unwind_stay_valid() {
    let text = "#[inline(never)]
fn doubled(x: &u32) -> String {
    assert!(*x < 1000);
    (x * 2).to_string()
}
#[inline(never)]
fn all(v: &[u32]) -> Vec<String> {
    v.iter().map(doubled).collect()
}
#[inline(never)]
fn more(v: &[u32], into: &mut Vec<String>) {
    into.extend(v.iter().map(doubled));
}
fn main() {
    let v: Vec<u32> = (0..20).collect();
    let mut texts = all(&v);
    more(&v, &mut texts);
    texts.sort_by(|a, b| b.len().cmp(&a.len()));
    let caught = std::panic::catch_unwind(|| all(&[1, 2000])).is_err();
    println!(\"{} {} {caught} {:?}\", texts.len(), texts[3], 100i8.checked_add(100).or(5i8.checked_add(3)));
}
";
    prints("depend-rust-unwinds", text, "40 16 true Some(8)");
}

/// Instructions that only some processors have stay in functions that may use them.
#[cfg(target_arch = "x86_64")]
#[test]
fn code_for_some_processors_is_compiled() {
    let text = "use std::arch::x86_64::*;
#[target_feature(enable = \"avx2\")]
unsafe fn sum(v: &[u8]) -> i64 {
    let none = _mm256_setzero_si256();
    let all = v.chunks_exact(32).fold(none, |sum, part| unsafe {
        _mm256_add_epi64(sum, _mm256_sad_epu8(_mm256_loadu_si256(part.as_ptr().cast()), none))
    });
    let mut parts = [0i64; 4];
    unsafe { _mm256_storeu_si256(parts.as_mut_ptr().cast(), all) };
    parts.iter().sum()
}
fn main() {
    let v: Vec<u8> = (0..64).collect();
    let sum = if is_x86_feature_detected!(\"avx2\") { unsafe { sum(&v) } } else { 2016 };
    println!(\"{sum}\");
}
";
    prints("depend-rust-features", text, "2016");
}

/// A package of one file.
pub(crate) fn package(name: &str, text: &str) -> PathBuf {
    let folder = folder(name);
    fs::create_dir(folder.join("src")).expect("writable");
    let manifest = "[package]\nname = \"prog\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
    fs::write(folder.join("src/main.rs"), text).expect("writable");
    folder
}

/// The profile of a package.
pub(crate) fn run(folder: &Path) -> Value {
    let output = depend(folder, &["-o", "run.depend", "--json=run.json"]);
    let text = fs::read(folder.join("run.json")).unwrap_or_else(|_| panic!("{}", err(&output)));
    serde_json::from_slice(&text).expect("JSON")
}

/// Builds a package and profiles it.
#[track_caller]
fn depend(folder: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-workspan"));
    command.args(["workspan", "depend", "--release"]).args(options);
    command.current_dir(folder).env("WORKSPAN_PASS_VERIFY", "1").env_remove("CARGO_TARGET_DIR");
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    success(command.output().expect("it can be run"))
}
