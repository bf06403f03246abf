//! `workspan depend what-if`: the span without some dependences, or with faster lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use workspan_depend::paths::change::{lines as lines_at, name_of, removed, At, Change, Deed, Named};
use workspan_depend::paths::evaluate::{evaluate, Evaluated, Tasks};
use workspan_depend::paths::{Clause, Paths};

use super::dot::named;
use super::make::{kind, lines, ratio, span_of, whole};
use super::text;
use super::view::{PathLine, Span};
use crate::place::short_file;
use crate::table::{self, Align};

/// Names that an error lists.
const CANDIDATES: usize = 10;
/// Names that are tried for it.
const TRIED: usize = 40;
/// Lines of the critical path that the text shows.
const SHOWN: usize = 5;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Dependences and what is done with them, as typed and as read.
    pub deeds: Vec<(Deed, String, Named)>,
    /// Lines and by how much they are faster, as typed and as read.
    pub faster: Vec<(String, At, f64)>,
}

/// Nothing is named so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What was typed.
    pub text: String,
    /// A line was named, not a dependence.
    pub is_line: bool,
    /// What could be typed, what would change most first.
    pub candidates: Vec<String>,
}

/// `workspan depend what-if --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WhatIf {
    /// What was changed.
    pub changes: Vec<Applied>,
    /// The program as it is.
    pub before: Estimate,
    /// With all changes.
    pub after: Estimate,
    /// Calls and loops whose span changes, the largest change of the program first.
    pub changed: Vec<Changed>,
    /// Lines of the critical path with all changes, the costliest first.
    pub lines: Vec<PathLine>,
}

/// A change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Applied {
    /// `remove`, `private`, `closed-form` or `speed-up`.
    pub what: &'static str,
    /// What was named.
    pub name: String,
    /// Dependences that it takes away.
    pub dependences: u64,
    /// Lines that it makes faster.
    pub lines: u64,
}

/// Work and span.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Estimate {
    /// Instructions.
    pub work: u64,
    /// If lines wait for lines.
    pub lines_as_tasks: Span,
    /// If iterations wait for whole iterations.
    pub iterations_as_tasks: Span,
}

/// A call or loop whose span changes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Changed {
    /// `program`, `call` or `loop`.
    pub kind: &'static str,
    /// Source file of the call or loop; empty for the program.
    pub file: String,
    /// Line of the call or loop.
    pub line: u32,
    /// The function whose lines it has.
    pub function: String,
    /// Instructions on the critical path of one execution, as it is.
    pub before: f64,
    /// With all changes.
    pub after: f64,
}

/// The answer.
pub fn what_if(paths: &Paths, asked: &Asked) -> Result<WhatIf, Unknown> {
    let none = Change::default();
    let before = evaluate(paths, &none, Tasks::Lines);
    let (mut change, mut changes) = (Change::default(), Vec::new());
    for (deed, text, named) in &asked.deeds {
        let found = removed(paths, named, *deed);
        if found.is_empty() {
            let candidates = dependences(paths, &before, *deed);
            return Err(Unknown { text: text.clone(), is_line: false, candidates });
        }
        let what = match deed {
            Deed::Remove => "remove",
            Deed::Private => "private",
            Deed::ClosedForm => "closed-form",
        };
        changes.push(Applied { what, name: text.clone(), dependences: found.len() as u64, lines: 0 });
        change.removed.extend(found);
    }
    for (text, at, factor) in &asked.faster {
        let found = lines_at(paths, at);
        if found.is_empty() {
            return Err(Unknown { text: text.clone(), is_line: true, candidates: costly(paths, &before) });
        }
        changes.push(Applied { what: "speed-up", name: text.clone(), dependences: 0, lines: found.len() as u64 });
        for place in found {
            *change.faster.entry(place).or_insert(1.0) *= factor;
        }
    }
    let after = evaluate(paths, &change, Tasks::Lines);
    let estimate = |found: &Evaluated, change: &Change| Estimate {
        work: whole(found.program.work),
        lines_as_tasks: span_of(found),
        iterations_as_tasks: span_of(&evaluate(paths, change, Tasks::Iterations)),
    };
    Ok(WhatIf {
        changes,
        changed: changed(paths, &before, &after),
        lines: lines(paths, &after),
        before: estimate(&before, &none),
        after: estimate(&after, &change),
    })
}

