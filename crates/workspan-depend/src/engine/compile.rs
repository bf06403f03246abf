//! A strip, from the steps of its segments.
//!
//! **Argument:** each step says which moments become what, all at once. One step after another is that, too, with what came before put
//! in place of what is copied.

use std::collections::{HashMap, HashSet};

use workspan_graph::program::Program;
use workspan_trace::program::{flag, operation, Address};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use super::locals::{first_read, last_read, WRITTEN};
use super::shapes::{Far, From, Step};
use super::strip::{Operation, Prefix, Size, Strip, Where};
use super::{Context, Engine, AT_ONCE, PLACES};
use crate::models::{Child, MODELS};
use crate::shadow::BuildHasher;
use crate::source::{small, SegmentInfo};

/// Moments so far, by slot; those that are not there are what they were.
type Moments = HashMap<u32, From, BuildHasher>;

impl Engine {
    /// What the segments up to one do.
    pub(super) fn compile(&mut self, context: &mut Context, program: &Program, prefix: u32) -> u32 {
        let mut path = Vec::new();
        let mut at = prefix as usize;
        loop {
            let Prefix { parent, id, step, .. } = context.strips.prefixes[at];
            path.push((id, step));
            if parent as usize == at {
                break;
            }
            at = parent as usize;
        }
        path.reverse();
        let mut follows = context.follows;
        let mut strip = Strip { to: context.strips.prefixes[prefix as usize].to, ..Strip::default() };
        let mut moments = Moments::default();
        let (mut bytes, mut numbers) = (0, Vec::new());
        for (number, (id, step)) in path.iter().enumerate() {
            let info = std::mem::take(&mut self.source.segments[*id as usize]);
            let before = strip.lines;
            strip.segments.push((*id, before));
            bytes = self.operations(context, program, &mut strip, (*id, &info, bytes));
            if number > 0 && info.body_of != 0 {
                strip.bodies.push(info.body_of);
            }
            for (at, run) in info.runs.iter().enumerate() {
                strip.lines += 1;
                strip.cost += u64::from(run.cost);
                strip.last = run.cost;
                let branches = at + 1 == info.runs.len() && info.flags & flag::BRANCH != 0;
                strip.program.line(info.numbers[at], run.cost, branches);
                numbers.push(self.line_number(*id, small(at)));
                if follows != 0 {
                    follows = self.after(&mut strip, follows, (run.line, branches));
                }
            }
            self.source.segments[*id as usize] = info;
            if let Some(step) = step {
                strip.steps.push(*step);
                put(&mut strip, &mut moments, &context.shapes.steps[*step], before);
            }
        }
        strip.follows = follows;
        strip.sequence = self.sequence(numbers);
        strip.epoch = u64::MAX;
        let live = live(context, strip.to);
        for (slot, from) in moments.into_iter().filter(|(slot, _)| live.contains(slot)) {
            match from {
                From::Slot(other) if other == slot => {}
                From::Slot(other) => strip.copies.push((slot, other)),
                From::Now(line) => strip.nows.push((slot, line)),
            }
        }
        strip.copies.sort_unstable();
        strip.nows.sort_unstable();
        context.strips.all.push(Box::new(strip));
        small(context.strips.all.len())
    }

    /// A line that may stand on that of the call that has returned; the place whose call the next line follows.
    fn after(&mut self, strip: &mut Strip, follows: u32, (line, branches): (u32, bool)) -> u32 {
        let of_call = self.source.places.get(follows as usize).map_or(0, |place| place.line);
        if of_call != line {
            self.calls.entry(follows).or_default().next.insert(line);
            return 0;
        }
        for (place, number) in AT_ONCE.into_iter().enumerate() {
            let model = MODELS[number];
            if model.lines || branches && model.control {
                strip.waits.push((place, strip.lines, Child::Call(follows)));
            }
        }
        follows
    }

    /// Number of a sequence of lines in the journal.
    fn sequence(&mut self, numbers: Vec<u32>) -> u32 {
        let next = small(self.sequences.len());
        let number = *self.sequence_of.entry(numbers.clone().into()).or_insert(next);
        if number == next {
            self.sequences.push(numbers.into());
        }
        number
    }

