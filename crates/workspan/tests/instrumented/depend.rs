//! `workspan depend`: the figures of the literature, and input that is not what it should be.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{build, build_source, err, folder, out, workspan};

pub(crate) fn profile(folder: &Path, arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["depend", "-o", "run.depend", "--json=run.json", "--", "./prog"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    let output = workspan(folder, &all);
    assert!(folder.join("run.json").is_file(), "{}", err(&output));
    serde_json::from_slice(&fs::read(folder.join("run.json")).expect("readable")).expect("JSON")
}

fn of_source(name: &str, text: &str) -> Value {
    let folder = folder(name);
    build_source(&folder, "prog.c", text, "cc -O2 -w");
    profile(&folder, &[])
}

const FIGURE_4_2: &str = "#include <stdlib.h>
#include <stdio.h>
static void inc(int *p) { *p = *p + 1; }
int f(int argc, char **argv) {
  int *q = NULL, n = 0;
  q = (int *)malloc(sizeof(int));
  *q = argc;
  inc(q);
  inc(&n);
  inc(q);
  printf(\"%d\\n\", *q + n);
  q = (int *)malloc(sizeof(int));
  return q == NULL;
}
int main(int argc, char **argv) { return f(argc, argv); }
";

fn call(profile: &Value, line: u64) -> (bool, Option<u64>) {
    let calls = profile["calls"].as_array().expect("a list");
    let found =
        calls.iter().find(|call| call["line"] == line).unwrap_or_else(|| panic!("no call at {line}: {calls:#?}"));
    (found["spawn"] == true, found["sync"]["line"].as_u64())
}

fn parallelism(profile: &Value, model: &str) -> f64 {
    let models = profile["models"].as_array().expect("a list");
    let found = models.iter().find(|found| found["name"] == model).expect("it is there");
    found["parallelism"].as_f64().expect("a number")
}

#[test]
fn figure_4_2_calls_depend_on_calls() {
    let profile = of_source("depend-4-2", FIGURE_4_2);
    assert_eq!(
        [call(&profile, 8), call(&profile, 9), call(&profile, 10)],
        [(true, Some(10)), (true, Some(11)), (false, Some(11))]
    );
    let names: Vec<&str> =
        profile["models"].as_array().expect("a list").iter().filter_map(|model| model["name"].as_str()).collect();
    let expected =
        ["base", "exact", "no-control", "loops", "parallel-loops", "reductions", "hoist", "lines", "everything"];
    assert_eq!(names, expected);
}

#[test]
fn figure_4_3_aggregated_dependences_hold_for_every_call() {
    let text = "static int sink[2], n;
static void spin(void) { volatile int k; for (k = 0; k < 1000; k++) ; }
void g1(int *a) { spin(); *a = 1; }
void g2(int *b) { spin(); sink[n++] = *b; }
int f(int *a, int *b) {
  int x = 0;
  g1(a);
  g2(b);
  return x;
}
int main(void) {
  int x = 0, y = 1;
  f(&x, &y);
  f(&x, &x);
}
";
    let profile = of_source("depend-4-3", text);
    // The first call of f has no dependence between g1 and g2: only models that look at each call by itself use that.
    assert!(parallelism(&profile, "base") < 1.01, "{profile:#}");
    assert!((1.3..1.4).contains(&parallelism(&profile, "exact")), "{profile:#}");
    assert_eq!(call(&profile, 7), (false, Some(8)));
}

#[test]
fn figure_4_7_iterations_as_tasks_hide_a_pipeline() {
    let text = "static double s1, s2, v[100];
static void task1(int i) { for (int k = 0; k < 200; k++) s1 = s1 * 0.5 + k; v[i] = s1; }
static void task2(int i) { for (int k = 0; k < 200; k++) s2 = s2 * 0.5 + v[i]; }
int main(void) {
  for (int i = 0; i < 100; i++) {
    task1(i);
    task2(i);
  }
  return s2 > 1e9;
}
";
    let profile = of_source("depend-4-7", text);
    assert!(parallelism(&profile, "base") > 1.7 && parallelism(&profile, "parallel-loops") > 1.7, "{profile:#}");
    assert!(parallelism(&profile, "loops") < 1.1, "{profile:#}");
}

#[test]
fn figure_4_9_cilksort_waits_where_its_authors_did() {
    let text = "#include <stdlib.h>
static void merge(int *to, int *a, int *ae, int *b, int *be) {
  while (a < ae && b < be) *to++ = *a < *b ? *a++ : *b++;
  while (a < ae) *to++ = *a++;
  while (b < be) *to++ = *b++;
}
static void sort(int *low, int *tmp, int size) {
  int quarter = size / 4;
  int *A, *B, *C, *D, *tmpA, *tmpC;
  if (size < 16) {
    for (int i = 1; i < size; i++)
      for (int j = i; j > 0 && low[j - 1] > low[j]; j--) { int t = low[j]; low[j] = low[j - 1]; low[j - 1] = t; }
    return;
  }
  A = low, tmpA = tmp;
  B = A + quarter;
  C = B + quarter, tmpC = tmpA + 2 * quarter;
  D = C + quarter;
  sort(A, tmpA, quarter);
  sort(B, tmpA + quarter, quarter);
  sort(C, tmpC, quarter);
  sort(D, tmpC + quarter, size - 3 * quarter);
  merge(tmpA, A, A + quarter, B, B + quarter);
  merge(tmpC, C, C + quarter, D, low + size);
  merge(A, tmpA, tmpC, tmpC, tmpA + size);
}
int main(void) {
  static int v[4096], w[4096];
  unsigned x = 1;
  for (int i = 0; i < 4096; i++) { x = x * 1103515245u + 12345u; v[i] = x >> 16 & 1023; }
  sort(v, w, 4096);
  for (int i = 1; i < 4096; i++) if (v[i - 1] > v[i]) abort();
  return 0;
}
";
    let profile = of_source("depend-cilksort", text);
    let expected =
        [(true, Some(23)), (true, Some(23)), (true, Some(24)), (true, Some(24)), (true, Some(25)), (false, Some(25))];
    assert_eq!([19, 20, 21, 22, 23, 24].map(|line| call(&profile, line)), expected, "{profile:#}");
    assert!(parallelism(&profile, "base") > 3.0, "{}", parallelism(&profile, "base"));
}

#[test]
fn loops_and_reductions_add_what_calls_do_not_have() {
    let text = "#define N 40
static double a[N][N], b[N][N], c[N][N];
static int prime(int n) { for (int d = 2; d * d <= n; d++) if (n % d == 0) return 0; return 1; }
int main(void) {
  int count = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double s = 0;
      for (int k = 0; k < N; k++) s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
  for (int n = 0; n < 5000; n++) if (prime(n)) count++;
  return count == 0;
}
";
    let profile = of_source("depend-models", text);
    assert!(
        parallelism(&profile, "base") < 2.0 && parallelism(&profile, "reductions") > 50.0,
        "{:#}",
        profile["models"]
    );
}

#[test]
fn bad_input_is_an_error_that_says_what_to_do() {
    let folder = folder("depend-bad");
    let text = "#include <signal.h>\nint a[9];\nint main(void) { for (int i = 0; i < 9; i++) a[i] = i; raise(9); return 0; }\n";
    fs::write(folder.join("prog.c"), text).expect("writable");
    let native = std::process::Command::new("cc").args(["prog.c", "-o", "native"]).current_dir(&folder).status();
    assert!(native.expect("there is a compiler").success());
    let output = workspan(&folder, &["depend", "--", "./native"]);
    assert!(err(&output).contains("type `workspan build -- COMMAND…`"), "{}", err(&output));
    assert!(!folder.join("workspan.depend").exists());
    // It is refused before it runs.
    let ran = "#include <stdio.h>\nint main(void) { return fclose(fopen(\"ran\", \"w\")); }\n";
    fs::write(folder.join("ran.c"), ran).expect("writable");
    let native = std::process::Command::new("cc").args(["ran.c", "-o", "leaves"]).current_dir(&folder).status();
    assert!(native.expect("there is a compiler").success());
    let output = workspan(&folder, &["depend", "--", "./leaves"]);
    assert!(output.status.code() == Some(2) && !folder.join("ran").exists(), "{}", err(&output));
    // Killed: what was seen so far, marked.
    build(&folder, "cc prog.c -o prog");
    let profile = profile(&folder, &[]);
    assert_eq!((&profile["status"], &profile["complete"]), (&137.into(), &false.into()));
    assert_eq!(profile["loops"][0]["parallel"], "yes", "{profile:#}");
    let file = folder.join("run.depend");
    let bytes = fs::read(&file).expect("readable");
    let report = workspan(&folder, &["depend", "report", "run.depend", "--json"]);
    assert_eq!(serde_json::from_slice::<Value>(&report.stdout).expect("JSON"), profile);
    // Built elsewhere, a file is called as from where its reader is; programs get what the compiler saw.
    let [source, whole] = ["prog.c", "whole"].map(|name| folder.join(name).display().to_string());
    let command = format!("cd / && cc {source} -o {whole}");
    assert!(workspan(&folder, &["build", "--", "sh", "-c", &command]).status.success());
    let output = workspan(&folder, &["depend", "-o", "whole.depend", "--json=whole.json", "--", "./whole"]);
    let found: Value =
        serde_json::from_slice(&fs::read(folder.join("whole.json")).expect("it was written")).expect("JSON");
    assert_eq!(found["loops"][0]["file"], source, "{}", err(&output));
    assert!(workspan(&folder, &["depend", "report", "whole.depend", "--html", "whole.html"]).status.success());
    let page = fs::read_to_string(folder.join("whole.html")).expect("it was written");
    assert!(page.contains("loop at prog.c:3:18 in main") && !page.contains(&source), "{page}");
    for (change, message) in [
        (bytes[..bytes.len() / 2].to_vec(), "damaged or cut short"),
        (b"something else".to_vec(), "it is no dependence profile"),
        ([&bytes[..16], &[99], &bytes[17..]].concat(), "version 99"),
    ] {
        fs::write(&file, change).expect("writable");
        let output = workspan(&folder, &["depend", "report", "run.depend"]);
        assert!(output.status.code() == Some(2) && err(&output).contains(message), "{}: {}", message, err(&output));
    }
    // Nothing else is overwritten.
    let output = workspan(&folder, &["depend", "-o", "prog.c", "--", "./prog"]);
    assert!(err(&output).contains("is no dependence profile: name another file"), "{}", err(&output));
    // The second form is missing.
    fs::remove_file(folder.join(".prog.depend")).expect("it was made");
    let output = workspan(&folder, &["depend", "--", "./prog"]);
    assert!(err(&output).contains("copy that file too, or build again"), "{}", err(&output));
}

// Optimised, the serial loop keeps its sum in a register: nothing that is seen forbids parallel iterations.
const LATE: &str =
    "double a[60];\ndouble scan(double s) {\n  for (int i = 0; i < 60; i++) s = s * 0.5 + a[i];\n  return s;\n}\n";
const OWN: &str = "double scan(double);\nextern double a[];\nint main(void) {\n  for (int i = 0; i < 60; i++) a[i] = i;\n  return scan(1) < 0;\n}\n";

/// Verdicts on the loops of a line.
fn verdict(profile: &Value, line: u64) -> Vec<Value> {
    let loops = profile["loops"].as_array().expect("a list").iter();
    loops.filter(|each| each["line"] == line).map(|each| each["parallel"].clone()).collect()
}

#[test]
fn loops_of_an_object_without_a_second_form_are_not_judged() {
    let folder = folder("depend-late");
    fs::write(folder.join("late.c"), LATE).expect("writable");
    fs::write(folder.join("own.c"), OWN).expect("writable");
    for file in ["late", "own"] {
        build(&folder, &format!("cc -O2 -c {file}.c -o {file}.o"));
    }
    build(&folder, "cc late.o own.o -o prog");
    let both = profile(&folder, &[]);
    assert_eq!((verdict(&both, 3), verdict(&both, 4)), (vec!["no".into()], vec!["yes".into()]), "{both:#}");
    fs::remove_file(folder.join(".late.o.depend")).expect("it was made");
    build(&folder, "cc late.o own.o -o prog");
    let one = profile(&folder, &[]);
    assert_eq!((verdict(&one, 3), verdict(&one, 4)), (vec!["not-executed".into()], vec!["yes".into()]), "{one:#}");
    assert!(one["loops"].as_array().expect("a list").iter().any(|each| each["line"] == 3 && each["entries"] == 1));
}

#[test]
fn loops_in_static_libraries_are_judged() {
    let folder = folder("depend-archive");
    fs::write(folder.join("late.c"), LATE).expect("writable");
    fs::write(folder.join("own.c"), OWN).expect("writable");
    build(&folder, "cc -O2 -c late.c");
    build(&folder, "cc -O2 -c own.c");
    for (archive, link) in [
        ("ar rcs liblate.a late.o", "cc own.o liblate.a -o prog"),
        ("ar cqS liblate.a late.o && ranlib liblate.a", "cc own.o -L. -llate -o prog"),
        ("mkdir -p out && ar rc out/liblate.a late.o", "cc -L out own.o -l late -o prog"),
    ] {
        let _ = fs::remove_file(folder.join("liblate.a"));
        let built = workspan(&folder, &["build", "--", "sh", "-c", archive]);
        assert!(built.status.success(), "{}", err(&built));
        build(&folder, link);
        let found = profile(&folder, &[]);
        assert_eq!(
            (verdict(&found, 3), verdict(&found, 4)),
            (vec!["no".into()], vec!["yes".into()]),
            "{archive}: {found:#}"
        );
    }
    // What the object becomes, the library does: nothing of the former one is left.
    fs::write(folder.join("late.c"), LATE.replace("s = s * 0.5 + a[i]", "a[i] *= 2")).expect("writable");
    build(&folder, "cc -O2 -c late.c");
    let _ = fs::remove_file(folder.join("liblate.a"));
    let built = workspan(&folder, &["build", "--", "ar", "cq", "liblate.a", "late.o"]);
    assert!(built.status.success(), "{}", err(&built));
    build(&folder, "cc own.o liblate.a -o prog");
    assert_eq!(verdict(&profile(&folder, &[]), 3), ["yes"]);
    // One that was there before keeps what it held: its second form would lack that.
    fs::remove_file(folder.join(".liblate.a.depend")).expect("it was made");
    let add = |object: &str| workspan(&folder, &["build", "--", "ar", "rs", "liblate.a", object]);
    assert!(add("own.o").status.success() && !folder.join(".liblate.a.depend").exists());
    // Both objects are new: nothing is left that it would lack.
    let built = workspan(&folder, &["build", "--", "ar", "rs", "liblate.a", "late.o", "own.o"]);
    assert!(built.status.success() && folder.join(".liblate.a.depend").exists(), "{}", err(&built));
    // Another one is added to both.
    assert!(add("late.o").status.success() && folder.join(".liblate.a.depend").exists());
    build(&folder, "cc -Wl,-u,main liblate.a -o prog");
    assert_eq!(verdict(&profile(&folder, &[]), 3), ["yes"]);
    // Without one of its objects, there is no second library, and the program is linked as it is.
    let built = workspan(&folder, &["build", "--", "ar", "d", "liblate.a", "none.o"]);
    assert!(built.status.success() && !folder.join(".liblate.a.depend").exists(), "{}", err(&built));
    build(&folder, "cc own.o liblate.a -o prog");
    assert!(!verdict(&profile(&folder, &[]), 3).contains(&"yes".into()));
}

#[test]
fn library_functions_that_may_overwrite_each_other_make_a_loop_serial() {
    let text = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[400], names[20];
int main(void) {
  char *rows[20], *one = malloc(400);
  for (int i = 0; i < 20; i++) sprintf(text + i, \"%d\", 100 + i);
  for (int i = 0; i < 20; i++) { char own[32]; sprintf(own, \"%d\", i); names[i] = own[0]; }
  for (int i = 0; i < 20; i++) { rows[i] = malloc(16); sprintf(rows[i], \"%d\", i); }
  for (int i = 0; i < 20; i++) strcpy(rows[i], \"ab\");
  for (int i = 0; i < 20; i++) strcpy(one + i, \"ab\");
  for (int i = 0; i < 20; i++) sscanf(\"ab\", \"%s\", one + i);
  puts(text), puts(one);
  return 0;
}
";
    let profile = of_source("depend-unbounded", text);
    let loops = profile["loops"].as_array().expect("a list");
    let verdicts: Vec<(&Value, &Value)> =
        loops.iter().map(|each| (&each["parallel"], &each["blockers"][0]["kind"])).collect();
    let (yes, no, kind, none) = ("yes".into(), "no".into(), "WAW".into(), Value::Null);
    let unknown = "unknown-call".into();
    assert_eq!(
        verdicts,
        [(&no, &kind), (&yes, &none), (&yes, &none), (&yes, &none), (&no, &kind), (&no, &unknown)],
        "{profile:#}"
    );
}

#[test]
fn the_text_names_what_to_do() {
    let folder = folder("depend-text");
    let text = "#include <stdio.h>\nint main(void) {\n  double s = 0, a[50];\n  for (int i = 0; i < 50; i++) a[i] = i;\n  for (int i = 0; i < 50; i++) s += a[i];\n  for (int i = 0; i < 5; i++) printf(\"%g\\n\", a[i]);\n  return s < 0;\n}\n";
    build_source(&folder, "prog.c", text, "cc");
    profile(&folder, &[]);
    let shown = out(&workspan(&folder, &["depend", "report", "run.depend"]));
    assert!(shown.contains("2 more can run in parallel, but do too little work"), "{shown}");
    assert!(shown.contains("input or output at 6:") && shown.contains("its order would change"), "{shown}");
    workspan(
        &folder,
        &["depend", "report", "run.depend", "--csv", "run.csv", "--sarif", "run.sarif", "--autopar", "run.autopar"],
    );
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("it was written");
    assert!(read("run.csv").contains("#pragma omp parallel for reduction(+:s)"), "{}", read("run.csv"));
    let sarif: Value = serde_json::from_str(&read("run.sarif")).expect("JSON");
    let fix = &sarif["runs"][0]["results"][1]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(fix["insertedContent"]["text"], "#pragma omp parallel for reduction(+:s)\n", "{sarif:#}");
    let autopar: Value = serde_json::from_str(&read("run.autopar")).expect("JSON");
    assert_eq!(autopar[0]["loops"][1]["reduction"]["+"][0], "s", "{autopar:#}");
}

#[test]
fn runs_on_several_inputs_add_up() {
    let folder = folder("depend-add");
    let text = "int a[40], b[40];\nint main(int argc, char **argv) {\n  int step = argc - 1;\n  for (int i = 0; i < 30; i++)\n    a[i + step] = a[i] + 1;\n  if (argc > 2)\n    b[3] = 1;\n  return a[3] > 100;\n}\n";
    build_source(&folder, "prog.c", text, "cc");
    let first = profile(&folder, &[]);
    assert_eq!(first["loops"][0]["parallel"], "yes", "{first:#}");
    workspan(&folder, &["depend", "--add", "-o", "run.depend", "--json=run.json", "--", "./prog", "x", "y"]);
    let both: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).expect("readable")).expect("JSON");
    assert_eq!(both["loops"][0]["parallel"], "no", "{both:#}");
    assert_eq!((&both["runs"][1][2], &both["loops"][0]["iterations"]), (&"y".into(), &60.into()), "{both:#}");
    assert_eq!(both["coverage"]["unreached"], Value::Array(Vec::new()), "{both:#}");
    assert_eq!(first["coverage"]["unreached"][0]["first"], 7, "{first:#}");
}

/// Functions for instructions of one processor stay what they are.
#[cfg(target_arch = "x86_64")]
#[test]
fn vector_intrinsics_are_compiled_too() {
    let profile = of_source(
        "depend-vectors",
        r#"#include <emmintrin.h>
#include <stdio.h>
static char text[64];
int main(void) {
    int masks[4];
    for (int i = 0; i < 64; i++) text[i] = i % 3;
    for (int i = 0; i < 4; i++)
        masks[i] = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((__m128i *)(text + 16 * i)), _mm_set1_epi8(1)));
    return printf("%d\n", masks[0] ^ masks[3]) < 0;
}
"#,
    );
    let loops = profile["loops"].as_array().expect("a list");
    let verdicts: Vec<_> = loops.iter().map(|each| (each["line"].as_u64(), each["parallel"].as_str())).collect();
    assert_eq!(verdicts, [(Some(6), Some("yes")), (Some(7), Some("yes"))]);
}

/// 198 cells of two arrays, three times; what the loops do to them is counted by hand.
#[test]
fn iterations_that_are_taken_together_are_counted_as_others_are() {
    let text = "static double a[200], b[200];
int main(void) {
    for (int t = 0; t < 3; t++) {
        for (int i = 1; i < 199; i++)
            b[i] = a[i - 1] + a[i] + a[i + 1];
        for (int i = 1; i < 199; i++)
            a[i] = b[i] + 1;
    }
    return a[7] < 0;
}
";
    let found = of_source("depend-rows", text);
    let counts = |kind: &str, source: u64, sink: u64, carrier: Option<u64>| {
        let of_lines = |each: &&Value| {
            each["kind"] == kind
                && each["source"]["line"] == source
                && each["sink"]["line"] == sink
                && each["carried_by"]["line"].as_u64() == carrier
        };
        let all = found["dependences"].as_array().expect("a list").iter().filter(of_lines);
        all.fold((0, 0), |(count, most), each| {
            let number = |value: &Value| value.as_u64().expect("a number");
            (count + number(&each["count"]), most.max(number(&each["distance"]["max"])))
        })
    };
    // All but the outermost neighbours are read by three sites.
    let read = 3 * 198 - 2;
    assert_eq!(counts("RAW", 5, 7, None), (3 * 198, 0));
    assert_eq!(counts("RAW", 7, 5, Some(3)), (2 * read, 1));
    assert_eq!(counts("WAR", 5, 7, None), (3 * read, 0));
    assert_eq!(counts("WAR", 7, 5, Some(3)), (2 * 198, 1));
    assert_eq!(counts("WAW", 5, 5, Some(3)), (2 * 198, 1));
    assert_eq!(counts("WAW", 7, 7, Some(3)), (2 * 198, 1));
    assert_eq!(counts("RAW", 5, 5, Some(4)), (0, 0));
}

#[test]
fn calls_are_worth_a_spawn_from_a_size_on() {
    let folder = folder("depend-sizes");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/depend/sizes.c");
    fs::copy(source, folder.join("sizes.c")).expect("it is there");
    build(&folder, "cc -O1 -w sizes.c -o prog");
    let report = |options: &[&str]| {
        let all: Vec<&str> = ["depend", "report", "run.depend"].into_iter().chain(options.iter().copied()).collect();
        out(&workspan(&folder, &all))
    };
    let found = profile(&folder, &[]);
    let calls = |found: &Value, key: &str| -> Vec<(u64, String)> {
        let all = found["calls"].as_array().expect("a list").iter();
        all.map(|call| (call["line"].as_u64().expect("a line"), call[key].to_string())).collect()
    };
    let worth = |threshold: &str| -> String {
        let found: Value = serde_json::from_str(&report(&["--json", "--spawn-threshold", threshold])).expect("JSON");
        assert_eq!(found["spawn_threshold"]["basis"], "--spawn-threshold");
        calls(&found, "worth_spawning").iter().map(|(line, worth)| format!("{line} {worth}\n")).collect()
    };
    // In the order of the source: sort, sort and merge in sort; fill, fill, mix and sort in main.
    insta::assert_snapshot!(worth("20000"), @r#"
    30 "large-ones"
    31 "no"
    32 "no"
    37 "yes"
    38 "no"
    43 "no"
    47 "no"
    "#);
    insta::assert_snapshot!(worth("100"), @r#"
    30 "yes"
    31 "no"
    32 "no"
    37 "yes"
    38 "no"
    43 "no"
    47 "no"
    "#);
    insta::assert_snapshot!(worth("10000000"), @r#"
    30 "no"
    31 "no"
    32 "no"
    37 "no"
    38 "no"
    43 "no"
    47 "no"
    "#);
    // Where nothing but the order of lines decides what follows, the chain is exact.
    let (profiled, expected) = (calls(&found, "mean_continuation"), calls(&found, "expected_continuation"));
    let straight: Vec<_> =
        profiled.iter().zip(&expected).filter(|((line, _), _)| [30, 31, 37].contains(line)).collect();
    assert!(straight.len() == 3 && straight.iter().all(|(profiled, expected)| profiled == expected), "{straight:?}");
    let text = report(&["--spawn-threshold", "20000"]);
    let begin = text.find("Calls that other work").expect("calls");
    let end = text.find("\nTask models").expect("models");
    insta::assert_snapshot!(text[begin..end].trim_end(), @r#"
    Calls that other work can run beside: as tasks, together at most 2.00x on 2 processors. Mean length, and mean continuation (what follows before something waits), in instructions:
     work  calls  length  continuation  spawn                                   wait for it at
    100 %   4095     830           834  sort at sizes.c:30:5 in sort, if large  line 32
      3 %      1   40963         40964  fill at sizes.c:37:16 in main           line 40
    if large: spawn above a cut-off, and call below it; the mean is below 20000 instructions (--spawn-threshold), the least that is worth a spawn.
    2 calls can run beside other work, but are too small to be worth a spawn: length or continuation below 20000 instructions (--spawn-threshold). Most work: merge at sizes.c:32:5 in sort.
    "#);
    // Models with calls as tasks: those of that size alone, or none.
    let base = |granularity: &str| {
        let all = ["depend", "--granularity", granularity, "-o", "coarse.depend", "--json=coarse.json", "--", "./prog"];
        assert!(workspan(&folder, &all).status.success());
        let found: Value =
            serde_json::from_slice(&fs::read(folder.join("coarse.json")).expect("readable")).expect("JSON");
        assert_eq!(found["granularity"].to_string(), granularity);
        let of = |name: &str| {
            let all = found["models"].as_array().expect("a list").iter();
            all.filter(|model| model["name"] == name)
                .map(|model| model["span"].as_u64().expect("a number"))
                .sum::<u64>()
        };
        (of("base"), of("exact"), of("lines"))
    };
    let [all, large, none] = ["0", "20000", "10000000"].map(base);
    assert!(all.0 < large.0 && large.0 < none.0, "{all:?} {large:?} {none:?}");
    assert_eq!((all.2, none.2), (large.2, all.2), "lines are tasks of any size");
    let work = found["models"][0]["work"].as_u64().expect("a number");
    assert_eq!((none.0, none.1), (work, work), "without tasks nothing is parallel");
}

/// What is proposed has to be what a compiler takes, and to compute the same.
#[test]
fn parts_and_globals_are_named_in_words() {
    let folder = folder("depend-owners");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/loops/owners.c");
    let text = fs::read_to_string(&source).expect("it is there");
    fs::copy(&source, folder.join("owners.c")).expect("it is there");
    build(&folder, "cc -O1 -w owners.c -o prog");
    let found = profile(&folder, &[]);
    let line_of = |of: &str| text.lines().position(|line| line.contains(of)).expect("it is there") as u64;
    let change = |before: &str| {
        // The loop on the next line.
        let line = line_of(before) + 2;
        let all = found["loops"].as_array().expect("a list").iter();
        all.filter(|each| each["line"] == line).map(|each| each["change"].as_str().expect("a text")).collect::<String>()
    };
    insta::assert_snapshot!(change("for (int i = 1; i < N; i++) { // @serial"), @"keep the element of steps in a variable local during the loop, then #pragma omp parallel for reduction(+:local)");
    insta::assert_snapshot!(change("static double global_of_a_call"), @"make scratch threadprivate (called functions use its name), then #pragma omp parallel for");
    // Each call of the chain waits for the one before.
    let calls = found["calls"].as_array().expect("a list").iter().filter(|call| call["function"] == "chain");
    let spawned: Vec<&Value> = calls.clone().filter(|call| call["spawn"] == true).collect();
    assert!(calls.count() == 3 && spawned.is_empty(), "{spawned:#?}");
}
