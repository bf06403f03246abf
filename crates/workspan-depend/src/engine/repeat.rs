//! Innermost loops whose iterations are watched, recorded and then only counted: what [`Steady`](super::steady) says, done.
//!
//! **Invariant:** before anything else looks at a local or at the time, what was only counted has been done ([`Engine::catch_up`]).

use workspan_graph::replay::Executed;
use workspan_trace::program::flag;

use super::steady::{Effect, Iteration, State, Wait, ATTEMPTS, OTHER};
use super::{Context, Engine};
use crate::source::SegmentInfo;

impl Engine {
    /// A segment comes: is it the one that is expected?
    #[inline]
    pub(super) fn expect(&mut self, context: &mut Context, executed: &Executed<'_>) {
        let steady = &context.steady;
        if steady.state != State::Counting {
            return;
        }
        let at = if steady.at == steady.path.len() { 0 } else { steady.at };
        if steady.path.get(at) != Some(&executed.id) || executed.frame.is_some() {
            self.catch_up(context);
        }
    }

    /// A segment runs in its node.
    #[inline]
    pub(super) fn track(&mut self, context: &mut Context, info: &SegmentInfo, id: u32) {
        let Some(node) = context.nodes.last().filter(|node| node.number != 0) else {
            return;
        };
        let steady = &mut context.steady;
        if steady.state == State::Counting {
            steady.at += 1;
            return;
        }
        if steady.serial != node.serial {
            steady.restart(node.serial);
            // Another loop may lie within the iteration.
            steady.other = info.flags & flag::HEADER == 0;
        }
        if info.flags & OTHER != 0 || info.runs.is_empty() {
            steady.other = true;
        }
        steady.current.push(id);
        steady.touching.1 += usize::from(!info.touches.is_empty());
    }

    /// A line begins.
    #[inline]
    pub(super) fn next_line(&mut self, context: &mut Context) {
        let steady = &mut context.steady;
        if steady.state == State::Watching {
            return;
        }
        steady.line += 1;
        if steady.state == State::Counting {
            while let Some(wait) = steady.last.waits.get(steady.next).filter(|wait| wait.line == steady.line) {
                steady.next += 1;
                self.models[usize::from(wait.model)].depend(wait.level as usize, wait.child, self.clock);
            }
        }
    }

    /// The innermost loop turns.
    pub(super) fn turned(&mut self, context: &mut Context) {
        let Some((serial, turn)) = context.nodes.last().map(|node| (node.serial, node.turn)) else {
            return;
        };
        let steady = &mut context.steady;
        (steady.line, steady.access) = (0, 0);
        if steady.state == State::Counting {
            steady.count += 1;
            (steady.at, steady.next) = (0, 0);
            return;
        }
        if steady.serial != serial || steady.other {
            let attempts = if steady.serial == serial { steady.attempts } else { 0 };
            steady.restart(serial);
            steady.attempts = attempts;
            return;
        }
        let is_same = steady.current == steady.path;
        std::mem::swap(&mut steady.current, &mut steady.path);
        steady.current.clear();
        steady.touching = (steady.touching.1, 0);
        if !is_same {
            (steady.same, steady.state) = (0, State::Watching);
            return;
        }
        steady.same += 1;
        if steady.attempts >= ATTEMPTS {
            steady.state = State::Watching;
            return;
        }
        let duration = context.now + 1 - turn;
        if steady.state == State::Recording {
            self.snapshot(context);
            let looped = context.levels.last().copied().unwrap_or([0; 9]);
            let steady = &mut context.steady;
            steady.attempts += 1;
            let (last, now) = (&steady.last, &steady.now);
            if steady.same >= 3 && repeats(last, now) && moves(last, now, duration, &mut steady.moves) {
                std::mem::swap(&mut steady.last, &mut steady.now);
                // Waiting again for what is ready changes nothing, but for a task or a line that has begun since.
                let models = &self.models;
                let matters = |wait: &Wait| {
                    let (run, level) = (&models[usize::from(wait.model)], wait.level as usize);
                    let of_loop = looped[usize::from(wait.model)] as usize;
                    run.model.lines && level + 1 == run.depth() || of_loop == level + 1
                };
                steady.last.waits.retain(matters);
                steady.last.waits.dedup();
                let is_same = steady.last.awaited == steady.now.awaited;
                steady.last.awaited.retain(matters);
                steady.batch = (is_same && context.is_first).then(Box::default);
                (steady.state, steady.at, steady.next, steady.count) = (State::Counting, 0, 0, 0);
                steady.duration = duration;
                // A segment of which nothing was known yet may have left another shape.
                if steady.last.steps.len() != steady.touching.0 {
                    context.top().shape = 0;
                }
                return;
            }
            std::mem::swap(&mut steady.last, &mut steady.now);
        } else {
            context.steady.last.shape.clear();
            context.steady.last.moments.clear();
            context.steady.last.effects.clear();
            context.steady.last.waits.clear();
            context.steady.last.awaited.clear();
            context.steady.last.finds.clear();
            context.steady.last.steps.clear();
            context.steady.locals.clear();
        }
        let steady = &mut context.steady;
        steady.now.effects.clear();
        steady.now.waits.clear();
        steady.now.awaited.clear();
        steady.now.finds.clear();
        steady.now.steps.clear();
        steady.state = State::Recording;
    }

