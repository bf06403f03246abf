//! What segments do to locals, kept for each shape of a frame.
//!
//! **Argument:** locals without an address are touched by their own call alone. So what a segment finds in them is decided by the *shape*
//! of the frame: which loops of it run, and for each local who has written it, who has read it since, and where that was: in which of
//! these loops, in this iteration, in the one before or in an earlier one, or in which loop that has ended. In a shape
//! that has been seen, a segment finds the same dependences, lets models wait for the same children, and leaves the same
//! shape. What the turn, beginning and end of a loop make of a shape is kept as well. Only the distance to an earlier iteration than the one before
//! is not decided by it: it is computed each time. Nor are reads that no write follows part of it ([`Action::Look`]).
//!
//! **Cost:** a look into a table for each segment, turn, and loop that begins or ends; for each moment that changes a number; for each dependence
//! nothing: they are counted in the end ([`Engine::count_shapes`]). **Memory:** each function has its share of shapes
//! ([`Shapes::has_room`](super::shapes::Shapes::has_room)); where it has many, they say less ([`Detail`]).

use super::shapes::{Detail, Known, Way};
use super::slots::Local;
use super::step::From;
use super::{Context, Engine};
use crate::shadow::{Cell, Reader, Site};
use crate::source::{small, SegmentInfo};
use crate::touches::Action;
use crate::tree::{common, distances};

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

/// In a [`class`]: in the last iteration of a loop that has ended.
const LAST: u32 = 1 << 2;

/// Where a moment lies, seen from a frame whose first node this is.
fn class(context: &Context, first: usize, moment: u64, detail: Detail) -> u32 {
    let at = common(&context.nodes, moment);
    let node = &context.nodes[at.node];
    let depth = small(at.node.saturating_sub(first)) << 3;
    if at.carried {
        return depth | 1 | u32::from(detail == Detail::Former && moment >= node.former) << 1;
    }
    match node.ended_at(moment) {
        Some(ended) => depth | ended.number << 12 | if moment >= ended.last { LAST } else { 0 },
        None => depth,
    }
}

impl Engine {
    /// Something happens to the frame on top.
    pub(super) fn reshape(&mut self, context: &mut Context, event: Event) {
        let Some(frame) = context.frames.last() else {
            return;
        };
        if frame.is_shapeless {
            return;
        }
        let (number, before) = (context.frames.len() - 1, frame.shape);
        let is_call = matches!(event, Event::Call(_));
        if before == 0 && !is_call {
            return;
        }
        if context.shapes.off || !context.is_first {
            self.give_cells(context);
            context.drop_cells(0);
            return;
        }
        let tasks = context.tasks.last().copied().unwrap_or(0);
        let is_turn = matches!(event, Event::Turn);
        let known = if is_turn {
            context.shapes.known[before as usize - 1].turned
        } else {
            context.shapes.after.get(&(before, event.key(tasks))).copied().unwrap_or(0)
        };
        if known != 0 {
            context.top().shape = known;
            return;
        }
        if is_call {
            self.give_cells(context);
        } else {
            context.make_cells(number);
        }
        let shape = shape_of(context);
        if is_turn && before != 0 {
            context.shapes.known[before as usize - 1].turned = shape;
        } else {
            context.shapes.after.insert((before, event.key(tasks)), shape);
        }
        context.drop_cells(shape);
    }

    /// The frame on top gets cells, of which nothing is known.
    pub(super) fn give_cells(&self, context: &mut Context) {
        let function = context.top().function;
        let locals = self.source.functions.get(function as usize).map_or(0, |function| function.locals);
        let locals = locals as usize;
        context.top().locals.resize(locals, Cell::default());
    }

    /// How the touches of a segment are done. Where one by one, the frame has cells from now on.
    pub(super) fn way(&mut self, context: &mut Context, info: &SegmentInfo, id: u32) -> Way {
        if info.touches.is_empty() {
            return Way::None;
        }
        let (frame, shape) = (context.frames.len() - 1, context.top().shape);
        if shape == 0 {
            return Way::Each;
        }
        context.shapes.segments += 1;
        let known = context.shapes.step_of.get(&(shape, id)).copied();
        if let Some(Some(step)) = known {
            return Way::Known(step);
        }
        let shapes = &mut context.shapes;
        if shapes.segments > TRIAL && shapes.steps.len() as u64 > shapes.segments / 2 {
            shapes.off = true;
            for number in 0..context.frames.len() {
                context.make_cells(number);
                context.frames[number].shape = 0;
                context.frames[number].is_shapeless = true;
            }
            return Way::Each;
        }
        context.make_cells(frame);
        context.shapes.noting.begin();
        Way::Noting
    }

    /// The touches of a line; from the first one, with nothing.
    pub(super) fn touches(&mut self, context: &mut Context, way: Way, line: usize, touches: &[(u32, Action, Site)]) {
        match way {
            Way::None => {}
            Way::Each => touches.iter().for_each(|(local, deed, site)| self.touch(context, *local, *deed, *site)),
            Way::Noting => {
                context.shapes.noting.next_line();
                let function = context.top().function;
                for (local, deed, site) in touches {
                    let Context { shapes, frames, local_readers, .. } = &mut *context;
                    let Some(cell) = frames.last().and_then(|frame| frame.locals.get(*local as usize)) else {
                        continue;
                    };
                    shapes.noting.touch(&mut shapes.slots, local_readers, (function, *local), cell);
                    self.touch(context, *local, *deed, *site);
                    context.shapes.noting.touched(*deed);
                }
            }
            Way::Known(step) => {
                let base = context.levels_of_frame();
                for wait in &context.shapes.steps[step].awaits {
                    if wait.line as usize == line + 1 {
                        let model = usize::from(wait.model);
                        let level = (base[model] + wait.level).saturating_sub(1) as usize;
                        self.models[model].depend(level, wait.child, self.clock);
                    }
                }
            }
        }
    }

