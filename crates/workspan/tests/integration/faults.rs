//! Faults: full disks, deaths, signals at the wrong time, few resources, odd names, programs that fork. What a program has done is
//! kept and said, and what is missing is said in every answer. Each test failed on the version before its fix.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{kill, Signal};
use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{record, report, run, start, warnings, workspan, Ended, Running};

/// Compiles a text in a folder; `options` come last.
#[track_caller]
fn compile(compiler: &str, folder: &Path, file: &str, text: &str) -> PathBuf {
    fs::write(folder.join(file), text).expect("writable");
    let program = folder.join(file.replace('.', "-"));
    let mut command = Command::new(compiler);
    command.args(["-O1", "-g", "-fopenmp", file, "-o"]).arg(&program).current_dir(folder);
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}, which these tests need: {error}"));
    assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

/// A chain: each task depends on the one before. It begins when the file `go` is there.
const CHAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    long tasks = atol(argv[1]), sum = 0;
    if (argc > 2) {
        printf("ready %d\n", getpid());
        fflush(stdout);
        while (access("go", F_OK)) usleep(1000);
    }
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < tasks; i++) {
#pragma omp task depend(inout : sum) shared(sum)
        sum++;
    }
    if (argc > 3) { printf("ready %d\n", getpid()); fflush(stdout); for (;;) pause(); }
    return sum == tasks ? 0 : 1;
}
"#;

/// `workspan record --record` of an OpenMP program, with the virtual clock.
fn record_strands(folder: &Path, program: &Path, arguments: &[&str]) -> Command {
    let mut command = workspan(folder);
    command.args(["record", "--clock", "virtual", "--workers", "2", "--record", "--"]).arg(program).args(arguments);
    command
}

/// Every answer that is drawn from these strands says that some are missing, and by how much it may be off.
#[track_caller]
fn check_doubted(folder: &Path) {
    let found = report(folder, "workspan.wspan");
    assert!(warnings(&found).contains(&"strands-missing"), "{}", found["warnings"]);
    assert_ne!(found["verdict"]["basis"], "predicted", "a verdict from partial strands: {}", found["verdict"]);
    let json = |arguments: &[&str]| -> Value {
        let ended = run(workspan(folder).args(arguments));
        serde_json::from_slice(&ended.check_success().stdout).expect("JSON")
    };
    let off = |text: &str| text.contains("may be off by ");
    for verb in [&["predict"][..], &["advise"], &["calls"], &["what-if", "-s", "chain.c:1-99=2"]] {
        let answer = json(&[verb, &["--json"]].concat());
        let all = answer["warnings"].as_array().expect("a list");
        assert!(all.first().and_then(Value::as_str).is_some_and(off), "{verb:?}: {all:?}");
        let text = run(workspan(folder).args(verb)).out();
        assert!(text.lines().any(|line| line.starts_with("! ") && off(line)), "{verb:?}: {text}");
    }
    let text = run(workspan(folder).arg("report")).out();
    assert!(text.lines().any(|line| line.starts_with("! ") && off(line)), "{text}");
    let info = json(&["info", "--json"]);
    assert_eq!(info["complete"], false, "{info}");
    assert!(!info["strands"]["problems"].as_array().expect("a list").is_empty(), "{info}");
    assert!(run(workspan(folder).arg("info")).out().contains("complete           no"));
}

/// The disk is full when a fraction of the strands is on it: by a limit of the size of files, which is set when the memory that
/// is shared with the program has been made.
#[test]
fn a_disk_that_fills_up_while_the_program_runs() {
    let folder = scratch("full-while-running");
    let program = compile("clang-19", &folder, "chain.c", CHAIN);
    let running = start(&mut record_strands(&folder, &program, &["200000", "wait"]));
    running.wait_until_ready();
    let limited = run(Command::new("prlimit").arg(format!("--pid={}", running.pid())).arg("--fsize=1000000:1000000"));
    limited.check_success();
    fs::write(folder.join("go"), "").expect("writable");
    let ended = running.wait();
    ended.check_error(2, &["not all strands are recorded", "there was no place for more", "may be off by "]);
    check_doubted(&folder);
}

