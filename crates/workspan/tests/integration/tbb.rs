//! oneTBB programs as they are: exact with both compilers, with and without optimisation, and any number of threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{report, run, workspan};
use crate::openmp_record::replayed;
use crate::openmp_run::{check_none, each, number, parse};
use crate::rows;
use crate::verdicts::said;

const WORKERS: [u32; 4] = [1, 2, 4, 8];

/// A compiler, and how it optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Built {
    compiler: &'static str,
    level: &'static str,
}

const GCC: Built = Built { compiler: "g++", level: "-O2" };
const GCC_PLAIN: Built = Built { compiler: "g++", level: "-O0" };
const CLANG: Built = Built { compiler: "clang++-19", level: "-O2" };
const CLANG_PLAIN: Built = Built { compiler: "clang++-19", level: "-O0" };

/// The same by gcc, for other tests.
pub(crate) fn by_gcc(source: &str) -> PathBuf {
    tbb(source, GCC)
}

/// The program of `programs/tbb` whose source this is.
fn tbb(source: &str, built: Built) -> PathBuf {
    static BUILT: OnceLock<Mutex<BTreeMap<(String, Built), PathBuf>>> = OnceLock::new();
    let mut known = BUILT.get_or_init(Mutex::default).lock().expect("no build has failed");
    known.entry((source.to_owned(), built)).or_insert_with(|| compile(source, built)).clone()
}

fn compile(source: &str, built: Built) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tbb").join(format!("{}{}", built.compiler, built.level));
    fs::create_dir_all(&folder).expect("the target directory is writable");
    let program = folder.join(source.replace('.', "-"));
    let mut command = Command::new(built.compiler);
    command.args(["-std=c++17", "-g", built.level, "-pthread", "-I"]).arg(build::root().join("include"));
    command.arg(build::root().join("programs/tbb").join(source)).arg("-o").arg(&program).arg("-ltbb");
    match command.output() {
        Ok(output) if output.status.success() => program,
        Ok(output) => panic!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            panic!("{} is missing; `cargo xtask test` installs it", built.compiler)
        }
        Err(error) => panic!("{command:?}: {error}"),
    }
}

/// The report of a run with the virtual clock, or what went wrong.
fn record(program: &Path, arguments: &[&str], workers: u32) -> Result<Value, String> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tbb-runs");
    fs::create_dir_all(&folder).expect("the target directory is writable");
    let file = folder.join(format!("{}.wspan", RUNS.fetch_add(1, Ordering::Relaxed)));
    let json = file.with_extension("json");
    let mut command = workspan(&folder);
    command.args(["record", "--clock", "virtual", "--workers", &workers.to_string(), "-o"]).arg(&file);
    command.arg(format!("--json={}", json.display())).arg("--").arg(program).args(arguments);
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let bytes = fs::read(&json);
    for file in [&file, &json] {
        // Not all of them need exist.
        let _ = fs::remove_file(file);
    }
    if !output.status.success() {
        return Err(format!("{}: {text}", output.status));
    }
    if text.contains("warning:") {
        return Err(text);
    }
    let report: Value =
        serde_json::from_slice(&bytes.map_err(|error| error.to_string())?).map_err(|e| e.to_string())?;
    match report["program"]["complete"] == true {
        true => Ok(report),
        false => Err(format!("incomplete: {}", report["warnings"])),
    }
}

fn output_of(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("the program runs");
    assert!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names and numbers")
}

/// What differs, if anything does.
fn differences(report: &Value, work: i64, span: i64) -> Option<String> {
    let found = (number(&report["program"]["work_ns"]), number(&report["program"]["span_ns"]));
    let contexts = report["contexts"].as_array().expect("a list");
    let critical: i64 = contexts.iter().map(|context| number(&context["critical_ns"])).sum();
    if found != (work, span) {
        return Some(format!("work and span {found:?}, not {:?}", (work, span)));
    }
    let parts = (critical != span).then(|| format!("the critical path's parts are {critical} of {span}"));
    parts.or_else(|| rows::wrong(report))
}

// ---- Closed forms ----

