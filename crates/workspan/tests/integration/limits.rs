//! `workspan limits`: programs in assembly with exact answers, under the emulator; and everything that can go wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::build::{root, scratch};
use crate::command::{run, start, with_default_signals, workspan, Ended};

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
    let mut command = workspan(&folder);
    command.args(["limits", "--json=limits.json", "--", "./prog"]);
    let running = start(&mut with_default_signals(&command));
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
    bad(&["--roi", "5..5"], this, 2, &["--roi", "between 5 and 5"]);
    bad(&["--roi", "no_such_function"], "/bin/true", 2, &["no_such_function", "region of interest", "ran outside"]);
    bad(&["--emulator", "./none"], this, 2, &["no emulator", "./none", "apt-get install qemu-user"]);
    bad(&["--emulator", "/bin/true"], this, 2, &["loads no plugins", "qemu-user"]);
    bad(&["--depend", "none.json"], this, 2, &["--depend", "cannot read none.json"]);
    bad(&["--depend", "text"], this, 2, &["text is no report of `workspan depend`", "--json=text"]);
    bad(&["--json", "--csv"], this, 2, &["cannot both go to standard output"]);
    bad(&["--html", "nowhere/page.html"], this, 2, &["cannot write nowhere/page.html"]);
    let ended = run(workspan(&folder).env("PATH", &folder).args(["limits", "--tracer", "valgrind", "--", this]));
    ended.check_error(2, &["no valgrind in PATH", "apt-get install valgrind"]);
    let ended = run(workspan(&folder).env("PATH", &folder).args(["limits", "--", this]));
    ended.check_error(2, &["no qemu-x86_64 in PATH", "apt-get install qemu-user"]);
}

/// `workspan depend` runs calls beside each other where nothing forbids it. An instruction of such a task waits for nothing
/// that `TruSp` does not have it wait for, so that this model bounds what `depend` finds; `TruNamCtl` does not, as there
/// a call's last branch holds back what follows the call.
#[test]
fn limits_bound_what_depend_finds() {
    let tree = "static int tree(int n) { return n < 2 ? n : tree(n - 1) + tree(n - 2); }\n\
        int main(void) { return tree(14) != 377; }\n";
    let chain = "static unsigned s = 1;\nstatic unsigned next(void) { return s = s * 1103515245u + 12345u; }\n\
        int main(void) { unsigned x = 0; for (int i = 0; i < 2000; i++) x += next(); return x == 7; }\n";
    let mut found = Vec::new();
    for (name, text) in [("tree", tree), ("chain", chain)] {
        let folder = scratch(&format!("limits-depend-{name}"));
        // Calls are what is compared: the compiler must not take them away.
        compile(&folder, "prog.c", text, &["-O1", "-g", "-fno-inline", "-fno-optimize-sibling-calls"]);
        fs::rename(folder.join("prog"), folder.join("plain")).expect("it was compiled");
        run(workspan(&folder).args(["build", "--", "cc", "-O1", "-w", "prog.c", "-o", "prog"])).check_success();
        run(workspan(&folder).args(["depend", "-o", "run.depend", "--json=depend.json", "--", "./prog"]))
            .check_success();
        let ended = limits(&folder, &["--roi", "main", "--depend", "depend.json"], &["./plain"]);
        let shown = ended.check_success().out();
        let answer = answer(&folder);
        let depend = &answer["depend"];
        let number = |key: &str| depend[key].as_f64().expect("a number");
        let (tasks, bound) = (number("parallelism"), number("bound"));
        assert_eq!((&depend["model"], &depend["within"]), (&Value::from("TruSp"), &Value::from(true)), "{depend:#}");
        assert!(tasks >= 1.0 && tasks <= bound, "{name}: {depend:#}");
        assert!(shown.contains("workspan depend") && shown.contains("TruSp allows"), "{shown}");
        let (instructions, path) = model(&answer, "TruNamCtl");
        found.push((tasks, instructions as f64 / path as f64));
    }
    // The tree's calls are independent of each other, those of the chain are not.
    assert!(found[0].0 > 10.0 && found[0].0 > found[0].1, "{found:?}");
    assert!(found[1].0 < 3.0, "{found:?}");
}

