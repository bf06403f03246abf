//! What a strip does: accesses, models, locals.

use workspan_graph::events::{slot, Access};

use super::expected::Met;
use super::shape::moment;
use super::strip::{Effect, Habit, Operation, Size, Strip};
use super::{Context, Engine, AT_ONCE};
use crate::journal::Step as Noted;
use crate::models::{Child, Clock, MODELS};
use crate::source::small;
use crate::tree::{distances, Frame};

/// How often in a row accesses of a site find what was not expected until nothing is expected of some more of them.
pub(super) const OFTEN: u8 = 4;
const PAUSE: u8 = 32;

/// A strip that began at a moment changes the moments of locals.
pub(super) fn move_moments(frame: &mut Frame, strip: &Strip, moved: &mut Vec<u64>, begun: u64) {
    if frame.moments.len() < strip.slots {
        frame.moments.resize(strip.slots, 0);
    }
    if !strip.copies.is_empty() {
        moved.clear();
        moved.extend(strip.copies.iter().map(|(_, from)| frame.moments.get(*from as usize).copied().unwrap_or(0)));
        for ((slot, _), moment) in strip.copies.iter().zip(&*moved) {
            frame.moments[*slot as usize] = *moment;
        }
    }
    for (from, to) in &strip.nows {
        frame.moments[*from as usize..*to as usize].fill(begun + 1);
    }
}

impl Engine {
    /// A strip that has come.
    pub(super) fn take_strip(&mut self, context: &mut Context, strip: &mut Strip, bytes: &[u8]) {
        let begun = context.now;
        strip.times += 1;
        self.work += strip.cost;
        self.journal.note(Noted::Strip(strip.sequence));
        for number in &strip.bodies {
            self.body(context, *number);
        }
        if context.strips.effects[strip.effect].epoch != self.epoch {
            self.refresh(context, strip);
        }
        let done = self.accesses_of_strip(context, strip, (begun, bytes));
        for site in &strip.exposed {
            self.expose(context, *site, None);
        }
        self.models_of_strip(context, strip, (done, strip.lines));
        self.clock = Clock { work: self.clock.work + strip.cost, line: strip.last.into() };
        let Some(frame) = context.frames.last_mut() else {
            return;
        };
        for far in &strip.far {
            let node = &context.nodes[frame.node + far.node as usize];
            let [first, last] = [far.first, far.last].map(|from| moment(&frame.moments, begun, from));
            self.table.count(far.record, (0, node.start), distances(node, true, first, last));
        }
        move_moments(frame, strip, &mut context.strips.moved, begun);
        frame.shape = strip.to;
        context.now = begun + u64::from(strip.lines);
        context.follows = strip.follows;
    }

    /// Looks at the shadow for each access; for how many lines models have been asked.
    pub(super) fn accesses_of_strip(
        &mut self,
        context: &mut Context,
        strip: &mut Strip,
        (begun, bytes): (u64, &[u8]),
    ) -> u32 {
        let (mut done, function) = (0, context.top().function);
        let operations = std::mem::take(&mut strip.operations);
        let mut habits = std::mem::take(&mut context.strips.habits);
        for operation in &operations {
            if context.strips.effects[strip.effect].epoch != self.epoch && operation.line != self.line_of_strip {
                done = self.known_since(context, strip, done);
            }
            context.now = begun + u64::from(operation.line);
            self.line_of_strip = operation.line;
            self.access_of_strip(context, operation, &mut habits[operation.site as usize], (function, bytes));
        }
        if context.strips.effects[strip.effect].epoch != self.epoch {
            done = self.known_since(context, strip, done);
        }
        (strip.operations, context.strips.habits) = (operations, habits);
        self.line_of_strip = 0;
        done
    }

    /// Something was found on the line that runs, which counts for those after it; how many lines have been done.
    #[cold]
    fn known_since(&mut self, context: &mut Context, strip: &mut Strip, done: u32) -> u32 {
        let line = self.line_of_strip;
        if self.repeats.gathers {
            self.settle(context, strip);
        }
        self.models_of_strip(context, strip, (done, line));
        self.refresh(context, strip);
        line
    }

    fn access_of_strip(
        &mut self,
        context: &mut Context,
        operation: &Operation,
        habit: &mut Habit,
        (function, bytes): (u32, &[u8]),
    ) {
        let Operation { site, mode, flags, .. } = *operation;
        let address = operation.address.of(bytes);
        let size = match operation.size {
            Size::Plain(shift) => {
                habit.met = Met::OTHER;
                let is_done = match habit.unexpected.checked_sub(OFTEN) {
                    None => self.quick(context, habit, (address, shift)),
                    Some(_) => false,
                };
                if is_done {
                    habit.unexpected = 0;
                    return;
                }
                habit.unexpected = (habit.unexpected + 1) % (OFTEN + PAUSE);
                if self.plain(context, habit, function, (address, shift)) {
                    return;
                }
                1 << shift
            }
            Size::Fixed(size) => size,
            Size::Byte(at) => slot(&bytes[at..], 0),
        };
        self.operation(context, site, &Access { address, size, mode, flags, operation: 0 });
    }

    /// What lines of a strip wait for in models that take all calls of a place together.
    pub(super) fn refresh(&self, context: &mut Context, strip: &Strip) {
        let Effect { program, epoch, key } = &mut context.strips.effects[strip.effect];
        *epoch = self.epoch;
        program.clear();
        for (place, line, child) in &key.waits {
            program.wait(*place, *line, *child);
        }
        for (id, before) in &key.segments {
            if !self.awaited.get(*id as usize).copied().unwrap_or(false) {
                continue;
            }
            let lines = small(self.source.segments[*id as usize].runs.len());
            for number in 0..lines {
                let children = self.waits.get(&(*id, number)).map_or(&[][..], |waits| &waits.children);
                for child in children.iter().filter(|child| matches!(child, Child::Call(_))) {
                    for (place, model) in AT_ONCE.into_iter().enumerate() {
                        if MODELS[model].aggregated && !MODELS[model].loops {
                            program.wait(place, before + number + 1, *child);
                        }
                    }
                }
            }
        }
        program.plan();
    }

    /// Models go through some lines of a strip.
    pub(super) fn models_of_strip(&mut self, context: &Context, strip: &Strip, lines: (u32, u32)) {
        let program = &context.strips.effects[strip.effect].program;
        if lines.0 == 0 {
            let base = context.levels_of_frame();
            for (place, level, child) in &program.needs {
                let number = AT_ONCE[*place as usize];
                self.models[number].need((base[number] + level).saturating_sub(1) as usize, *child);
            }
        }
        let is_whole = lines == (0, strip.lines);
        for (place, number) in AT_ONCE.into_iter().enumerate() {
            let (run, further) = (&mut self.models[number], &mut self.further[place]);
            if is_whole {
                run.whole(program, place, self.clock.work, further);
            } else {
                run.lines(program, place, lines, self.clock.work, further);
            }
            further.clear();
        }
    }
}
