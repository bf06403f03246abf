//! Programs on threads as they are: whoever waits goes on behind whoever ended the wait.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::build;
use crate::command::{report, workspan};
use crate::openmp_record::replayed;
use crate::openmp_run::{check_none, each, number, parse};
use crate::rows;
use crate::tbb::serial_and_beside;
use crate::verdicts::said;

/// Random programs in each language, and the most threads that each has: a thousand in all.
const PROGRAMS: i64 = 84;
const THREADS: [i64; 4] = [1, 2, 4, 8];

/// The program of `programs/threads` of this name.
pub(crate) fn threads(name: &str) -> PathBuf {
    compiled(&format!("{name}.c"), "gcc", name, &["-pthread"])
}

/// The same as `compiler` makes it at this level.
pub(crate) fn built(name: &str, compiler: &str, level: &str) -> PathBuf {
    compiled(&format!("{name}.c"), compiler, &format!("{name}-{compiler}{level}"), &[level, "-pthread"])
}

/// What the compiler makes of the source of this name there, once for all tests that run it.
pub(crate) fn compiled(source: &str, compiler: &str, name: &str, options: &[&str]) -> PathBuf {
    static BUILT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("threads");
    fs::create_dir_all(&folder).expect("the target directory is writable");
    let program = folder.join(name);
    if !built.insert(program.clone()) {
        return program;
    }
    let source = build::root().join("programs/threads").join(source);
    let mut command = Command::new(compiler);
    let optimised = if compiler == "rustc" { "-Copt-level=1" } else { "-O1" };
    command.args([optimised, "-g"]).args(options).arg("-o").arg(&program).arg(source);
    match command.output() {
        Ok(output) if output.status.success() => program,
        Ok(output) => panic!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            panic!("{compiler} is missing; `cargo xtask test` installs it")
        }
        Err(error) => panic!("{command:?}: {error}"),
    }
}

/// A run with the virtual clock, in a folder of its own.
pub(crate) struct Run {
    pub(crate) folder: PathBuf,
    out: String,
}

impl Drop for Run {
    fn drop(&mut self) {
        // What is left lies in the target directory.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What a report of the virtual clock warns of; all of it if it warns of nothing.
fn complaints(text: &str) -> String {
    let warns = |line: &&str| line.contains("warning:") || line.starts_with("! ") && !line.contains("virtual clock");
    let found: Vec<&str> = text.lines().filter(warns).collect();
    if found.is_empty() {
        text.to_owned()
    } else {
        found.join("\n")
    }
}

pub(crate) fn record(program: &Path, arguments: &[&str], strands: bool) -> Result<Run, String> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("threads-runs").join(number.to_string());
    fs::create_dir_all(&folder).expect("the target directory is writable");
    let mut command = workspan(&folder);
    command.args(["record", "--clock", "virtual"]).args(strands.then_some("--strands"));
    command.arg("--").arg(program).args(arguments);
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() || text.contains("warning:") {
        return Err(format!("{}: {}", output.status, complaints(&text)));
    }
    Ok(Run { folder, out: String::from_utf8_lossy(&output.stdout).into_owned() })
}

/// What differs from the span without the order of locks, on the fly and in strands. Where nobody has waited for a lock it is the span, and
/// not reported.
fn differences_in_any_order(run: &Run, span: i64, free: i64, strands: bool) -> Option<String> {
    let file = run.folder.join("workspan.wspan");
    let recorded = fs::read(&file).expect("it was recorded");
    let (recording, _) = workspan_read::file::decode(&recorded).expect("it is whole");
    let on_the_fly = recording.runs[0].uniform_span.0;
    if on_the_fly != free && (on_the_fly, free) != (0, span) {
        return Some(format!("the span in any order of locks is {on_the_fly}, not {free}"));
    }
    if !strands || on_the_fly == 0 {
        return None;
    }
    match replayed(&file) {
        Ok((_, found, _)) if found.uniform_span.0 == free => None,
        Ok((_, found, _)) => Some(format!("that of strands is {}, not {free}", found.uniform_span.0)),
        Err(wrong) => Some(wrong),
    }
}

/// What differs, if anything does: on the fly, in rows, and in the parts of the path.
fn differences(run: &Run, work: i64, span: i64, strands: bool) -> Option<String> {
    let report = report(&run.folder, "workspan.wspan");
    let program = &report["program"];
    let found = (number(&program["work_ns"]), number(&program["span_ns"]));
    if found != (work, span) || program["complete"] != true {
        return Some(format!("work and span {found:?}, not {:?}", (work, span)));
    }
    let contexts = report["contexts"].as_array().expect("a list");
    let critical: i64 = contexts.iter().map(|context| number(&context["critical_ns"])).sum();
    if critical != span {
        return Some(format!("the critical path's parts are {critical} of {span}"));
    }
    if let Some(wrong) = rows::wrong(&report) {
        return Some(wrong);
    }
    if strands {
        let predicted = workspan(&run.folder).args(["predict", "--json"]).output().expect("it runs");
        let predicted: Value = serde_json::from_slice(&predicted.stdout).expect("it is JSON");
        let found = number(&predicted["program"]["span_ns"]);
        return (found != span).then(|| format!("the span of strands is {found}, not {span}"));
    }
    None
}

#[test]
fn every_way_to_wait() {
    let program = threads("constructs");
    let list = Command::new(&program).output().expect("it runs").stdout;
    let list = String::from_utf8(list).expect("names and numbers");
    let mut runs = Vec::new();
    for line in list.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, work, span] = words[..] else { panic!("not a case: {line}") };
        runs.extend([false, true].map(|strands| (name, parse(work), parse(span), strands)));
    }
    assert!(runs.len() >= 30, "only {} runs", runs.len());
    let wrong = each(&runs, |(name, work, span, strands)| {
        let wrong = match record(&program, &[name], *strands) {
            Ok(run) => differences(&run, *work, *span, *strands),
            Err(message) => Some(message),
        };
        wrong.map(|wrong| format!("{name}, strands {strands}: {wrong}"))
    });
    check_none(&wrong, &format!("constructs.c, of {} runs", runs.len()));
}

