//! Tables of the report as CSV: a row for each entry, a column for each field of the [report's](workspan_report::view) JSON,
//! by the same names. A field of a field has a dot in its name.

use std::io::{self, Write};

use serde_json::{json, Value};
use workspan_report::Report;

use crate::csv;

/// A table of the report.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// What it is called.
    pub name: &'static str,
    columns: &'static [&'static str],
    rows: fn(&Report) -> Vec<Value>,
}

/// All tables of the report.
pub const TABLES: [Table; 10] = [
    Table { name: "verdict", columns: VERDICT, rows: |report| vec![value(&report.verdict)] },
    Table { name: "losses", columns: LOSSES, rows: losses },
    Table { name: "program", columns: PROGRAM, rows: |report| vec![value(&report.program)] },
    Table { name: "regions", columns: REGIONS, rows: |report| report.regions.iter().map(value).collect() },
    Table { name: "sites", columns: SITES, rows: |report| report.sites.iter().map(value).collect() },
    Table { name: "sizes", columns: SIZES, rows: sizes },
    Table { name: "contexts", columns: CONTEXTS, rows: contexts },
    Table { name: "warnings", columns: WARNINGS, rows: |report| report.warnings.iter().map(value).collect() },
    Table { name: "spread", columns: SPREAD, rows: |report| report.spread.iter().map(value).collect() },
    Table { name: "recorded", columns: RECORDED, rows: |report| vec![value(&report.recorded)] },
];

const VERDICT: &[&str] = &[
    "text",
    "parallelism",
    "main",
    "main_share",
    "outcome",
    "why",
    "lines",
    "next",
    "processors",
    "basis",
    "time_ns",
    "speedup",
    "slowest",
    "even_iterations",
];

/// Of the verdict: a row for each part of each loss, or for the loss if there are none.
const LOSSES: &[&str] = &[
    "cause",
    "time_ns",
    "share",
    "speedup",
    "parts.id",
    "parts.reason",
    "parts.text",
    "parts.time_ns",
    "parts.share",
    "parts.without",
];

const PROGRAM: &[&str] = &[
    "work_ns",
    "span_ns",
    "one_processor_ns",
    "parallelism",
    "uniform.span_ns",
    "uniform.parallelism",
    "burdened.span_ns",
    "burdened.parallelism",
    "task_overhead",
    "overhead_ns",
    "tasks",
    "serial_ns",
    "workers",
    "logical_cores",
    "asked_threads.answer",
    "asked_threads.by",
    "wall_ns",
    "cpu_ns",
    "idle_ns",
    "preempted_ns",
    "blocked_ns",
    "polled_ns",
    "interrupted_ns",
    "first_use_ns",
    "collector_ns",
    "complete",
    "dropped",
    "exit_code",
    "signal",
];

const REGIONS: &[&str] = &[
    "id",
    "kind",
    "place.file",
    "place.line",
    "place.column",
    "place.code",
    "function",
    "name",
    "from.file",
    "from.line",
    "from.column",
    "from.code",
    "to.file",
    "to.line",
    "to.column",
    "to.code",
    "prefix",
    "open",
    "beside",
    "instances",
    "work_ns",
    "span_ns",
    "parallelism",
    "uniform.span_ns",
    "uniform.parallelism",
    "burdened.span_ns",
    "burdened.parallelism",
    "critical_ns",
    "critical_share",
    "overhead_ns",
    "task_overhead",
    "wall_ns",
    "idle_ns",
    "instances_span_ns",
    "ran.function",
    "ran.file",
    "ran.first_line",
    "ran.last_line",
    "ran.share",
    "ran.samples",
    "ran.threads",
    "ran.main_thread",
];

const SITES: &[&str] = &[
    "id",
    "file",
    "line",
    "column",
    "code",
    "function",
    "name",
    "kind",
    "via.file",
    "via.line",
    "via.column",
    "via.code",
    "instances",
    "tasks",
    "work_ns",
    "span_ns",
    "parallelism",
    "uniform.span_ns",
    "uniform.parallelism",
    "burdened.span_ns",
    "burdened.parallelism",
    "contended_ns",
    "self_ns",
    "critical_ns",
    "critical_share",
    "overhead_ns",
    "overhead_share",
    "overhead_total_ns",
    "blocked_ns",
    "polled_ns",
    "task_ns.mean",
    "task_ns.p50",
    "task_ns.p90",
    "instances_span_ns",
];

