//! The view of a profile.

use workspan_depend::profile::{Loop, Parallel, Profile};
use workspan_depend::source::Place;

use super::change::{change, name_logical, sign, ALREADY};
use super::gain::{Gain, OVERHEAD};
use super::graphs::make::critical_paths;
use super::{header, view};

/// What beside the profile decides what is shown.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "holds a function")]
pub struct Options<'o> {
    /// Processors that speedups are predicted for.
    pub processors: u32,
    /// Which calls are worth a spawn.
    pub threshold: Threshold,
    /// A line of a source file, where there is one.
    pub line: &'o dyn Fn(&str, u32) -> Option<String>,
}

/// The least size of a call that is worth a spawn.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// In instructions.
    pub instructions: u64,
    /// Where that comes from.
    pub basis: String,
}

impl Default for Threshold {
    fn default() -> Threshold {
        Threshold { instructions: ASSUMED, basis: "assumed".to_owned() }
    }
}

/// Instructions that a task must have to be worth its spawn, as long as nothing was measured.
const ASSUMED: u64 = 5_000;

/// What anybody sees of a profile.
#[expect(clippy::cast_precision_loss, reason = "a ratio that is shown")]
pub fn answer(profile: &Profile, options: &Options<'_>) -> view::Depend {
    let work = profile.models.first().map_or(0, |model| model.work);
    let gain = Gain { work, processors: options.processors.max(1) };
    let mut loops: Vec<view::Loop> = profile.loops.iter().map(|each| of_loop(each, &gain, options)).collect();
    nest(&mut loops);
    let gains = |shown: &view::Loop| shown.inside.is_none() && !shown.change.is_empty() && shown.change != ALREADY;
    let outermost = loops.iter().zip(&profile.loops).filter(|(shown, _)| gains(shown));
    let saved: f64 = outermost.map(|(_, each)| gain.saved(each)).sum();
    view::Depend {
        critical_paths: critical_paths(&profile.paths),
        command: profile.runs.first().cloned().unwrap_or_default(),
        runs: profile.runs.clone(),
        processors: gain.processors,
        overhead: OVERHEAD,
        speedup: gain.speedup(saved),
        status: profile.status,
        complete: profile.problems.is_empty(),
        warnings: profile.problems.clone(),
        loops,
        calls: profile.calls.iter().map(|call| of_call(call, options.threshold.instructions)).collect(),
        spawn_threshold: view::Threshold {
            instructions: options.threshold.instructions,
            basis: options.threshold.basis.clone(),
        },
        granularity: profile.granularity,
        models: profile
            .models
            .iter()
            .map(|model| view::Model {
                name: model.name.clone(),
                work: model.work,
                span: model.span,
                parallelism: if model.span == 0 { 1.0 } else { model.work as f64 / model.span as f64 },
            })
            .collect(),
        coverage: coverage(profile),
        black_boxes: profile
            .boxes
            .iter()
            .map(|(function, calls)| view::BlackBox { function: function.clone(), calls: *calls })
            .collect(),
        dependences: profile
            .dependences
            .iter()
            .map(|each| view::Dependence {
                kind: each.kind.clone(),
                variable: each.variable.clone(),
                function: each.function.clone(),
                source: point(&each.source),
                sink: point(&each.sink),
                carried_by: each.carrier.as_ref().map(point),
                distance: distance(each.distance),
                count: each.count,
            })
            .collect(),
    }
}

fn coverage(profile: &Profile) -> view::Coverage {
    let mut found = view::Coverage { lines: 0, executed: 0, unreached: Vec::new() };
    for (file, lines) in &profile.lines {
        let mut open: Option<view::Unreached> = None;
        for (line, executed) in lines {
            found.lines += 1;
            found.executed += u64::from(*executed);
            match (&mut open, executed) {
                (_, true) => found.unreached.extend(open.take()),
                (Some(run), false) => run.last = *line,
                (None, false) => open = Some(view::Unreached { file: file.clone(), first: *line, last: *line }),
            }
        }
        found.unreached.extend(open);
    }
    found
}

