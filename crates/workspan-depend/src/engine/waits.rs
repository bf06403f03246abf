//! What models wait for because of a dependence.
//!
//! **Argument:** who waits at which level for what follows from the two places, the node that they have in common, and the loop of it that
//! has ended in between: it is kept with the dependence. Levels are counted from that of the node.
//!
//! **Cost:** for each model that waits, a look at when the child was ready.

use super::waiting::{Waited, Waiting};
use super::{Context, Engine, AT_ONCE, PLACES};
use crate::models::{Wait, MODELS};
use crate::shadow::Site;
use crate::table::{Key, Kind};
use crate::tree::Common;

/// Models with loops, and those whose lines or calls wait for lines: one bit each.
const LOOPS: u16 = bits(true);
const LINES: u16 = bits(false);

/// A line that no segment of the function has.
const NO_LINE: u32 = u32::MAX >> 1;

const fn bits(loops: bool) -> u16 {
    let (mut found, mut at) = (0, 0);
    while at < MODELS.len() {
        if if loops { MODELS[at].loops } else { MODELS[at].hoist } {
            found |= 1 << at;
        }
        at += 1;
    }
    found
}

impl Waiting {
    /// The level at which a model waits.
    #[inline]
    pub(super) fn level(&self, context: &Context, at: Common, number: usize) -> u32 {
        let level = context.innermost_levels[at.node][number] + u32::from(self.inner & 1 << number != 0);
        level.saturating_sub(1)
    }
}

impl Engine {
    /// Which models wait for the source of a dependence, and for what.
    pub(super) fn waiting(&self, context: &Context, at: Common, key: &Key, ended: u32) -> Waiting {
        let site = |site: Site| self.source.sites.get(site as usize);
        let (from, to) = (site(key.source), site(key.sink));
        let update = from.map_or(0, |site| site.update);
        let reduction = update != 0 && to.is_some_and(|site| site.update == update);
        let node = &context.nodes[at.node];
        let steps = at.carried
            && from.is_some_and(|from| {
                let inductions = self.source.loops.get(node.number as usize - 1).map(|each| &each.inductions);
                from.local != 0 && inductions.is_some_and(|all| all.iter().any(|each| each.local + 1 == from.local))
            });
        // Privatised: memory that is used again in each iteration.
        let names_only = at.carried && key.kind != Kind::Raw;
        let line = from.and_then(|site| self.source.places.get(site.place as usize)).map_or(0, |place| place.line);
        let of_frame = context.frames[node.frame].function;
        let line = self.source.line_of(of_frame, line).unwrap_or(NO_LINE);
        let tail = from.map_or(0, |site| site.tail);
        let source_call = key.source_call;
        let call = if source_call != 0 { source_call } else { tail };
        let mut waiting = Waiting { call, line, ended, ..Waiting::default() };
        // In one run of a line.
        let is_one_line =
            !at.carried && key.sink_call == 0 && from.map(|site| site.segment) == to.map(|site| site.segment);
        for number in AT_ONCE {
            let (bit, model) = (1 << number, MODELS[number]);
            if model.reductions && reduction && at.carried {
                continue;
            }
            let is_task = context.tasks[at.node] & bit != 0;
            if !model.loops {
                let is_free = steps || names_only || is_one_line;
                let own = source_call == 0 && model.hoist && !is_free;
                waiting.calls |= if call != 0 { bit } else { 0 };
                waiting.lines |= if own { bit } else { 0 };
            } else if at.carried && is_task {
                waiting.iterations |= if steps || names_only { 0 } else { bit };
            } else {
                // In a loop, children belong to the iteration.
                waiting.inner |= if is_task && node.number != 0 { bit } else { 0 };
                let own = source_call == 0 && model.hoist && !is_one_line;
                if ended != 0 {
                    waiting.loops |= bit;
                } else {
                    waiting.calls |= if call != 0 { bit } else { 0 };
                    waiting.lines |= if own { bit } else { 0 };
                }
            }
        }
        waiting
    }

