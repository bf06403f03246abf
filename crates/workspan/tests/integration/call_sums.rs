//! Calls of programs that ran: from their strands, on the fly, and instance by instance in the explicit graph.

use std::collections::BTreeMap;

use workspan_analysis::calls::{calls, from_totals, CallRow, Options};
use workspan_model::{CallMetrics, Nanos, Recording, Run, Strand};
use workspan_testkit::strands::calls::{by_height, outermost, Edge};
use workspan_testkit::strands::{evaluate, evaluate_burdened};

/// What a steal costs.
pub(crate) const STEAL: i64 = 37;

/// What differs between the calls computed from `rows` and those of the graph.
pub(crate) fn graph_difference(recording: &Recording, rows: &[Strand]) -> Option<String> {
    let answers = [evaluate(recording, rows), evaluate_burdened(recording, rows, STEAL)];
    for heights in [false, true] {
        let options = Options { heights, steal: Nanos(STEAL), on_one: Nanos::ZERO };
        let found = calls(recording, rows, &options).unwrap_or_else(|never| match never {});
        let sums = if heights { by_height } else { outermost };
        let [plain, burdened] = [&answers[0], &answers[1]].map(|answer| sums(recording, answer));
        if let Some(difference) = difference(recording, &plain, &metrics(&found.rows)) {
            return Some(format!("by height: {heights}: {difference}"));
        }
        let spans = [answers[0].span, answers[1].span];
        let ours = [found.span.0, found.burdened.map_or(0, |burdened| burdened.span.0)];
        if spans != ours {
            return Some(format!("spans {spans:?}, found {ours:?}"));
        }
        let of = |row: &CallRow| burdened.get(&(row.callee, row.caller, row.height)).map(|sums| sums.span_on_work);
        if let Some(row) = found.rows.iter().find(|row| row.burdened.map(|burdened| burdened.span) != of(row)) {
            return Some(format!("burdened: {row:?}, not {:?}", of(row)));
        }
    }
    None
}

/// What differs between the calls that the collector reported and those computed from `rows`.
pub(crate) fn fly_difference(recording: &Recording, run: &Run, rows: &[Strand]) -> Option<String> {
    let options = Options { heights: false, steal: Nanos::ZERO, on_one: Nanos::ZERO };
    let found = calls(recording, rows, &options).unwrap_or_else(|never| match never {});
    difference(recording, &metrics(&from_totals(recording, run, Nanos::ZERO).rows), &metrics(&found.rows))
}

/// What differs between the burdened spans that the collector reported and those computed from `rows`.
pub(crate) fn burdened_difference(recording: &Recording, run: &Run, rows: &[Strand]) -> Option<String> {
    let options = Options { heights: false, steal: Nanos(STEAL), on_one: Nanos::ZERO };
    let found = calls(recording, rows, &options).unwrap_or_else(|never| match never {});
    let totals = from_totals(recording, run, Nanos::ZERO);
    if totals.burdened != found.burdened {
        return Some(format!("burdened: {:?}, found {:?}", totals.burdened, found.burdened));
    }
    let spans = |rows: &[CallRow]| -> BTreeMap<Edge, Option<Nanos>> {
        let known = rows.iter().filter(|row| !is_lock(recording, row));
        known.map(|row| ((row.callee, row.caller, row.height), row.burdened.map(|all| all.span))).collect()
    };
    let (totals, found) = (spans(&totals.rows), spans(&found.rows));
    let edge = totals.keys().chain(found.keys()).find(|edge| totals.get(edge) != found.get(edge))?;
    let [totals, found] = [&totals, &found].map(|spans| spans.get(edge));
    Some(format!("burdened: {:?}: {totals:?}, found {found:?}", recording.sites[edge.0 .0 as usize]))
}

/// A lock's own span is not reported.
fn is_lock(recording: &Recording, row: &CallRow) -> bool {
    recording.sites[row.callee.0 as usize].kind.is_lock()
}

fn metrics(rows: &[CallRow]) -> BTreeMap<Edge, CallMetrics> {
    rows.iter().map(|row| ((row.callee, row.caller, row.height), row.metrics)).collect()
}

fn difference(
    recording: &Recording,
    expected: &BTreeMap<Edge, CallMetrics>,
    found: &BTreeMap<Edge, CallMetrics>,
) -> Option<String> {
    let edge = expected.keys().chain(found.keys()).find(|edge| expected.get(edge) != found.get(edge))?;
    let place = |site: workspan_model::SiteId| {
        let site = &recording.sites[site.0 as usize];
        (site.kind, site.line)
    };
    let (callee, caller) = (place(edge.0), edge.1.map(place));
    let [expected, found] = [expected, found].map(|sums| sums.get(edge));
    Some(format!("{caller:?} → {callee:?}, height {:?}: {expected:?}, found {found:?}", edge.2))
}
