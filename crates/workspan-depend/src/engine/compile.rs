//! A strip, from the steps of its segments.
//!
//! **Argument:** each step says which moments become what, all at once. One step after another is that, too, with what came before put
//! in place of what is copied.

use std::collections::{HashMap, HashSet};

use workspan_graph::program::Program;
use workspan_trace::program::{flag, operation, Access as Mode, Address};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use super::step::{Far, From, Step};
use super::strip::{Effect, EffectKey, Habit, Operation, Prefix, Size, Strip, Where};
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
        let (from, to) = (context.top().shape, context.strips.prefixes[prefix as usize].to);
        let mut strip = Strip { from, to, ..Strip::default() };
        let (mut moments, mut effect) = (Moments::default(), Effect::default());
        let (mut bytes, mut numbers) = (0, Vec::new());
        for (number, (id, step)) in path.iter().enumerate() {
            let info = std::mem::take(&mut self.source.segments[*id as usize]);
            let before = strip.lines;
            effect.key.segments.push((*id, before));
            strip.ids.push((bytes, *id));
            if number == 0 {
                strip.is_header = info.flags & flag::HEADER != 0;
                strip.in_loop = info.in_loop;
            }
            strip.has_body |= info.body_of != 0 && info.body_of == info.in_loop;
            bytes = self.operations(context, program, &mut strip, (*id, &info, bytes));
            if number > 0 && info.body_of != 0 {
                strip.bodies.push(info.body_of);
            }
            for (at, run) in info.runs.iter().enumerate() {
                strip.lines += 1;
                strip.cost += u64::from(run.cost);
                strip.last = run.cost;
                let branches = at + 1 == info.runs.len() && info.flags & flag::BRANCH != 0;
                numbers.push(self.line_number(*id, small(at)));
                if follows != 0 {
                    follows = self.after((&strip, &mut effect.key), follows, (run.line, branches));
                }
                effect.program.line(info.numbers[at], run.cost, (branches, follows != 0));
            }
            self.source.segments[*id as usize] = info;
            if let Some(step) = step {
                strip.steps.push(*step);
                put((&mut strip, &mut effect.key), &mut moments, &context.shapes.steps[*step], before);
            }
        }
        strip.bytes = bytes;
        let is_plain =
            |each: &Operation| matches!(each.size, Size::Plain(_)) && matches!(each.mode, Mode::Load | Mode::Store);
        let sites: HashSet<u32, BuildHasher> = strip.operations.iter().map(|each| each.site).collect();
        strip.is_plain = sites.len() == strip.operations.len() && strip.operations.iter().all(is_plain);
        // Where it begins or ends behind a call, or counts iterations, it does not come again and again.
        let is_end = path.last().is_some_and(|(id, _)| self.arrivals[*id as usize].is_end());
        strip.is_header &= !is_end && follows == 0 && context.follows == 0 && strip.far.is_empty();
        strip.follows = follows;
        strip.sequence = self.sequence(numbers);
        strip.effect = match context.strips.effect_of.get(&effect.key) {
            Some(known) => *known,
            None => {
                let number = context.strips.effects.len();
                context.strips.effect_of.insert(effect.key.clone(), number);
                effect.program.needs.clone_from(&effect.key.needs);
                effect.epoch = u64::MAX;
                context.strips.effects.push(effect);
                number
            }
        };
        let (function, shapes) = (context.top().function, &context.shapes);
        let locals = &shapes.known[strip.to as usize - 1].locals;
        let is_live = |slot: u32| shapes.slots.is_live(function, slot, locals);
        for (slot, from) in moments.into_iter().filter(|(slot, _)| is_live(*slot)) {
            match from {
                From::Slot(other) if other == slot => {}
                From::Slot(other) => strip.copies.push((slot, other)),
                From::Now(_) => strip.nows.push((slot, slot + 1)),
            }
        }
        strip.copies.sort_unstable();
        strip.nows.sort_unstable();
        strip.nows.dedup_by(|next, last| {
            let follows = last.1 == next.0;
            last.1 = if follows { next.1 } else { last.1 };
            follows
        });
        let highest =
            strip.nows.last().map_or(0, |(_, end)| *end).max(strip.copies.last().map_or(0, |(slot, _)| slot + 1));
        strip.slots = highest as usize;
        match depth(&strip) {
            Some(depth) => strip.depth = depth,
            None => strip.is_header = false,
        }
        context.strips.all.push(Some(Box::new(strip)));
        small(context.strips.all.len())
    }

    /// A line that may stand on that of the call that has returned; the place whose call the next line follows.
    fn after(&mut self, (strip, key): (&Strip, &mut EffectKey), follows: u32, (line, branches): (u32, bool)) -> u32 {
        let of_call = self.source.places.get(follows as usize).map_or(0, |place| place.line);
        if of_call != line {
            self.calls.entry(follows).or_default().next.insert(line);
            return 0;
        }
        for (place, number) in AT_ONCE.into_iter().enumerate() {
            let model = MODELS[number];
            if model.lines || branches && model.control {
                key.waits.push((place, strip.lines, Child::Call(follows)));
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
            let (mode, flags, site) = (each.access, each.flags, info.sites + number);
            context.grow(site);
            let habits = &mut context.strips.habits;
            while habits.len() <= site as usize {
                habits.push(Habit::new(small(habits.len()), mode));
            }
            habits[site as usize].mode = mode;
            if let (Address::Slot, Where::Byte(at, _)) = (&each.address, address) {
                strip.places.push(at);
            }
            strip.operations.push(Operation { address, size, mode, flags, site, line: 0 });
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

/// How many times a strip must run until all moments are those of the last times; nothing: that never happens.
fn depth(strip: &Strip) -> Option<u64> {
    let mut deepest = 1;
    for (_, from) in &strip.copies {
        let (mut from, mut depth) = (*from, 2);
        while let Ok(at) = strip.copies.binary_search_by_key(&from, |(slot, _)| *slot) {
            (from, depth) = (strip.copies[at].1, depth + 1);
            if depth > strip.copies.len() as u64 + 2 {
                return None;
            }
        }
        deepest = deepest.max(depth);
    }
    Some(deepest)
}

/// A step follows what came before.
fn put((strip, key): (&mut Strip, &mut EffectKey), moments: &mut Moments, step: &Step, lines: u32) {
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
            key.waits.push((place, wait.line + lines, wait.child));
        } else {
            let need = (small(place), wait.level, wait.child);
            if !key.needs.contains(&need) {
                key.needs.push(need);
            }
        }
    }
    let moved: Vec<(u32, From)> = step.moves.iter().map(|(slot, from)| (*slot, of(moments, *from))).collect();
    moments.extend(moved);
}
