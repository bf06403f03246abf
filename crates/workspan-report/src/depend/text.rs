//! The answer as text.

use std::fmt::Write as _;

use workspan_depend::effects::ASSEMBLY;
use workspan_model::Ratio;

use super::change::ALREADY;
use super::graphs::text::critical;
use super::view::{Blocker, Call, Depend, Loop, Point, Threshold};
use crate::place::short_file;
use crate::table::{self, Align};

/// Least gain of a candidate that a table names.
pub(super) const LEAST: f64 = 1.01;

/// The text; at most `top` rows of a table.
pub fn text(view: &Depend, top: usize) -> String {
    let mut out = headline(view) + "\n";
    for warning in &view.warnings {
        let _ = writeln!(out, "! {warning}");
    }
    let work = view.models.first().map_or(0, |model| model.work);
    candidates(view, work, top, &mut out);
    refused(view, work, top, &mut out);
    calls(view, work, top, &mut out);
    models(view, &mut out);
    critical(&view.critical_paths, top, &mut out);
    coverage(view, top, &mut out);
    out
}

/// How many loops OpenMP shares out.
fn already(view: &Depend) -> String {
    match view.loops.iter().filter(|each| each.change == ALREADY).count() {
        0 => String::new(),
        count => format!(" ({count} as loops of OpenMP already)"),
    }
}

/// The first sentence.
pub(super) fn headline(view: &Depend) -> String {
    let judged = |verdict: &str| view.loops.iter().filter(|each| each.parallel == verdict).count();
    let (yes, no) = (judged("yes") + judged("with-clauses"), judged("no"));
    let sum = format!("{yes} of {} executed loops can run in parallel{}", yes + no, already(view));
    if yes + no == 0 {
        return "No loop ran more than one iteration.".to_owned();
    }
    if yes == 0 || view.speedup < LEAST {
        let by_calls = by_calls(view);
        let calls = match spawnable(view).0.as_slice() {
            [_, ..] if by_calls >= LEAST => format!("; calls as tasks could make it up to {by_calls:.1}x as fast"),
            _ => String::new(),
        };
        return format!("{sum}, but that makes the program no faster on {} processors{calls}.", view.processors);
    }
    format!("{sum}: the program could run {:.1}x faster on {} processors.", view.speedup, view.processors)
}

#[expect(clippy::cast_precision_loss, reason = "a share that is shown")]
pub(super) fn share(part: u64, whole: u64) -> String {
    format!("{:.0} %", (part as f64 * 100.0 / whole.max(1) as f64).min(100.0))
}

/// Loops that can run in parallel, the most useful first.
pub(super) fn ranked(view: &Depend, possible: bool) -> Vec<&Loop> {
    let is = |each: &&Loop| match possible {
        true => !each.change.is_empty() && each.change != ALREADY,
        false => each.parallel == "no",
    };
    let mut all: Vec<&Loop> = view.loops.iter().filter(is).collect();
    all.sort_by(|a, b| {
        b.speedup.total_cmp(&a.speedup).then((&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)))
    });
    all
}

/// Where a loop is, as people read it.
pub(super) fn place(each: &Loop) -> String {
    format!("{}:{}:{} in {}", short_file(&each.file), each.line, each.column, each.function)
}

fn candidates(view: &Depend, work: u64, top: usize, out: &mut String) {
    let all = ranked(view, true);
    if all.is_empty() {
        return;
    }
    let (first, rest): (Vec<&Loop>, Vec<&Loop>) =
        all.into_iter().partition(|each| each.inside.is_none() && each.speedup >= LEAST);
    if !first.is_empty() {
        let mut rows = vec![["speedup", "work", "iterations", "loop", "write"].map(str::to_owned).to_vec()];
        for each in first.iter().take(top) {
            rows.push(vec![
                format!("{:.2}x", each.speedup),
                share(each.work, work),
                each.iterations.to_string(),
                place(each),
                each.change.clone(),
            ]);
        }
        let _ = writeln!(
            out,
            "\nLoops to run in parallel, with the speedup of the whole program on {} processors:",
            view.processors
        );
        out.push_str(&table::write(&rows, &[Align::Right, Align::Right, Align::Right, Align::Left, Align::Left]));
        more(first.len(), top, "loops", out);
    }
    let nested = rest.iter().filter(|each| each.inside.is_some()).count();
    let small = rest.len() - nested;
    if nested > 0 {
        let _ = writeln!(out, "{nested} more can run in parallel, but lie inside a loop above, which gains more.");
    }
    if small > 0 {
        let _ = writeln!(out, "{small} more can run in parallel, but do too little work to gain from it.");
    }
}

fn more(count: usize, top: usize, what: &str, out: &mut String) {
    if count > top {
        let _ = writeln!(out, "{} more {what}: --top {count}, or --json", count - top);
    }
}

