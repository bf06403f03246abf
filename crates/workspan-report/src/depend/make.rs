//! The view of a profile.

use workspan_depend::profile::Profile;
use workspan_depend::source::Place;

use super::view;

/// What anybody sees of a profile.
#[expect(clippy::cast_precision_loss, reason = "a ratio that is shown")]
pub fn answer(profile: &Profile) -> view::Depend {
    view::Depend {
        command: profile.command.clone(),
        status: profile.status,
        complete: profile.problems.is_empty(),
        warnings: profile.problems.clone(),
        loops: profile.loops.iter().map(of_loop).collect(),
        calls: profile.calls.iter().map(of_call).collect(),
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
        coverage: view::Coverage { lines: profile.lines.0, executed: profile.lines.1 },
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

fn point(place: &Place) -> view::Point {
    view::Point { file: place.file.clone(), line: place.line, column: place.column }
}

fn distance((min, max): (u64, u64)) -> view::Distance {
    view::Distance { min, max }
}

fn of_loop(each: &workspan_depend::profile::Loop) -> view::Loop {
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
            .map(|(operator, variable)| view::Reduction { operator: operator.clone(), variable: variable.clone() })
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
    }
}

fn of_call(call: &workspan_depend::profile::Call) -> view::Call {
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
    }
}
