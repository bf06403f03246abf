//! Iterations of an innermost loop that are the same strip again.
//!
//! **Argument:** such an iteration finds the shape that its predecessor has found. Its accesses are looked at one by one. If models wait for the
//! same as in the iteration before, they are asked later, for many iterations at once ([`Run::skip`](crate::models::Run::skip) and
//! [`Run::jump`](crate::models::Run::jump) say why that is the same). Moments of locals are copies of moments that earlier iterations have
//! set, a few copies long: the last iterations decide all of them.
//!
//! **Cost:** a comparison for each segment, and the accesses.

use super::repeats::{Find, Gathered, Repeats};
use super::strip::{Habit, Strip};
use super::take::move_moments;
use super::{Context, Engine, AT_ONCE, PLACES};
use crate::journal::Step as Noted;
use crate::models::{Child, Clock, Wait, MODELS};

/// How often iterations cannot be taken together until that is not tried any more.
const MISSED: u32 = 3;

impl Engine {
    /// Takes all iterations that come; their bytes.
    pub(super) fn repeat(&mut self, context: &mut Context, strip: &mut Strip, bytes: &[u8]) -> usize {
        let (mut at, mut times, first) = (0, 0, context.now);
        self.repeats.is_known = false;
        let (mut most, mut missed) = (if strip.is_plain { usize::MAX } else { 0 }, 0);
        while strip.comes(&bytes[at..]) {
            if most > 0 && missed < MISSED {
                let rows = self.rows(context, strip, &bytes[at..], &mut most);
                if rows > 0 {
                    self.models_of_rows(context, strip, rows as u64);
                    at += rows * strip.bytes;
                    times += rows as u64;
                    continue;
                }
                missed += 1;
            }
            let begun = context.now;
            if let Some(node) = context.nodes.last_mut() {
                node.iteration += 1;
                (node.former, node.turn) = (node.turn, begun + 1);
                node.iterations.begin(node.iteration, begun + 1);
                node.ended.clear();
                node.in_body = strip.has_body;
            }
            self.iterated = 0;
            self.repeats.gathers = true;
            self.repeats.finds.clear();
            let done = self.accesses_of_strip(context, strip, (begun, &bytes[at..]));
            if !self.repeats.gathers {
                // Something was new.
                self.repeats.is_known = false;
                self.models_of_strip(context, strip, (done, strip.lines));
            } else if self.repeats.is_known && self.repeats.finds == self.repeats.finds_before {
                self.repeats.pending += 1;
            } else {
                self.settle(context, strip);
                self.models_of_strip(context, strip, (0, strip.lines));
                self.repeats.known();
            }
            self.repeats.gathers = false;
            self.clock.work += strip.cost;
            context.now = begun + u64::from(strip.lines);
            at += strip.bytes;
            times += 1;
        }
        self.flush(context, strip);
        self.clock = Clock { work: self.clock.work, line: strip.last.into() };
        self.work += times * strip.cost;
        strip.times += times;
        self.journal.repeat(&[Noted::Turn, Noted::Strip(strip.sequence)], times);
        if strip.has_body {
            if let Some(node) = context.nodes.last_mut() {
                node.bodies += times;
                self.loops[node.number as usize - 1].iterations += times;
            }
        }
        let (duration, last) = (u64::from(strip.lines), times.min(strip.depth));
        if let Some(frame) = context.frames.last_mut() {
            for number in times - last..times {
                move_moments(frame, strip, &mut context.strips.moved, first + number * duration);
            }
        }
        at
    }

    /// Models take iterations of which all accesses have found what they expected.
    fn models_of_rows(&mut self, context: &mut Context, strip: &Strip, mut times: u64) {
        while times > 0 {
            self.finds_of_row(context, strip);
            if self.repeats.is_known && self.repeats.finds == self.repeats.finds_before {
                // So do all others.
                self.repeats.pending += times;
                self.clock.work += times * strip.cost;
                return;
            }
            self.settle(context, strip);
            self.models_of_strip(context, strip, (0, strip.lines));
            self.repeats.known();
            self.clock.work += strip.cost;
            times -= 1;
        }
    }

