//! What segments do to locals, kept for each shape of a frame.
//!
//! **Argument:** locals without an address are touched by their own call alone. So what a segment finds in them is decided by the *shape*
//! of the frame: which loops of it run, and for each local who has written it, who has read it since, and where that was: in which of
//! these loops, in this iteration, in the one before or in an earlier one, or in which loop that has ended. In a shape
//! that has been seen, a segment finds the same dependences, lets models wait for the same children, and leaves the same
//! shape. What the turn, beginning and end of a loop make of a shape is kept as well. Only the distance to an earlier iteration than the one before
//! is not decided by it: such a touch is done as any other.
//!
//! **Cost:** a look into a table for each segment, turn, and loop that begins or ends; for each touch its moment; for each dependence
//! nothing: they are counted in the end ([`Engine::count_shapes`]). **Memory:** [`MOST`] shapes.

use workspan_trace::facts::Deed;

use super::shapes::{act, Act, Group, Noted, Step, Way};
use super::steady::State;
use super::{Context, Engine};
use crate::models::Child;
use crate::shadow::Site;
use crate::source::{small, SegmentInfo};
use crate::tree::common;

/// Shapes that are kept.
const MOST: usize = 1 << 14;
/// Locals of a function whose frames have shapes, at most.
const LOCALS: usize = 256;
/// Segments after which shapes must have come again.
const TRIAL: u64 = 1 << 12;

/// What happens to a frame between its segments.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// It begins: function.
    Call(u32),
    /// The innermost loop turns.
    Turn,
    /// A loop begins: number.
    Loop(u32),
    /// The innermost loop ends; whether its body had begun once more.
    Leave(bool),
}

impl Event {
    fn key(self, tasks: u16) -> u64 {
        match self {
            Event::Call(function) => u64::from(function) << 20 | u64::from(tasks) << 2,
            Event::Turn => 1,
            Event::Loop(number) => u64::from(number) << 20 | u64::from(tasks) << 2 | 2,
            Event::Leave(in_body) => u64::from(in_body) << 2 | 3,
        }
    }
}

/// Where a moment lies, seen from a frame whose first node this is.
fn class(context: &Context, first: usize, moment: u64) -> u32 {
    let at = common(&context.nodes, moment);
    let node = &context.nodes[at.node];
    let depth = small(at.node.saturating_sub(first)) << 3;
    if at.carried {
        return depth | 1 | u32::from(moment >= node.former) << 1;
    }
    match node.ended_at(moment) {
        Some(ended) => depth | ended.number << 12 | u32::from(moment >= ended.last) << 2,
        None => depth,
    }
}

impl Engine {
    /// Something happens to the frame on top.
    pub(super) fn reshape(&mut self, context: &mut Context, event: Event) {
        let Some(frame) = context.frames.last() else {
            return;
        };
        if frame.shape == 0 && !matches!(event, Event::Call(_)) || !context.is_first || context.shapes.off {
            return;
        }
        let key = (frame.shape, event.key(context.tasks.last().copied().unwrap_or(0)));
        let shape = match context.shapes.after.get(&key) {
            Some(shape) => *shape,
            None => {
                let shape = shape_of(context);
                context.shapes.after.insert(key, shape);
                shape
            }
        };
        context.top().shape = shape;
    }

    /// How the touches of a segment are done.
    pub(super) fn way(&mut self, context: &mut Context, info: &SegmentInfo, id: u32) -> Way {
        let is_plain = info.touches.is_empty() || !context.is_first || context.shapes.off || context.steady.counts();
        if is_plain {
            return Way::Each;
        }
        if context.top().shape == 0 {
            context.top().shape = shape_of(context);
        }
        let shape = context.top().shape;
        if shape == 0 {
            return Way::Each;
        }
        let shapes = &mut context.shapes;
        shapes.segments += 1;
        if let Some(step) = shapes.step_of.get(&(shape, id)) {
            return Way::Known(*step);
        }
        let has_waited = context.steady.has_waited();
        if has_waited || shapes.segments > TRIAL && shapes.steps.len() as u64 > shapes.segments / 2 {
            shapes.off = !has_waited;
            context.top().shape = 0;
            return Way::Each;
        }
        shapes.noting = Step::default();
        Way::Noting
    }

    /// The touches of a line.
    pub(super) fn touches(&mut self, context: &mut Context, way: Way, line: usize, touches: &[(u32, Deed, Site)]) {
        match way {
            Way::Each => touches.iter().for_each(|(local, deed, site)| self.touch(context, *local, *deed, *site)),
            Way::Noting => {
                touches.iter().for_each(|(local, deed, site)| self.touch_noted(context, (*local, *deed, *site)));
                let noting = &mut context.shapes.noting;
                noting.group();
                noting.lines.push((noting.acts.len(), noting.groups.len()));
            }
            Way::Known(step) => self.line_again(context, step, line),
        }
    }

    fn touch_noted(&mut self, context: &mut Context, (local, deed, site): (u32, Deed, Site)) {
        let shapes = &mut context.shapes;
        let (records, awaits) = (shapes.noting.records.len(), shapes.noting.awaits.len());
        (shapes.is_active, shapes.is_hard, shapes.noted) = (true, false, None);
        self.touch(context, local, deed, site);
        let shapes = &mut context.shapes;
        shapes.is_active = false;
        let noted = match deed {
            Deed::Read => shapes.noted,
            Deed::Begin | Deed::Write => Some(Noted::First),
        };
        let noted = noted.filter(|noted| !shapes.is_hard && *noted != Noted::Other);
        let noting = &mut shapes.noting;
        if noted.is_none() {
            noting.records.truncate(records);
            noting.awaits.truncate(awaits);
        }
        for at in (awaits..noting.awaits.len()).rev() {
            if noting.awaits[..at].contains(&noting.awaits[at]) {
                noting.awaits.swap_remove(at);
            }
        }
        noting.acts.push(Act { local, site, deed, noted });
    }

