//! Whole iterations at once, for everything but memory and locals: journal, models, counters.
//!
//! [`jump`] says why the times of models can be moved by many iterations.

use workspan_trace::program::flag;

use super::steady::Wait;
use super::{Context, Engine, AT_ONCE};
use crate::journal::Step;
use crate::models::{jump, Child, Clock, Run, LINES, MODELS};
use crate::source::small;

/// A line of the iteration.
#[derive(Debug)]
struct Line {
    line: u32,
    cost: u32,
    branches: bool,
    /// Where it is in the journal.
    number: u32,
    /// Calls that it waits for where lines are tasks.
    children: Vec<Child>,
}

impl Engine {
    /// `times` iterations have run on the path that iterations are counted on.
    pub(super) fn advance(&mut self, context: &mut Context, times: u64) {
        let lines = self.lines_of(context);
        let steady = &context.steady;
        let cost: u64 = lines.iter().map(|line| u64::from(line.cost)).sum();
        self.work += times * cost;
        if let Some(node) = context.nodes.last_mut() {
            let number = node.number;
            let has_body = |id: &u32| self.source.segments[*id as usize].body_of == number;
            if number != 0 && steady.path.iter().any(has_body) {
                node.bodies += times;
                self.loops[number as usize - 1].iterations += times;
            }
        }
        let steps = || std::iter::once(Step::Turn).chain(lines.iter().map(|line| Step::Line(line.number)));
        self.journal.repeat(steps, times);
        let levels = context.levels.last().copied().unwrap_or([0; 9]);
        let frame = context.frames.last().map_or(0, |frame| frame.node);
        let frames = context.levels.get(frame).copied().unwrap_or_default();
        self.iterated = 0;
        let before = self.clock.work;
        self.clock.work += times * cost;
        for number in AT_ONCE {
            let (run, mut work) = (&mut self.models[number], before);
            let of_model = |wait: &&Wait| usize::from(wait.model) == number;
            let mut waits: Vec<Wait> = steady.last.waits.iter().filter(of_model).copied().collect();
            waits.extend(steady.last.awaited.iter().filter(of_model));
            waits.sort_by_key(|wait| wait.line);
            let is_task = levels[number] != 0;
            let frame = frames[number].saturating_sub(1) as usize;
            let once = |run: &mut Run, work: &mut u64| iteration(run, work, (number, is_task, frame), &lines, &waits);
            if number < LINES && waits.is_empty() {
                // Each iteration is as long as the next, and waits for none.
                if is_task && times > 1 {
                    once(run, &mut work);
                    let many = (times - 2) * cost;
                    work += many;
                    run.skip(many);
                    once(run, &mut work);
                } else if is_task {
                    once(run, &mut work);
                }
                continue;
            }
            jump(run, &mut work, times, cost, once);
        }
    }

    fn lines_of(&mut self, context: &Context) -> Vec<Line> {
        let mut lines = Vec::with_capacity(8);
        for id in &context.steady.path {
            let info = &self.source.segments[*id as usize];
            let last = info.runs.len().saturating_sub(1);
            let is_awaited = self.awaited.get(*id as usize).copied().unwrap_or(false);
            for (number, run) in info.runs.iter().enumerate() {
                let place = small(number);
                let waits = if is_awaited { self.waits.get(&(*id, place)) } else { None };
                let children = waits.map_or(&[][..], |waits| &waits.children);
                lines.push(Line {
                    line: info.numbers[number],
                    cost: run.cost,
                    branches: number == last && info.flags & flag::BRANCH != 0,
                    number: self.line_numbers[*id as usize] + place,
                    children: children.iter().filter(|child| matches!(child, Child::Call(_))).copied().collect(),
                });
            }
        }
        lines
    }

    /// An access at the beginning of the iteration that has been done already: models wait as they did before.
    pub(super) fn skipped(&mut self, context: &mut Context) {
        let steady = &mut context.steady;
        let access = steady.access;
        for wait in steady.last.awaited.iter().filter(|wait| wait.access == access) {
            self.models[usize::from(wait.model)].depend(wait.level as usize, wait.child, self.clock);
        }
        if access + 1 == steady.skip {
            steady.skip = 0;
        }
    }
}

/// One iteration in one model.
fn iteration(
    run: &mut Run,
    work: &mut u64,
    (number, is_task, frame): (usize, bool, usize),
    lines: &[Line],
    waits: &[Wait],
) {
    if is_task {
        run.end(Child::Iteration, *work);
        run.begin(*work);
    }
    let model = MODELS[number];
    let mut waits = waits.iter().peekable();
    for (at, line) in (1..).zip(lines) {
        if number >= LINES {
            run.line(line.line, line.branches, *work);
        }
        *work += u64::from(line.cost);
        let now = Clock { work: *work, line: line.cost.into() };
        if model.lines && model.aggregated && !model.loops {
            for child in &line.children {
                run.depend(frame, *child, now);
            }
        }
        while let Some(wait) = waits.next_if(|wait| wait.line == at) {
            run.depend(wait.level as usize, wait.child, now);
        }
    }
}
