//! `workspan depend`: what calls are given by value, what they return, and calls of what nobody knows.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{build_source, folder, out, success, workspan};

fn profile(folder: &Path, options: &[&str]) -> Value {
    let all = ["depend", "-o", "run.depend", "--json=run.json"].iter().chain(options).chain(&["--", "./prog"]);
    success(workspan(folder, &all.copied().collect::<Vec<&str>>()));
    serde_json::from_slice(&fs::read(folder.join("run.json")).expect("readable")).expect("JSON")
}

fn parallelism(profile: &Value, model: &str) -> f64 {
    let all = profile["models"].as_array().expect("a list");
    let found = all.iter().find(|found| found["name"] == model).expect("it is there");
    found["parallelism"].as_f64().expect("a number")
}

/// A program that has two calls of about 4000 instructions, whose loops are serial.
fn program(body: &str) -> String {
    format!(
        "#include <math.h>
static double sink[9];
static double slow(double x) {{ for (int k = 0; k < 1000; k++) x = x * 0.5 + k; return x; }}
struct all {{ double x, y, z; }};
static struct all make(double x) {{ struct all a = {{ slow(x), 1, 2 }}; return a; }}
static double of(struct all a) {{ return slow(a.y); }}
static double quick(double x) {{ return x + 1; }}
static void put(int at, double v) {{ for (int k = 0; k < 1000; k++) v = v * 0.5 + k; sink[at] = v; }}
int main(int argc, char **argv) {{
{body}
  return 0;
}}
"
    )
}

/// Models in which calls begin when what they need is there: in `lines` and `everything` the loops within `slow` are faster, too.
const OF_CALLS: [&str; 7] = ["base", "exact", "no-control", "loops", "parallel-loops", "reductions", "hoist"];

#[test]
fn a_call_waits_for_the_values_that_it_is_given() {
    let folder = folder("depend-values");
    for (body, serial) in [
        ("  double x = slow(1);\n  put(3, x);", true),
        ("  put(3, slow(1));", true),
        ("  put(3, 2 * slow(1) + argc);", true),
        ("  put(3, sqrt(slow(1)));", true),
        ("  double x = sqrt(slow(1));\n  put(3, x);", true),
        ("  double x = slow(1) + quick(2);\n  put(3, x);", true),
        ("  double x = quick(2) + slow(1);\n  put(3, x);", true),
        ("  int at = (int)slow(1) % 2;\n  put(at, 1);", true),
        ("  double x = 1;\n  for (int k = 0; k < 1000; k++) x = x * 0.5 + k;\n  put(3, x);", true),
        ("  double x =\n      slow(1);\n  put(3, x);", true),
        ("  sink[2] = of(make(1));", true),
        ("  struct all a = { 1, 2, 3 };\n  sink[1] = of(a);\n  sink[2] = of(a);", false),
        ("  put(3, argc ? slow(1) : 1);", true),
        ("  put(3,\n      argc ? slow(1)\n           : 2);", true),
        ("  put(3,\n      argc > 7 ? quick(9)\n      : argc ? 2 * slow(1)\n             : 2);", true),
        ("  put(3,\n      argc &&\n      slow(1));", true),
        ("  put(3,\n      2 *\n      slow(1));", true),
        ("  put(3,\n      -(int)\n      quick(1) + 2.0 *\n      (1 +\n       slow(1)));", true),
        ("  double x = argc ? slow(1) : 2;\n  put(3, 1);\n  sink[2] = x;", false),
        ("  double x = slow(1);\n  put(3, 1);\n  sink[2] = x;", false),
        ("  sink[2] = slow(1) + slow(2);", false),
        ("  put(1, quick(1));\n  put(2, quick(2));", false),
    ] {
        build_source(&folder, "prog.c", &program(body), "cc -O2 -w -lm");
        let found = profile(&folder, &[]);
        for model in OF_CALLS {
            let parallelism = parallelism(&found, model);
            let is_serial = parallelism < 1.02;
            assert!(is_serial == serial, "{body} in {model}: {parallelism}");
            assert!(serial || parallelism > 1.9, "{body} in {model}: {parallelism}");
        }
    }
}