fn refused(view: &Depend, work: u64, top: usize, out: &mut String) {
    let all = ranked(view, false);
    if all.is_empty() {
        return;
    }
    let mut rows = vec![["speedup", "work", "loop", "what forbids it"].map(str::to_owned).to_vec()];
    for each in all.iter().take(top) {
        rows.push(vec![
            if each.speedup < LEAST { "-".to_owned() } else { format!("{:.2}x", each.speedup) },
            share(each.work, work),
            place(each),
            reason(each),
        ]);
    }
    out.push_str("\nLoops that cannot run in parallel, with the speedup if they could:\n");
    out.push_str(&table::write(&rows, &[Align::Right, Align::Right, Align::Left, Align::Left]));
    more(all.len(), top, "loops", out);
}

/// The dependence that has to go first, and how many there are beside it.
pub(super) fn reason(each: &Loop) -> String {
    // What the source shows best comes first: flow of data, then order of effects, then names.
    let rank = |blocker: &&Blocker| match blocker.kind.as_str() {
        "RAW" => 0,
        "io" | "state" | "control" => 1,
        "WAW" | "WAR" => 2,
        _ => 3,
    };
    let Some(first) = each.blockers.iter().min_by_key(rank) else {
        return String::new();
    };
    let same = |other: &&Blocker| other.variable == first.variable && other.kind == first.kind;
    let others = each.blockers.iter().filter(|other| !same(other)).count();
    let more = match others {
        0 => String::new(),
        1 => "; and 1 more dependence".to_owned(),
        _ => format!("; and {others} more dependences"),
    };
    describe(first, each) + &more
}

/// A dependence as a sentence.
pub(super) fn describe(blocker: &Blocker, each: &Loop) -> String {
    let at = |point: &Point| {
        if point.file == each.file {
            format!("{}:{}", point.line, point.column)
        } else {
            format!("{}:{}:{}", short_file(&point.file), point.line, point.column)
        }
    };
    let (source, sink) = (at(&blocker.source), at(&blocker.sink));
    let before = match &blocker.distance {
        Some(found) if found.min == 1 && found.max == 1 => "one iteration before".to_owned(),
        Some(found) if found.min == found.max => format!("{} iterations before", found.min),
        Some(found) => format!("{} to {} iterations before", found.min, found.max),
        None => "in another iteration".to_owned(),
    };
    let variable = if blocker.variable.is_empty() { "memory" } else { blocker.variable.as_str() };
    let where_it_happens = if source == sink { format!("at {source}") } else { format!("at {source} and {sink}") };
    match blocker.kind.as_str() {
        "RAW" => format!("{variable}: {sink} reads what {source} wrote {before} (RAW)"),
        "WAR" => format!("{variable}: {sink} overwrites what {source} read {before} (WAR)"),
        "WAW" => format!("{variable}: {sink} overwrites what {source} wrote {before}, and which write comes last counts (WAW)"),
        "control" if blocker.variable.is_empty() => {
            "the data decides how many iterations run: a break, a return, or a condition that the loop changes".to_owned()
        }
        "control" => format!("{variable}: {sink} keeps it from one of the iterations, not the last"),
        "io" => format!("input or output {where_it_happens}: its order would change"),
        "black-box" if variable == ASSEMBLY => format!(
            "{ASSEMBLY} {where_it_happens} may do more than its operands say: write it in the language, or name its effect \
             (--effects, as in `{ASSEMBLY} none`)"
        ),
        "black-box" => format!(
            "calls of code that Workspan has not built {where_it_happens}: build it, too, or name its effect (--effects)"
        ),
        "state" => format!("{variable} {where_it_happens}: each call changes what the next one gives"),
        "unknown-call" => {
            format!("{variable}: {sink} writes an unknown number of bytes of one object in several iterations")
        }
        kind => format!("{variable}: {source} before {sink} ({kind})"),
    }
}

/// Calls that are worth a spawn, the most work first; and those that are too small.
pub(super) fn spawnable(view: &Depend) -> (Vec<&Call>, Vec<&Call>) {
    let (mut worth, small): (Vec<&Call>, Vec<&Call>) =
        view.calls.iter().filter(|call| call.spawn).partition(|call| call.worth_spawning != "no");
    worth.sort_by_key(|call| std::cmp::Reverse(call.work));
    (worth, small)
}

/// How much faster the program could be by calls alone.
pub(super) fn by_calls(view: &Depend) -> f64 {
    let base = view.models.iter().find(|model| model.name == "base").map_or(1.0, |model| model.parallelism);
    base.min(f64::from(view.processors))
}

