//! Pools of threads that programs have written themselves, with their tasks marked: exact as those of any runtime, whoever runs them and
//! whatever the queue's lock does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{report, run, workspan};
use crate::openmp_record::replayed;
use crate::openmp_run::{check_none, each, number, parse};
use crate::rows;
use crate::threads::{self, compiled};

/// Random programs.
const PROGRAMS: u64 = 125;
const THREADS: [u32; 4] = [1, 2, 4, 8];

fn queues() -> PathBuf {
    let include = format!("-I{}", build::root().join("include").display());
    compiled("queues.cpp", "g++", "queues-cpp", &["-std=c++17", "-pthread", &include])
}

/// The report of a run with the virtual clock, and of its strands if there are any: work, span and free span.
fn record(program: &Path, arguments: &[&str], strands: bool) -> Result<(Value, Option<(i64, i64)>), String> {
    let run = threads::record(program, arguments, strands)?;
    let found = report(&run.folder, "workspan.wspan");
    let again = match strands {
        true => {
            let (_, found, _) = replayed(&run.folder.join("workspan.wspan"))?;
            let free = Some(found.uniform_span).filter(|span| span.0 != 0);
            Some((found.work().0, free.unwrap_or(found.span).0))
        }
        false => None,
    };
    Ok((found, again))
}

/// Work and span; of two ends of a range the one without the order in which locks were taken.
fn free(report: &Value) -> (i64, i64) {
    let program = &report["program"];
    let uniform = program["uniform"]["span_ns"].as_i64();
    (number(&program["work_ns"]), uniform.unwrap_or_else(|| number(&program["span_ns"])))
}

#[test]
fn random_programs() {
    let program = queues();
    let mut runs = Vec::new();
    for seed in 1..=PROGRAMS {
        runs.extend(THREADS.iter().flat_map(|threads| ["mutex", "spin"].map(|lock| (seed, *threads, lock))));
    }
    let wrong = each(&runs, |(seed, threads, lock)| {
        let seed = seed.to_string();
        let answer = Command::new(&program).args(["oracle", &seed]).output().expect("the program runs");
        let answer = String::from_utf8(answer.stdout).expect("numbers");
        let (work, span) = answer.trim().split_once(' ').expect("two numbers");
        let expected = (parse(work), parse(span));
        let strands = parse(&seed) % 5 == 0;
        let wrong = match record(&program, &["run", &threads.to_string(), lock, &seed], strands) {
            Ok((report, again)) => {
                let found = free(&report);
                let differs = (found != expected).then(|| format!("{found:?}, not {expected:?}"));
                let again = again.filter(|again| *again != expected).map(|found| format!("strands: {found:?}"));
                // Nothing but a mutex makes an order of its own.
                let range = *lock == "spin" && report["program"]["uniform"] != Value::Null;
                let range = range.then(|| "a range".to_owned());
                differs.or(again).or(range).or_else(|| rows::wrong(&report))
            }
            Err(message) => Some(message),
        };
        wrong.map(|wrong| format!("seed {seed}, {threads} threads, {lock}: {wrong}"))
    });
    check_none(&wrong, &format!("queues.cpp, of {} runs", runs.len()));
}

/// A program in Rust that uses `workspan_probe`, which is built beside it.
fn rust() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = scratch("queues-rust");
        let crates = build::root().join("crates");
        let compile = |options: &[&str], source: PathBuf| {
            let mut command = Command::new("rustc");
            command.args(["--edition=2021", "--cap-lints=allow", "-Copt-level=1", "-g", "-L"]).arg(&folder);
            command.arg("--out-dir").arg(&folder).args(options).arg(source);
            let output = command.output().expect("rustc is there");
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        let library = |name: &str| crates.join(name).join("src/lib.rs");
        compile(
            &["--crate-name=workspan_macros", "--crate-type=proc-macro", "--extern=proc_macro"],
            library("workspan-macros"),
        );
        let probe = ["--crate-name=workspan_probe", "--crate-type=rlib", "--extern=workspan_macros"];
        compile(&probe, library("workspan-probe"));
        compile(&["--extern=workspan_probe"], build::root().join("programs/threads/queues.rs"));
        folder.join("queues")
    })
}

#[test]
fn a_pool_in_rust() {
    let source = fs::read_to_string(build::root().join("programs/threads/queues.rs")).expect("it is there");
    let line = source.lines().position(|line| line.ends_with("// site")).expect("it is marked") + 1;
    for threads in THREADS {
        let (report, _) = record(rust(), &[&threads.to_string()], false).expect("it runs");
        assert_eq!(free(&report), (5 + 360 + 7, 5 + 80 + 7), "{threads} threads: {report:#}");
        let sites = report["sites"].as_array().expect("a list");
        let pool: Vec<_> = sites.iter().filter(|site| site["kind"] == "pool-task").collect();
        let [site] = pool[..] else { panic!("{sites:#?}") };
        assert_eq!((number(&site["line"]), number(&site["tasks"]), number(&site["work_ns"])), (line as i64, 8, 360));
        assert!(site["file"].as_str().is_some_and(|file| file.ends_with("programs/threads/queues.rs")), "{site:#}");
    }
}

/// Sixteen equal tasks, marked and not: only where they are marked does anybody know of them.
#[test]
fn marks_show_tasks() {
    let program = queues();
    for (marks, tasks) in [("marked", 16), ("plain", 0)] {
        let folder = scratch(&format!("queues-{marks}"));
        let mut command = workspan(&folder);
        run(command.args(["record", "--"]).arg(&program).args(["busy", "2", marks])).check_success();
        let report = report(&folder, "workspan.wspan");
        let sites = report["sites"].as_array().expect("a list");
        let kinds: BTreeSet<&str> = sites.iter().filter_map(|site| site["kind"].as_str()).collect();
        assert_eq!(
            (number(&report["program"]["tasks"]), kinds.contains("pool-task")),
            (tasks, tasks > 0),
            "{sites:#?}"
        );
        // Two threads do not hide that there are sixteen tasks beside each other; and nobody knows of them without marks.
        let parallelism = report["program"]["parallelism"].as_f64().expect("a number");
        assert_eq!(parallelism > 4.0, tasks > 0, "{marks}: {parallelism}: {report:#}");
        let text = report["verdict"]["text"].as_str().expect("text");
        assert!(tasks > 0 || text.contains("thread"), "{text}");
    }
}
