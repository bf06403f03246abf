//! `workspan limits`: programs in assembly with exact answers, under the emulator; and everything that can go wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::build::{root, scratch};
use crate::command::{run, start, workspan, Ended};

/// Compiles a program; it needs nothing but what `options` name.
fn compile(folder: &Path, name: &str, text: &str, options: &[&str]) -> PathBuf {
    fs::write(folder.join(name), text).expect("writable");
    let program = folder.join("prog");
    let done = Command::new("gcc").args(options).arg("-o").arg(&program).arg(folder.join(name)).output();
    let done = done.expect("gcc is installed: cargo xtask setup");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

const ASSEMBLY: [&str; 3] = ["-nostdlib", "-static", "-g"];

/// Runs `workspan limits --json=limits.json`.
fn limits(folder: &Path, options: &[&str], command: &[&str]) -> Ended {
    run(workspan(folder).args(["limits", "--json=limits.json"]).args(options).arg("--").args(command))
}

/// The answer, which is as its schema says.
fn answer(folder: &Path) -> Value {
    let read = |file: &Path| fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let schema = serde_json::from_str(&read(&root().join("docs/format/limits.schema.json"))).expect("JSON");
    let answer = serde_json::from_str(&read(&folder.join("limits.json"))).expect("JSON");
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .expect("a schema")
        .iter_errors(&answer)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    answer
}

/// Instructions and length of the critical path in a model.
fn model(answer: &Value, name: &str) -> (u64, u64) {
    let all = ["models", "control"].into_iter().flat_map(|key| answer[key].as_array().expect("a list"));
    let found = all.filter(|model| model["name"] == name).collect::<Vec<_>>();
    assert_eq!(found.len(), 1, "{name}");
    let number = |key: &str| found[0][key].as_u64().expect("a number");
    (number("instructions"), number("critical_path"))
}

/// Fewer dependences never make a path longer.
fn check_order(answer: &Value) {
    let longer_than = [
        ("TruNamCtl", "TruCtl"),
        ("TruNamCtl", "TruNam"),
        ("TruCtl", "Tru"),
        ("TruNam", "Tru"),
        ("TruNam", "TruNamSp"),
        ("Tru", "TruSp"),
        ("TruNamSp", "TruSp"),
        ("TruSp", "TruNoAddr"),
        ("TruNamCtl", "TruNamMerge"),
        ("TruNamCtl", "TruNamMiss"),
        ("TruCtl", "TruMerge"),
        ("TruCtl", "TruMiss"),
        ("TruNamMerge", "TruMerge"),
        ("TruMerge", "TruMergeSp"),
        ("TruMerge", "Tru"),
    ];
    for (long, short) in longer_than {
        assert!(model(answer, long).1 >= model(answer, short).1, "{long} is shorter than {short}: {answer:#}");
    }
}

fn warnings(answer: &Value) -> String {
    answer["warnings"].to_string()
}

/// Figure 3.2 of Mak's thesis: the factorial of 5, and its result as exit status.
#[test]
fn the_factorial_of_five() {
    let folder = scratch("limits-factorial");
    let text = ".globl _start\n_start: mov $1,%eax\n mov $5,%ecx\nl: imul %ecx,%eax\n dec %ecx\n jnz l\n\
                mov %eax,%edi\n mov $231,%eax\n syscall\n";
    compile(&folder, "factorial.s", text, &ASSEMBLY);
    limits(&folder, &[], &["./prog"]).check_success();
    let answer = answer(&folder);
    assert_eq!(answer["conditions"]["exit_code"], 120);
    assert_eq!(answer["instructions"], 20);
    // mov, five imul, mov, and the system call.
    assert_eq!(model(&answer, "Tru"), (20, 8));
    assert_eq!(model(&answer, "TruNam"), (20, 8));
    // mov; dec and jnz five times, each round behind the branch before it; mov; and the system call.
    assert_eq!(model(&answer, "TruCtl"), (20, 13));
    assert_eq!(model(&answer, "TruNamCtl"), (20, 13));
    assert!(answer["exact_paths"] == true && answer["complete"] == true);
    // The path of Tru by lines: all of its eight instructions, through imul or, as long, through dec; the last two are mov
    // and the system call.
    let lines = answer["lines"].as_array().expect("a list").iter().filter(|line| line["model"] == "Tru");
    let lines: Vec<(u64, f64)> = lines
        .map(|line| (line["line"].as_u64().expect("a line"), line["instructions_on_path"].as_f64().expect("a number")))
        .collect();
    assert!((lines.iter().map(|(_, instructions)| instructions).sum::<f64>() - 8.0).abs() < 1e-9, "{lines:?}");
    for line in [7, 9] {
        assert!(lines.contains(&(line, 1.0)), "{lines:?}");
    }
    check_order(&answer);
}

/// Figures 3.3 and 3.5: two calls of a function. A spaghetti stack lets them run side by side.
#[test]
fn two_calls_side_by_side() {
    let folder = scratch("limits-two-calls");
    let additions = " addq $1,(%rsp)\n".repeat(10);
    let text = format!(
        ".globl _start\n_start: call f\n call f\n xor %edi,%edi\n mov $231,%eax\n syscall\n\
         f: sub $32,%rsp\n movq $0,(%rsp)\n{additions} add $32,%rsp\n ret\n"
    );
    compile(&folder, "calls.s", &text, &ASSEMBLY);
    limits(&folder, &[], &["./prog"]).check_success();
    let answer = answer(&folder);
    assert_eq!(answer["instructions"], 33);
    // The numbers are explained in the tests of workspan-limits.
    for (name, wanted) in
        [("Tru", (33, 17)), ("TruNam", (33, 24)), ("TruSp", (33, 12)), ("TruNamSp", (33, 12)), ("TruNoAddr", (29, 11))]
    {
        assert_eq!(model(&answer, name), wanted, "{name}");
    }
    check_order(&answer);
}

const SERIAL: &str = "#include <stdio.h>\n#include <stdlib.h>\nstatic unsigned s = 1;\n\
    static unsigned __attribute__((noinline)) next(void) {\n  return s = s * 1103515245u + 12345u;\n}\n\
    int main(void) {\n  static unsigned a[50000];\n  for (int i = 0; i < 50000; i++) a[i] = next();\n\
    printf(\"%u\\n\", a[49999]);\n  return 3;\n}\n";

#[test]
fn a_dynamic_program_its_lines_and_all_outputs() {
    let folder = scratch("limits-dynamic");
    compile(&folder, "serial.c", SERIAL, &["-O1", "-g"]);
    let ended = limits(&folder, &["--csv=l.csv", "--svg", "l.svg", "--html", "l.html"], &["./prog"]);
    let out = ended.check_success().out();
    assert!(out.contains("parallelism") && out.contains("critical path of TruSp"), "{out}");
    let answer = answer(&folder);
    check_order(&answer);
    assert!(warnings(&answer).contains("status 3"));
    // Each number needs the one before: a multiplication, an addition, and memory between them.
    let (_, length) = model(&answer, "TruSp");
    assert!((150_000..260_000).contains(&length), "{length}");
    let line =
        answer["lines"].as_array().expect("a list").iter().find(|line| line["model"] == "TruSp").expect("a line");
    assert!(
        line["share"].as_f64().expect("a share") > 0.6 && line["line"] == 5 && line["function"] == "next",
        "{line}"
    );
    for (file, part) in [("l.csv", "TruNoAddr,table,"), ("l.svg", "<svg"), ("l.html", "<!DOCTYPE html>")] {
        assert!(fs::read_to_string(folder.join(file)).expect("it was written").contains(part), "{file}");
    }
    // Fewer models, the same numbers.
    let tru = model(&answer, "Tru");
    limits(&folder, &["--models", "tru"], &["./prog"]).check_success();
    let alone: Value = serde_json::from_slice(&fs::read(folder.join("limits.json")).expect("written")).expect("JSON");
    let close = |a: u64, b: u64| a.abs_diff(b) < 2000;
    let found = alone["models"][0]["critical_path"].as_u64().expect("a number");
    assert!(close(found, tru.1), "{found} alone, {} beside the others", tru.1);
}

#[test]
fn threads_and_children() {
    let folder = scratch("limits-threads");
    let text = "#include <pthread.h>\n#include <unistd.h>\n#include <sys/wait.h>\nstatic long n[4];\n\
        static void *f(void *p) { for (int i = 0; i < 20000; i++) ++*(volatile long *)p; return 0; }\n\
        int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(t + i, 0, f, n + i);\n\
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);\n\
        int s; if (!fork()) { for (int i = 0; i < 100000; i++) ++*(volatile long *)n; _exit(0); } wait(&s);\n\
        return n[0] + n[1] + n[2] + n[3] != 80000; }\n";
    compile(&folder, "threads.c", text, &["-O1", "-pthread"]);
    limits(&folder, &[], &["./prog"]).check_success();
    let answer = answer(&folder);
    check_order(&answer);
    assert_eq!(answer["conditions"]["exit_code"], 0);
    assert_eq!(answer["conditions"]["children"], 1);
    assert!(answer["conditions"]["threads"].as_u64() >= Some(2), "{answer:#}");
    // Each thread counts for itself; what the child did is in no number.
    let (instructions, length) = model(&answer, "TruSp");
    assert!(instructions > 240_000 && instructions < 900_000, "{instructions}");
    assert!((20_000..80_000).contains(&length), "{length}");
}

#[test]
fn runs_that_are_cut_short() {
    let folder = scratch("limits-cut");
    let text = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf(\"ready %d\\n\", getpid()); fflush(stdout);\n\
        volatile long n = 0; for (;;) n++; }\n";
    compile(&folder, "endless.c", text, &["-O1"]);
    limits(&folder, &["--limit", "300000"], &["./prog"]).check_success();
    let limited = answer(&folder);
    assert_eq!(limited["complete"], false);
    assert!(warnings(&limited).contains("--limit"), "{}", warnings(&limited));
    let instructions = limited["instructions"].as_u64().expect("a number");
    assert!((300_000..300_600).contains(&instructions), "{instructions}");
    let running = start(workspan(&folder).args(["limits", "--json=limits.json", "--", "./prog"]));
    running.wait_until_ready();
    running.signal_group(Signal::SIGINT);
    let ended = running.wait();
    assert_eq!(ended.signal(), Some(2), "{}", ended.err());
    let interrupted = answer(&folder);
    assert_eq!(
        (&interrupted["complete"], &interrupted["conditions"]["signal"]),
        (&Value::from(false), &Value::from(2))
    );
    check_order(&interrupted);
}

#[test]
fn an_instruction_that_the_emulator_does_not_know() {
    let folder = scratch("limits-avx512");
    let text = ".globl _start\n_start: mov $1,%eax\n vpaddd %zmm0,%zmm1,%zmm2\n mov $231,%eax\n syscall\n";
    compile(&folder, "avx512.s", text, &ASSEMBLY);
    limits(&folder, &[], &["./prog"]).check_success();
    let told = warnings(&answer(&folder));
    for word in ["vpaddd", "AVX512F", "-march="] {
        assert!(told.contains(word), "{word} is not in {told}");
    }
}

#[test]
fn programs_that_become_others() {
    let folder = scratch("limits-exec");
    let shell = fs::canonicalize("/bin/sh").expect("there is a shell");
    let shell = shell.to_str().expect("a name");
    limits(&folder, &[], &[shell, "-c", "exec true"]).check_success();
    let answer = answer(&folder);
    assert_eq!(answer["complete"], false);
    assert!(warnings(&answer).contains("exec"), "{}", warnings(&answer));
}

#[test]
fn what_cannot_be_run() {
    let folder = scratch("limits-bad");
    let bad = |options: &[&str], program: &str, code: i32, words: &[&str]| {
        let ended = run(workspan(&folder).arg("limits").args(options).args(["--", program]));
        ended.check_error(code, words);
        assert_eq!(ended.out(), "");
    };
    fs::write(folder.join("script"), "#!/bin/sh -e\ntrue\n").expect("writable");
    fs::write(folder.join("text"), "text").expect("writable");
    bad(&[], "./none", 127, &["./none", "no such program"]);
    bad(&[], "./script", 126, &["./script is a script", "workspan limits -- /bin/sh -e ./script"]);
    bad(&[], "./text", 126, &["./text", "no ELF file"]);
    let mut foreign = fs::read("/proc/self/exe").expect("we run");
    foreign[18] = 183;
    fs::write(folder.join("arm"), &foreign).expect("writable");
    bad(&[], "./arm", 126, &["aarch64", "x86-64"]);
    let this = std::env::current_exe().expect("we run");
    let this = this.to_str().expect("a name");
    bad(&["--emulator", "./none"], this, 2, &["no emulator", "./none", "apt-get install qemu-user"]);
    bad(&["--emulator", "/bin/true"], this, 2, &["loads no plugins", "qemu-user"]);
    bad(&["--json", "--csv"], this, 2, &["cannot both go to standard output"]);
    bad(&["--html", "nowhere/page.html"], this, 2, &["cannot write nowhere/page.html"]);
    let ended = run(workspan(&folder).env("PATH", &folder).args(["limits", "--", this]));
    ended.check_error(2, &["no qemu-x86_64 in PATH", "apt-get install qemu-user"]);
}