#[test]
fn a_program_that_is_killed() {
    let folder = scratch("killed-with-strands");
    let program = compile("clang-19", &folder, "chain.c", CHAIN);
    fs::write(folder.join("go"), "").expect("writable");
    let running = start(&mut record_strands(&folder, &program, &["2000", "wait", "and hang"]));
    running.wait_until_ready();
    kill(running.wait_until_ready(), Signal::SIGKILL).expect("it runs");
    assert_eq!(running.wait().signal(), Some(Signal::SIGKILL as i32));
    check_doubted(&folder);
}

/// Strands whose conversion takes seconds.
const MANY: &str = "1500000";

/// Waits until the program has ended and its recording is there: strands come next.
fn converting(folder: &Path, program: &Path) -> Running {
    let running = start(&mut record_strands(folder, program, &[MANY]));
    while !folder.join("workspan.strands/contexts.parquet").exists() {
        thread::sleep(Duration::from_millis(1));
    }
    running
}

/// The first signal keeps what there is.
#[test]
fn a_signal_while_strands_are_written() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let folder = scratch("signal-while-writing");
        let program = compile("clang-19", &folder, "chain.c", CHAIN);
        let running = converting(&folder, &program);
        running.signal(signal);
        let ended = running.wait();
        ended
            .check_error(2, &["keeping what there is", "the conversion was interrupted", "recorded in workspan.wspan"]);
        let info = run(workspan(&folder).args(["info", "--json"])).out();
        let info: Value = serde_json::from_str(&info).expect("JSON");
        assert_eq!(
            (&info["complete"], &info["runs"][0]["complete"]),
            (&Value::Bool(false), &Value::Bool(true)),
            "{info}"
        );
    }
}

/// A second one ends at once, whatever is being waited for: here for somebody to read a pipe.
#[test]
fn two_signals_after_the_program() {
    let folder = scratch("two-signals");
    nix::unistd::mkfifo(&folder.join("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("writable");
    let running = start(&mut record(&folder, &["--json=pipe"], &build::program("endings"), &["exit"]));
    while !folder.join("workspan.wspan").exists() {
        thread::sleep(Duration::from_millis(1));
    }
    // Two of a kind could be noticed as one.
    running.signal(Signal::SIGTERM);
    running.signal(Signal::SIGHUP);
    let ended = running.wait();
    let by = ended.signal();
    assert!(
        [Some(Signal::SIGTERM as i32), Some(Signal::SIGHUP as i32)].contains(&by),
        "{:?}: {}",
        ended.status,
        ended.err()
    );
    assert!(ended.err().contains("keeping what there is"), "{}", ended.err());
    assert_eq!(report(&folder, "workspan.wspan")["program"]["complete"], true);
}

/// What is sent to workspan alone is the program's.
#[test]
fn an_interrupt_sent_to_workspan_is_passed_on() {
    let folder = scratch("interrupt-alone");
    let running = start(&mut record(&folder, &[], &build::program("endings"), &["hang"]));
    running.wait_until_ready();
    running.signal(Signal::SIGINT);
    let ended = running.wait();
    assert_eq!(ended.signal(), Some(Signal::SIGINT as i32), "{:?}: {}", ended.status, ended.err());
    assert!(warnings(&report(&folder, "workspan.wspan")).contains(&"killed"));
}

/// What workspan itself leaves when it is killed does not pass for whole.
#[test]
fn workspan_killed_while_strands_are_written() {
    let folder = scratch("workspan-killed");
    let program = compile("clang-19", &folder, "chain.c", CHAIN);
    let running = converting(&folder, &program);
    running.signal(Signal::SIGKILL);
    assert_eq!(running.wait().signal(), Some(Signal::SIGKILL as i32));
    let info = run(workspan(&folder).args(["info", "--json"])).out();
    let info: Value = serde_json::from_str(&info).expect("JSON");
    assert_eq!(info["complete"], false, "{info}");
    let problem = info["strands"]["problems"][0].as_str().expect("a problem");
    assert!(problem.contains("never finished"), "{problem}");
}

#[test]
fn few_files_may_be_open() {
    let folder = scratch("few-files");
    let program = compile("clang-19", &folder, "chain.c", CHAIN);
    let script = "ulimit -n 4; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_workspan"), "record", "--"]).arg(&program).arg("10");
    let ended = run(command.current_dir(&folder));
    assert_ne!(ended.code(), Some(0));
    assert!(ended.err().contains("Too many open files"), "{}", ended.err());
    assert!(!ended.err().contains("carries no hooks"), "{}", ended.err());
}

