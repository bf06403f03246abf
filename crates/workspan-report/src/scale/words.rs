//! What the curves say, in words (Acar et al. 2.4 and 2.5).

use workspan_analysis::factored::{Bend, Cause, Curve, Factors, Reading};
use workspan_model::{Nanos, Ratio};

use super::view::Conditions;
use super::words_of_workers as workers;
use crate::words::percent;

/// The speedup in one line, and what it is mostly lost to.
pub(super) fn headline(last: &Factors, reading: &Reading) -> String {
    let actual = last.speedups.actual.map_or_else(|| "?".to_owned(), |speedup| speedup.value.to_string());
    let p = workers(last.workers);
    let lost = match reading.largest.first() {
        None => "next to nothing is lost".to_owned(),
        Some((cause, time)) => {
            let error = last.idle.error().filter(|error| *cause == Cause::Idle && error.0 > time.0 / 2);
            let error = error.map_or_else(String::new, |error| format!(" (\u{b1} {})", share(error, last)));
            let main = format!("{}{error} of the time goes to {}", share(*time, last), noun(*cause));
            match reading.largest.get(1) {
                None => main,
                Some((cause, time)) => format!("{main}, {} to {}", share(*time, last), noun(*cause)),
            }
        }
    };
    format!("speedup {actual} with {p}: {lost}")
}

/// Of the time that all workers have.
fn share(time: Nanos, last: &Factors) -> String {
    let available = last.time.mean * i64::from(last.workers);
    percent(time.over(available).unwrap_or(Ratio(0.0)))
}

fn noun(cause: Cause) -> &'static str {
    match cause {
        Cause::Algorithmic => "work that the baseline does not do",
        Cause::TaskOverhead => "creating tasks",
        Cause::Idle => "waiting for work",
        Cause::NoProcessor => "work without a processor",
        Cause::Inflation => "work inflation",
    }
}

/// Gaps, then curves.
pub(super) fn reading(factors: &[Factors], reading: &Reading, conditions: &Conditions) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    if let Some(last) = factors.last() {
        sentences.extend(reading.largest.iter().map(|cause| gap(*cause, last, conditions)));
        if sentences.is_empty() {
            sentences.push(format!(
                "With {} no gap between the curves matters: neither idle time nor inflation nor overhead takes 3 % of the \
                 time that the workers have.",
                workers(last.workers)
            ));
        }
    }
    sentences.extend(bends(reading));
    sentences
}

fn gap((cause, time): (Cause, Nanos), last: &Factors, conditions: &Conditions) -> String {
    let of = format!("{} of the time of {}", share(time, last), workers(last.workers));
    let known = last.elision.is_some();
    match cause {
        Cause::Algorithmic if conditions.baseline.is_none() => {
            format!("Algorithmic overhead, {of}: on more workers the program does more work than on one.")
        }
        Cause::Algorithmic => {
            let tasks = if known { "" } else { ", or the cost of tasks as far as it was not profiled" };
            let below = if known { "that of the elision" } else { "the maximal curve" };
            format!(
                "Algorithmic overhead, {of}: the gap between the linear curve and {below}; the program does more than the \
                 baseline{tasks}."
            )
        }
        Cause::TaskOverhead => {
            let how =
                if known { "the gap between the curve of the elision and the maximal one" } else { "as profiled" };
            format!("Task overhead, {of}: {how}; larger tasks would cost less.")
        }
        Cause::Idle => format!(
            "Idle time, {of}: the gap between the maximal and the idle-time-specific curve; workers find no work."
        ),
        Cause::NoProcessor => format!(
            "Without a processor, at least {of}: workers had work, but were blocked, or others were at work on the machine; this is no \
             inflation."
        ),
        Cause::Inflation => format!(
            "Work inflation, {of}: the gap between the maximal and the inflation-specific curve; the same work takes \
             {} times as long as with one worker.",
            (last.work.mean - last.off).over(last.one_worker.mean).unwrap_or(Ratio(1.0))
        ),
    }
}

/// What bends: of what follows from a bend above, nothing is said.
fn bends(reading: &Reading) -> Vec<String> {
    let of = |curve: Curve| reading.shapes.iter().find(|shape| shape.curve == curve);
    let bent = |curve: Curve| of(curve).filter(|shape| shape.bend != Bend::Straight);
    let words = |bend: Bend| match bend {
        Bend::Straight => "stays straight",
        Bend::Bends => "bends",
        Bend::Flattens => "flattens",
        Bend::Falls => "falls",
    };
    let mut sentences = Vec::new();
    let mut say = |name: &str, curve: Curve, means: &dyn Fn(Bend) -> &'static str| {
        if let Some(shape) = bent(curve) {
            let (from, to) = shape.between;
            let (how, means) = (words(shape.bend), means(shape.bend));
            sentences.push(format!("The {name} curve {how} from {from} to {to} workers: {means}."));
        }
    };
    say("elision", Curve::Elision, &|_| "even without tasks, the work grows with the number of workers");
    say("maximal", Curve::Maximal, &|_| "the overhead grows with the number of workers");
    if bent(Curve::Maximal).is_none() {
        say("idle-time-specific", Curve::IdleSpecific, &|bend| match bend {
            Bend::Bends => "more of the time of further workers is idle; parallelism becomes scarce",
            _ => "the time of further workers is mostly idle; the program lacks parallelism",
        });
        say("inflation-specific", Curve::InflationSpecific, &|bend| {
            match bend {
            Bend::Bends => "work takes longer the more workers there are",
            Bend::Falls => {
                "more workers make the work slower than they share it; as with atomic operations, locks or false sharing"
            }
            _ => "the time of further workers goes into inflation; as at a limit of the memory's bandwidth",
        }
        });
    }
    sentences
}

/// What the numbers themselves call in question.
pub(super) fn warnings(factors: &[Factors], conditions: &Conditions) -> Vec<String> {
    let mut warnings = Vec::new();
    if conditions.baseline.is_none() {
        warnings.push(
            "no --baseline: speedups are over the program itself with one worker, so algorithmic overhead does not show"
                .to_owned(),
        );
    }
    if factors.iter().any(|factors| factors.time.runs < 2) {
        warnings.push("a single run: the noise between runs is not known (use --repeat N)".to_owned());
    }
    if let Some(factors) = factors.iter().find(|factors| factors.workers > conditions.cpus) {
        warnings.push(format!(
            "{} on {} {}: workers wait for a processor, which is a cause of its own as far as CPU times show it",
            workers(factors.workers),
            conditions.cpus,
            if conditions.cpus == 1 { "processor" } else { "processors" },
        ));
    }
    if let Some(factors) = factors.iter().find(|factors| factors.idle.mean < Nanos::ZERO) {
        warnings.push(format!(
            "idle time with {} is below zero: more threads than these were at work",
            workers(factors.workers)
        ));
    }
    let short = factors.iter().map(|factors| factors.time.mean).min().unwrap_or(Nanos::ZERO);
    if short < SHORT {
        warnings.push(format!("runs take only {short}: their serial start-up is a large share (use a larger input)"));
    }
    warnings
}

/// Processes start and end in some milliseconds.
const SHORT: Nanos = Nanos(50_000_000);
