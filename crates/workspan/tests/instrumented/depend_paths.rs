//! Critical-path graphs and what-if of `workspan depend`: case studies as in Mak's chapter 6, on programs of our own.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{build, err, folder, out, success, workspan};

/// Builds and runs a program of `programs/paths`; the report.
fn study(folder: &Path, name: &str) -> Value {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/paths");
    fs::copy(programs.join(format!("{name}.c")), folder.join("prog.c")).expect("it is there");
    build(folder, "cc -O2 -w prog.c -o prog");
    success(workspan(folder, &["depend", "-o", "run.depend", "--json=run.json", "--html", "run.html", "--", "./prog"]));
    serde_json::from_slice(&fs::read(folder.join("run.json")).expect("readable")).expect("JSON")
}

fn what_if(folder: &Path, arguments: &[&str]) -> Value {
    let all: Vec<&str> =
        ["depend", "what-if", "run.depend", "--json"].into_iter().chain(arguments.iter().copied()).collect();
    serde_json::from_str(&out(&success(workspan(folder, &all)))).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The line of a source that has a text.
fn line_of(folder: &Path, text: &str) -> u64 {
    let source = fs::read_to_string(folder.join("prog.c")).expect("readable");
    let at = source.lines().position(|line| line.contains(text)).expect("it is there");
    at as u64 + 1
}

/// The graph of the call or loop at a line.
fn graph<'r>(report: &'r Value, kind: &str, line: u64) -> &'r Value {
    let all = report["critical_paths"]["graphs"].as_array().expect("a list");
    let found = all.iter().find(|each| each["kind"] == kind && each["line"] == line);
    found.unwrap_or_else(|| panic!("no {kind} at {line}"))
}

/// Dependences of a graph that the critical path takes: variable, lines, whether carried, how often.
fn taken(graph: &Value) -> Vec<(String, u64, u64, bool, f64)> {
    let line =
        |node: &Value| graph["nodes"][usize::try_from(node.as_u64().expect("a number")).expect("few")]["line"].as_u64();
    let edges = graph["edges"].as_array().expect("a list").iter().filter(|edge| number(&edge["times"]) > 0.0);
    let edge = |edge: &Value| {
        let variable = edge["variable"].as_str().expect("a text").to_owned();
        let (from, to) = (line(&edge["from"]).expect("a line"), line(&edge["to"]).expect("a line"));
        (variable, from, to, edge["carried"] == true, number(&edge["times"]).round())
    };
    edges.map(edge).collect()
}

/// What `printf` at the end of a program counts as.
const PRINTF: f64 = 600.0;

/// Figure 6.3: a hash chained through a digest is serial, and the line is named. 100 calls of `update`, 4 blocks in each.
#[test]
fn a_digest_is_a_chain_of_calls() {
    let folder = folder("depend-paths-digest");
    let report = study(&folder, "digest");
    let (update, transform) = (line_of(&folder, "update(data"), line_of(&folder, "transform(bytes)"));
    let stream = graph(&report, "loop", line_of(&folder, "for (int at = 0"));
    assert_eq!(taken(stream), [("digest".to_owned(), update, update, true, 99.0)]);
    assert_eq!((&stream["entries"], &stream["iterations"]), (&1.into(), &101.into()));
    let inner = graph(&report, "loop", line_of(&folder, "while (count"));
    // 3 dependences between the 4 blocks of a call.
    assert_eq!(taken(inner), [("digest".to_owned(), transform, transform, true, 3.0)]);
    let called = graph(&report, "call", transform);
    assert_eq!((&called["entries"], &called["function"]), (&400.into(), &"transform".into()));
    assert!((number(&called["on_path"]) - 400.0).abs() < 4.0, "{called:#}");
    // From the call of a line one comes to its graph, and from there to its costliest line.
    let node =
        stream["nodes"].as_array().expect("a list").iter().find(|node| node["line"] == update).expect("the call");
    assert_eq!(node["opens"].as_array().map(Vec::len), Some(1));
    let whole = &report["critical_paths"];
    assert!(number(&whole["lines_as_tasks"]["parallelism"]) < 3.0, "{whole:#}");
    // The digest gone, as with one for each block: the blocks run beside each other.
    let found = what_if(&folder, &["--remove", "digest@stream", "--remove", "digest@update"]);
    assert!(number(&found["after"]["lines_as_tasks"]["parallelism"]) > 500.0, "{found:#}");
    // Only that between calls of update: 100 beside each other, 4 blocks in turn.
    let found = what_if(&folder, &["--remove", &format!("digest@prog.c:{}", update - 1)]);
    let (before, after) =
        (number(&found["before"]["lines_as_tasks"]["span"]), number(&found["after"]["lines_as_tasks"]["span"]));
    assert!(((before - PRINTF) / (after - PRINTF) - 100.0).abs() < 2.0, "{found:#}");
    // Half of the rounds' cost.
    let line = line_of(&folder, "unsigned t =");
    let found = what_if(&folder, &["--speed-up", &format!("prog.c:{line}=2")]);
    let saved = before - number(&found["after"]["lines_as_tasks"]["span"]);
    let own = whole["lines"].as_array().expect("a list").iter().find(|each| each["line"] == line).expect("on the path");
    assert!((saved - number(&own["cost"]) / 2.0).abs() < saved / 50.0, "{found:#}");
}