#[test]
fn names_that_are_no_text_do_not_collide() {
    let folder = scratch("no-text");
    let program = compile("clang-19", &folder, "chain.c", CHAIN);
    let names = [&b"r\xfd.wspan"[..], b"r\xfe.wspan"].map(OsStr::from_bytes);
    for name in names {
        let mut command = workspan(&folder);
        command.args(["record", "--clock", "virtual", "--record", "-o"]).arg(name).arg("--").arg(&program).arg("10");
        run(&mut command).check_success();
    }
    for name in names {
        run(workspan(&folder).arg("advise").arg(name)).check_success();
        let folder = folder.join(OsStr::from_bytes(&name.as_bytes().replace_ending()));
        assert!(folder.is_dir(), "{}", folder.display());
    }
}

trait ReplaceEnding {
    fn replace_ending(&self) -> Vec<u8>;
}

impl ReplaceEnding for [u8] {
    /// `.strands` in place of `.wspan`.
    fn replace_ending(&self) -> Vec<u8> {
        [self.strip_suffix(b".wspan").expect("a recording"), b".strands"].concat()
    }
}

/// Forks children that compute, or goes to the background.
const FORKS: &str = r#"
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int work(void) {
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp single
        {
#pragma omp task shared(sum)
#pragma omp atomic
            sum++;
        }
    }
    return sum;
}
int main(int argc, char **argv) {
    if (!strcmp(argv[1], "daemon")) {
        if (daemon(1, 1)) return 1;
        return work() > 0 ? 0 : 1;
    }
    int before = strcmp(argv[1], "before") ? 0 : work();
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (!child) _exit(work() > 0 ? 0 : 1);
        int status;
        waitpid(child, &status, 0);
        if (status) return 2;
    }
    return before < 0;
}
"#;

#[test]
fn forked_children_are_counted_with_any_compiler() {
    let folder = scratch("forks");
    for (compiler, file) in [("gcc", "gcc.c"), ("clang-19", "clang.c")] {
        let program = compile(compiler, &folder, file, FORKS);
        for when in ["after", "before"] {
            let mut command = workspan(&folder);
            let ended = run(command.args(["record", "--workers", "2", "--"]).arg(&program).arg(when));
            ended.check_success();
            let found = report(&folder, "workspan.wspan");
            let counted = found["warnings"].as_array().expect("a list").iter().find(|w| w["code"] == "other-processes");
            let message = counted.and_then(|warning| warning["message"].as_str()).unwrap_or("none");
            assert!(message.starts_with("20 further processes"), "{compiler}, {when}: {message}");
        }
    }
}

#[test]
fn a_daemon_is_not_a_program_without_tasks() {
    let folder = scratch("daemon");
    for (compiler, file) in [("gcc", "gcc.c"), ("clang-19", "clang.c")] {
        let program = compile(compiler, &folder, file, FORKS);
        let ended = run(workspan(&folder).args(["record", "--workers", "2", "--"]).arg(&program).arg("daemon"));
        ended.check_success();
        assert!(ended.err().contains("a daemon") && ended.err().contains("in the foreground"), "{}", ended.err());
        let found = report(&folder, "workspan.wspan");
        assert!(!warnings(&found).contains(&"never-forks"), "{compiler}: {}", found["warnings"]);
        assert!(warnings(&found).contains(&"other-processes"), "{compiler}: {}", found["warnings"]);
    }
}