    /// Notes the history of the locals that the iteration has touched.
    fn snapshot(&self, context: &mut Context) {
        let (steady, readers) = (&mut context.steady, &context.local_readers);
        let Some(frame) = context.frames.last() else {
            return;
        };
        let now = &mut steady.now;
        now.shape.clear();
        now.moments.clear();
        for local in &steady.locals {
            let Some(cell) = frame.locals.get(*local as usize) else {
                continue;
            };
            now.shape.push(cell.writer);
            now.moments.push(cell.written);
            let mut at = cell.readers;
            while at != 0 {
                let reader = readers.get(at);
                now.shape.push(reader.site);
                now.moments.extend([reader.first, reader.last]);
                at = reader.next;
            }
            now.shape.push(0);
        }
    }

    /// Does what was only counted.
    pub(super) fn catch_up(&mut self, context: &mut Context) {
        if context.steady.state != State::Counting {
            return;
        }
        let steady = &context.steady;
        let (count, done) = (steady.count, steady.at);
        let by = count * steady.duration;
        if count > 0 {
            for step in &steady.last.steps {
                context.shapes.done(*step, count);
            }
            for (at, effect) in steady.last.effects.iter().enumerate() {
                // The other iteration has been swapped away: how the distance grew is between both.
                let before = steady.now.effects.get(at).map_or(effect.distances, |before| before.distances);
                let most = effect.distances.1 + count * (effect.distances.1 - before.1);
                self.table.repeat(effect.record, count, most);
            }
            let mut moment = 0;
            let mut moved = |time: &mut u64| {
                *time += if steady.moves.get(moment) == Some(&true) { by } else { 0 };
                moment += 1;
            };
            let Some(frame) = context.frames.last_mut() else {
                return;
            };
            for local in &steady.locals {
                let Some(cell) = frame.locals.get_mut(*local as usize) else {
                    continue;
                };
                moved(&mut cell.written);
                let mut at = cell.readers;
                while at != 0 {
                    let mut reader = context.local_readers.get(at);
                    moved(&mut reader.first);
                    moved(&mut reader.last);
                    context.local_readers.set(at, reader);
                    at = reader.next;
                }
            }
        }
        let now = context.now;
        context.now = context.nodes.last().map_or(now, |node| node.turn.saturating_sub(1));
        context.steady.state = State::Repeating;
        for at in 0..done {
            let id32 = context.steady.path[at];
            let id = id32 as usize;
            let info = std::mem::take(&mut self.source.segments[id]);
            let mut touches = &info.touches[..];
            let way = self.way(context, &info, id32);
            for (number, run) in info.runs.iter().enumerate() {
                context.now += 1;
                let (of_line, rest) = touches.split_at((run.touches as usize).min(touches.len()));
                self.touches(context, way, number, of_line);
                touches = rest;
            }
            self.touched(context, way, id32);
            self.source.segments[id] = info;
        }
        debug_assert_eq!(now, context.now, "an iteration took another time than its predecessor");
        context.now = now;
        let attempts = context.steady.attempts;
        let serial = context.steady.serial;
        context.steady.restart(serial);
        (context.steady.other, context.steady.attempts) = (true, attempts.saturating_sub(1));
    }
}

/// True if an iteration found what its predecessor did, at the same distances or each further by one.
fn repeats(last: &Iteration, now: &Iteration) -> bool {
    let same = |(a, b): (&Effect, &Effect)| {
        let near = |a: u64, b: u64| a == b || a + 1 == b;
        a.record == b.record && near(a.distances.0, b.distances.0) && near(a.distances.1, b.distances.1)
    };
    last.effects.len() == now.effects.len()
        && last.effects.iter().zip(&now.effects).all(same)
        && last.waits == now.waits
        && last.shape == now.shape
        && last.steps == now.steps
        && last.moments.len() == now.moments.len()
}

/// True if each moment of the history stayed, or moved by the duration of the iteration.
fn moves(last: &Iteration, now: &Iteration, duration: u64, moves: &mut Vec<bool>) -> bool {
    moves.clear();
    last.moments.iter().zip(&now.moments).all(|(a, b)| {
        moves.push(a != b);
        a == b || a + duration == *b
    })
}
