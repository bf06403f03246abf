//! `workspan scale --csv`: a row for each P, times in nanoseconds.

use std::fmt::Write;

use super::view::{Scale, Speedup};

/// Names first; an empty cell for what there is not.
pub fn csv(view: &Scale) -> String {
    let mut out = String::from(
        "workers,runs,time_ns,time_error_ns,one_worker_ns,idle_ns,work_ns,inflation_ns,baseline_ns,elision_ns,linear,elision,\
         maximal,idle_specific,inflation_specific,actual,actual_error\n",
    );
    for point in &view.points {
        let speedups = &point.speedups;
        let value = |speedup: Option<Speedup>| speedup.map(|speedup| speedup.value.to_string()).unwrap_or_default();
        let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
        // A string takes any text.
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            point.workers,
            point.time.runs_ns.len(),
            point.time.mean_ns,
            number(point.time.error_ns),
            point.one_worker.mean_ns,
            point.idle.mean_ns,
            point.work.mean_ns,
            point.inflation_ns,
            view.baseline.mean_ns,
            number(view.elision.as_ref().map(|elision| elision.mean_ns)),
            speedups.linear,
            value(speedups.elision),
            value(speedups.maximal),
            value(speedups.idle_specific),
            value(speedups.inflation_specific),
            value(speedups.actual),
            speedups.actual.and_then(|actual| actual.error).map(|error| error.to_string()).unwrap_or_default(),
        );
    }
    out
}