#[test]
fn constructs_by_gcc() {
    check_constructs(GCC);
}

#[test]
fn constructs_by_gcc_without_optimisation() {
    check_constructs(GCC_PLAIN);
}

#[test]
fn constructs_by_clang() {
    check_constructs(CLANG);
}

#[test]
fn constructs_by_clang_without_optimisation() {
    check_constructs(CLANG_PLAIN);
}

fn check_constructs(built: Built) {
    let program = tbb("constructs.cpp", built);
    let places = places();
    let list = output_of(&program, &["list"]);
    let mut runs = Vec::new();
    for line in list.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, work, span] = words[..] else { panic!("not a case: {line}") };
        // Where another thread may come between the end of an item and what libtbb does then, another item may wait for it.
        let workers = if name.ends_with("-alone") { &WORKERS[..1] } else { &WORKERS };
        runs.extend(workers.iter().map(|workers| (name, parse(work), parse(span), *workers)));
    }
    assert!(runs.len() >= 80, "only {} runs", runs.len());
    let wrong = each(&runs, |(name, work, span, workers)| {
        let wrong = match record(&program, &[name], *workers) {
            Ok(report) => differences(&report, *work, *span).or_else(|| misplaced(&report, &places)),
            Err(message) => Some(message),
        };
        wrong.map(|wrong| format!("{name}, {workers} workers: {wrong}"))
    });
    check_none(&wrong, &format!("constructs.cpp by {built:?}, of {} runs", runs.len()));
}

/// Lines of the source that have sites.
fn places() -> BTreeSet<i64> {
    let source = fs::read_to_string(build::root().join("programs/tbb/constructs.cpp")).expect("it is there");
    (1..).zip(source.lines()).filter(|(_, text)| text.ends_with("// site")).map(|(line, _)| line).collect()
}

/// A site that is none of the source's. A call of several lines may be known by any of them up to the one that is marked, or by
/// the one behind.
fn misplaced(report: &Value, places: &BTreeSet<i64>) -> Option<String> {
    let sites = report["sites"].as_array().expect("a list");
    if sites.is_empty() {
        return Some("no site".to_owned());
    }
    sites.iter().find_map(|site| {
        let (file, line) = (site["file"].as_str().unwrap_or_default(), number(&site["line"]));
        // Stages and nodes are where what they do is.
        let is_body = site["kind"] == "stage" || site["kind"] == "node";
        let near = is_body || places.range(line - 8..=line + 7).next().is_some();
        let right = file.ends_with("programs/tbb/constructs.cpp") && near;
        (!right).then(|| format!("{} at {file}:{line}", site["kind"]))
    })
}

/// Joins of bodies come behind both halves in recorded strands, too.
#[test]
fn joins_in_recorded_strands() {
    let program = tbb("constructs.cpp", GCC);
    for case in ["reduce-joins", "reduce-uneven", "reduce-by-loops"] {
        for workers in WORKERS {
            let folder = scratch("tbb-joins");
            let mut command = workspan(&folder);
            command.args(["record", "--strands", "--clock", "virtual", "--workers", &workers.to_string(), "--"]);
            run(command.arg(&program).arg(case)).check_success();
            let (recording, found, _) = replayed(&folder.join("workspan.wspan")).expect("it can be replayed");
            let expected = &recording.runs[0];
            assert_eq!((found.work(), found.span), (expected.work(), expected.span), "{case}, {workers} workers");
            assert_eq!(found.critical, expected.critical, "{case}, {workers} workers");
        }
    }
}