/// Dependences that could be named: those that the critical path takes come first.
#[expect(clippy::cast_precision_loss, reason = "an order")]
fn dependences(paths: &Paths, found: &Evaluated, deed: Deed) -> Vec<String> {
    let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
    for body in &found.bodies {
        for (number, _, to, times) in &body.arcs {
            *weights.entry(*number).or_default() += body.reach * times * body.nodes[*to].cost.span.max(1e-9);
        }
    }
    let mut by_name: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    for (number, edge) in (0..).zip(&paths.edges).filter(|(_, edge)| edge.clause == Clause::None && edge.kind != "line")
    {
        let scope = match edge.carrier.checked_sub(1).map(|at| &paths.loops[at as usize].place) {
            Some(place) => format!("{}:{}", short_file(&place.file), place.line),
            None => paths.pieces[edge.from as usize].function.clone(),
        };
        let name = format!("{}@{scope}", name_of(edge));
        if Named::parse(&name).is_some_and(|named| removed(paths, &named, deed).contains(&number)) {
            let sum = by_name.entry(name).or_default();
            *sum = (sum.0 + weights.get(&number).copied().unwrap_or(0.0), sum.1.saturating_add(edge.count));
        }
    }
    let mut all: Vec<(String, (f64, u64))> = by_name.into_iter().collect();
    all.sort_by(|(a, one), (b, other)| {
        other.0.total_cmp(&one.0).then((other.1 as f64).total_cmp(&(one.1 as f64))).then(a.cmp(b))
    });
    // Of those, what alone shortens the program most.
    all.truncate(TRIED);
    let span = |name: &String| {
        let removed = Named::parse(name).map(|named| removed(paths, &named, deed)).unwrap_or_default();
        evaluate(paths, &Change { removed, ..Change::default() }, Tasks::Lines).program.span
    };
    let mut tried: Vec<(f64, String)> = all.into_iter().map(|(name, _)| (span(&name), name)).collect();
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    tried.into_iter().take(CANDIDATES).map(|(_, name)| name).collect()
}

fn costly(paths: &Paths, found: &Evaluated) -> Vec<String> {
    lines(paths, found)
        .iter()
        .take(CANDIDATES)
        .map(|each| format!("{}:{}", short_file(&each.file), each.line))
        .collect()
}

fn changed(paths: &Paths, before: &Evaluated, after: &Evaluated) -> Vec<Changed> {
    let mut all: Vec<(f64, Changed)> = Vec::new();
    let mut seen = BTreeSet::new();
    for (one, other) in before.bodies.iter().zip(&after.bodies) {
        let context = &paths.contexts[one.context as usize];
        let in_loop = one.in_loop.checked_sub(1).map(|at| &paths.loops[at as usize]);
        let place = in_loop.map_or(&context.call, |each| &each.place);
        let (was, is) = (one.cost.span, other.cost.span);
        // Of recursion, the outermost call.
        if (was - is).abs() <= was * 1e-9 || !seen.insert((place, &context.function, one.in_loop)) {
            continue;
        }
        let kind = kind(context, in_loop.is_some());
        let (file, line, function) = (place.file.clone(), place.line, context.function.clone());
        all.push((
            one.reach * (was - is),
            Changed { kind, file, line, function, before: was.round(), after: is.round() },
        ));
    }
    all.sort_by(|(a, one), (b, other)| b.total_cmp(a).then((&one.file, one.line).cmp(&(&other.file, other.line))));
    all.into_iter().map(|(_, each)| each).collect()
}

/// The answer as text.
pub fn text(view: &WhatIf, top: usize) -> String {
    let mut out = String::new();
    for each in &view.changes {
        let (count, of) = if each.what == "speed-up" { (each.lines, "line") } else { (each.dependences, "dependence") };
        let many = if count == 1 { "" } else { "s" };
        let _ = writeln!(out, "{} {}: {count} {of}{many}", each.what, each.name);
    }
    let (before, after) = (&view.before, &view.after);
    let mut rows = vec![["", "before", "after", "parallelism before", "after"].map(str::to_owned).to_vec()];
    let spans = [
        ("span, iterations as tasks", before.iterations_as_tasks, after.iterations_as_tasks),
        ("span, lines as tasks", before.lines_as_tasks, after.lines_as_tasks),
    ];
    rows.push(vec!["work".to_owned(), before.work.to_string(), after.work.to_string(), String::new(), String::new()]);
    for (name, was, is) in spans {
        let (p, q) = (format!("{:.2}", was.parallelism), format!("{:.2}", is.parallelism));
        rows.push(vec![name.to_owned(), was.span.to_string(), is.span.to_string(), p, q]);
    }
    out.push('\n');
    out.push_str(&table::write(&rows, &[Align::Left, Align::Right, Align::Right, Align::Right, Align::Right]));
    if !view.changed.is_empty() {
        let mut rows = vec![["span before", "after", "", "of"].map(str::to_owned).to_vec()];
        for each in view.changed.iter().take(top) {
            let at = format!("{}:{}", short_file(&each.file), each.line);
            let name = named(each.kind, &each.function, &at);
            let by = format!("{:.2}x", ratio(each.before, each.after));
            rows.push(vec![format!("{:.0}", each.before), format!("{:.0}", each.after), by, name]);
        }
        out.push_str("\nSpans of one execution that change:\n");
        out.push_str(&table::write(&rows, &[Align::Right, Align::Right, Align::Right, Align::Left]));
    }
    out.push_str("\nWhat the critical path of lines runs through then:\n");
    out.push_str(&text::lines(&view.lines, top.min(SHOWN)));
    out.push_str("\nThese are estimates from means over all executions; run the changed program under `workspan depend` to be sure.\n");
    out
}

/// The answer as indented JSON.
pub fn json(view: &WhatIf) -> String {
    crate::parts::indented(view)
}

/// The schema of [`json`]'s output: `docs/format/depend-what-if.schema.json`.
pub fn schema() -> String {
    crate::parts::schema::<WhatIf>()
}