    /// The accesses of a segment, which begins at a byte; the byte behind it.
    fn operations(
        &self,
        context: &mut Context,
        program: &Program,
        strip: &mut Strip,
        (id, info, begin): (u32, &SegmentInfo, usize),
    ) -> usize {
        let Some((loaded, segment)) = program.segment(id) else {
            return begin;
        };
        let first = strip.operations.len();
        let mut next = begin + ID_BYTES + if segment.flags & flag::FRAME != 0 { SLOT_BYTES } else { 0 };
        let mut take = || {
            next += SLOT_BYTES;
            next - SLOT_BYTES
        };
        for (number, each) in (0..).zip(loaded.module.operations_of(segment)) {
            let address = match each.address {
                Address::Slot => Where::Byte(take(), 0),
                Address::Near { operation, offset } => {
                    match strip.operations.get(first + operation as usize).map(|other| other.address) {
                        Some(Where::Byte(byte, further)) => Where::Byte(byte, further.wrapping_add(offset)),
                        Some(Where::Fixed(base)) => Where::Fixed(base.wrapping_add_signed(offset)),
                        None => Where::Fixed(0_u64.wrapping_add_signed(offset)),
                    }
                }
                Address::Symbol { symbol, offset } => {
                    let base = loaded.variables.get(symbol as usize).copied().unwrap_or(0);
                    Where::Fixed(base.wrapping_add_signed(offset))
                }
            };
            let odd = operation::SCOPE | operation::LIBRARY | operation::SIZE_SLOT;
            let size = if each.flags & operation::SIZE_SLOT != 0 {
                Size::Byte(take())
            } else if each.flags & odd == 0 && matches!(each.size, 1 | 2 | 4 | 8) {
                Size::Plain(each.size.trailing_zeros())
            } else {
                Size::Fixed(each.size.into())
            };
            let (mode, flags, site, page) = (each.access, each.flags, info.sites + number, (0, 0));
            context.grow(site);
            strip.operations.push(Operation { address, size, mode, flags, site, line: 0, page });
        }
        let mut at = first;
        for (number, run) in (1..).zip(&info.runs) {
            for _ in 0..run.operations {
                if let Some(operation) = strip.operations.get_mut(at) {
                    operation.line = strip.lines + number;
                }
                at += 1;
            }
        }
        // What belongs to no line is not looked at.
        strip.operations.truncate(at);
        next
    }
}

/// A step follows what came before.
fn put(strip: &mut Strip, moments: &mut Moments, step: &Step, lines: u32) {
    let of = |moments: &Moments, from: From| match from {
        From::Slot(slot) => moments.get(&slot).copied().unwrap_or(from),
        From::Now(line) => From::Now(line + lines),
    };
    for far in &step.far {
        let [first, last] = [far.first, far.last].map(|from| of(moments, from));
        strip.far.push(Far { first, last, ..*far });
    }
    strip.exposed.extend(&step.exposed);
    for wait in &step.awaits {
        let place = PLACES[usize::from(wait.model)];
        if wait.is_top {
            strip.waits.push((place, wait.line + lines, wait.child));
        } else {
            strip.program.need(place, wait.level, wait.child);
        }
    }
    let moved: Vec<(u32, From)> = step.moves.iter().map(|(slot, from)| (*slot, of(moments, *from))).collect();
    moments.extend(moved);
}

/// Slots that moments of a shape are in.
fn live(context: &mut Context, shape: u32) -> HashSet<u32, BuildHasher> {
    let function = context.top().function;
    let shapes = &mut context.shapes;
    let mut live = HashSet::default();
    let Some(known) = (shape as usize).checked_sub(1).and_then(|at| shapes.known.get(at)) else {
        return live;
    };
    for (number, local) in (0..).zip(&known.locals) {
        let mut add = |place: u32| live.insert(shapes.slots.of(function, number, place));
        if local.writer != 0 {
            add(WRITTEN);
        }
        for group in 0..local.readers.len() {
            add(first_read(group));
            add(last_read(group));
        }
    }
    live
}