    /// Models wait for the source of a dependence, as far as they have not waited; for what they have then.
    pub(super) fn wait(&mut self, context: &mut Context, at: Common, waiting: &Waiting, waited: Waited) -> Waited {
        if self.repeats.gathers {
            self.repeats.find(self.line_of_strip, at, waiting);
            return waited;
        }
        let node = &context.nodes[at.node];
        let mut models = waiting.any();
        let tasks = context.tasks[at.node];
        let inner = if at.carried { None } else { context.nodes.get(at.node + 1) };
        let inner = inner.map_or(0, |inner| inner.serial);
        let inner_frame = context.frames.get(node.frame + 1).map_or(0, |inner| context.nodes[inner.node].serial);
        let now = Waited { serial: inner, turn: node.turn, frame: inner_frame, returns: context.returns };
        if !context.shapes.noting.is_active {
            // In loops, iterations and calls that run, nothing is needed but what ended before they began.
            let around = if at.carried { waited.turn == now.turn } else { inner != 0 && waited.serial == inner };
            if around {
                models &= !(LOOPS & if at.carried { tasks } else { context.tasks[at.node + 1] });
            }
            if now.frame != 0 && waited.frame == now.frame {
                models &= LOOPS;
            } else if now.frame == 0 && waited.frame == 0 && waited.returns == now.returns {
                // On top, only lines begin anew.
                models &= LOOPS | LINES;
            }
            if at.carried && at.node + 1 == context.nodes.len() {
                // The innermost iteration waits for those before once.
                let iterations = models & waiting.iterations;
                models &= !(iterations & self.iterated);
                self.iterated |= iterations;
            }
        }
        if models != 0 {
            self.wait_in(context, at, waiting, models);
        }
        now
    }

    /// Some models wait.
    pub(super) fn wait_in(&mut self, context: &mut Context, at: Common, waiting: &Waiting, mut models: u16) {
        let Context { innermost_levels, shapes, levels, frames, nodes, .. } = context;
        let innermost = &innermost_levels[at.node];
        let (line, is_noting) = (self.line_of_strip, shapes.noting.is_active);
        while models != 0 {
            let number = models.trailing_zeros() as usize;
            let bit = 1 << number;
            models &= models - 1;
            let level = innermost[number] + u32::from(waiting.inner & bit != 0);
            let at_level = level.saturating_sub(1) as usize;
            let run = &mut self.models[number];
            let is_top = at_level + 1 == run.depth();
            let children = waiting.children(bit);
            for child in children.into_iter().flatten() {
                if !is_top {
                    run.need(at_level, child);
                } else if line != 0 {
                    // In the order of lines, once the strip has run.
                    let further = &mut self.further[PLACES[number]];
                    if !further.iter().rev().take_while(|wait| wait.line == line).any(|wait| wait.child == child) {
                        further.push(Wait { line, child });
                    }
                } else {
                    run.depend(at_level, child, self.clock);
                }
                if is_noting {
                    let frame_levels = levels[frames[nodes[at.node].frame].node];
                    let from_frame = level.saturating_sub(frame_levels[number]);
                    shapes.noting.waits(number, from_frame, child, is_top);
                }
            }
        }
    }

    /// True if a model waits in each iteration of the innermost loop: in the iteration itself, or on a line.
    pub(super) fn waits_each_time(&self, context: &Context, at: Common, waiting: &Waiting) -> bool {
        let mut models = waiting.any();
        while models != 0 {
            let number = models.trailing_zeros() as usize;
            let bit = 1 << number;
            models &= models - 1;
            let level = context.innermost_levels[at.node][number] + u32::from(waiting.inner & bit != 0);
            let below = self.models[number].depth() - (level as usize).min(self.models[number].depth());
            let is_task = LOOPS & bit != 0;
            if below == 0 || is_task && below == 1 {
                return true;
            }
        }
        false
    }
}