/// The variable through which a chain of values leads is named: of the program, of a library, or on the heap.
#[test]
fn variables_that_hold_a_path() {
    let folder = scratch("limits-variables");
    fs::write(
        folder.join("lib.c"),
        "unsigned seed = 1;\nunsigned draw(void) { return seed = seed * 1103515245u + 12345u; }\n",
    )
    .expect("writable");
    let library = ["-O1", "-g", "-shared", "-fPIC", "-o", "libdraw.so", "lib.c"];
    assert!(Command::new("gcc").current_dir(&folder).args(library).status().expect("gcc").success());
    let text = "#include <stdlib.h>\nunsigned draw(void);\n\
        static unsigned __attribute__((noinline)) own(void) { static unsigned state = 3; return state = state * 5u + 1u; }\n\
        static void __attribute__((noinline)) far(unsigned *p) { *p = *p * 7u + 1u; }\n\
        int main(int c, char **v) { unsigned *p = malloc(64), n = 0; *p = c;\n\
        for (int i = 0; i < 3000; i++) switch (*v[1]) { case 'o': n += own(); break; case 'd': n += draw(); break;\n\
        default: far(p); n += *p; } return n == 7; }\n";
    let path = folder.to_str().expect("a name");
    let path = [format!("-L{path}"), format!("-Wl,-rpath,{path}")];
    compile(&folder, "own.c", text, &["-O1", "-g", "-Wl,--no-as-needed", &path[0], "-ldraw", &path[1]]);
    for (which, wanted) in [("own", "state"), ("draw", "seed"), ("far", "[heap]")] {
        limits(&folder, &["--roi", "main"], &["./prog", which]).check_success();
        let answer = answer(&folder);
        let of_sp =
            answer["variables"].as_array().expect("a list").iter().find(|variable| variable["model"] == "TruSp");
        let found = of_sp.unwrap_or_else(|| panic!("no variables with {which}: {answer:#}"));
        assert_eq!(
            (&found["variable"], &found["link"]),
            (&Value::from(wanted), &Value::from("memory-value")),
            "{which}"
        );
        // Of each round one instruction of about four or five waits for it.
        assert!(found["share"].as_f64().expect("a share") > 0.15, "{which}: {found}");
    }
}

const LIST: &str = "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int v; };\n\
    __attribute__((noinline)) int work(int k) { struct n *l = 0;\n\
    for (int i = 0; i < k; i++) { struct n *x = malloc(sizeof *x); x->v = i * 7 % 13; x->next = l; l = x; }\n\
    int s = 0; while (l) { s += l->v; struct n *x = l->next; free(l); l = x; } return s; }\n\
    int main(void) { int s = 0; for (int i = 0; i < 20; i++) s += work(30); return s != 3440; }\n";

/// The models of an answer, and everything else that has a critical path.
fn all_paths(answer: &Value) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for key in ["models", "control", "names", "allocator", "latency", "windows", "widths"] {
        for (n, one) in (0..).zip(answer[key].as_array().expect("a list")) {
            found.push((format!("{key} {n}"), one["critical_path"].as_u64().expect("a number")));
        }
    }
    found
}

/// The emulator and single steps agree exactly on what a function does; valgrind knows a library's code for another
/// processor, so that it agrees on the program's own code.
#[test]
fn three_tracers_agree() {
    let folder = scratch("limits-tracers");
    compile(&folder, "list.c", LIST, &["-O1", "-g", "-static"]);
    let with = |tracer: &str, options: &[&str]| {
        let options = [&["--tracer", tracer], options].concat();
        limits(&folder, &options, &["./prog"]).check_success();
        answer(&folder)
    };
    let [emulator, step, valgrind] = ["qemu", "step", "valgrind"].map(|tracer| with(tracer, &["--roi", "work"]));
    assert_eq!(emulator["instructions"], step["instructions"]);
    assert_eq!(all_paths(&emulator), all_paths(&step));
    assert_eq!(emulator["conditions"]["region"], "calls of work");
    check_order(&emulator);
    check_order(&valgrind);
    // The first call of malloc asks the processor for the size of its cache, and the system for memory.
    let instructions = |answer: &Value| answer["instructions"].as_u64().expect("a number");
    assert!(instructions(&emulator).abs_diff(instructions(&valgrind)) < 400, "{valgrind:#}");
    for ((name, one), (_, other)) in all_paths(&emulator).into_iter().zip(all_paths(&valgrind)) {
        assert!(one.abs_diff(other) <= 400, "{name}: {one} with the emulator, {other} with valgrind");
    }
    // The calls of the allocator are what holds the calls of the function together.
    assert!(3 * all(&emulator, "allocator", 1) < model(&emulator, "TruSp").1, "{emulator:#}");
}

fn all(answer: &Value, key: &str, n: usize) -> u64 {
    answer[key][n]["critical_path"].as_u64().expect("a number")
}

