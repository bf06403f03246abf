//! The answer of `workspan inflation`: its view model, and as text.

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::differential::United;
use workspan_analysis::{Differential, Spread};
use workspan_model::{Clock, Nanos, Recording, Run};

use crate::differential::{self, NodeByNode, Noise};
use crate::events::{self, ComparedEvents};
use crate::inflated_memory::{self, Memory};
use crate::parts::{ratio, time};
use crate::terminal::{head, line, Style, Table};
use crate::words::{count, percent};

/// Of the work, that of strands in both recordings: with less, what they cost says little of the program.
const MOST: f64 = 0.8;

/// A program on one worker against the same on several.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this form.
    pub schema_version: u32,
    /// In one line, a number first.
    pub text: String,
    /// The serial runs.
    pub base: Side,
    /// The parallel ones.
    pub new: Side,
    /// Node by node.
    pub nodes: NodeByNode,
    /// What was counted besides time, for the whole program.
    pub events: Vec<Event>,
    /// The named ones by site, first where strands cost more on the critical path.
    pub event_sites: ComparedEvents,
    /// The memory that inflated strands miss on or share, by a task graph; null without one.
    pub memory: Option<Memory>,
    /// Conditions of `--fail-on` that are met.
    pub failed: Vec<String>,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<String>,
}

/// The runs of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Side {
    /// Workers, or threads of a team.
    pub workers: u32,
    /// Runs.
    pub runs: usize,
    /// Median time from start to end, in nanoseconds.
    pub wall_ns: i64,
    /// Median work, in nanoseconds.
    pub work_ns: i64,
    /// Median span, in nanoseconds.
    pub span_ns: i64,
}

/// An event that was counted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Median over the serial runs; null if it was not counted.
    pub base: Option<f64>,
    /// Median over the parallel runs.
    pub new: Option<f64>,
    /// New over base; null if the base has none.
    pub inflation: Option<f64>,
    /// The least share of a run in which it was counted: below 1 where counters took turns, and what was counted stands for
    /// all of the run.
    pub counted_share: f64,
    /// Why it was not counted.
    pub refused: Option<String>,
}

/// What was counted of an event in the runs of both kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// Its name.
    pub name: String,
    /// In each serial run.
    pub base: Vec<f64>,
    /// In each parallel run.
    pub new: Vec<f64>,
    /// The least share of a run in which it was counted.
    pub share: f64,
    /// Why it was not counted.
    pub refused: Option<String>,
}

/// What the answer is made of.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The serial runs.
    pub base: &'a Recording,
    /// The parallel ones.
    pub new: &'a Recording,
    /// Workers that were requested.
    pub workers: u32,
    /// Sites of both.
    pub united: &'a United,
    /// Node by node.
    pub found: &'a Differential,
    /// What was counted.
    pub counted: &'a [Counted],
}

/// The answer as it is shown.
pub fn answer(input: Input<'_>) -> Answer {
    let nodes = differential::view(
        input.united,
        input.found,
        differential::Order::Inflated,
        Noise::between(input.base, input.new),
    );
    let (base, new) = (side(input.base, 1), side(input.new, input.workers));
    let paired = Nanos(nodes.program.work.new_ns).over(Nanos(nodes.program.work.new_ns + nodes.program.only_new_ns));
    let text = match paired.filter(|share| share.0 < MOST) {
        // Of dynamic loops a chunk's partner has other iterations.
        Some(share) => format!(
            "{} workers instead of {}: work {}x in all; of strands that are in both, {} of the work: {}",
            new.workers,
            base.workers,
            ratio(Nanos(new.work_ns).over(Nanos(base.work_ns)).map(|ratio| ratio.0)),
            percent(share),
            nodes.text
        ),
        None => format!("{} workers instead of {}: {}", new.workers, base.workers, nodes.text),
    };
    let mut warnings = warnings(&input);
    let refused = input.counted.iter().filter(|counted| counted.refused.is_some());
    let names: Vec<&str> = refused.clone().map(|counted| counted.name.as_str()).collect();
    if let Some(why) = refused.filter_map(|counted| counted.refused.as_deref()).next() {
        warnings.push(format!("not counted: {} ({why})", names.join(", ")));
    }
    let order: Vec<Option<&str>> = nodes.sites.iter().map(|site| site.id.as_deref()).collect();
    let event_sites = events::compared(input.united, input.base, input.new, order);
    let by_site = event_sites.events.iter().flat_map(|pair| [&pair.base, &pair.new]);
    let by_site = events::warnings(by_site.filter(|event| !names.contains(&event.name.as_str())));
    warnings.extend(by_site.into_iter().map(|warning| format!("by site: {warning}")));
    warnings.extend(nodes.warnings.iter().cloned());
    Answer {
        schema_version: 1,
        text,
        base,
        new,
        nodes,
        events: input.counted.iter().map(event).collect(),
        event_sites,
        memory: None,
        failed: Vec::new(),
        warnings,
    }
}

