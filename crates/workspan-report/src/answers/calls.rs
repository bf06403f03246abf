//! The answer of `workspan calls`: its view model, as text and as CSV.

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::calls::{CallRow, DEFAULT_STEAL};
use workspan_analysis::laws;
use workspan_analysis::Calls;
use workspan_model::{Clock, Nanos, Ratio, Recording, Run, SiteId};

use crate::parts::{problems, range, ratio, time};
use crate::place;
use crate::terminal::{line, more, Style, Table};
use crate::words::{count, csv_cell, percent};

/// The call sites of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this form.
    pub schema_version: u32,
    /// In one line, a number first.
    pub text: String,
    /// How recursion is shown: `site`, outermost instances only, or `height`.
    pub by: String,
    /// Where the numbers come from: `strands`, or `collector` where there are none.
    pub from: String,
    /// What a steal costs; null if burdened spans are not known.
    pub steal_ns: Option<i64>,
    /// Where that number comes from: `asked`, `recorded`, `measured` or `assumed`.
    pub steal_from: Option<String>,
    /// The whole program.
    pub program: Program,
    /// Call sites, by falling part of the critical path.
    pub calls: Vec<Call>,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<String>,
}

/// The whole program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Program {
    /// Sum of all strands.
    pub work_ns: i64,
    /// Longest chain of strands.
    pub span_ns: i64,
    /// Work over span.
    pub parallelism: Option<f64>,
    /// The other end of its range, as in the report; null if there is none.
    pub uniform_parallelism: Option<f64>,
    /// Longest chain of strands and steals; null if it is not known.
    pub burdened_span_ns: Option<i64>,
    /// Work over that.
    pub burdened_parallelism: Option<f64>,
}

/// A site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct End {
    /// Stable between runs.
    pub id: String,
    /// Its place, or where serial code lies.
    pub name: String,
    /// Construct.
    pub kind: String,
    /// The function around it.
    pub function: Option<String>,
}

/// A call site.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Call {
    /// The site around it; null for code outside of all regions.
    pub caller: Option<End>,
    /// The site.
    pub callee: End,
    /// By height: how many instances are nested below those of this row, at most.
    pub height: Option<u32>,
    /// All instances.
    pub on_work: Sums,
    /// Those on the critical path.
    pub on_span: Sums,
    /// Of the critical path: the latter's span, or what the site's own strands add to it if that is more.
    pub span_share: Option<f64>,
    /// Cost of strands of the site itself.
    pub local_work_ns: i64,
    /// What they add to the critical path.
    pub local_span_ns: i64,
    /// Sum of the spans of all instances, with steals.
    pub burdened_span_ns: Option<i64>,
    /// Work over that.
    pub burdened_parallelism: Option<f64>,
}

/// Instances of a site.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sums {
    /// Their number.
    pub calls: u64,
    /// Sum of their work.
    pub work_ns: i64,
    /// Sum of their spans.
    pub span_ns: i64,
    /// Work over span.
    pub parallelism: Option<f64>,
}

/// What a steal costs, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steal {
    /// As the user says.
    Asked(Nanos),
    /// As the program was recorded with, on request or for want of a measurement.
    Recorded(Nanos),
    /// As measured where the program ran.
    Measured(Nanos),
    /// For want of anything better.
    Assumed(Nanos),
}

impl Steal {
    /// As it was requested, as `run` of `recording` was recorded with, as it was measured, or as it may be.
    pub fn of(asked: Option<u64>, recording: &Recording, run: &Run) -> Steal {
        let nanos = |number| Nanos(i64::try_from(number).unwrap_or(i64::MAX));
        let measured = recording.machine.steal_ns;
        let expected = if measured == 0 { DEFAULT_STEAL } else { nanos(measured) };
        match (asked, measured) {
            (Some(number), _) => Steal::Asked(nanos(number)),
            (None, _) if run.steal > Nanos::ZERO && run.steal != expected => Steal::Recorded(run.steal),
            // Ticks are no time.
            (None, _) if run.clock == Clock::Virtual => Steal::Assumed(Nanos::ZERO),
            (None, 0) => Steal::Assumed(DEFAULT_STEAL),
            (None, number) => Steal::Measured(nanos(number)),
        }
    }

    /// The cost.
    pub fn cost(self) -> Nanos {
        match self {
            Steal::Asked(cost) | Steal::Recorded(cost) | Steal::Measured(cost) | Steal::Assumed(cost) => cost,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Steal::Asked(_) => "asked",
            Steal::Recorded(_) => "recorded",
            Steal::Measured(_) => "measured",
            Steal::Assumed(_) => "assumed",
        }
    }
}

/// Where calls come from, and what burdened spans were computed with; nothing if they were not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The strands of a run.
    Strands(Steal),
    /// What the collector reported on the fly.
    Collector(Option<Steal>),
}