/// An item that waits for one whose task comes later in serial order goes on behind it: no time is blocked, and no code is beside its place.
#[test]
fn waits_of_stages_and_nodes_are_edges() {
    let program = tbb("constructs.cpp", GCC);
    let cases = ["serial-end", "serial-end-any", "serial-short-end", "one-token", "graph-one", "limiter-alone"];
    let mut runs = Vec::new();
    for case in cases {
        runs.extend(WORKERS.map(|workers| (case, workers)));
    }
    let wrong = each(&runs, |(case, workers)| {
        let folder = scratch(&format!("tbb-edges-{case}-{workers}"));
        let mut command = workspan(&folder);
        command.args(["record", "--strands", "--clock", "virtual", "--workers", &workers.to_string(), "--"]);
        run(command.arg(&program).arg(case)).check_success();
        let (recording, found, _) = replayed(&folder.join("workspan.wspan")).expect("it can be replayed");
        let expected = &recording.runs[0];
        let blocked: i64 = found.totals.iter().map(|totals| totals.blocked.0).sum();
        let (found, expected) = ((found.work(), found.span, blocked), (expected.work(), expected.span, 0));
        (found != expected).then(|| format!("{case}, {workers} workers: {found:?}, not {expected:?}"))
    });
    check_none(&wrong, "pipelines and graphs in strands");
}

/// The work of rows of serial code, and of code beside tasks or threads, with the line at which these begin.
pub(crate) fn serial_and_beside(report: &Value) -> (i64, Vec<(i64, i64)>) {
    let regions = report["regions"].as_array().expect("a list").iter().filter(|region| region["kind"] == "serial");
    let (beside, serial): (Vec<&Value>, Vec<&Value>) = regions.partition(|region| region["beside"] == true);
    let mut rows = BTreeMap::new();
    for region in beside {
        *rows.entry(number(&region["from"]["line"])).or_insert(0) += number(&region["work_ns"]);
    }
    let rows = rows.into_iter().filter(|(_, work)| *work > 0).collect();
    (serial.iter().map(|region| number(&region["work_ns"])).sum(), rows)
}

/// What the creator of tasks does until it waits for them is no serial code: tasks run beside it.
#[test]
fn code_beside_tasks() {
    let program = tbb("constructs.cpp", GCC);
    let source = fs::read_to_string(build::root().join("programs/tbb/constructs.cpp")).expect("it is there");
    let line = |text: &str| 1 + source.lines().position(|line| line.contains(text)).expect("it is there") as i64;
    let expected = vec![(line("group.run([] { tick(10); });"), 2), (line("group.run([] { tick(20); });"), 3)];
    for strands in [false, true] {
        let folder = scratch(&format!("tbb-beside-{strands}"));
        let mut command = workspan(&folder);
        command.args(["record", "--clock", "virtual", "--workers", "2"]).args(strands.then_some("--strands"));
        run(command.arg("--").arg(&program).arg("group")).check_success();
        let report = report(&folder, "workspan.wspan");
        assert_eq!(serial_and_beside(&report), (5, expected.clone()), "strands {strands}: {:#}", report["regions"]);
    }
}

/// Stages and nodes have rows of their own, by number and mode, at the line of what they do.
#[test]
fn stages_and_nodes_have_names() {
    let bodies = |case: &str, built: Built| -> Vec<(String, i64)> {
        let report = record(&tbb("constructs.cpp", built), &[case], 2).expect("it runs");
        let sites = report["sites"].as_array().expect("a list").iter();
        let bodies = sites.filter(|site| ["stage", "node"].iter().any(|kind| site["kind"] == *kind));
        let mut bodies: Vec<_> =
            bodies.map(|site| (site["name"].as_str().expect("a name").to_owned(), number(&site["self_ns"]))).collect();
        bodies.sort_unstable();
        bodies
    };
    let check = |built: Built, case: &str, expected: &[(&str, i64)]| {
        let found = bodies(case, built);
        let found: Vec<(&str, i64)> = found.iter().map(|(name, work)| (name.as_str(), *work)).collect();
        assert_eq!(found, expected, "{case} by {built:?}");
    };
    for built in [GCC, GCC_PLAIN, CLANG, CLANG_PLAIN] {
        check(built, "serial-end", &[("stage 1, serial", 20), ("stage 2, parallel", 50), ("stage 3, serial", 300)]);
        check(built, "graph-one", &[("node", 20), ("node", 50), ("node, one message at a time", 300)]);
    }
}