/// A program with its own runtime leaves nothing in `/dev/shm`.
#[test]
fn the_swapped_runtime_leaves_nothing_behind() {
    let folder = scratch("left-behind");
    let text = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { int n = 0;\n#pragma omp parallel\n#pragma omp atomic\n\
                n++;\nprintf(\"%d %d\\n\", getpid(), n); fflush(stdout); _exit(0); }\n";
    let program = compile("gcc", &folder, "p.c", text);
    let ended = run(workspan(&folder).args(["record", "--workers", "2", "--"]).arg(&program));
    let out = ended.check_success().out();
    let pid = out.split_whitespace().next().expect("a number");
    let left: Vec<String> = fs::read_dir("/dev/shm")
        .expect("there is shared memory")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("__KMP") && name.split('_').any(|part| part == pid))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// As many regions as promised have places, with the serial code between them.
#[test]
fn as_many_regions_as_promised() {
    let folder = scratch("regions");
    let regions = |count: usize| {
        let mut text = String::from("static int n;\nint main(void) {\n");
        for _ in 0..count {
            text.push_str("#pragma omp parallel\n{\n#pragma omp atomic\nn++;\n}\n");
        }
        text + "return n < 1; }\n"
    };
    for (count, kept) in [(1000, 1000), (3000, 1024)] {
        let program = compile("clang-19", &folder, &format!("r{count}.c"), &regions(count));
        let mut command = workspan(&folder);
        run(command.args(["record", "--clock", "virtual", "--workers", "2", "--"]).arg(&program)).check_success();
        let found = report(&folder, "workspan.wspan");
        let parallel = |site: &&Value| site["kind"] == "parallel";
        let sites = found["sites"].as_array().expect("a list").iter().filter(parallel).count();
        assert!(sites >= kept, "{count} regions: {sites}");
        assert_eq!(found["program"]["dropped"] == 0, count == 1000, "{}", found["warnings"]);
    }
}

/// What a wrapper starts is watched.
#[test]
fn wrappers() {
    let folder = scratch("wrappers");
    let openmp = compile("clang-19", &folder, "chain.c", CHAIN);
    let (rayon, openmp) = (build::program("endings"), openmp.to_str().expect("a plain path").to_owned());
    let rayon = rayon.to_str().expect("a plain path");
    let line = |program: &str| format!("cd . && exec {program} \"$@\"");
    for (program, argument) in [(rayon, "exit"), (&openmp, "10")] {
        for words in [
            vec!["env".to_owned(), "A=1".to_owned(), program.to_owned(), argument.to_owned()],
            vec!["bash".to_owned(), "-c".to_owned(), line(program), "bash".to_owned(), argument.to_owned()],
            vec!["nice".to_owned(), program.to_owned(), argument.to_owned()],
            vec!["unshare".to_owned(), "--map-root-user".to_owned(), program.to_owned(), argument.to_owned()],
        ] {
            let _ = fs::remove_file(folder.join("workspan.wspan"));
            let mut command = workspan(&folder);
            let ended = run(command.args(["record", "--clock", "virtual", "--workers", "2", "--"]).args(&words));
            assert_eq!(ended.code(), Some(0), "{words:?}: {}", ended.err());
            assert!(report(&folder, "workspan.wspan")["program"]["tasks"].as_i64() > Some(0), "{words:?}");
        }
    }
    let ended = run(workspan(&folder).args(["record", "--", "env", "true"]));
    ended.check_error(2, &["carries no hooks and uses no OpenMP"]);
}

/// Correct with libgomp; libomp's own entry point runs the body of a task with `if(0)` on data of the wrong layout.
const VECTORS: &str = r#"
#include <cstdio>
#include <vector>
int main() {
    long total = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 50; i++) {
        std::vector<int> v(i + 1, i);
#pragma omp task if (i % 2) firstprivate(v) shared(total)
        {
            long sum = 0;
            for (int x : v) sum += x;
            v.clear();
#pragma omp atomic
            total += sum;
        }
        if (v.size() != unsigned(i + 1)) return 3;
    }
    std::printf("%ld\n", total);
    return total == 41650 ? 0 : 1;
}
"#;

const ARRAYS: &str = "
program arrays
  implicit none
  integer :: a(7), total, i
  total = 0
  do i = 1, 20
    a = i
    call add(a(1:7:2))
  end do
  print *, total
  if (total /= 840) stop 1
contains
  subroutine add(x)
    integer, intent(in) :: x(:)
    integer :: y(size(x))
    y = x
    !$omp task if(.false.) firstprivate(y) shared(total)
    total = total + sum(y)
    !$omp end task
  end subroutine
end program
";

const TREE: &str = r#"
#include <cstdio>
#include <vector>
static long tree(std::vector<int> path, int depth) {
    long left = 0, right = 0;
    if (depth == 0) return path.size();
    path.push_back(depth);
#pragma omp task if (depth > 5) firstprivate(path) shared(left)
    left = tree(path, depth - 1);
#pragma omp task if (depth > 5) firstprivate(path) shared(right)
    right = tree(path, depth - 1);
#pragma omp taskwait
    return left + right;
}
int main() {
    long sum = 0;
#pragma omp parallel
#pragma omp single
    sum = tree({}, 10);
    std::printf("%ld\n", sum);
    return sum == 10240 ? 0 : 1;
}
"#;

#[test]
fn tasks_of_gcc_that_run_at_once_on_a_copy() {
    let folder = scratch("gcc-copies");
    for (compiler, file, text, tasks) in
        [("g++", "vectors.cpp", VECTORS, 50), ("gfortran", "arrays.f90", ARRAYS, 20), ("g++", "tree.cpp", TREE, 2046)]
    {
        let program = compile(compiler, &folder, file, text);
        let native = run(&mut Command::new(&program));
        native.check_success();
        let mut command = workspan(&folder);
        let ended = run(command.args(["record", "--clock", "virtual", "--workers", "2", "--"]).arg(&program));
        assert_eq!((ended.code(), ended.out()), (Some(0), native.out()), "{file}: {:?} {}", ended.status, ended.err());
        assert_eq!(report(&folder, "workspan.wspan")["program"]["tasks"], tasks, "{file}");
        let mut command = workspan(&folder);
        command.args(["scale", "-p", "1,2", "--repeat", "1", "--warm-up", "0", "--no-sites", "--"]).arg(&program);
        run(&mut command).check_success();
    }
}

/// Undeferred tasks nest on the stack, whose limit a program has been fitted to.
const DEEP: &str = r#"
#include <stdio.h>
static long deep(long level) {
    long below = 0;
    if (level == 0) return 0;
#pragma omp task if (0) shared(below)
    below = deep(level - 1);
    return below + 1;
}
int main(void) {
    long found = 0;
#pragma omp parallel num_threads(1)
    found = deep(25000);
    printf("%ld\n", found);
    return found != 25000;
}
"#;

#[test]
fn a_recursion_that_fits_libgomps_stack() {
    let folder = scratch("deep");
    let program = compile("gcc", &folder, "deep.c", DEEP);
    run(&mut Command::new(&program)).check_success();
    let ended = run(workspan(&folder).args(["record", "--clock", "virtual", "--"]).arg(&program));
    assert_eq!(ended.code(), Some(0), "{:?}: {}", ended.status, ended.err());
}

/// A crash under a runtime that is not the program's own is said to be that, and gives no verdict.
#[test]
fn crashes_under_a_swapped_runtime() {
    let folder = scratch("swapped-crash");
    let text = |condition: &str| {
        format!(
            "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdlib.h>\nint main(void) {{ int n = 0;\n\
             #pragma omp parallel\n#pragma omp atomic\nn++;\nif ({condition}) abort();\nreturn n < 1; }}\n"
        )
    };
    for (file, condition, fault) in [
        ("own.c", "n", "the program is at fault"),
        ("llvm.c", "dlsym(RTLD_DEFAULT, \"__kmpc_fork_call\")", "the runtime that stood in is at fault"),
        (
            "collector.c",
            "dlsym(RTLD_DEFAULT, \"workspan_marked_begin\") || getenv(\"WORKSPAN_SHM\")",
            "the collector is at fault",
        ),
    ] {
        let program = compile("gcc", &folder, file, &text(condition));
        let ended: Ended = run(workspan(&folder).args(["record", "--workers", "2", "--"]).arg(&program));
        assert_eq!(ended.signal(), Some(Signal::SIGABRT as i32), "{file}: {}", ended.err());
        assert!(
            ended.err().contains("in place of its own, gcc's") && ended.err().contains(fault),
            "{file}: {}",
            ended.err()
        );
        let found = report(&folder, "workspan.wspan");
        assert!(warnings(&found).contains(&"swapped-runtime"), "{file}: {}", found["warnings"]);
        assert!(found["verdict"]["text"].as_str().is_some_and(|text| text.starts_with("no verdict")), "{file}");
    }
}

/// Questions about strands that lie anywhere.
#[cfg(feature = "query")]
#[test]
fn questions_about_folders_with_any_name() {
    let around = scratch("query-paths");
    let program = compile("clang-19", &around, "chain.c", CHAIN);
    for name in [&b"plain"[..], b"new\nline", b"no \xfe text", b"star*?", b"a%41"] {
        let folder = around.join(OsStr::from_bytes(name));
        fs::create_dir(&folder).expect("writable");
        run(&mut record_strands(&folder, &program, &["10"])).check_success();
        let inside = folder.join("..").join(OsStr::from_bytes(name));
        for file in [inside.join("workspan.wspan"), folder.join("workspan.strands"), folder.join("workspan.wspan")] {
            let ended =
                run(workspan(&around).args(["query", "--csv"]).arg(&file).arg("select count(*) > 10 as n from nodes"));
            assert_eq!(ended.check_success().out(), "n\ntrue\n", "{}", file.display());
        }
    }
}