fn calls(view: &Depend, work: u64, top: usize, out: &mut String) {
    let bound = by_calls(view);
    if bound < LEAST {
        return;
    }
    let (worth, small) = spawnable(view);
    if !worth.is_empty() {
        let mut rows = vec![HEADS.map(str::to_owned).to_vec()];
        rows.extend(worth.iter().take(top).map(|call| row(call, work).to_vec()));
        let _ = writeln!(
            out,
            "\nCalls that other work can run beside: as tasks, together at most {bound:.2}x on {} processors. {MEANS}:",
            view.processors
        );
        let aligned = [Align::Right, Align::Right, Align::Right, Align::Right, Align::Left, Align::Left];
        out.push_str(&table::write(&rows, &aligned));
        more(worth.len(), top, "calls", out);
    }
    for sentence in about_sizes(view, &worth[..worth.len().min(top)], &small) {
        let _ = writeln!(out, "{}{sentence}", if worth.is_empty() { "\n" } else { "" });
    }
}

/// What columns of calls hold.
pub(super) const HEADS: [&str; 6] = ["work", "calls", "length", "continuation", "spawn", "wait for it at"];

/// What their numbers are.
pub(super) const MEANS: &str =
    "Mean length, and mean continuation (what follows before something waits), in instructions";

/// What sizes of the calls that are shown, and of those that are too small, mean.
pub(super) fn about_sizes(view: &Depend, shown: &[&Call], small: &[&Call]) -> Vec<String> {
    let Threshold { instructions, basis } = &view.spawn_threshold;
    let mut found = Vec::new();
    if shown.iter().any(|call| call.worth_spawning == "large-ones") {
        found.push(format!(
            "if large: spawn above a cut-off, and call below it; the mean is below {instructions} instructions ({basis}), the least \
             that is worth a spawn."
        ));
    }
    if let Some(largest) = small.iter().max_by_key(|call| call.work) {
        found.push(format!(
            "{} can run beside other work, but {} too small to be worth a spawn: length or continuation below {instructions} \
             instructions ({basis}). Most work: {}.",
            if small.len() == 1 { "1 call".to_owned() } else { format!("{} calls", small.len()) },
            if small.len() == 1 { "is" } else { "are" },
            callee_at(largest),
        ));
    }
    found
}

fn callee_at(call: &Call) -> String {
    format!("{} at {}:{}:{} in {}", call.callee, short_file(&call.file), call.line, call.column, call.function)
}

/// A call, by columns.
pub(super) fn row(call: &Call, work: u64) -> [String; 6] {
    [
        share(call.work, work),
        call.count.to_string(),
        format!("{:.0}", call.mean_length),
        call.mean_continuation.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.0}")),
        callee_at(call) + if call.worth_spawning == "large-ones" { ", if large" } else { "" },
        call.sync.line.map_or_else(|| "the end of the function".to_owned(), |line| format!("line {line}")),
    ]
}

/// What a model makes a task, in words.
pub(super) fn meaning(model: &str) -> &'static str {
    match model {
        "base" => "a call; a line waits for all calls that it ever depended on",
        "exact" => "a call; a line waits only for the calls that it depends on each time",
        "no-control" => "a call; conditions do not wait for results",
        "loops" => "a call or an iteration",
        "parallel-loops" => "a call, or an iteration of a loop without dependences",
        "reductions" => "a call or an iteration; reductions do not wait",
        "hoist" => "a call; it begins as early as it can",
        "lines" => "a call or a line; it begins as early as it can",
        "everything" => "a call, an iteration or a line: loops, reductions, no-control, hoist and lines in one model",
        _ => "",
    }
}

fn models(view: &Depend, out: &mut String) {
    let mut rows = vec![["model", "parallelism", "span", "a task is"].map(str::to_owned).to_vec()];
    for model in &view.models {
        let (span, parallelism) = (model.span.to_string(), Ratio(model.parallelism).to_string());
        rows.push(vec![model.name.clone(), parallelism, span, meaning(&model.name).to_owned()]);
    }
    let work = view.models.first().map_or(0, |model| model.work);
    let _ = writeln!(out, "\nTask models: parallelism of the program as it is, on unlimited processors (work, {work} instructions, divided by span):");
    if view.granularity > 0 {
        let _ = writeln!(
            out,
            "Calls of fewer than {} instructions, or with fewer before something waits, are no tasks (--granularity), but in `lines` and \
             `everything`.",
            view.granularity
        );
    }
    out.push_str(&table::write(&rows, &[Align::Left, Align::Right, Align::Right, Align::Left]));
}

fn coverage(view: &Depend, top: usize, out: &mut String) {
    let found = &view.coverage;
    let runs = view.runs.len();
    let of = if runs > 1 { format!("the {runs} runs") } else { "this run".to_owned() };
    let _ = writeln!(out, "\nCoverage: {of} executed {} of {} lines.", found.executed, found.lines);
    if found.unreached.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "Workspan sees dependences only where code ran; add runs on other inputs with --add. Not reached:"
    );
    for each in found.unreached.iter().take(top) {
        let lines =
            if each.first == each.last { each.first.to_string() } else { format!("{}-{}", each.first, each.last) };
        let _ = writeln!(out, "  {}:{lines}", short_file(&each.file));
    }
    more(found.unreached.len(), top, "places", out);
}