/// The answer as it is shown.
pub fn answer(recording: &Recording, by_height: bool, source: Source, computed: &Calls, most: Option<Ratio>) -> Answer {
    let (from, steal) = match source {
        Source::Strands(steal) => ("strands", Some(steal)),
        Source::Collector(steal) => ("collector", steal),
    };
    let program = Program {
        work_ns: computed.work.0,
        span_ns: computed.span.0,
        parallelism: number(computed.parallelism),
        uniform_parallelism: number(most),
        burdened_span_ns: computed.burdened.map(|burdened| burdened.span.0),
        burdened_parallelism: number(computed.burdened.and_then(|burdened| burdened.parallelism)),
    };
    let mut text = format!("parallelism {}", range(program.parallelism, program.uniform_parallelism));
    if let Some(steal) = steal {
        let known = match steal {
            Steal::Asked(_) => "",
            Steal::Recorded(_) => ", as recorded",
            Steal::Measured(_) => ", as measured",
            Steal::Assumed(_) => ", assumed: set it with --steal",
        };
        let burdened = ratio(program.burdened_parallelism);
        let cost = steal.cost();
        text += format!(", burdened {burdened} ({cost} for each possible steal{known})").as_str();
    }
    Answer {
        schema_version: 1,
        text,
        by: if by_height { "height" } else { "site" }.to_owned(),
        from: from.to_owned(),
        steal_ns: steal.map(|steal| steal.cost().0),
        steal_from: steal.map(|steal| steal.word().to_owned()),
        program,
        calls: computed.rows.iter().filter_map(|row| call(recording, computed.span, row)).collect(),
        warnings: problems(&computed.problems),
    }
}

fn call(recording: &Recording, span: Nanos, row: &CallRow) -> Option<Call> {
    let metrics = &row.metrics;
    Some(Call {
        caller: row.caller.and_then(|site| end(recording, site)),
        callee: end(recording, row.callee)?,
        height: row.height,
        on_work: Sums {
            calls: metrics.calls_on_work,
            work_ns: metrics.work_on_work.0,
            span_ns: metrics.span_on_work.0,
            parallelism: number(laws::parallelism(metrics.work_on_work, metrics.span_on_work)),
        },
        on_span: Sums {
            calls: metrics.calls_on_span,
            work_ns: metrics.work_on_span.0,
            span_ns: metrics.span_on_span.0,
            parallelism: number(laws::parallelism(metrics.work_on_span, metrics.span_on_span)),
        },
        span_share: number(row.on_span().over(span)),
        local_work_ns: metrics.local_work.0,
        local_span_ns: metrics.local_span.at_least_zero().0,
        burdened_span_ns: row.burdened.map(|burdened| burdened.span.0),
        burdened_parallelism: number(row.burdened.and_then(|burdened| burdened.parallelism)),
    })
}

fn end(recording: &Recording, id: SiteId) -> Option<End> {
    let site = recording.sites.get(id.0 as usize)?;
    Some(End {
        id: site.stable_id(&recording.sites),
        name: place::marked(site).map_or_else(|| place::label(recording, site), str::to_owned),
        kind: site.kind.name().to_owned(),
        function: site.function.as_ref().map(|function| function.name.clone()),
    })
}

fn number(ratio: Option<Ratio>) -> Option<f64> {
    ratio.map(|ratio| ratio.0)
}

