//! What holds of the rows of any report: no row exceeds the program, and none is slower in parallel than by itself.

use serde_json::Value;

use crate::command::{report, run, workspan};
use crate::fixtures::{fixtures, FIXTURES};

/// What is wrong with a row of `report`, if anything is. Of one run: medians of several need not be of one and the same.
pub(crate) fn wrong(report: &Value) -> Option<String> {
    let program = &report["program"];
    let whole = |key: &str| program[key].as_i64().expect("a number");
    let (work, span) = (whole("work_ns"), whole("span_ns"));
    let rows = ["regions", "sites"].into_iter().flat_map(|rows| report[rows].as_array().expect("a list"));
    for row in rows {
        let number = |key: &str| row[key].as_i64().expect("a number");
        let exceeds = number("work_ns") > work || number("span_ns") > span || number("critical_ns") > span;
        let negative = ["work_ns", "span_ns", "critical_ns"].into_iter().any(|key| number(key) < 0);
        let parallelism = row["parallelism"].as_f64();
        let spans = row["instances_span_ns"].as_i64().unwrap_or_else(|| number("span_ns"));
        let quotient = work_over_span(number("work_ns"), spans);
        let other =
            parallelism.zip(quotient).is_some_and(|(found, quotient)| (found - quotient).abs() > 1e-6 * quotient);
        let hidden = row["instances_span_ns"].as_i64().is_some_and(|sum| sum <= number("span_ns"));
        if exceeds || negative || other || hidden || parallelism.is_some_and(|found| found < 1.0) {
            return Some(format!("a row beyond work {work} and span {span}: {row:#}"));
        }
    }
    None
}

/// Work over span; 1 of what waits for longer than it works.
#[expect(clippy::cast_precision_loss, reason = "compared within rounding")]
fn work_over_span(work: i64, span: i64) -> Option<f64> {
    (span > 0).then(|| work.max(span) as f64 / span as f64)
}

#[test]
fn of_stored_recordings() {
    let folder = fixtures();
    for fixture in FIXTURES {
        let report = report(&folder, format!("{fixture}.wspan"));
        assert_eq!(wrong(&report), None, "{fixture}");
    }
}

/// Threads beside each other: their spans add up to more than the program's, of which the row keeps the sum apart.
#[test]
fn of_threads_beside_each_other() {
    let folder = crate::build::scratch("rows-threads");
    let program = crate::threads::threads("planted");
    let mut command = workspan(&folder);
    command.args(["record", "--clock", "virtual", "--"]).arg(&program).arg("many");
    run(&mut command).check_success();
    let report = report(&folder, "workspan.wspan");
    assert_eq!(wrong(&report), None);
    let sites = report["sites"].as_array().expect("a list");
    let row = sites.iter().find(|site| site["kind"] == "thread").expect("its threads");
    let number = |key: &str| row[key].as_i64().expect("a number");
    assert_eq!((number("work_ns"), number("span_ns"), number("instances_span_ns")), (32 * 1020, 1020, 32 * 1020));
    // That of each: what runs beside them is another's.
    assert_eq!(row["parallelism"], 1.0);
}
