//! Strips as they come: which one it is, and what it does.
//!
//! **Cost:** a comparison for each segment; for each access its cell; for each moment of a local that changes, a number; for each line a few
//! additions in the models that know lines.

use workspan_graph::events::{slot, Access};
use workspan_graph::program::Program;

use super::shape::moment;
use super::strip::{Operation, Prefix, Root, Size, Strip};
use super::{Context, Engine, AT_ONCE};
use crate::journal::Step as Noted;
use crate::models::{Child, Clock, MODELS};
use crate::source::small;
use crate::tree::distances;

/// Segments of a strip, at most.
const LONGEST: usize = 64;
/// Segments of all strips, at most.
const MOST: usize = 1 << 16;
/// How often a segment must have come where it was not known, to be known from then on.
const MISSED: u32 = 2;

fn id_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map(|id| u32::from_le_bytes(*id))
}

impl Engine {
    /// Takes the strip that these bytes begin with, whose first segment has arrived; its bytes and last segment. Nothing: it is not known.
    pub(super) fn follow(
        &mut self,
        context: &mut Context,
        program: &Program,
        id: u32,
        bytes: &[u8],
    ) -> Option<(usize, u32)> {
        if context.frames.last()?.shape == 0 {
            return None;
        }
        let (prefix, length, last) = self.prefix(context, id, bytes)?;
        if context.strips.prefixes[prefix as usize].strip == 0 {
            context.strips.prefixes[prefix as usize].strip = self.compile(context, program, prefix);
        }
        let at = context.strips.prefixes[prefix as usize].strip as usize - 1;
        let mut strip = std::mem::take(&mut context.strips.all[at]);
        self.take_strip(context, &mut strip, &bytes[..length]);
        context.strips.all[at] = strip;
        Some((length, last))
    }

    /// The longest strip that is known, its length, and its last segment.
    fn prefix(&mut self, context: &mut Context, mut id: u32, bytes: &[u8]) -> Option<(u32, usize, u32)> {
        let shape = context.top().shape;
        let follows = context.follows;
        let roots = &context.shapes.known[shape as usize - 1].roots;
        let mut at = match roots.iter().find(|root| root.id == id && root.follows == follows) {
            Some(root) => root.node,
            None => {
                let node = self.next_prefix(context, None, (shape, id))?;
                context.shapes.known[shape as usize - 1].roots.push(Root { id, follows, node });
                node
            }
        };
        let mut length = self.arrivals[id as usize].bytes as usize;
        if length == 0 || bytes.len() < length {
            return None;
        }
        let mut segments = 1;
        loop {
            let prefixes = context.strips.prefixes.len();
            let prefix = &mut context.strips.prefixes[at as usize];
            if prefix.is_end {
                break;
            }
            let Some(next) = id_at(bytes, length) else {
                break;
            };
            let arrival = self.arrivals.get(next as usize).copied().unwrap_or_default();
            let further = length + arrival.bytes as usize;
            if let Some((_, node)) = prefix.next.iter().find(|(known, _)| *known == next) {
                if bytes.len() < further {
                    break;
                }
                at = *node;
            } else {
                if !arrival.continues(&self.arrivals[id as usize]) || segments >= LONGEST || bytes.len() < further {
                    break;
                }
                prefix.missed += 1;
                if prefix.missed < MISSED || prefixes >= MOST {
                    break;
                }
                let to = prefix.to;
                let Some(node) = self.next_prefix(context, Some(at), (to, next)) else {
                    break;
                };
                context.strips.prefixes[at as usize].next.push((next, node));
                at = node;
            }
            (id, length, segments) = (next, further, segments + 1);
        }
        Some((at, length, id))
    }

    /// A segment follows others, or begins; nothing: what it does is not known.
    fn next_prefix(&self, context: &mut Context, parent: Option<u32>, (shape, id): (u32, u32)) -> Option<u32> {
        let info = self.source.segments.get(id as usize)?;
        if !*self.executed.get(id as usize)? || self.arrivals.get(id as usize)?.bytes == 0 {
            return None;
        }
        let step = if info.touches.is_empty() { None } else { Some(context.shapes.step(shape, id)?) };
        let to = step.map_or(shape, |step| context.shapes.steps[step].to);
        let node = small(context.strips.prefixes.len());
        let is_end = self.arrivals[id as usize].is_end();
        let parent = parent.unwrap_or(node);
        context.strips.prefixes.push(Prefix { parent, id, step, to, is_end, ..Prefix::default() });
        Some(node)
    }

