//! The lines of a segment: what they cost, and what the models learn of them.

use workspan_graph::events::Access;
use workspan_trace::program::flag;

use super::{Context, Engine, AT_ONCE};
use crate::journal::Step;
use crate::models::{Child, Clock, LINES};
use crate::source::{small, SegmentInfo};

impl Engine {
    /// Executes a segment, line by line.
    pub(super) fn run(&mut self, context: &mut Context, info: &SegmentInfo, id: u32, accesses: &[Access]) {
        let (mut next, mut operations) = (0, 0);
        let (mut touches, last) = (0_usize, info.runs.len().saturating_sub(1));
        self.runs_of_current = small(info.runs.len());
        let way = self.way(context, info, id);
        let begun = context.now;
        for (number, run) in info.runs.iter().enumerate() {
            context.now += 1;
            self.work += u64::from(run.cost);
            let branches = number == last && info.flags & flag::BRANCH != 0;
            self.line(context, info, id, small(number), branches);
            operations += run.operations;
            while let Some(access) = accesses.get(next).filter(|access| access.operation - info.first < operations) {
                next += 1;
                self.operation(context, info.sites + (access.operation - info.first), access);
            }
            let end = (touches + run.touches as usize).min(info.touches.len());
            self.touches(context, way, number, &info.touches[touches..end]);
            touches = end;
        }
        self.touched(context, way, id, begun);
        // Without lines: instrumented after optimisation.
        if info.runs.is_empty() {
            context.now += 1;
            self.work += 1 + accesses.len() as u64;
            for access in accesses {
                self.operation(context, info.sites + (access.operation - info.first), access);
            }
        }
    }

    /// A line begins: models, and what follows a call.
    pub(super) fn line(&mut self, context: &mut Context, info: &SegmentInfo, id: u32, number: u32, branches: bool) {
        let run = info.runs[number as usize];
        let follows = std::mem::take(&mut context.follows);
        if follows != 0 {
            let line = self.source.places.get(follows as usize).map_or(0, |place| place.line);
            if line == run.line {
                context.follows = follows;
            } else {
                self.calls.entry(follows).or_default().next.insert(run.line);
            }
        }
        if !context.is_first {
            return;
        }
        let at = self.line_number(id, number);
        self.journal.note(Step::Line(at));
        let tail = if context.follows == 0 { 0 } else { follows };
        let is_awaited = self.awaited.get(id as usize).copied().unwrap_or(false);
        let waits = if is_awaited { self.waits.get_mut(&(id, number)) } else { None };
        let in_function = info.numbers[number as usize];
        for run_of in &mut self.models[LINES..] {
            run_of.line(in_function, (branches, tail != 0), self.clock.work);
        }
        self.clock = Clock { work: self.clock.work + u64::from(run.cost), line: run.cost.into() };
        if tail == 0 && waits.is_none() {
            return;
        }
        let frame = context.frames.last().map_or(0, |frame| frame.node);
        let frame_levels = context.levels.get(frame).copied().unwrap_or_default();
        if tail != 0 {
            for number in AT_ONCE {
                let run_of = &mut self.models[number];
                run_of.tail(tail, self.clock);
                if branches && run_of.model.control {
                    let level = run_of.depth() - 1;
                    run_of.depend(level, Child::Call(tail), self.clock);
                }
            }
        }
        let Some(waits) = waits else {
            return;
        };
        let now = (context.nodes.get(frame).map_or(0, |node| node.serial), context.returns);
        let again = std::mem::replace(&mut waits.waited, now) == now;
        // Where loops are tasks, the journal knows more.
        for number in AT_ONCE {
            let (run_of, frame_level) = (&mut self.models[number], frame_levels[number]);
            if run_of.model.aggregated && !run_of.model.loops && (run_of.model.hoist || !again) {
                for child in waits.children.iter().filter(|child| matches!(child, Child::Call(_))) {
                    run_of.depend(frame_level.saturating_sub(1) as usize, *child, self.clock);
                }
            }
        }
    }

    /// Number of a line of a segment in the journal.
    pub(super) fn line_number(&mut self, id: u32, number: u32) -> u32 {
        let at = id as usize;
        if self.line_numbers.len() <= at {
            self.line_numbers.resize(at + 1, u32::MAX);
        }
        if self.line_numbers[at] == u32::MAX {
            self.line_numbers[at] = small(self.lines.len());
            // Its segment has been taken out: it gets all lines up to this one.
            for line in 0..=number.max(self.runs_of_current) {
                self.lines.push((id, line));
            }
        }
        self.line_numbers[at] + number
    }

    /// The last segment of a strip ends, or one that is none.
    pub(super) fn depart(&mut self, context: &mut Context, id: u32) {
        let Some(info) = self.source.segments.get(id as usize) else {
            return;
        };
        let SegmentInfo { flags, call, callee, function, .. } = *info;
        if flags & flag::CALL != 0 {
            let now = context.now + 1;
            let top = context.top();
            (top.pending, top.pending_since) = (Some((call, callee, 0)), now);
            let counted = self.counts.of(call);
            (counted.function, counted.callee) = (function, callee);
            counted.count += 1;
        }
        if flags & flag::RETURN != 0 && flags & flag::CALL == 0 && context.frames.len() > 1 {
            self.leave(context);
        }
    }
}