/// As indented JSON.
pub fn json(answer: &Answer) -> String {
    serde_json::to_string_pretty(answer).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// Columns of the CSV: Cilkprof's words, then what it does not report.
const CSV: [&str; 17] = [
    "caller",
    "callee",
    "work-on-work",
    "span-on-work",
    "parallelism-on-work",
    "work-on-span",
    "span-on-span",
    "parallelism-on-span",
    "calls-on-work",
    "calls-on-span",
    "local-work",
    "local-span",
    "burdened-span-on-work",
    "burdened-parallelism-on-work",
    "height",
    "caller-id",
    "callee-id",
];

/// As RFC 4180 has it, with all rows. Times in nanoseconds; nothing where there is no value.
pub fn csv(answer: &Answer) -> String {
    let mut out = CSV.join(",") + "\n";
    let decimal = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let whole = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    for call in &answer.calls {
        let (work, span) = (call.on_work, call.on_span);
        let cells = [
            csv_cell(&caller(call)).into_owned(),
            csv_cell(&callee(call)).into_owned(),
            work.work_ns.to_string(),
            work.span_ns.to_string(),
            decimal(work.parallelism),
            span.work_ns.to_string(),
            span.span_ns.to_string(),
            decimal(span.parallelism),
            work.calls.to_string(),
            span.calls.to_string(),
            call.local_work_ns.to_string(),
            call.local_span_ns.to_string(),
            whole(call.burdened_span_ns),
            decimal(call.burdened_parallelism),
            whole(call.height.map(i64::from)),
            call.caller.as_ref().map(|end| end.id.clone()).unwrap_or_default(),
            call.callee.id.clone(),
        ];
        out += &cells.join(",");
        out.push('\n');
    }
    out
}

fn caller(call: &Call) -> String {
    call.caller.as_ref().map_or_else(|| "the program".to_owned(), |end| end.name.clone())
}

fn callee(call: &Call) -> String {
    match call.callee.kind.as_str() {
        "serial" | "marked" => call.callee.name.clone(),
        kind => format!("{} {kind}", call.callee.name),
    }
}

/// As text.
pub fn text(answer: &Answer, style: Style) -> String {
    let mut out = String::new();
    line(&mut out, &style.bold(&answer.text));
    for warning in &answer.warnings {
        line(&mut out, &style.warning(&format!("! {warning}")));
    }
    line(&mut out, "");
    let mut table = Table::new(&["", "work", "span", "parallelism"]);
    let program = answer.program;
    let mut row = |name: &str, span, parallelism| {
        table.row(vec![name.to_owned(), time(program.work_ns), time(span), parallelism]);
    };
    row("program", program.span_ns, range(program.parallelism, program.uniform_parallelism));
    if let Some(span) = program.burdened_span_ns {
        row("burdened", span, ratio(program.burdened_parallelism));
    }
    table.write(&mut out, style, 0);
    if answer.calls.is_empty() {
        return out;
    }
    line(&mut out, "");
    let mut columns = vec![
        "critical: span",
        "share",
        "work",
        "parallelism",
        "calls",
        "self",
        "all: span",
        "work",
        "parallelism",
        "burdened",
        "calls",
        "self",
    ];
    columns.extend((answer.by == "height").then_some("height"));
    columns.push("caller → callee");
    let mut table = Table::new(&columns);
    for call in answer.calls.iter().take(style.top) {
        table.row(cells(call));
    }
    table.write(&mut out, style, columns.len() - 1);
    more(&mut out, answer.calls.len(), style, "call site");
    if answer.by == "site" {
        line(&mut out, &style.dim(BY_SITE));
    }
    out
}

/// What the columns sum over where recursion is folded.
const BY_SITE: &str =
    "self: own code of the callee, that of its recursive calls included; span, work and calls: the outermost calls \
                       alone (--by height: each call, at its height)";

fn cells(call: &Call) -> Vec<String> {
    let (work, span) = (call.on_work, call.on_span);
    let sums = |sums: Sums, nanos: i64| if sums.calls == 0 { "-".to_owned() } else { time(nanos) };
    // Only strands that lie within other instances.
    let recursion = if work.calls == 0 && call.callee.kind != "serial" { ", recursion" } else { "" };
    let on_path = span.span_ns.max(call.local_span_ns);
    let is_on_path = span.calls > 0 || on_path > 0;
    let share = call.span_share.filter(|_| is_on_path);
    let mut cells = vec![
        if is_on_path { time(on_path) } else { "-".to_owned() },
        share.map_or_else(|| "-".to_owned(), |share| percent(Ratio(share))),
        sums(span, span.work_ns),
        ratio(span.parallelism),
        count(span.calls),
        time(call.local_span_ns),
        sums(work, work.span_ns),
        sums(work, work.work_ns),
        ratio(work.parallelism),
        ratio(call.burdened_parallelism),
        count(work.calls),
        time(call.local_work_ns),
    ];
    cells.extend(call.height.map(|height| height.to_string()));
    cells.push(format!("{} → {}{recursion}", caller(call), callee(call)));
    cells
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use schemars::generate::SchemaSettings;
    use serde_json::Value;

    use super::*;

    /// Every field, and every column, stands in `docs/format/calls.md`.
    #[test]
    fn every_field_is_documented() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format/calls.md");
        let document = fs::read_to_string(file).expect("it is there");
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let schema: Value = generator.into_root_schema_for::<Answer>().into();
        let of = |part: &Value| part["properties"].as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>());
        let parts = schema["$defs"].as_object().expect("it has parts").values();
        let fields: Vec<String> = parts.chain([&schema]).filter_map(of).flatten().collect();
        assert!(fields.len() > 25, "{fields:?}");
        let words = fields.iter().map(String::as_str).chain(CSV);
        let missing: Vec<&str> = words
            .filter(|word| !["`", "`[", ".", "["].iter().any(|after| document.contains(&format!("{word}{after}"))))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn what_a_steal_costs() {
        for (asked, measured, recorded, clock, expected) in [
            (Some(7), 300, 9, Clock::Real, Steal::Asked(Nanos(7))),
            (None, 300, 9, Clock::Real, Steal::Recorded(Nanos(9))),
            (None, 300, 300, Clock::Real, Steal::Measured(Nanos(300))),
            (None, 300, 0, Clock::Real, Steal::Measured(Nanos(300))),
            (None, 0, 0, Clock::Real, Steal::Assumed(DEFAULT_STEAL)),
            (None, 0, 0, Clock::Virtual, Steal::Assumed(Nanos::ZERO)),
            (None, 0, 100, Clock::Virtual, Steal::Recorded(Nanos(100))),
        ] {
            let machine = workspan_model::Machine { steal_ns: measured, ..workspan_model::Machine::default() };
            let recording = Recording { machine, ..Recording::default() };
            let run = Run { steal: Nanos(recorded), clock, ..Run::default() };
            assert_eq!(Steal::of(asked, &recording, &run), expected);
        }
    }
}