    fn take_strip(&mut self, context: &mut Context, strip: &mut Strip, bytes: &[u8]) {
        let begun = context.now;
        strip.times += 1;
        self.work += strip.cost;
        self.journal.note(Noted::Strip(strip.sequence));
        for number in &strip.bodies {
            self.body(context, *number);
        }
        if strip.epoch != self.epoch {
            self.refresh(strip);
        }
        let mut done = 0;
        let mut operations = std::mem::take(&mut strip.operations);
        for operation in &mut operations {
            if strip.epoch != self.epoch && operation.line != self.line_of_strip {
                done = self.known_since(context, strip, done);
            }
            context.now = begun + u64::from(operation.line);
            self.line_of_strip = operation.line;
            self.access_of_strip(context, operation, bytes);
        }
        if strip.epoch != self.epoch {
            done = self.known_since(context, strip, done);
        }
        strip.operations = operations;
        self.line_of_strip = 0;
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
        let moved = &mut context.strips.moved;
        moved.clear();
        moved.extend(strip.copies.iter().map(|(_, from)| frame.moments.get(*from as usize).copied().unwrap_or(0)));
        for ((slot, _), moment) in strip.copies.iter().zip(&*moved) {
            frame.keep(*slot, *moment);
        }
        for (slot, line) in &strip.nows {
            frame.keep(*slot, begun + u64::from(*line));
        }
        frame.shape = strip.to;
        context.now = begun + u64::from(strip.lines);
        context.follows = strip.follows;
    }

    /// Something was found on the line that runs, which counts for those after it; how many lines have been done.
    #[cold]
    fn known_since(&mut self, context: &Context, strip: &mut Strip, done: u32) -> u32 {
        let line = self.line_of_strip;
        self.models_of_strip(context, strip, (done, line));
        self.refresh(strip);
        line
    }

    fn access_of_strip(&mut self, context: &mut Context, operation: &mut Operation, bytes: &[u8]) {
        let Operation { site, mode, flags, .. } = *operation;
        let address = operation.address.of(bytes);
        let size = match operation.size {
            Size::Plain(shift) => 1 << shift,
            Size::Fixed(size) => size,
            Size::Byte(at) => slot(&bytes[at..], 0),
        };
        self.operation(context, site, &Access { address, size, mode, flags, operation: 0 });
    }

    /// What lines of a strip wait for in models that take all calls of a place together.
    fn refresh(&self, strip: &mut Strip) {
        strip.epoch = self.epoch;
        strip.program.clear();
        for (place, line, child) in &strip.waits {
            strip.program.wait(*place, *line, *child);
        }
        for (id, before) in &strip.segments {
            if !self.awaited.get(*id as usize).copied().unwrap_or(false) {
                continue;
            }
            let lines = small(self.source.segments[*id as usize].runs.len());
            for number in 0..lines {
                let children = self.waits.get(&(*id, number)).map_or(&[][..], |waits| &waits.children);
                for child in children.iter().filter(|child| matches!(child, Child::Call(_))) {
                    for (place, model) in AT_ONCE.into_iter().enumerate() {
                        if MODELS[model].aggregated && !MODELS[model].loops {
                            strip.program.wait(place, before + number + 1, *child);
                        }
                    }
                }
            }
        }
    }

    /// Models go through some lines of a strip.
    fn models_of_strip(&mut self, context: &Context, strip: &Strip, lines: (u32, u32)) {
        let base = context.levels_of_frame();
        for (place, number) in AT_ONCE.into_iter().enumerate() {
            let run = &mut self.models[number];
            if lines.0 == 0 {
                run.need(&strip.program, place, base[number].saturating_sub(1) as usize);
            }
            let further = &mut self.further[place];
            run.lines(&strip.program, place, lines, self.clock.work, further);
            further.clear();
        }
    }
}