/// Loops within loops that can run in parallel.
fn nest(loops: &mut [view::Loop]) {
    let candidates: Vec<view::Loop> = loops.iter().filter(|each| !each.change.is_empty()).cloned().collect();
    for each in loops.iter_mut() {
        let holds = |outer: &&view::Loop| {
            (&outer.file, &outer.function) == (&each.file, &each.function)
                && (outer.line, outer.column) != (each.line, each.column)
                && (outer.line, outer.column) < (each.line, each.column)
                && each.line <= outer.last_line
                && outer.work >= each.work
        };
        let outer = candidates.iter().find(holds);
        each.inside =
            outer.map(|outer| view::Point { file: outer.file.clone(), line: outer.line, column: outer.column });
    }
}

fn point(place: &Place) -> view::Point {
    view::Point { file: place.file.clone(), line: place.line, column: place.column }
}

fn distance((min, max): (u64, u64)) -> view::Distance {
    view::Distance { min, max }
}

fn of_loop(each: &Loop, gain: &Gain, options: &Options<'_>) -> view::Loop {
    let possible = matches!(each.parallel, Parallel::Yes | Parallel::WithClauses);
    let lines = (each.place.line..=each.last_line).map_while(|line| (options.line)(&each.place.file, line));
    let body = lines.collect::<Vec<String>>().join("\n");
    let mut each = each.clone();
    name_logical(&mut each, &body);
    view::Loop {
        file: each.place.file.clone(),
        line: each.place.line,
        column: each.place.column,
        last_line: each.last_line,
        function: each.function.clone(),
        entries: each.entries,
        iterations: each.iterations,
        work: each.work,
        parallel: each.parallel.name(),
        reductions: each
            .reductions
            .iter()
            .map(|one| view::Reduction {
                operator: sign(&one.operator, &each.place.file).to_owned(),
                variable: one.variable.clone(),
                elements: one.elements,
            })
            .collect(),
        private: each.private.iter().map(|private| private.variable.clone()).collect(),
        lastprivate: each
            .private
            .iter()
            .filter(|private| private.last)
            .map(|private| private.variable.clone())
            .collect(),
        linear: each
            .inductions
            .iter()
            .map(|(variable, step)| view::Linear { variable: variable.clone(), step: *step })
            .collect(),
        blockers: each
            .blockers
            .iter()
            .map(|blocker| view::Blocker {
                kind: blocker.kind.clone(),
                variable: blocker.variable.clone(),
                source: point(&blocker.source),
                sink: point(&blocker.sink),
                distance: blocker.distance.map(distance),
                count: blocker.count,
            })
            .collect(),
        speedup: gain.speedup(gain.saved(&each)),
        inside: None,
        change: if possible {
            let header = header::whole(each.place.line, |line| (options.line)(&each.place.file, line));
            change(&each, header.as_deref(), &body)
        } else {
            String::new()
        },
    }
}

#[expect(clippy::cast_precision_loss, reason = "means that are shown")]
fn of_call(call: &workspan_depend::profile::Call, threshold: u64) -> view::Call {
    let mean = |all: u64, calls: u64| (calls > 0).then(|| all as f64 / calls as f64);
    let mean_length = mean(call.work, call.count).unwrap_or(0.0);
    let mean_continuation = mean(call.continuation, call.awaited);
    let size = mean_length.min(mean_continuation.unwrap_or(0.0));
    let (longest, longest_continuation) = call.longest;
    let worth_spawning = match () {
        () if size >= threshold as f64 => "yes",
        () if longest.min(longest_continuation) >= threshold => "large-ones",
        () => "no",
    };
    view::Call {
        file: call.place.file.clone(),
        line: call.place.line,
        column: call.place.column,
        function: call.function.clone(),
        callee: call.callee.clone(),
        count: call.count,
        work: call.work,
        spawn: call.spawn,
        sync: view::Sync { line: Some(call.sync).filter(|line| *line != 0) },
        mean_length,
        mean_continuation,
        expected_continuation: call.expected.and_then(|expected| mean(expected, call.awaited)),
        longest,
        longest_continuation,
        worth_spawning,
    }
}