    /// All touches of a segment have been done, which began at a moment.
    pub(super) fn touched(&mut self, context: &mut Context, way: Way, id: u32, begun: u64) {
        match way {
            Way::None | Way::Each => {}
            Way::Known(step) => {
                for at in 0..context.shapes.steps[step].exposed.len() {
                    let site = context.shapes.steps[step].exposed[at];
                    self.expose(context, site, None);
                }
                let Context { shapes, frames, nodes, .. } = context;
                let step = &mut shapes.steps[step];
                step.times += 1;
                let Some(frame) = frames.last_mut() else {
                    return;
                };
                for far in &step.far {
                    let node = &nodes[frame.node + far.node as usize];
                    let [first, last] = [far.first, far.last].map(|from| moment(&frame.moments, begun, from));
                    self.table.count(far.record, (0, node.start), distances(node, true, first, last));
                }
                let moved: Vec<u64> = step.moves.iter().map(|(_, from)| moment(&frame.moments, begun, *from)).collect();
                for ((slot, _), moment) in step.moves.iter().zip(moved) {
                    frame.keep(*slot, moment);
                }
                frame.shape = step.to;
            }
            Way::Noting => {
                let from = context.top().shape;
                let to = shape_of(context);
                let Context { shapes, frames, local_readers, .. } = &mut *context;
                let Some(frame) = frames.last() else {
                    return;
                };
                let (noting, slots) = (&mut shapes.noting, &mut shapes.slots);
                let step = noting.end(slots, frame.function, to, &frame.locals, local_readers);
                let number = step.is_some().then_some(shapes.steps.len());
                shapes.step_of.insert((from, id), number);
                shapes.steps.extend(step);
                context.drop_cells(to);
            }
        }
    }

    /// Counts the dependences of all steps that were done again.
    pub(super) fn count_shapes(&mut self, context: &mut Context) {
        for strip in context.strips.all.iter_mut().flatten() {
            let times = std::mem::take(&mut strip.times);
            strip.steps.iter().for_each(|step| context.shapes.steps[*step].times += times);
        }
        for step in &mut context.shapes.steps {
            let times = std::mem::take(&mut step.times);
            for record in &step.records {
                self.table.repeat(*record, times);
            }
        }
    }
}

/// A moment of a frame.
#[inline]
pub(super) fn moment(moments: &[u64], begun: u64, from: From) -> u64 {
    match from {
        From::Slot(slot) => moments.get(slot as usize).copied().unwrap_or(0),
        From::Now(lines) => begun + u64::from(lines),
    }
}

/// Number of the shape of the frame on top, which has cells; 0: it has none.
fn shape_of(context: &mut Context) -> u32 {
    if context.shapes.off || !context.is_first {
        return 0;
    }
    let mut key = std::mem::take(&mut context.shapes.key);
    key.clear();
    let Some(frame) = context.frames.last().filter(|frame| frame.locals.len() <= LOCALS) else {
        return 0;
    };
    let function = frame.function;
    let detail = context.shapes.detail(function);
    key.push(function);
    for (node, tasks) in context.nodes.iter().zip(&context.tasks).skip(frame.node) {
        key.extend([node.number, u32::from(*tasks)]);
    }
    key.push(u32::MAX);
    let (mut reads, mut groups) = (0, std::mem::take(&mut context.shapes.groups));
    for cell in &frame.locals {
        key.push(cell.writer);
        if cell.writer != 0 {
            key.push(class(context, frame.node, cell.written, detail));
        }
        groups_of(context, cell, &mut groups);
        for reader in &groups {
            let classes = [reader.first, reader.last].map(|moment| class(context, frame.node, moment, detail));
            // Whether a value outlives its loop depends on its write alone.
            key.extend([reader.site, classes[0] & !LAST, classes[1] & !LAST]);
        }
        key.push(0);
        reads += groups.len();
    }
    context.shapes.groups = groups;
    let number = match context.shapes.numbers.get(key.as_slice()) {
        Some(number) => *number,
        None if reads > 4 * LOCALS || !context.shapes.has_room(function) => 0,
        None => {
            let known = known_of(context);
            let shapes = &mut context.shapes;
            shapes.known.push(known);
            *shapes.of_function.entry(function).or_default() += 1;
            let number = small(shapes.known.len());
            shapes.numbers.insert(key.clone().into(), number);
            number
        }
    };
    context.shapes.key = key;
    number
}

fn known_of(context: &Context) -> Known {
    let mut known = Known::default();
    let Some(frame) = context.frames.last() else {
        return known;
    };
    known.tasks.extend(context.tasks.iter().skip(frame.node));
    let mut groups = Vec::new();
    for cell in &frame.locals {
        groups_of(context, cell, &mut groups);
        let readers = groups.iter().map(|reader| reader.site).collect();
        known.locals.push(Local { writer: cell.writer, readers });
    }
    known
}

/// Groups of reads, site by site; those of one site, the latest first. In which order several sites have read makes no difference.
fn groups_of(context: &Context, cell: &Cell, groups: &mut Vec<Reader>) {
    groups.clear();
    let mut at = cell.readers;
    while at != 0 {
        let reader = context.local_readers.get(at);
        groups.push(reader);
        at = reader.next;
    }
    groups.sort_by_key(|reader| reader.site);
}