/// What `main` does until it has joined its threads is no serial code, and is named after them.
#[test]
fn code_beside_threads() {
    let program = threads("constructs");
    let source = fs::read_to_string(build::root().join("programs/threads/constructs.c")).expect("it is there");
    let line = |text: &str| 1 + source.lines().position(|line| line.starts_with(text)).expect("it is there") as i64;
    for (case, function) in [("semaphore", "static void *runs("), ("mtx", "static int runs_c11(")] {
        for strands in [false, true] {
            let run = record(&program, &[case], strands).expect("it runs");
            let report = report(&run.folder, "workspan.wspan");
            // 1 before the thread, 10 and 4 beside it; the thread has a row of its own.
            assert_eq!(serial_and_beside(&report), (1, vec![(line(function), 14)]), "{case}: {:#}", report["regions"]);
        }
    }
}

/// A program waits for its threads' ends, for a moment: who said that it is done may not have come to its own.
#[test]
fn threads_that_have_not_come_to_their_ends() {
    for strands in [false, true] {
        let run = record(&threads("lingering"), &[], strands).expect("it runs");
        assert_eq!(differences(&run, 55, 35, strands), None, "strands {strands}");
    }
}

/// Random programs as they are called, and the most threads that they have.
fn seeds() -> Vec<(i64, i64)> {
    let drawn = (0..PROGRAMS).flat_map(|seed| THREADS.map(|threads| (seed * 10 + threads, threads)));
    // In these, two threads wake somebody at one address, with the same span, and another one without the order of locks.
    drawn.chain([(3020, 8), (3048, 8)]).collect()
}