/// A program without a library has no start-up: all three have the same numbers for everything.
#[test]
fn three_tracers_have_the_same_numbers() {
    let folder = scratch("limits-three");
    let text = ".globl _start\n_start: mov $1,%eax\n mov $20,%ecx\nl: push %rax\n call f\n pop %rdx\n dec %ecx\n jnz l\n\
                xor %edi,%edi\n mov $231,%eax\n syscall\nf: imul 16(%rsp),%rax\n movq $3,-8(%rsp)\n movdqu -8(%rsp),%xmm0\n ret\n";
    compile(&folder, "three.s", text, &ASSEMBLY);
    let mut found = Vec::new();
    for tracer in ["qemu", "step", "valgrind"] {
        limits(&folder, &["--tracer", tracer], &["./prog"]).check_success();
        let answer = answer(&folder);
        check_order(&answer);
        found.push((answer["instructions"].clone(), all_paths(&answer)));
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

#[test]
fn regions_by_marks_and_counts() {
    let folder = scratch("limits-regions");
    let text = "void __attribute__((noinline)) workspan_roi_begin(void) { __asm__ volatile(\"\"); }\n\
        void __attribute__((noinline)) workspan_roi_end(void) { __asm__ volatile(\"\"); }\n\
        int main(void) { volatile int n = 0; for (int i = 0; i < 9000; i++) n++;\n\
        workspan_roi_begin(); for (int i = 0; i < 1000; i++) n++; workspan_roi_end();\n\
        for (int i = 0; i < 9000; i++) n++; return 0; }\n";
    compile(&folder, "marks.c", text, &["-O1"]);
    limits(&folder, &["--roi", "marks"], &["./prog"]).check_success();
    let marked = answer(&folder)["instructions"].as_u64().expect("a number");
    assert!((4000..8000).contains(&marked), "{marked}");
    limits(&folder, &["--roi", "5000..6000"], &["./prog"]).check_success();
    let counted = answer(&folder);
    let instructions = counted["instructions"].as_u64().expect("a number");
    assert!((900..1100).contains(&instructions), "{instructions}");
    assert_eq!(counted["complete"], false);
    assert!(warnings(&counted).contains("--roi"), "{}", warnings(&counted));
}

/// A wider machine is no slower; a larger window neither; nothing beats the dependences alone.
#[test]
fn windows_and_widths() {
    let folder = scratch("limits-windows");
    compile(&folder, "serial.c", SERIAL, &["-O1", "-static"]);
    limits(&folder, &[], &["./prog"]).check_success();
    let answer = answer(&folder);
    let sizes = |key: &str, size: &str| -> Vec<(u64, u64)> {
        let one =
            |one: &Value| (one[size].as_u64().expect("a number"), one["critical_path"].as_u64().expect("a number"));
        answer[key].as_array().expect("a list").iter().map(one).collect()
    };
    let (windows, widths) = (sizes("windows", "window"), sizes("widths", "width"));
    assert_eq!(
        windows.iter().map(|(size, _)| *size).collect::<Vec<u64>>(),
        (5..=20).map(|n| 1 << n).collect::<Vec<u64>>()
    );
    assert_eq!(
        widths.iter().map(|(size, _)| *size).collect::<Vec<u64>>(),
        (0..=10).map(|n| 1 << n).collect::<Vec<u64>>()
    );
    for sizes in [&windows, &widths] {
        assert!(sizes.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{sizes:?}");
        assert!(sizes.iter().all(|(_, cycles)| *cycles >= model(&answer, "Tru").1), "{sizes:?}");
    }
    assert_eq!(widths[0].1, answer["instructions"].as_u64().expect("a number"));
    for (n, name) in ["spill", "stack", "heap", "global"].into_iter().enumerate() {
        assert_eq!(answer["names"][n]["without"], name);
        let cycles = all(&answer, "names", n);
        assert!(model(&answer, "Tru").1 <= cycles && cycles <= model(&answer, "TruNam").1, "{name}: {cycles}");
    }
    assert!(all(&answer, "allocator", 0) <= model(&answer, "Tru").1);
    assert!(all(&answer, "latency", 0) >= model(&answer, "Tru").1);
    assert!(answer["slack"]["used"].as_u64() > Some(1000));
    let smooth = answer["smoothability"]["value"].as_f64().expect("a number");
    assert!(smooth > 0.0 && smooth <= 1.0, "{smooth}");
    for profile in answer["profile"].as_array().expect("a list") {
        let bars =
            profile["instructions"].as_array().expect("a list").iter().map(|bar| bar.as_u64().expect("a number"));
        assert_eq!(Some(bars.sum()), answer["instructions"].as_u64(), "{profile}");
    }
}

/// Memory that does not stand ready is packed: that changes no number, whatever order memory is accessed in.
#[test]
fn a_history_that_is_packed() {
    let folder = scratch("limits-packed");
    let text = fs::read_to_string(root().join("programs/limits/scatter.c")).expect("it is there");
    compile(&folder, "scatter.c", &text, &["-O1", "-static"]);
    let with = |limit: &str| {
        limits(&folder, &["--memory-limit", limit], &["./prog", "60000", "60000"]).check_success();
        answer(&folder)
    };
    // 60 000 words take 12 MiB of cells; of 40 MiB, three for each engine stand ready.
    let (ample, scarce) = (with("4096"), with("40"));
    assert_eq!(all_paths(&ample), all_paths(&scarce));
    assert_eq!(scarce["analysis"]["coarse"], false);
    let bytes = |answer: &Value| answer["analysis"]["memory_bytes"].as_u64().expect("a number");
    assert!(bytes(&scarce) + (3 << 20) < bytes(&ample), "{} of {} bytes", bytes(&scarce), bytes(&ample));
}
