//! The answer in the formats of other tools: CSV, SARIF 2.1.0, the JSON of AutoParBench, graphviz.

use std::fmt::Write as _;

use serde_json::{json, Value};

use super::quoted::quoted;
use super::text::{describe, reason};
use super::view::{Depend, Loop, Point};
use crate::words::csv_cell;

/// A row for each loop, names first.
pub fn csv(view: &Depend) -> String {
    let mut out =
        String::from("file,line,column,function,entries,iterations,work,parallel,speedup,change,blocked_by\n");
    for each in &view.loops {
        let Loop { line, column, entries, iterations, work, parallel, speedup, .. } = each;
        let cells = [&each.file, &each.function, &each.change, &reason(each)].map(|cell| csv_cell(cell).to_string());
        let [file, function, change, blocked] = cells;
        let _ = writeln!(
            out,
            "{file},{line},{column},{function},{entries},{iterations},{work},{parallel},{speedup:.4},{change},{blocked}"
        );
    }
    out
}

fn indented(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Results for code review and continuous integration: a note for each loop that can run in parallel, with the directive as a fix
/// where one line does it.
pub fn sarif(view: &Depend) -> String {
    let results: Vec<Value> = view.loops.iter().filter_map(result).collect();
    let rule = |id: &str, text: &str| json!({ "id": id, "shortDescription": { "text": text } });
    indented(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "workspan depend",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [
                    rule("parallel-loop", "The iterations of this loop can run in parallel."),
                    rule("serial-loop", "A dependence forbids running the iterations of this loop in parallel."),
                ],
            } },
            "columnKind": "utf8CodeUnits",
            "results": results,
        }],
    }))
}

fn result(each: &Loop) -> Option<Value> {
    let place = location(&Point { file: each.file.clone(), line: each.line, column: each.column });
    // The same for the same loop, wherever it has moved.
    let print = json!({ "loop/v1": format!("{}:{}:{}", each.file, each.function, each.change) });
    if each.change.is_empty() {
        if each.parallel != "no" {
            return None;
        }
        let related = related(each);
        return Some(json!({
            "ruleId": "serial-loop",
            "level": "none",
            "message": { "text": reason(each) },
            "locations": [place],
            "relatedLocations": related,
            "partialFingerprints": print,
        }));
    }
    let mut found = json!({
        "ruleId": "parallel-loop",
        "level": "note",
        "message": { "text": format!("{} (the program: {:.2}x)", each.change, each.speedup) },
        "locations": [place],
        "partialFingerprints": print,
    });
    if each.change.starts_with("#pragma") || each.change.starts_with("!$omp") {
        found["fixes"] = json!([{
            "description": { "text": "run the loop in parallel" },
            "artifactChanges": [{
                "artifactLocation": { "uri": each.file },
                "replacements": [{
                    "deletedRegion": { "startLine": each.line, "startColumn": 1, "endLine": each.line, "endColumn": 1 },
                    "insertedContent": { "text": format!("{}\n", each.change) },
                }],
            }],
        }]);
    }
    Some(found)
}

/// Both ends of each dependence, each place once: SARIF wants them to differ.
fn related(each: &Loop) -> Vec<Value> {
    let ends =
        each.blockers.iter().flat_map(|one| [(&one.source, "earlier"), (&one.sink, "later")].map(|end| (end, one)));
    let mut found: Vec<Value> = Vec::new();
    for ((point, end), blocker) in ends {
        let mut place = location(point);
        let text = match blocker.variable.as_str() {
            "" => format!("{}, the {end} access", blocker.kind),
            variable => format!("{variable} ({}), the {end} access", blocker.kind),
        };
        place["message"] = json!({ "text": text });
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

fn location(point: &Point) -> Value {
    let mut region = json!({ "startLine": point.line.max(1) });
    if point.column > 0 {
        region["startColumn"] = point.column.into();
    }
    json!({ "physicalLocation": { "artifactLocation": { "uri": point.file }, "region": region } })
}

/// Loops as AutoParBench compares them: one list for each file.
pub fn autopar(view: &Depend) -> String {
    let mut files: Vec<&str> = view.loops.iter().map(|each| each.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let of_file = |file: &str| {
        let loops: Vec<Value> = view.loops.iter().filter(|each| each.file == file).map(of_loop).collect();
        json!({ "file": file, "loops": loops })
    };
    indented(&Value::Array(files.into_iter().map(of_file).collect()))
}

fn of_loop(each: &Loop) -> Value {
    let mut found = json!({
        "loop id": format!("{}:{}:{}", each.function, each.line, each.column),
        "loop line": each.line,
        "loop column": each.column,
        "function": each.function,
    });
    if !each.change.is_empty() {
        let private: Vec<&String> = each.private.iter().filter(|name| !each.lastprivate.contains(name)).collect();
        let mut operators: Vec<&str> = each.reductions.iter().map(|found| found.operator.as_str()).collect();
        operators.sort_unstable();
        operators.dedup();
        let of = |operator: &str| {
            let own = each.reductions.iter().filter(|found| found.operator == operator);
            (operator.to_owned(), own.map(|found| found.variable.as_str()).collect::<Vec<_>>().into())
        };
        found["pragma type"] = "parallel for".into();
        found["reduction"] = Value::Object(operators.into_iter().map(of).collect());
        found["private"] = json!(private);
        found["lastprivate"] = json!(each.lastprivate);
    }
    found
}

/// A cluster for each loop that carries dependences: places as nodes, dependences as edges.
pub fn dot(view: &Depend) -> String {
    let mut out = String::from("digraph dependences {\n  rankdir=LR; node [shape=box, fontname=monospace];\n");
    let loops = view.loops.iter().filter(|each| !each.blockers.is_empty());
    for (number, each) in loops.enumerate() {
        let name = quoted(&format!("{}:{}:{} in {}", each.file, each.line, each.column, each.function));
        let _ = writeln!(out, "  subgraph cluster_{number} {{ label={name};");
        let id = |point: &Point| quoted(&format!("{number}/{}:{}:{}", point.file, point.line, point.column));
        for blocker in &each.blockers {
            for point in [&blocker.source, &blocker.sink] {
                let _ =
                    writeln!(out, "    {} [label={}];", id(point), quoted(&format!("{}:{}", point.line, point.column)));
            }
            let label = format!("{} {} x{}", blocker.kind, blocker.variable, blocker.count);
            let _ = writeln!(
                out,
                "    {} -> {} [label={}, tooltip={}];",
                id(&blocker.source),
                id(&blocker.sink),
                quoted(label.trim()),
                quoted(&describe(blocker, each))
            );
        }
        out.push_str("  }\n");
    }
    out + "}\n"
}

#[cfg(test)]
mod tests {
    use super::super::view::{Blocker, Distance};
    use super::*;

    #[test]
    fn related_places_of_sarif_differ() {
        let at = |column| Point { file: "a.c".to_owned(), line: 3, column };
        let blocker = |sink| Blocker {
            kind: "RAW".to_owned(),
            variable: "s".to_owned(),
            source: at(5),
            sink: at(sink),
            distance: Some(Distance { min: 1, max: 1 }),
            count: 1,
        };
        let each = Loop { blockers: vec![blocker(5), blocker(5), blocker(9)], ..Loop::default() };
        let texts: Vec<String> = related(&each).iter().map(|place| place["message"]["text"].to_string()).collect();
        assert_eq!(texts.len(), 3, "{texts:?}");
    }
}