/// The same programs by the threads of another language, against the same simulation.
fn check_played(player: &Path) {
    let drawn = threads("random");
    let runs = seeds();
    let wrong = each(&runs, |(seed, threads)| {
        let steps = Command::new(&drawn).args([&seed.to_string(), &threads.to_string(), "steps"]).output();
        let steps = steps.expect("it runs").stdout;
        let file = player.with_extension(format!("{seed}.steps"));
        fs::write(&file, &steps).expect("the target directory is writable");
        let recorded = record(player, &[&file.display().to_string()], false);
        // What is left lies in the target directory.
        let _ = fs::remove_file(&file);
        let wrong = match recorded {
            Ok(run) => {
                let answer: Vec<i64> = run.out.split_whitespace().map(parse).collect();
                let [work, span, _] = answer[..] else { panic!("no answer: {}", run.out) };
                differences(&run, work, span, false)
            }
            Err(message) => Some(message),
        };
        wrong.map(|wrong| format!("seed {seed}, {threads} threads: {wrong}"))
    });
    check_none(&wrong, &format!("{}, of {} runs", player.display(), runs.len()));
}

#[test]
fn random_programs_in_cpp() {
    check_played(&compiled("played.cpp", "g++", "played-cpp", &["-std=c++20", "-pthread"]));
}

#[test]
fn random_programs_in_rust() {
    check_played(&compiled("played.rs", "rustc", "played-rs", &["--edition=2021"]));
}

/// Threads that are created, joined, and wait by all means there are, in an order that the program has drawn: against its own
/// simulation.
#[test]
fn random_programs() {
    let program = threads("random");
    let runs = seeds();
    let wrong = each(&runs, |(seed, threads)| {
        let strands = seed % 20 < 10;
        let wrong = match record(&program, &[&seed.to_string(), &threads.to_string()], strands) {
            Ok(run) => {
                let answer: Vec<i64> = run.out.split_whitespace().map(parse).collect();
                let [work, span, free] = answer[..] else { panic!("no answer: {}", run.out) };
                let wrong = differences(&run, work, span, strands);
                wrong.or_else(|| differences_in_any_order(&run, span, free, strands))
            }
            Err(message) => Some(message),
        };
        wrong.map(|wrong| format!("seed {seed}, {threads} threads: {wrong}"))
    });
    check_none(&wrong, &format!("random.c, of {} runs", runs.len()));
}

/// Threads that all work under one lock are limited by that; each under its own, by nothing; without locks, by their number.
#[test]
fn one_lock_is_named_with_its_line() {
    let program = threads("planted");
    let source = fs::read_to_string(build::root().join("programs/threads/planted.c")).expect("it is there");
    let held = source.lines().position(|line| line.ends_with("// held")).expect("it has a lock") + 1;
    for (case, expected) in
        [("one", format!("lock-contention: lock planted.c:{held}")), ("many", "scales-well".to_owned())]
    {
        let run = record(&program, &[case], true).expect("it runs");
        assert_eq!(said(&report(&run.folder, "workspan.wspan")), expected, "{case}");
    }
    let worker = source.lines().position(|line| line.starts_with("static void *worker")).expect("it has threads") + 1;
    // Two threads are all that there is, whether each has a lock of its own or none; under one lock they take turns.
    for (case, strands) in [("many", false), ("many", true), ("free", false), ("free", true)] {
        let run = record(&program, &[case, "2"], strands).expect("it runs");
        let found = report(&run.folder, "workspan.wspan");
        assert_eq!(said(&found), format!("parallelism: few-threads planted.c:{worker}"), "{case}, strands {strands}");
        let text = found["verdict"]["text"].as_str().expect("a text");
        let says = text.contains(" of the critical path is code of the 2 threads of ");
        assert!(says && text.ends_with(&format!("planted.c:{worker}")), "{case}, strands {strands}: {text}");
    }
    let run = record(&program, &["one", "2"], true).expect("it runs");
    assert_eq!(said(&report(&run.folder, "workspan.wspan")), format!("lock-contention: lock planted.c:{held}"));
    let run = record(&program, &["free"], true).expect("it runs");
    let mut command = workspan(&run.folder);
    let ended = crate::command::run(command.args(["report", "--json", "--processors", "64"]));
    let report = serde_json::from_slice(&ended.check_success().stdout).expect("it is JSON");
    assert_eq!(said(&report), format!("parallelism: few-threads planted.c:{worker}"));
}

