//! The answer as text.

use std::fmt::Write as _;

use super::view::{Blocker, Call, Depend, Loop};
use crate::table::{self, Align};

/// The text; at most `top` rows of a table.
pub fn text(view: &Depend, top: usize) -> String {
    let mut out = String::new();
    let of = |name: &str| view.models.iter().find(|model| model.name == name).map_or(1.0, |model| model.parallelism);
    let work = view.models.first().map_or(0, |model| model.work);
    let _ = writeln!(
        out,
        "parallelism {:.2} if calls run in parallel, {:.2} with loops, {:.2} with reductions too; {work} instructions",
        of("base"),
        of("loops"),
        of("reductions"),
    );
    let judged = |verdict: &str| view.loops.iter().filter(|each| each.parallel == verdict).count();
    let _ = writeln!(
        out,
        "loops: {} parallel as they are, {} with clauses, {} not parallel, {} not executed",
        judged("yes"),
        judged("with-clauses"),
        judged("no"),
        judged("not-executed"),
    );
    let _ = writeln!(
        out,
        "coverage: {} of {} lines were executed; dependences are seen only where code ran",
        view.coverage.executed, view.coverage.lines
    );
    for warning in &view.warnings {
        let _ = writeln!(out, "! {warning}");
    }
    loops(view, work, top, &mut out);
    calls(view, work, top, &mut out);
    models(view, &mut out);
    out
}

#[expect(clippy::cast_precision_loss, reason = "a share that is shown")]
fn share(part: u64, whole: u64) -> String {
    format!("{:.0} %", part as f64 * 100.0 / whole.max(1) as f64)
}

fn loops(view: &Depend, work: u64, top: usize, out: &mut String) {
    let mut all: Vec<&Loop> = view.loops.iter().filter(|each| each.entries > 0).collect();
    all.sort_by_key(|each| std::cmp::Reverse(each.work));
    if all.is_empty() {
        return;
    }
    let head = ["work", "iterations", "parallel", "loop", "what to do, or what forbids it"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    for each in all.iter().take(top) {
        rows.push(vec![
            share(each.work, work),
            each.iterations.to_string(),
            each.parallel.to_owned(),
            format!("{}:{}:{} in {}", each.file, each.line, each.column, each.function),
            advice(each),
        ]);
    }
    out.push('\n');
    out.push_str(&table::write(&rows, &[Align::Right, Align::Right, Align::Left, Align::Left, Align::Left]));
    more(all.len(), top, "loops", out);
}

fn more(count: usize, top: usize, what: &str, out: &mut String) {
    if count > top {
        let _ = writeln!(out, "{} more {what}: --top {count}, or --json", count - top);
    }
}

fn advice(each: &Loop) -> String {
    if let Some(blocker) = each.blockers.first() {
        let rest = each.blockers.len() - 1;
        let rest = if rest == 0 { String::new() } else { format!("; {rest} more") };
        return describe(blocker) + &rest;
    }
    let mut clauses: Vec<String> =
        each.reductions.iter().map(|found| format!("reduction({}:{})", found.operator, found.variable)).collect();
    let named = |name: &str, all: &[&str]| (!all.is_empty()).then(|| format!("{name}({})", all.join(", ")));
    let is_last = |variable: &&str| each.lastprivate.iter().any(|last| last == variable);
    let all: Vec<&str> = each.private.iter().map(String::as_str).collect();
    let (last, private): (Vec<&str>, Vec<&str>) = all.into_iter().partition(is_last);
    clauses.extend(named("private", &private));
    clauses.extend(named("lastprivate", &last));
    clauses.extend(each.linear.iter().map(|found| match found.step {
        0 => format!("linear({})", found.variable),
        step => format!("linear({}:{step})", found.variable),
    }));
    clauses.join(" ")
}

fn describe(blocker: &Blocker) -> String {
    let distance = match &blocker.distance {
        Some(found) if found.min == found.max => format!(", distance {}", found.min),
        Some(found) => format!(", distance {} to {}", found.min, found.max),
        None => String::new(),
    };
    let (source, sink) = (&blocker.source, &blocker.sink);
    match blocker.kind.as_str() {
        "control" => "control: data decides on the way how many iterations there are".to_owned(),
        "unknown-call" => format!(
            "unknown-call on {}: {}:{} writes an unknown number of bytes of one object in several iterations",
            blocker.variable, sink.line, sink.column
        ),
        kind => format!(
            "{kind} on {}: {}:{} before {}:{}{distance}",
            blocker.variable, source.line, source.column, sink.line, sink.column
        ),
    }
}

fn calls(view: &Depend, work: u64, top: usize, out: &mut String) {
    let mut all: Vec<&Call> = view.calls.iter().filter(|call| call.spawn).collect();
    all.sort_by_key(|call| std::cmp::Reverse(call.work));
    if all.is_empty() {
        return;
    }
    let mut rows = vec![["work", "calls", "spawn", "wait at"].map(str::to_owned).to_vec()];
    for call in all.iter().take(top) {
        rows.push(vec![
            share(call.work, work),
            call.count.to_string(),
            format!("{} at {}:{}:{} in {}", call.callee, call.file, call.line, call.column, call.function),
            call.sync.line.map_or_else(|| "the end of the function".to_owned(), |line| format!("line {line}")),
        ]);
    }
    out.push('\n');
    out.push_str(&table::write(&rows, &[Align::Right, Align::Right, Align::Left, Align::Left]));
    more(all.len(), top, "calls", out);
}

fn models(view: &Depend, out: &mut String) {
    let mut rows = vec![["model", "span", "parallelism"].map(str::to_owned).to_vec()];
    for model in &view.models {
        rows.push(vec![model.name.clone(), model.span.to_string(), format!("{:.2}", model.parallelism)]);
    }
    out.push('\n');
    out.push_str(&table::write(&rows, &[Align::Left, Align::Right, Align::Right]));
}