    /// What models wait for in one of them.
    fn finds_of_row(&mut self, context: &mut Context, strip: &Strip) {
        let innermost = context.nodes.last().map_or(0, |node| node.serial);
        self.repeats.finds.clear();
        for operation in &strip.operations {
            let Habit { met, expected, .. } = &mut context.strips.habits[operation.site as usize];
            for place in met.places().into_iter().flatten() {
                if let Some((at, waiting)) = expected[place].waits_in(innermost) {
                    self.repeats.find(operation.line, at, &waiting);
                }
            }
        }
    }

    /// Models take the iteration that runs, but for its lines.
    pub(super) fn settle(&mut self, context: &mut Context, strip: &Strip) {
        self.flush(context, strip);
        self.repeats.gathers = false;
        let mut tasks = context.tasks.last().copied().unwrap_or(0);
        while tasks != 0 {
            self.models[tasks.trailing_zeros() as usize].turn(self.clock.work);
            tasks &= tasks - 1;
        }
        let (finds, line) = (std::mem::take(&mut self.repeats.finds), self.line_of_strip);
        for find in &finds {
            self.line_of_strip = find.line;
            self.wait_in(context, find.at, &find.waiting, find.waiting.any());
        }
        (self.repeats.finds, self.line_of_strip) = (finds, line);
    }

    /// What was found in the iteration before is what models wait for.
    fn gather(&mut self, context: &Context) {
        let Repeats { finds_before, before, .. } = &mut self.repeats;
        before.clear();
        for Find { line, at, waiting } in finds_before {
            let mut models = waiting.any();
            while models != 0 {
                let number = models.trailing_zeros() as usize;
                models &= models - 1;
                let level = waiting.level(context, *at, number);
                let is_top = level as usize + 1 == self.models[number].depth();
                let place = u8::try_from(PLACES[number]).unwrap_or(u8::MAX);
                for child in waiting.children(1 << number).into_iter().flatten() {
                    let new = Gathered { place, level, line: if is_top { *line } else { 0 }, child };
                    if !before.contains(&new) {
                        before.push(new);
                    }
                }
            }
        }
    }

    /// Models take all iterations before the one that runs.
    fn flush(&mut self, context: &Context, strip: &Strip) {
        let times = std::mem::take(&mut self.repeats.pending);
        if times == 0 {
            return;
        }
        self.gather(context);
        let base = context.levels_of_frame();
        let (cost, begun) = (strip.cost, self.clock.work - times * strip.cost);
        self.repeats.further.iter_mut().for_each(Vec::clear);
        for Gathered { place, line, child, .. } in self.repeats.before.iter().filter(|each| each.line != 0) {
            self.repeats.further[usize::from(*place)].push(Wait { line: *line, child: *child });
        }
        for (place, number) in AT_ONCE.into_iter().enumerate() {
            let (model, run) = (MODELS[number], &mut self.models[number]);
            let further = &self.repeats.further[place][..];
            let program = &context.strips.effects[strip.effect].program;
            if !model.loops {
                if model.lines {
                    run.jump(program, place, (begun, times), further);
                } else if model.hoist {
                    // Own time grows by what lines cost: only the last ones are noted in the end.
                    run.whole(program, place, begun + (times - 1) * cost, further);
                }
                continue;
            }
            let around = run.depth().saturating_sub(2);
            let level_of = |level: u32| (base[number] + level).saturating_sub(1) as usize;
            let needs = || {
                let known = program.needs.iter().filter(|need| need.0 as usize == place);
                let known = known.map(|(_, level, child)| (level_of(*level), *child));
                let found = self.repeats.before.iter();
                let found = found.filter(|each| usize::from(each.place) == place && each.line == 0);
                known.chain(found.map(|each| (each.level as usize, each.child)))
            };
            let follows = needs().any(|need| need == (around, Child::Iteration));
            run.skip(cost, times - 1, follows, begun);
            let work = begun + (times - 1) * cost;
            run.turn(work);
            needs().for_each(|(level, child)| run.need(level, child));
            run.whole(program, place, work, further);
        }
    }
}