/// Who takes a lock last is accident: what another order would allow is the other end of the range, in every command.
#[test]
fn another_order_of_locks_is_the_other_end_of_the_range() {
    const THREADS: i64 = 32;
    let run = record(&threads("planted"), &["last"], true).expect("it runs");
    let (work, tail) = (THREADS * 1020 + THREADS * 1000, THREADS * 1000 + 10);
    let wrong = differences(&run, work, 10 + THREADS * 1000 + tail, true);
    let free = 10 + 1000 + tail;
    assert_eq!(wrong.or_else(|| differences_in_any_order(&run, 10 + THREADS * 1000 + tail, free, true)), None);
    let report = report(&run.folder, "workspan.wspan");
    assert_eq!(number(&report["program"]["uniform"]["span_ns"]), free);
    let text = report["verdict"]["text"].as_str().expect("a text");
    assert!(
        text.starts_with("parallelism 1.01 in the order in which locks were taken, at most 1.96 in any other if each thread does the same"),
        "{text}"
    );
    for (verb, expected) in
        [("calls", "parallelism 1.01–1.96"), ("predict", "at most 1.01–1.96x"), ("report", "1.01–1.96")]
    {
        let output = workspan(&run.folder).arg(verb).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(expected), "{verb}: {text}");
    }
}

/// A plugin's functions of OpenMP are ours, and its runtime can be found from nowhere but the plugin.
#[test]
fn a_library_loaded_later_may_use_openmp() {
    let program = threads("loads");
    for (compiler, seen) in [("gcc", false), ("clang-19", true)] {
        let library =
            compiled("loaded.c", compiler, &format!("loaded-{compiler}.so"), &["-fopenmp", "-shared", "-fPIC"]);
        let library = library.to_str().expect("our own name");
        let run = record(&program, &[library], false).expect("it ends as it does without us");
        assert_eq!(run.out, "9906\n", "{compiler}");
        let report = report(&run.folder, "workspan.wspan");
        let warnings = report["warnings"].as_array().expect("a list");
        let unseen = warnings.iter().any(|warning| warning["code"] == "openmp-unseen");
        let contexts = report["sites"].as_array().expect("a list");
        let loops = contexts.iter().filter(|site| site["kind"] == "loop").count();
        assert_eq!((unseen, loops), if seen { (false, 2) } else { (true, 0) }, "{compiler}: {warnings:?}");
    }
}

/// A pool that got no work is ended by its library's destructor, after the end of the program: it has waited for no file or timer.
#[test]
fn pools_end_after_the_program() {
    let program = threads("loads");
    let library = compiled("pool.c", "gcc", "pool.so", &["-pthread", "-shared", "-fPIC"]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("threads-pool");
    fs::create_dir_all(&folder).expect("the target directory is writable");
    let output = workspan(&folder).arg("record").arg("--").arg(program).arg(library).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "9906\n");
    let report = report(&folder, "workspan.wspan");
    let sites = report["sites"].as_array().expect("a list");
    let threads = sites.iter().filter(|site| site["kind"] == "thread");
    let blocked: Vec<i64> = threads.map(|site| number(&site["blocked_ns"])).collect();
    // A thread may have waited for a lock of the loader, which is no function that is followed; its wait in the pool is nearly all of the run.
    let wall = number(&report["program"]["wall_ns"]);
    assert!(blocked.len() == 2 && blocked.iter().all(|blocked| *blocked < wall / 2), "of {wall}: {sites:#?}");
}

/// Nothing can be loaded into some programs: a line says why, and what to do, before the program is started.
#[test]
fn programs_that_no_collector_can_be_loaded_into() {
    let musl = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1";
    for (name, options, words) in [
        (
            "static",
            &["-pthread", "-static"][..],
            "linked statically, so that no collector can be loaded into it: link it",
        ),
        ("static-pie", &["-pthread", "-static-pie", "-fPIE"], "linked statically, so that no collector can be loaded"),
        ("musl", &["-pthread", musl], "linked with musl, and the collector needs glibc: build it for"),
    ] {
        let program = compiled("constructs.c", "gcc", name, options);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("threads-refused").join(name);
        fs::create_dir_all(&folder).expect("the target directory is writable");
        let output = workspan(&folder).arg("record").arg("--").arg(program).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words) && said.lines().count() == 1, "{said}");
        assert!(output.stdout.is_empty() && !folder.join("workspan.wspan").exists());
    }
}