/// Figure 6.4: pointers that advance by a step hold a filter together; in closed form nothing does.
#[test]
fn a_smoothing_filter_is_parallel_once_its_pointers_are_computed() {
    let folder = folder("depend-paths-smoothing");
    let report = study(&folder, "smoothing");
    let whole = &report["critical_paths"];
    assert!(number(&whole["iterations_as_tasks"]["parallelism"]) < 20.0, "{:#}", whole["iterations_as_tasks"]);
    let first = &whole["lines"][0];
    let line = line_of(&folder, "*to++ = mean");
    assert_eq!((&first["line"], &first["held_by"]["variable"]), (&line.into(), &"to".into()), "{first:#}");
    let columns = line_of(&folder, "for (int x = 0");
    assert_eq!(first["held_by"]["carried_by"]["line"], columns);
    let carried: Vec<_> = taken(graph(&report, "loop", columns)).into_iter().filter(|edge| edge.3).collect();
    assert_eq!(carried, [("to".to_owned(), line, line, true, 119.0)]);
    let found = what_if(&folder, &["--closed-form", "to@smoothing"]);
    for model in ["lines_as_tasks", "iterations_as_tasks"] {
        assert!(number(&found["after"][model]["parallelism"]) > 1000.0, "{found:#}");
    }
    assert_eq!(found["before"]["work"], found["after"]["work"]);
    // Of a path on which a loop is faster, lines have no more than all.
    let rows = line_of(&folder, "for (int y = 0");
    let faster = what_if(&folder, &["--speed-up", &format!("prog.c:{rows}=8")]);
    let shares: f64 = faster["lines"].as_array().expect("a list").iter().map(|line| number(&line["share"])).sum();
    assert!((0.95..1.01).contains(&shares), "{faster:#}");
    let changed = faster["changed"].as_array().expect("a list").iter().find(|each| each["line"] == rows);
    let changed = changed.unwrap_or_else(|| panic!("{faster:#}"));
    assert!((number(&changed["before"]) / number(&changed["after"]) - 8.0).abs() < 0.1, "{changed:#}");
    // The prediction is reached: the same with the pointer computed from the counters.
    let source = fs::read_to_string(folder.join("prog.c")).expect("readable");
    let source =
        source.replace("*to++ = centre", "out[y * W + x] = centre").replace("*to++ = mean", "out[y * W + x] = mean");
    fs::write(folder.join("prog.c"), source).expect("writable");
    build(&folder, "cc -O2 -w prog.c -o prog");
    success(workspan(&folder, &["depend", "-o", "new.depend", "--json=new.json", "--", "./prog"]));
    let new: Value = serde_json::from_slice(&fs::read(folder.join("new.json")).expect("readable")).expect("JSON");
    let (new, predicted) = (&new["critical_paths"]["lines_as_tasks"], &found["after"]["lines_as_tasks"]);
    let ratio = number(&new["span"]) / number(&predicted["span"]);
    assert!((0.8..1.25).contains(&ratio), "{new} instead of {predicted}");
}