    fn line_again(&mut self, context: &mut Context, step: usize, line: usize) {
        let known = &context.shapes.steps[step];
        let first = line.checked_sub(1).and_then(|before| known.lines.get(before)).copied().unwrap_or_default();
        let Some(end) = known.lines.get(line).copied() else {
            return;
        };
        let base = context.frames.last().and_then(|frame| context.levels.get(frame.node)).copied().unwrap_or_default();
        let is_recorded = context.steady.state == State::Recording;
        let awaits = if context.steady.has_waited() { &[][..] } else { &known.groups[first.1..end.1] };
        let mut from = awaits.first().map_or(0, |group| group.first);
        for Group { model, level, end, .. } in awaits {
            let children = &known.awaited[from..*end];
            from = *end;
            let model = usize::from(*model);
            let level = (base[model] + level).saturating_sub(1) as usize;
            let run = &mut self.models[model];
            if !is_recorded {
                // The innermost iteration waits for those before once.
                if level + 2 == run.depth() && matches!(children, [Child::Iteration]) {
                    if self.iterated & 1 << model != 0 {
                        continue;
                    }
                    self.iterated |= 1 << model;
                }
                match children {
                    [child] => run.depend(level, *child, self.clock),
                    _ => run.depend_all(level, children, self.clock),
                }
                continue;
            }
            run.depend_all(level, children, self.clock);
            if level + 2 >= run.depth() {
                children.iter().for_each(|child| context.steady.waits_again(model, level, *child));
            }
        }
        let mut at = first.0;
        while at < end.0 {
            at = self.acts(context, step, (at, end.0), is_recorded);
        }
    }

    /// Touches of a step, up to one that is done as any other; the next one.
    fn acts(&mut self, context: &mut Context, step: usize, (first, end): (usize, usize), is_recorded: bool) -> usize {
        let Context { now, shapes, frames, local_readers, steady, .. } = &mut *context;
        let Some(frame) = frames.last_mut() else {
            return end;
        };
        let acts = &shapes.steps[step].acts[first..end];
        for (at, Act { local, site, deed, noted }) in (first..).zip(acts.iter().copied()) {
            let Some(noted) = noted else {
                self.touch(context, local, deed, site);
                return at + 1;
            };
            if is_recorded {
                steady.touched(local);
            }
            if let Some(cell) = frame.locals.get_mut(local as usize) {
                act(cell, local_readers, (site, deed, noted), *now);
            }
        }
        end
    }

    /// All touches of a segment have been done.
    pub(super) fn touched(&mut self, context: &mut Context, way: Way, id: u32) {
        match way {
            Way::Each => {}
            Way::Known(step) => {
                if context.steady.state == State::Recording {
                    context.steady.now.steps.push(step);
                }
                context.top().shape = context.shapes.done(step, 1);
            }
            Way::Noting => {
                let from = context.top().shape;
                let to = shape_of(context);
                context.top().shape = to;
                let shapes = &mut context.shapes;
                let step = Step { to, ..std::mem::take(&mut shapes.noting) };
                shapes.step_of.insert((from, id), shapes.steps.len());
                shapes.steps.push(step);
            }
        }
    }

    /// Counts the dependences of all steps that were done again.
    pub(super) fn count_shapes(&mut self, context: &mut Context) {
        for step in &mut context.shapes.steps {
            let times = std::mem::take(&mut step.times);
            for record in &step.records {
                self.table.repeat(*record, times, 0);
            }
        }
    }
}

/// Number of the shape of the frame on top; 0: it has none.
fn shape_of(context: &mut Context) -> u32 {
    let mut key = std::mem::take(&mut context.shapes.key);
    key.clear();
    let Some(frame) = context.frames.last().filter(|frame| frame.locals.len() <= LOCALS) else {
        return 0;
    };
    key.push(frame.function);
    for (node, tasks) in context.nodes.iter().zip(&context.tasks).skip(frame.node) {
        key.extend([node.number, u32::from(*tasks)]);
    }
    key.push(u32::MAX);
    let mut reads = 0;
    for cell in &frame.locals {
        key.push(cell.writer);
        if cell.writer != 0 {
            key.push(class(context, frame.node, cell.written));
        }
        let mut at = cell.readers;
        while at != 0 {
            let reader = context.local_readers.get(at);
            let classes = [reader.first, reader.last].map(|moment| class(context, frame.node, moment));
            key.extend([reader.site, classes[0], classes[1]]);
            at = reader.next;
            reads += 1;
        }
        key.push(0);
    }
    let shapes = &mut context.shapes;
    let next = small(shapes.numbers.len() + 1);
    let number = match shapes.numbers.get(key.as_slice()) {
        Some(number) => *number,
        None if shapes.numbers.len() >= MOST || reads > 4 * LOCALS => 0,
        None => {
            shapes.numbers.insert(key.clone().into(), next);
            next
        }
    };
    shapes.key = key;
    number
}
