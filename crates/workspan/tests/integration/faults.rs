//! Faults: full disks, deaths, signals at the wrong time, few resources, odd names, programs that fork. What a program has done is
//! kept and said, and what is missing is said in every answer. Each test failed on the version before its fix.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::{kill, Signal};
use serde_json::Value;
use workspan_testkit::patience::wait_for;

use crate::build::{self, scratch};
use crate::command::{record, report, run, start, warnings, with_default_signals, workspan, Running};

/// Compiles a text in a folder; `options` come last.
#[track_caller]
pub(crate) fn compile(compiler: &str, folder: &Path, file: &str, text: &str) -> PathBuf {
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

/// `workspan record --strands` of an OpenMP program, with the real clock: by how much answers may be off takes time.
fn record_strands(folder: &Path, program: &Path, arguments: &[&str]) -> Command {
    let mut command = workspan(folder);
    command.args(["record", "--workers", "2", "--strands", "--"]).arg(program).args(arguments);
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
    let mut command = with_default_signals(&record_strands(folder, program, &[MANY]));
    // On a busy machine each yield of libomp takes milliseconds, and there is one for each task.
    let running = start(command.env("KMP_USE_YIELD", "0"));
    wait_for("the recording", || folder.join("workspan.strands/contexts.parquet").exists().then_some(()));
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
    let command = record(&folder, &["--json=pipe"], &build::program("endings"), &["exit"]);
    let running = start(&mut with_default_signals(&command));
    wait_for("the recording", || folder.join("workspan.wspan").exists().then_some(()));
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
    let command = record(&folder, &[], &build::program("endings"), &["hang"]);
    let running = start(&mut with_default_signals(&command));
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
        command.args(["record", "--clock", "virtual", "--strands", "-o"]).arg(name).arg("--").arg(&program).arg("10");
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
    for count in [1000, 3000] {
        let program = compile("clang-19", &folder, &format!("r{count}.c"), &regions(count));
        let mut command = workspan(&folder);
        run(command.args(["record", "--clock", "virtual", "--workers", "2", "--"]).arg(&program)).check_success();
        let found = report(&folder, "workspan.wspan");
        let parallel = |site: &&Value| site["kind"] == "parallel";
        let sites = found["sites"].as_array().expect("a list").iter().filter(parallel).count();
        assert!(sites >= count, "{count} regions: {sites}");
        assert_eq!(found["program"]["dropped"], 0, "{}", found["warnings"]);
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
    ended.check_error(2, &["is not instrumented and does not use OpenMP"]);
}