/// A task for each addition, each of some ten nanoseconds: no reading of the clock for most of them, and none of them lost.
#[test]
fn tasks_too_short_for_the_clock() {
    let program = tbb("bench.cpp", GCC);
    for workers in [1, 2] {
        let folder = scratch("tbb-short");
        let mut command = workspan(&folder);
        command.args(["record", "--workers", &workers.to_string(), "--"]).arg(&program).args(["fib", "24"]);
        run(&mut command).check_success();
        let report = report(&folder, "workspan.wspan");
        let site = &report["sites"][0];
        // Additions of fib(24) by two of less: fib(25) - 1.
        assert_eq!((number(&site["tasks"]), number(&site["instances"])), (75_024, 75_024), "{site:#}");
        let sizes = site["task_sizes"].as_array().expect("a list");
        assert_eq!(sizes.iter().map(|size| number(&size["tasks"])).sum::<i64>(), 75_024, "{site:#}");
        // What tasks have run themselves is the work of the site, as far as the clock was read.
        let (mean, own) = (number(&site["task_ns"]["mean"]), number(&site["self_ns"]));
        assert!(mean * 75_024 * 4 > own, "tasks of {mean} ns: {site:#}");
        assert_eq!(rows::wrong(&report), None, "{:#}", report["sites"]);
    }
}

/// Threads whose loops are the first that a program has, at the same time: none of them is missed while the library is looked at.
#[test]
fn threads_that_meet_it_together() {
    let program = tbb("constructs.cpp", GCC);
    for workers in [2, 4] {
        let folder = scratch("tbb-together");
        let mut command = workspan(&folder);
        command.args(["record", "--workers", &workers.to_string(), "--"]).arg(&program).arg("from-threads");
        run(&mut command).check_success();
        let report = report(&folder, "workspan.wspan");
        assert_eq!((number(&report["program"]["tasks"]), rows::wrong(&report)), (12, None), "{:#}", report["sites"]);
    }
}

/// A program that has oneTBB in it, by whatever is left of that in a stripped file: the description of a class that is libtbb's own.
#[test]
fn a_library_within_a_stripped_program() {
    let folder = scratch("tbb-within");
    let class = "namespace tbb::detail::r1 { struct arena { virtual ~arena() {} }; }";
    fs::write(folder.join("within.cpp"), format!("{class}\nint main() {{ delete new tbb::detail::r1::arena; }}\n"))
        .expect("our own folder");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O0", "-s", "-o", "within", "within.cpp"]).current_dir(&folder);
    assert!(compiler.status().is_ok_and(|status| status.success()));
    let mut command = workspan(&folder);
    let ended = run(command.args(["record", "--", "./within"]));
    ended.check_error(2, &["oneTBB is part of the program", "-DBUILD_SHARED_LIBS=ON"]);
}

// ---- Planted reasons ----

/// The verdict on `planted CASE`, and on the same without the reason.
#[track_caller]
fn check_planted(case: &str, task_cost: &str, expected: &str) {
    let program = tbb("planted.cpp", GCC);
    for (form, expected) in [("bad", expected), ("good", "scales-well")] {
        for workers in ["1", "2"] {
            let folder = scratch(&format!("tbb-planted-{case}-{workers}"));
            let mut command = workspan(&folder);
            command.args(["record", "--strands", "--clock", "virtual", "--virtual-task-cost", task_cost]);
            command.args(["--workers", workers, "--"]).arg(&program).args([case, form, "ticks"]);
            run(&mut command).check_success();
            let report = report(&folder, "workspan.wspan");
            assert_eq!((said(&report).as_str(), rows::wrong(&report)), (expected, None), "{case} {form} {workers}");
        }
    }
}

fn planted(text: &str) -> String {
    let source = fs::read_to_string(build::root().join("programs/tbb/planted.cpp")).expect("it is there");
    let line = source.lines().position(|line| line.contains(text)).expect("it is planted") + 1;
    format!("planted.cpp:{line}")
}