#[test]
fn a_call_that_is_waited_for_on_its_line_is_not_spawned() {
    let folder = folder("depend-values-spawn");
    let body = "  double x = sqrt(slow(1));\n  quick(3);\n  double y = slow(2);\n  put(4, 1);\n  put(3, x + y);";
    build_source(&folder, "prog.c", &program(body), "cc -O2 -w -lm");
    let found = profile(&folder, &[]);
    let spawn = |line: u64, callee: &str| {
        let all = found["calls"].as_array().expect("a list");
        let call = all.iter().find(|call| call["line"] == line && call["callee"] == callee);
        let call = call.unwrap_or_else(|| panic!("no {callee} at {line}: {all:#?}"));
        (call["spawn"] == true, call["sync"]["line"].as_u64())
    };
    assert_eq!(spawn(10, "slow"), (false, Some(10)), "{found:#}");
    assert_eq!(spawn(12, "slow"), (true, Some(14)), "{found:#}");
}

#[test]
fn a_choice_for_an_argument_is_waited_for_by_the_call() {
    let folder = folder("depend-choice");
    let body = "  put(3,\n      argc ? slow(1)\n           : 2);";
    build_source(&folder, "prog.c", &program(body), "cc -O2 -w -lm");
    let found = profile(&folder, &[]);
    let call = found["calls"].as_array().expect("a list").iter().find(|call| call["callee"] == "slow");
    let call = call.expect("it was called");
    assert_eq!((&call["line"], &call["sync"]["line"]), (&11.into(), &10.into()), "{found:#}");
}

/// Two calls of a sum depend on nobody, and the sum on both.
#[test]
fn a_recursion_that_adds_results_stays_parallel() {
    let folder = folder("depend-values-fib");
    let text = "static int fib(int n) {\n  if (n < 2)\n    return n;\n  return fib(n - 1) + fib(n - 2);\n}\nint main(void) { return fib(16) == 3; }\n";
    build_source(&folder, "prog.c", text, "cc -O2 -w");
    let found = profile(&folder, &[]);
    for model in ["base", "exact", "hoist"] {
        assert!(parallelism(&found, model) > 20.0, "{model}: {:#}", found["models"]);
    }
}