fn side(recording: &Recording, asked: u32) -> Side {
    let median = |of: fn(&Run) -> Nanos| Spread::of(recording.runs.iter().map(of)).median.0;
    // With virtual cores the team is as large, but one thread runs at a time.
    let one_at_a_time = asked == 1 && recording.uses_openmp();
    let workers = if one_at_a_time { 1 } else { recording.runs.first().map_or(asked, |run| run.workers.max(1)) };
    Side {
        workers,
        runs: recording.runs.len(),
        wall_ns: median(|run| run.wall),
        work_ns: median(Run::work),
        span_ns: median(|run| run.span),
    }
}

fn event(counted: &Counted) -> Event {
    let median = |values: &[f64]| (!values.is_empty()).then(|| Spread::of(values.iter().copied()).median);
    let (base, new) = (median(&counted.base), median(&counted.new));
    Event {
        name: counted.name.clone(),
        base,
        new,
        inflation: base.zip(new).filter(|(base, _)| *base > 0.0).map(|(base, new)| new / base),
        counted_share: counted.share,
        refused: counted.refused.clone(),
    }
}

fn warnings(input: &Input<'_>) -> Vec<String> {
    let Input { base, new, workers, .. } = input;
    let mut warnings = Vec::new();
    for (which, recording) in [("serial", base), ("parallel", new)] {
        let missing = recording.runs.iter().filter(|run| !run.complete()).count();
        if missing > 0 {
            warnings.push(format!("incomplete: {missing} of the {} {which} runs", recording.runs.len()));
        }
    }
    let openmp = new.uses_openmp();
    if !openmp && base.runs.iter().any(|run| run.workers > 1) {
        warnings
            .push("the program sets the size of its pools itself: the serial runs had more than one worker".to_owned());
    }
    if new.runs.iter().any(|run| run.workers != 0 && run.workers != *workers) {
        warnings.push(format!("the program chose another number of workers than {workers}"));
    }
    if new.runs.len() < 3 && new.runs.iter().any(|run| run.clock == Clock::Real) {
        warnings.push("fewer than three runs: inflation includes noise (use --repeat N)".to_owned());
    }
    if *workers > new.machine.cpus && new.machine.cpus > 0 {
        warnings.push(format!("{workers} workers on {} processors: they take turns", new.machine.cpus));
    }
    warnings
}

fn workers(side: Side) -> String {
    match side.workers {
        1 => "1 worker".to_owned(),
        workers => format!("{workers} workers"),
    }
}

/// As indented JSON.
pub fn json(answer: &Answer) -> String {
    crate::parts::indented(answer)
}

/// As text.
pub fn text(answer: &Answer, style: Style) -> String {
    let mut out = String::new();
    head(&mut out, &answer.text, &answer.warnings, style);
    line(&mut out, "");
    let Answer { base, new, .. } = answer;
    let names = [workers(*base), workers(*new)];
    let runs = if new.runs > 1 { format!("median of {} runs", new.runs) } else { String::new() };
    let mut table = Table::new(&[&runs, &names[0], &names[1], "ratio"]);
    for (name, base, new) in
        [("work", base.work_ns, new.work_ns), ("span", base.span_ns, new.span_ns), ("wall", base.wall_ns, new.wall_ns)]
    {
        let times = Nanos(new).over(Nanos(base)).map(|ratio| ratio.0);
        table.row(vec![name.to_owned(), time(base), time(new), ratio(times)]);
    }
    for event in answer.events.iter().filter(|event| event.refused.is_none()) {
        let times = match event.counted_share {
            share if share < 0.995 => {
                format!("{} (counted {:.0} % of the time)", ratio(event.inflation), share * 100.0)
            }
            _ => ratio(event.inflation),
        };
        table.row(vec![event.name.clone(), number(event.base), number(event.new), times]);
    }
    table.write(&mut out, style, 0);
    line(&mut out, "");
    let names = names.map(|name| format!("with {name}"));
    differential::text(
        &mut out,
        &answer.nodes,
        names.each_ref().map(String::as_str),
        differential::Order::Inflated,
        style,
    );
    events::compared_text(&mut out, &answer.event_sites, style);
    if let Some(memory) = &answer.memory {
        inflated_memory::text(&mut out, memory, style);
    }
    for condition in &answer.failed {
        line(&mut out, "");
        line(&mut out, &style.warning(&format!("failed: {condition}")));
    }
    out
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; saturates")]
fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| count(value.round() as u64))
}
