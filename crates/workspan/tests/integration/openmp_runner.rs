//! Running OpenMP programs: which runtime they use, what environment they get, and what their places are called.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use workspan::openmp::libomp;

use crate::build::scratch;
use crate::command::{report, run, warnings, workspan, Ended};

/// A task in a parallel region; what it is asked to print; a status.
const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int work(int n);
static int leaf(int n) { return n * 2; }
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 2; i < argc; i++) printf("%s=%s\n", argv[i], getenv(argv[i]) ? getenv(argv[i]) : "(none)");
#pragma omp parallel
    {
#pragma omp single
        {
#pragma omp task shared(sum)
            sum = leaf(argc);
#pragma omp taskwait
        }
    }
    fprintf(stderr, "sum %d\n", sum > 0);
    return argc > 1 ? atoi(argv[1]) : 0;
}
"#;

const FORTRAN: &str = "
module solver
contains
  subroutine step(n)
    integer, intent(inout) :: n
    !$omp parallel
    !$omp single
    !$omp task shared(n)
    n = n + 1
    !$omp end task
    !$omp end single
    !$omp end parallel
  end subroutine
end module
program heat
  use solver
  integer :: n = 0
  call step(n)
  print *, n
end program
";

/// Compiles a text in a folder.
#[track_caller]
pub(crate) fn compile(compiler: &str, folder: &Path, file: &str, text: &str, options: &[&str]) -> PathBuf {
    fs::write(folder.join(file), text).expect("writable");
    let program = folder.join("prog");
    let mut command = Command::new(compiler);
    command.arg(file).args(options).args(["-o", "prog"]).current_dir(folder);
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}, which these tests need: {error}"));
    assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

#[track_caller]
fn record(folder: &Path, options: &[&str], program: &Path, arguments: &[&str]) -> Ended {
    let mut command = workspan(folder);
    command.args(["record", "--clock", "virtual"]).args(options).arg("--").arg(program).args(arguments);
    run(&mut command)
}

/// Kind, place and function of each site, by line.
fn places(found: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut sites: Vec<(u64, (String, String))> = found["sites"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|site| {
            let line = site["line"].as_u64().expect("a number");
            let place = site["code"].as_str().map_or_else(|| format!("{}:{line}", text(&site["file"])), str::to_owned);
            (line, (format!("{} {place}", text(&site["kind"])), text(&site["function"])))
        })
        .collect();
    sites.sort();
    sites.into_iter().map(|(_, site)| site).collect()
}

#[test]
fn every_compiler() {
    for (compiler, file, text, options) in [
        ("clang-19", "prog.c", C, &["-O2", "-g"][..]),
        ("clang-19", "prog.c", C, &["-O0", "-g", "-no-pie"]),
        ("gcc", "prog.c", C, &["-O2", "-g"]),
        ("gcc", "prog.c", C, &["-O0", "-g", "-no-pie"]),
        ("clang++-19", "prog.cpp", C, &["-O2", "-g"]),
        ("g++", "prog.cpp", C, &["-O2", "-g"]),
        ("gfortran", "prog.f90", FORTRAN, &["-O1", "-g"]),
        ("flang-new-19", "prog.f90", FORTRAN, &["-O1", "-g"]),
    ] {
        let folder = scratch("openmp-compilers");
        let program = compile(compiler, &folder, file, text, &[options, &["-fopenmp"]].concat());
        let ended = record(&folder, &["--workers", "2"], &program, &[]);
        assert_eq!(ended.code(), Some(0), "{compiler}: {}", ended.err());
        let found = report(&folder, "workspan.wspan");
        let runtime = found["recorded"]["runtime"].as_str().expect("a text");
        let stands_in = !compiler.starts_with("clang") && !compiler.starts_with("flang");
        assert_eq!(runtime.ends_with(" in place of libgomp"), stands_in, "{compiler}: {runtime}");
        assert!(runtime.starts_with("LLVM OpenMP "), "{compiler}: {runtime}");
        assert_eq!(found["program"]["workers"], 2);
        assert_eq!(found["program"]["tasks"], 1, "{compiler}");
        let expected = if text == C { "main" } else { "solver::step" };
        let right = |(place, function): &(String, String)| place.contains(&format!(" {file}:")) && function == expected;
        assert!(places(&found).iter().all(right), "{compiler}: {:?}", places(&found));
    }
}

