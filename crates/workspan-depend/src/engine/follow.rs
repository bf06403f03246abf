//! Strips as they come: which one it is, and what it does.
//!
//! **Cost:** a comparison for each segment; for each access its cell; for each moment of a local that changes, a number; for each line a few
//! additions in the models that know lines.

use workspan_graph::program::Program;

use super::strip::{Prefix, Root, Strip};
use super::{Context, Engine};
use crate::source::small;

/// Segments of a strip, at most.
const LONGEST: usize = 64;
/// Segments of all strips, at most.
const MOST: usize = 1 << 15;
/// How often a segment must have come where it was not known, to be known from then on.
const MISSED: u32 = 2;

fn id_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map(|id| u32::from_le_bytes(*id))
}

/// True if iterations that are such a strip leave the shape that they find.
fn is_steady(context: &Context, strip: &Strip) -> bool {
    let is_whole = context.nodes.last().is_some_and(|node| node.number != 0 && node.number == strip.in_loop);
    is_whole && context.shapes.known[strip.to as usize - 1].turned == strip.from
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
        let (prefix, mut length, last) = self.prefix(context, id, bytes)?;
        if context.strips.prefixes[prefix as usize].strip == 0 {
            context.strips.prefixes[prefix as usize].strip = self.compile(context, program, prefix);
        }
        let at = context.strips.prefixes[prefix as usize].strip as usize - 1;
        let mut strip = context.strips.all[at].take()?;
        context.shapes.segments += strip.ids.len() as u64;
        self.take_strip(context, &mut strip, &bytes[..length]);
        if strip.is_header && strip.comes(&bytes[length..]) && is_steady(context, &strip) {
            length += self.repeat(context, &mut strip, &bytes[length..]);
        }
        context.strips.all[at] = Some(strip);
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
                if prefix.missed < MISSED {
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
        if context.strips.prefixes.len() >= MOST {
            return None;
        }
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
}