/// Figures 6.5 to 6.7: steps that follow one another, parallel inside.
#[test]
fn a_simplex_method_is_parallel_only_inside() {
    let folder = folder("depend-paths-simplex");
    let report = study(&folder, "simplex");
    let steps = graph(&report, "loop", line_of(&folder, "while (steps"));
    // Each step waits for the one before, on a way through all three calls.
    let (price, best) = (line_of(&folder, "    price();"), line_of(&folder, "= best();"));
    let (pivot, own) = (line_of(&folder, "    pivot(arc);"), line_of(&folder, "while (steps"));
    let carried: Vec<_> = taken(steps).into_iter().filter(|edge| edge.3).collect();
    assert_eq!(carried, [("potential".to_owned(), pivot, price, true, 59.0)]);
    let named = |edge: &(String, u64, u64, bool, f64)| [(price, best), (best, pivot)].contains(&(edge.1, edge.2));
    assert_eq!(taken(steps).iter().filter(|edge| named(edge)).count(), 2, "{steps:#}");
    assert!((number(&steps["nodes"][1]["times"]) - 60.0).abs() < 1.0, "{steps:#}");
    for inside in ["price();", "pivot(arc);"] {
        let called = graph(&report, "call", line_of(&folder, &format!("    {inside}")));
        assert!(number(&called["parallelism"]) > 100.0, "{called:#}");
    }
    let scope = format!("@prog.c:{own}");
    let found = what_if(&folder, &["--remove", &format!("potential{scope}"), "--remove", &format!("control{scope}")]);
    let all = found["changed"].as_array().expect("a list");
    let steps = all.iter().find(|each| each["line"] == own).unwrap_or_else(|| panic!("{found:#}"));
    assert!(number(&steps["before"]) / number(&steps["after"]) > 10.0, "{steps:#}");
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let folder = folder("depend-paths-refused");
    study(&folder, "smoothing");
    let refused = |arguments: &[&str], expected: &[&str]| {
        let all: Vec<&str> = ["depend", "what-if", "run.depend"].into_iter().chain(arguments.iter().copied()).collect();
        let output = workspan(&folder, &all);
        let message = err(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(expected.iter().all(|part| message.contains(part)), "{arguments:?}: {message}");
        assert_eq!(out(&output), "");
    };
    refused(
        &["--closed-form", "nothing"],
        &["there is no dependence \"nothing\"", "matter most: to@smoothing, to@prog.c:1"],
    );
    // A counter that the loop advances is taken away already.
    refused(&["--remove", "x@prog.c:13"], &["there is no dependence \"x@prog.c:13\"", "to@"]);
    refused(&["--speed-up", "prog.c:3=2"], &["no line with instructions is at \"prog.c:3=2\"", "prog.c:31"]);
    refused(&["--speed-up", "prog.c:3"], &["write FILE:LINE=FACTOR"]);
    refused(&["--speed-up", "prog.c:31=0"], &["above 0"]);
    refused(&["--remove", "to@"], &["VARIABLE@FUNCTION"]);
    refused(&[], &["nothing is changed", "--speed-up"]);
    let output = workspan(&folder, &["depend", "export", "run.depend", "-f", "dot", "--graph", "g99"]);
    assert!(err(&output).contains("no graph \"g99\""), "{}", err(&output));
    fs::write(folder.join("old.depend"), b"workspan-depend\0\x03").expect("writable");
    let output = workspan(&folder, &["depend", "what-if", "old.depend", "--remove", "x"]);
    assert!(err(&output).contains("it has version 3"), "{}", err(&output));
    // Text for people.
    let shown = out(&success(workspan(&folder, &["depend", "what-if", "run.depend", "--closed-form", "to"])));
    assert!(shown.contains("span, lines as tasks") && shown.contains("loop at prog.c:13 in smoothing"), "{shown}");
}

#[test]
fn two_runs_have_one_graph() {
    let folder = folder("depend-paths-two-runs");
    let one = study(&folder, "digest");
    success(workspan(&folder, &["depend", "--add", "-o", "run.depend", "--json=run.json", "--", "./prog"]));
    let both: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).expect("readable")).expect("JSON");
    let (one, both) = (&one["critical_paths"], &both["critical_paths"]);
    assert_eq!(both["work"].as_u64(), one["work"].as_u64().map(|work| 2 * work));
    let spans = [both, one].map(|each| number(&each["lines_as_tasks"]["span"]));
    assert!((spans[0] - 2.0 * spans[1]).abs() < 3.0, "{spans:?}");
    assert_eq!(both["graphs"].as_array().map(Vec::len), one["graphs"].as_array().map(Vec::len));
}

/// Names that would end a string, an element or a graph elsewhere.
#[test]
fn hostile_names_stay_names() {
    let folder = folder("depend-paths-hostile");
    let name = "a\"];b<img src=x onerror=alert(1)>&\\.c";
    let text = "static int sum[2];
static void add(int x) { sum[0] = sum[0] * 3 + x; }
int main(void) {
  for (int i = 0; i < 50; i++)
    add(i); // </text></svg><script>alert(2)</script>
  return sum[0] == 7;
}
";
    fs::write(folder.join(name), text).expect("writable");
    let built = Command::new("cp").arg(folder.join(name)).arg(folder.join("prog.c")).status().expect("cp is there");
    assert!(built.success());
    let source = fs::read_to_string(folder.join("prog.c")).expect("readable");
    let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
    fs::write(folder.join("prog.c"), format!("#line 1 \"{quoted}\"\n{source}")).expect("writable");
    build(&folder, "cc -O2 -w -g prog.c -o prog");
    success(workspan(&folder, &["depend", "-o", "run.depend", "--html", "run.html", "--", "./prog"]));
    let page = fs::read_to_string(folder.join("run.html")).expect("readable");
    assert!(page.contains("&lt;img src=x") && page.contains("&lt;/svg&gt;"), "the names are shown");
    assert!(!page.contains("<img") && !page.contains("<script"), "as names");
    let dot = out(&success(workspan(&folder, &["depend", "export", "run.depend", "--format", "dot"])));
    assert!(dot.contains("a\\\"];b<img") && dot.ends_with("}\n"), "{dot}");
    // Every string ends on its line, outside of escapes.
    for line in dot.lines() {
        let (mut inside, mut escaped) = (false, false);
        for letter in line.chars() {
            match letter {
                _ if escaped => escaped = false,
                '\\' if inside => escaped = true,
                '"' => inside = !inside,
                _ => {}
            }
        }
        assert!(!inside, "{line}");
    }
}