/// Whether anybody waits for a lock or not: what is long under it has a row, and bounds the span. Sections are counted, and parts of the same
/// run are compared, never time.
#[test]
fn a_long_lock_is_seen_without_waits() {
    let program = tbb("planted.cpp", GCC);
    for workers in ["1", "2"] {
        let folder = scratch(&format!("tbb-long-lock-{workers}"));
        let mut command = workspan(&folder);
        command.args(["record", "--workers", workers, "--"]).arg(&program).args(["lock", "bad"]);
        run(&mut command).check_success();
        let report = report(&folder, "workspan.wspan");
        let sites = report["sites"].as_array().expect("a list");
        let lock = sites.iter().find(|site| site["kind"] == "lock").unwrap_or_else(|| panic!("{report:#}"));
        // Of 2000 sections the first seven of a thread may come before the one that is looked at.
        let taken = lock["instances"].as_u64().expect("a number");
        assert!((1900..=2000).contains(&taken), "{workers}: {lock:#}");
        let parallelism = report["program"]["parallelism"].as_f64().expect("a number");
        assert!(parallelism < 1.5, "{workers}: {parallelism}");
        assert_eq!(said(&report), format!("lock-contention: lock {}", planted("// taken")));
    }
}

/// Whatever starts libtbb: that it looks at the machine and makes what it needs is nobody's work.
#[test]
fn its_start_is_no_work() {
    let folder = scratch("tbb-start");
    for built in [GCC, CLANG] {
        let program = tbb("first.cpp", built);
        for how in ["for", "simple", "group", "arena", "isolate", "control", "graph"] {
            // The machine may stop one run of three just before its first tasks.
            let mut gains = [(); 3].map(|()| {
                let ended = run(workspan(&folder).args(["record", "--workers", "2", "--"]).arg(&program).arg(how));
                ended.check_success();
                assert_eq!(ended.out(), "2016\n", "{how}");
                let found = report(&folder, "workspan.wspan");
                let start = found["regions"].as_array().expect("a list").iter().find(|region| region["prefix"] == true);
                let start = start.and_then(|start| start["work_ns"].as_i64()).unwrap_or_default();
                found["program"]["first_use_ns"].as_i64().expect("a time") - start
            });
            gains.sort_unstable();
            assert!(
                gains[1] > 0,
                "{built:?}, {how}: ns that its start took, less what came before its first tasks: {gains:?}"
            );
        }
    }
}

#[test]
fn planted_reasons() {
    check_planted("reduce", "0", &format!("parallelism: long-task {}", planted("return tbb::parallel_reduce(")));
    check_planted("fib", "5", &format!("task-overhead: small-tasks {}", planted("// bad: too fine")));
    for (case, body) in [
        ("pipeline", "if (left == 0)"),
        ("pipeline-end", "sum += x + work(int(x), end)"),
        ("pipeline-few", "return work(i, 110000 - begin - end)"),
        ("flow", "sum += long(work(i, 300000))"),
    ] {
        check_planted(case, "0", &format!("parallelism: own-code {}", planted(body)));
    }
}

// ---- Random programs ----

/// Random programs, and how many of them run one after another in one process.
const PROGRAMS: u64 = 1_000;
const TOGETHER: u64 = 20;

#[test]
fn random_programs() {
    check_random(GCC, PROGRAMS);
}

#[test]
fn random_programs_without_optimisation() {
    check_random(CLANG_PLAIN, PROGRAMS / 4);
}

fn check_random(built: Built, programs: u64) {
    let program = tbb("random.cpp", built);
    let mut runs = Vec::new();
    for first in (1..=programs).step_by(usize::try_from(TOGETHER).expect("a small number")) {
        runs.extend(WORKERS.map(|workers| (first.to_string(), workers)));
    }
    let together = TOGETHER.to_string();
    let wrong = each(&runs, |(first, workers)| {
        let answer = output_of(&program, &["oracle", first, &together]);
        let (work, span) = answer.trim().split_once(' ').expect("two numbers");
        let wrong = match record(&program, &["run", first, &together], *workers) {
            Ok(report) => differences(&report, parse(work), parse(span)),
            Err(message) => Some(message),
        };
        wrong.map(|wrong| format!("{together} seeds from {first}, {workers} workers: {wrong}"))
    });
    check_none(&wrong, &format!("random.cpp by {built:?}, of {} runs", runs.len()));
}