/// Clang reports the places itself; from the folder of the program's sources they are short.
#[test]
fn places_that_a_compiler_tells() {
    let folder = scratch("openmp-places");
    fs::create_dir(folder.join("build")).expect("writable");
    let build = folder.join("build");
    fs::write(folder.join("prog.c"), C).expect("writable");
    let program = compile("clang-19", &build, "../prog.c", C, &["-O2", "-g", "-fopenmp"]);
    record(&folder, &[], &program, &[]).check_success();
    let line = |words: &str| C.lines().zip(1..).find(|(text, _)| text.contains(words)).map_or(0, |(_, line)| line);
    let expected = [("parallel", line("omp parallel")), ("task", line("omp task"))];
    let found = places(&report(&folder, "workspan.wspan"));
    let named = |(kind, line): (&str, i32)| (format!("{kind} prog.c:{line}"), "main".to_owned());
    assert!(expected.map(named).iter().all(|site| found.contains(site)), "{found:?}");
}

/// A region that is the last thing in its function, and the first thing in the program: with the real clock, too.
#[test]
fn places_of_tail_calls() {
    let folder = scratch("openmp-tail");
    let text =
        "__attribute__((noinline)) static void last(void)\n{\n#pragma omp parallel\n  __asm__ volatile(\"\");\n}\n\
                int main(void) { last(); return 0; }\n";
    let program = compile("clang-19", &folder, "prog.c", text, &["-O2", "-g", "-fopenmp"]);
    for clock in ["virtual", "real"] {
        run(workspan(&folder).args(["record", "--clock", clock, "--"]).arg(&program)).check_success();
        let found = places(&report(&folder, "workspan.wspan"));
        assert_eq!(found, [("parallel prog.c:3".to_owned(), "last".to_owned())], "{clock}");
    }
}

/// A loop that the compiler has unrolled makes several calls of one directive.
#[test]
fn calls_of_one_directive_are_one_site() {
    let text = "int main(void) {\n#pragma omp parallel\n#pragma omp single\n\
                for (int i = 0; i < 4; i++) {\n#pragma omp task firstprivate(i)\n{ __asm__ volatile(\"\" :: \"r\"(i)); }\n}\n}\n";
    for compiler in ["clang-19", "gcc"] {
        let folder = scratch("openmp-unrolled");
        let program = compile(compiler, &folder, "prog.c", text, &["-O3", "-g", "-funroll-all-loops", "-fopenmp"]);
        record(&folder, &[], &program, &[]).check_success();
        let found = report(&folder, "workspan.wspan");
        let sites = found["sites"].as_array().expect("a list");
        let tasks: Vec<(&Value, &Value)> =
            sites.iter().filter(|site| site["kind"] == "task").map(|site| (&site["tasks"], &site["line"])).collect();
        assert!(matches!(tasks[..], [(count, _)] if count == 4), "{compiler}: {tasks:?}");
    }
}

#[test]
fn places_without_debug_information() {
    let folder = scratch("openmp-plain");
    let program = compile("gcc", &folder, "prog.c", C, &["-O1", "-fopenmp"]);
    // The virtual clock would have the better of such warnings.
    let real = || run(workspan(&folder).args(["record", "--"]).arg(&program));
    let ended = real();
    assert!(ended.check_success().err().contains("compile it with -g"), "{}", ended.err());
    let found = report(&folder, "workspan.wspan");
    assert!(warnings(&found).contains(&"no-debug-info"));
    let sites = places(&found);
    let kinds: Vec<&str> = sites.iter().filter_map(|(place, _)| place.split(' ').next()).collect();
    assert!(kinds.contains(&"parallel") && kinds.contains(&"task"), "{sites:?}");
    // Of code that the compiler has moved out of it, the symbol says which.
    let of_main = |function: &str| function.split("._omp_fn").next() == Some("main");
    assert!(sites.iter().all(|(place, function)| place.contains(" main") && of_main(function)), "{sites:?}");
    // The serial code around it says so, too.
    assert!(ended.err().contains("serial code before main"), "{}", ended.err());
    run(Command::new("strip").arg(&program)).check_success();
    real().check_success();
    let sites = places(&report(&folder, "workspan.wspan"));
    assert!(sites.iter().all(|(place, function)| place.contains(" prog+0x") && function == "-"), "{sites:?}");
}

/// The line of the environment that a program has printed.
#[track_caller]
fn variable<'o>(out: &'o str, name: &str) -> &'o str {
    out.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).expect("it was printed")
}