#[test]
fn assembly_that_may_do_anything_is_a_black_box() {
    let folder = folder("depend-assembly");
    let text = "static long a[50];
int main(void) {
  for (long i = 0; i < 50; i++)
    __asm__ volatile(\"# \" : : \"r\"(i) : \"memory\");
  for (long i = 0; i < 50; i++)
    __asm__ volatile(\"nop\" : : \"r\"(&a[i]) : \"memory\");
  return 0;
}
";
    build_source(&folder, "prog.c", text, "cc -O2 -w");
    let found = profile(&folder, &[]);
    assert_eq!([&found["loops"][0]["parallel"], &found["loops"][1]["parallel"]], ["yes", "no"], "{found:#}");
    let blocker = &found["loops"][1]["blockers"][0];
    assert_eq!((&blocker["kind"], &blocker["variable"]), (&"black-box".into(), &"inline assembly".into()), "{found:#}");
    assert_eq!((&blocker["source"]["line"], &blocker["sink"]["line"]), (&6.into(), &6.into()));
    let boxes = serde_json::json!([{ "function": "inline assembly", "calls": 50 }]);
    assert_eq!(found["black_boxes"], boxes);
    let shown = out(&workspan(&folder, &["depend", "report", "run.depend"]));
    assert!(shown.contains("inline assembly at 6:") && shown.contains("--effects"), "{shown}");
    // Its effect can be named.
    fs::write(folder.join("effects"), "inline assembly none # a hint\n").expect("writable");
    let found = profile(&folder, &["--effects", "effects"]);
    assert_eq!(found["loops"][1]["parallel"], "yes", "{found:#}");
}

/// A directive stands before canonical loops only: of others the report says what to write.
#[test]
fn directives_are_proposed_where_they_compile() {
    let folder = folder("depend-canonical");
    let text = "static double a[200];
int main(void) {
  int i, j;
  for (i = 0, j = 0; i < 100; i++, j += 2)
    a[j] = i;
  j = 0;
  for (i = 0; i < 100; i++) {
    a[j] += i;
    j += 2;
  }
  j = 0, i = 0;
  while (i < 100) {
    a[j] += i;
    j += 2, i++;
  }
  return a[7] == j;
}
";
    build_source(&folder, "prog.c", text, "cc -O2 -w");
    let found = profile(&folder, &[]);
    let directive = "#pragma omp parallel for linear(j:2)";
    let change = |at: usize| found["loops"][at]["change"].as_str().expect("a text");
    assert_eq!(change(1), directive, "{found:#}");
    let canonical =
        "write it as a canonical `for` loop, with one counter that the header begins, compares and steps (j in the body), then ";
    assert_eq!(change(0), format!("{canonical}{directive}"));
    assert_eq!(change(2), format!("write it as a `for` loop with one counter, then {directive}"));
}

#[test]
fn functions_whose_effect_is_known_are_no_black_boxes() {
    let folder = folder("depend-boxes");
    let text = "#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  volatile double x = argc;
  volatile float y = argc;
  volatile long double z = argc;
  for (int i = 0; i < 5; i++) {
    x = sqrt(x) + fabs(x) + floor(x) + pow(x, 3) + fmod(x, 3) + hypot(x, 3);
    y = sqrtf(y) + fabsf(y) + floorf(y) + powf(y, 3) + fmodf(y, 3) + hypotf(y, 3);
    z = sqrtl(z) + fabsl(z) + floorl(z) + powl(z, 3) + fmodl(z, 3) + hypotl(z, 3);
    free(strdup(\"text\"));
    x += a64l(\"ab\");
  }
  return x + y + z < 0;
}
";
    build_source(&folder, "prog.c", text, "cc -O2 -w -fno-builtin -lm");
    let found = profile(&folder, &[]);
    assert_eq!(found["black_boxes"], serde_json::json!([{ "function": "a64l", "calls": 5 }]), "{found:#}");
}

/// flang keeps the folder of a file apart from its name.
#[test]
fn files_of_fortran_are_named_as_the_compiler_was_given_them() {
    let folder = folder("depend-folders");
    fs::create_dir(folder.join("source")).expect("writable");
    let text = "program p\n  integer :: a(9), i\n  do i = 1, 9\n    a(i) = i\n  end do\n  a(2:9) = a(2:9) + 1\n  print *, a\nend program\n";
    build_source(&folder, "source/prog.f90", text, "gfortran -O2");
    let found = profile(&folder, &[]);
    let loops = found["loops"].as_array().expect("a list");
    assert!(loops.len() == 2 && loops.iter().all(|each| each["file"] == "source/prog.f90"), "{found:#}");
    let changes = ["!$omp parallel do", "write it as a `do` loop with a counter, then !$omp parallel do"];
    assert_eq!([&loops[0]["change"], &loops[1]["change"]], changes);
}

/// A clause stands before the loop, and names what is known there.
#[test]
fn names_of_called_functions_are_in_no_clause() {
    let folder = folder("depend-foreign");
    let text = "static double line[6], out[40], total;
static void fill(double *row, int i) { for (int j = 0; j < 6; j++) row[j] = i * j; }
static double middle(const double *row) { return row[2]; }
static void count(double x) { total += x; }
int main(void) {
  for (int i = 0; i < 40; i++) { fill(line, i); out[i] = line[3]; }
  for (int i = 0; i < 40; i++) { fill(line, i); out[i] = middle(line); }
  for (int i = 0; i < 40; i++) { static double own[2]; own[1] = i; out[i] += own[1]; }
  for (int i = 0; i < 40; i++) count(out[i]);
  return out[3] > total;
}
";
    build_source(&folder, "prog.c", text, "cc -O2 -w");
    let found = profile(&folder, &[]);
    let of_main = found["loops"].as_array().expect("a list").iter().filter(|each| each["function"] == "main");
    let changes: Vec<&str> = of_main.filter_map(|each| each["change"].as_str()).collect();
    let directive = "#pragma omp parallel for";
    assert_eq!(
        changes,
        [
            format!("{directive} private(line)"),
            format!("give each iteration its own copy of what row leads to in called functions, then {directive}"),
            format!("give each iteration its own copy of the static variable own, then {directive}"),
            format!(
                "give each thread a copy of total (called functions update it), combine the copies by +, then {directive}"
            ),
        ]
    );
}

/// Calls of one place that follow one another are one span; once the function has called itself, its own accesses in between stay its own.
#[test]
fn what_a_function_does_between_calls_is_its_own_after_a_recursion() {
    let text = "static int a[8], b[8];
static void other(int i) { b[i]++; }
static void f(int n) {
  for (int i = 0; i < 4; i++) {
    other(i);
    a[i] = n;
  }
  if (n) f(n - 1);
}
int main(void) { f(2); return 0; }
";
    let folder = folder("depend-between-calls");
    build_source(&folder, "prog.c", text, "cc -O2 -w");
    let profile = profile(&folder, &[]);
    let all = profile["dependences"].as_array().expect("a list").iter();
    let of_a = all.filter(|each| each["variable"] == "a" && each["function"] == "f");
    let lines: Vec<(&str, u64, u64, u64)> = of_a
        .map(|each| {
            let line = |end: &str| each[end]["line"].as_u64().expect("a line");
            let count = each["count"].as_u64().expect("a number");
            (each["kind"].as_str().expect("a text"), line("source"), line("sink"), count)
        })
        .collect();
    assert_eq!(lines, [("WAW", 6, 8, 8)]);
}