/// Of sites: a row for each size that tasks have.
const SIZES: &[&str] = &["id", "from_ns", "to_ns", "tasks"];

/// `index`: what `parent` says.
const CONTEXTS: &[&str] = &["index", "parent", "id", "label", "self_ns", "critical_ns"];

const WARNINGS: &[&str] = &["code", "message"];

const SPREAD: &[&str] = &[
    "runs",
    "work_ns.min",
    "work_ns.max",
    "span_ns.min",
    "span_ns.max",
    "parallelism.min",
    "parallelism.max",
    "wall_ns.min",
    "wall_ns.max",
];

const RECORDED: &[&str] = &[
    "command",
    "at",
    "workspan",
    "runtime",
    "runs",
    "clock",
    "processor",
    "cpus",
    "system",
    "join_cost_ps",
    "probe_cost_ps",
    "steal_ns",
    "steal_from",
];

fn value(part: &impl Serialized) -> Value {
    part.value()
}

/// What a table has rows of.
trait Serialized {
    fn value(&self) -> Value;
}

macro_rules! serialized {
    ($($part:ident)*) => {$(
        impl Serialized for workspan_report::view::$part {
            fn value(&self) -> Value {
                serde_json::to_value(self).unwrap_or(Value::Null)
            }
        }
    )*};
}

serialized! { Verdict Loss Program Region Site SizeBucket Context Warning Spread Recorded }

fn losses(report: &Report) -> Vec<Value> {
    let rows = |loss: &workspan_report::view::Loss| {
        let mut row = value(loss);
        let parts = match row["parts"].take() {
            Value::Array(parts) if !parts.is_empty() => parts,
            _ => vec![Value::Null],
        };
        let of_part = move |part| {
            let mut row = row.clone();
            row["parts"] = part;
            row
        };
        parts.into_iter().map(of_part).collect::<Vec<_>>()
    };
    report.verdict.losses.iter().flat_map(rows).collect()
}

fn sizes(report: &Report) -> Vec<Value> {
    let of_site = |site: &workspan_report::view::Site| {
        let id = site.id.clone();
        let row = move |bucket| {
            let mut row = value(bucket);
            row["id"] = json!(id);
            row
        };
        site.task_sizes.iter().map(row).collect::<Vec<_>>()
    };
    report.sites.iter().flat_map(of_site).collect()
}

fn contexts(report: &Report) -> Vec<Value> {
    let row = |(index, context)| {
        let mut row = value(context);
        row["index"] = json!(index);
        row
    };
    report.contexts.iter().enumerate().map(row).collect()
}

impl Table {
    /// Writes it, names first.
    pub fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        csv::row(out, self.columns)?;
        for row in (self.rows)(report) {
            csv::row(out, self.columns.iter().map(|column| cell(find(&row, column))))?;
        }
        Ok(())
    }
}

fn find<'v>(row: &'v Value, column: &str) -> &'v Value {
    column.split('.').fold(row, |value, part| &value[part])
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(cell).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that the report gets needs a column.
    #[test]
    fn every_field_has_a_column() {
        let schema: Value = serde_json::from_str(&workspan_report::json::schema()).expect("JSON");
        let kinds =
            ["Verdict", "Loss", "Program", "Region", "Site", "SizeBucket", "Context", "Warning", "Spread", "Recorded"];
        for (table, kind) in TABLES.iter().zip(kinds) {
            let fields = schema["$defs"][kind]["properties"].as_object().expect("fields");
            let mut columns: Vec<&str> =
                table.columns.iter().map(|column| column.split('.').next().unwrap_or(column)).collect();
            columns.dedup();
            // Which row it is.
            columns.retain(|column| *column != "index" && (*column != "id" || kind != "SizeBucket"));
            columns.sort_unstable();
            // Tables of their own.
            let mut fields: Vec<&str> =
                fields.keys().map(String::as_str).filter(|name| !["losses", "task_sizes"].contains(name)).collect();
            fields.sort_unstable();
            assert_eq!(columns, fields, "{}", table.name);
            for (field, part) in
                [("place", "Place"), ("uniform", "Uniform"), ("task_ns", "TaskSizes"), ("parts", "LossPart")]
            {
                let mut inner = schema["$defs"][part]["properties"].as_object().expect("fields").keys();
                let has = |name: &String| table.columns.contains(&format!("{field}.{name}").as_str());
                assert!(!columns.contains(&field) || inner.all(has), "{}: {field}", table.name);
            }
        }
    }
}