#[test]
fn the_environment() {
    let folder = scratch("openmp-environment");
    let names = [
        "LD_PRELOAD",
        "OMP_TOOL",
        "OMP_NUM_THREADS",
        "OMP_THREAD_LIMIT",
        "OMP_DYNAMIC",
        "OMP_WAIT_POLICY",
        "KMP_BLOCKTIME",
        "WORKSPAN_TARGET",
        "RAYON_NUM_THREADS",
    ];
    for compiler in ["clang-19", "gcc"] {
        let program = compile(compiler, &folder, "prog.c", C, &["-O1", "-fopenmp"]);
        let look = |options: &[&str], preload: &str| {
            let mut command = workspan(&folder);
            command.env("OMP_THREAD_LIMIT", "5").env("LD_PRELOAD", preload).env_remove("OMP_NUM_THREADS");
            command.args(["record", "--clock", "virtual"]).args(options).args(["--", "./prog", "7"]).args(names);
            let ended = run(&mut command);
            assert_eq!(ended.code(), Some(7), "{}", ended.err());
            assert!(ended.err().starts_with("sum 1\n"), "{}", ended.err());
            ended.out()
        };
        let own = "libm.so.6";
        let out = look(&["--workers", "3"], own);
        // What the program starts in turn gets neither the collector nor libomp.
        assert_eq!(variable(&out, "LD_PRELOAD"), own);
        let values = |names: &[&str]| names.iter().map(|name| variable(&out, name).to_owned()).collect::<Vec<_>>();
        assert_eq!(values(&["OMP_TOOL", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT"]), ["enabled", "3", "5"]);
        assert_eq!(values(&["OMP_WAIT_POLICY", "RAYON_NUM_THREADS"]), ["(none)", "(none)"]);
        let target = fs::canonicalize(&program).expect("it is there");
        assert_eq!(Some(variable(&out, "WORKSPAN_TARGET")), target.to_str());
        assert_eq!(report(&folder, "workspan.wspan")["program"]["logical_cores"], Value::Null);
        // Virtual cores: this number of threads, of which one runs at a time.
        let out = look(&["--workers", "3", "--logical-cores", "9"], "");
        let values = |names: &[&str]| names.iter().map(|name| variable(&out, name).to_owned()).collect::<Vec<_>>();
        assert_eq!(values(&names[2..7]), ["9", "(none)", "false", "passive", "0"]);
        let found = report(&folder, "workspan.wspan");
        assert_eq!((&found["program"]["logical_cores"], &found["program"]["workers"]), (&9.into(), &9.into()));
    }
    let ended = record(&folder, &["--logical-cores", "1000"], Path::new("./prog"), &[]);
    ended.check_error(2, &["--logical-cores 1000", "at most 254"]);
}

/// A runtime that only a library of the program needs is found as the loader finds it.
#[test]
fn runtimes_of_libraries() {
    let folder = scratch("openmp-library");
    fs::create_dir(folder.join("lib")).expect("writable");
    let library =
        "int work(int n) {\n#pragma omp parallel num_threads(2)\n  { __asm__ volatile(\"\"); }\n  return n;\n}\n";
    let main = "int work(int);\nint main(void) { return work(3); }\n";
    for (compiler, how) in [("clang-19", "LLVM OpenMP "), ("gcc", "in place of libgomp")] {
        let options = ["-shared", "-fPIC", "-g", "-fopenmp", "-Wl,-soname,libwork.so"];
        let built = compile(compiler, &folder, "work.c", library, &options);
        fs::rename(built, folder.join("lib/libwork.so")).expect("one file system");
        let options = ["-g", "-Llib", "-lwork", "-Wl,-rpath,$ORIGIN/lib"];
        let program = compile(compiler, &folder, "prog.c", main, &options);
        let ended = record(&folder, &[], &program, &[]);
        assert_eq!(ended.code(), Some(3), "{}", ended.err());
        let found = report(&folder, "workspan.wspan");
        assert!(found["recorded"]["runtime"].as_str().is_some_and(|runtime| runtime.contains(how)), "{found}");
        let sites = places(&found);
        let at = |(place, function): &(String, String)| place.starts_with("parallel work.c:") && function == "work";
        assert!(!sites.is_empty() && sites.iter().all(at), "{sites:?}");
    }
}

/// A file that passes for an OpenMP runtime of LLVM 14.
fn old_runtime(folder: &Path) -> PathBuf {
    let text = "void __kmpc_fork_call(void) {}\nvoid *ompt_start_tool(void) { return 0; }\n";
    let built = compile("gcc", folder, "old.c", text, &["-shared", "-fPIC"]);
    let library = folder.join("libomp.so.5");
    fs::rename(built, &library).expect("one file system");
    library
}

#[test]
fn a_runtime_that_is_missing_or_of_no_use() {
    let folder = scratch("openmp-missing");
    let old = old_runtime(&folder);
    let gcc = compile("gcc", &folder, "prog.c", C, &["-O1", "-fopenmp"]);
    let with = |library: &Path, arguments: &[&str]| {
        run(workspan(&folder).env("WORKSPAN_LIBOMP", library).args(arguments).arg(&gcc))
    };
    let none = Path::new("/none/libomp.so.5");
    for (library, words) in [
        (none, ["WORKSPAN_LIBOMP names /none/libomp.so.5", "no OpenMP runtime"]),
        (Path::new("/proc/self/exe"), ["WORKSPAN_LIBOMP names", "no OpenMP runtime"]),
        (&old, ["is of LLVM 14", "15 or newer is needed"]),
    ] {
        let ended = with(library, &["record", "--"]);
        ended.check_error(2, &words);
        ended.check_error(2, &["gcc's OpenMP runtime", "apt-get install libomp-19-dev"]);
        let doctor = with(library, &["doctor"]);
        let (code, out) = (doctor.code(), doctor.out().split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(code, Some(1));
        for words in ["missing openmp libgomp, and no runtime to replace it", "warn libomp", words[1]] {
            assert!(out.contains(words), "{out}");
        }
    }
    assert!(!folder.join("workspan.wspan").exists());
    // Programs that bring LLVM's runtime with them need no other.
    let clang = compile("clang-19", &folder, "prog.c", C, &["-O1", "-fopenmp"]);
    run(workspan(&folder).env("WORKSPAN_LIBOMP", none).args(["record", "--"]).arg(clang)).check_success();
    // Another copy of the one that is there will do.
    let copy = folder.join("libomp.so.5");
    fs::copy(libomp::newest().expect("the tests need one").path, &copy).expect("writable");
    let gcc = compile("gcc", &folder, "prog.c", C, &["-O1", "-fopenmp"]);
    run(workspan(&folder).env("WORKSPAN_LIBOMP", copy).args(["record", "--"]).arg(gcc)).check_success();
}

#[test]
fn programs_that_no_collector_can_watch() {
    let folder = scratch("openmp-static");
    let program = compile("gcc", &folder, "prog.c", C, &["-O1", "-fopenmp", "-static"]);
    record(&folder, &[], &program, &[]).check_error(2, &["./prog".trim_start_matches("./"), "linked statically"]);
    let doctor = run(workspan(&folder).arg("doctor").arg(&program));
    assert_eq!(doctor.code(), Some(1));
    assert!(doctor.out().contains("linked statically, so that no collector"), "{}", doctor.out());
    let plain = compile("gcc", &folder, "plain.c", "int main(void) { return 0; }", &[]);
    record(&folder, &[], &plain, &[]).check_error(2, &["is not instrumented and does not use OpenMP"]);
    // LLVM's, as far as the symbols report.
    let own = "void __kmpc_fork_call(void) {}\nint main(void) { return 0; }\n";
    let own = compile("gcc", &folder, "own.c", own, &["-rdynamic"]);
    let doctor = run(workspan(&folder).arg("doctor").arg(&own));
    assert!(doctor.out().contains("LLVM OpenMP, linked into the program"), "{}", doctor.out());
}

#[test]
fn the_doctor_on_programs() {
    let folder = scratch("openmp-doctor");
    let look = |program: &Path| run(workspan(&folder).arg("doctor").arg(program)).out();
    let check = |out: &str, words: &[&str]| {
        let program = out.split("\nprogram\n").nth(1).expect("a group");
        let program = program.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.iter().all(|words| program.contains(words)), "{out}");
    };
    let clang = compile("clang-19", &folder, "prog.c", C, &["-O1", "-g", "-fopenmp"]);
    check(&look(&clang), &["ok openmp LLVM OpenMP 19: libomp.so.5 (/", "ok debug-info functions and lines"]);
    let gcc = compile("gcc", &folder, "prog.c", C, &["-O1", "-fopenmp"]);
    let words = ["ok openmp LLVM OpenMP ", "in place of libgomp (/", "warn debug-info none", "offsets", "-g"];
    check(&look(&gcc), &words);
}

/// What the program prints and how it ends are its own.
#[test]
fn passed_through() {
    let folder = scratch("openmp-passed");
    for compiler in ["clang-19", "gcc"] {
        let program = compile(compiler, &folder, "prog.c", C, &["-O1", "-fopenmp"]);
        for status in ["0", "7", "255"] {
            let native = run(Command::new(&program).args([status, "HOME"]));
            let ended = record(&folder, &["--json=report.json"], &program, &[status, "HOME"]);
            assert_eq!((ended.code(), ended.stdout, ended.stderr), (native.code(), native.stdout, native.stderr));
        }
    }
}
