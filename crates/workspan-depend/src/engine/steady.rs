//! Iterations that do to local variables what the iteration before did.
//!
//! **Argument:** locals without an address are known from the segments alone. If an iteration of an innermost loop runs the same segments
//! as its two predecessors, finds the same dependences (at the same distances, or each further by one), and leaves each moment
//! in the history of its locals where it was or later by its own duration, then the next iteration on these segments does the
//! same: what it compares are moments that have moved together, or moments that stay behind. So it is only counted. As soon
//! as another segment comes, the history of locals is moved by all that was counted, and what the last iteration has done so far is done.
//!
//! **Cost:** a comparison for each segment; nothing for a local. What task models wait for is repeated line by line.

use workspan_graph::replay::Executed;
use workspan_trace::program::flag;

use super::{Context, Engine};
use crate::models::Child;
use crate::source::SegmentInfo;

/// Iterations of one execution that are compared in vain, at most.
const ATTEMPTS: u32 = 6;

/// A dependence between locals that an iteration found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Effect {
    record: u32,
    distances: (u64, u64),
}

/// What a task model waits for on a line of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    line: u32,
    model: u8,
    level: u32,
    child: Child,
}

/// One iteration, as it was recorded.
#[derive(Debug, Default)]
struct Iteration {
    effects: Vec<Effect>,
    waits: Vec<Wait>,
    /// History of the locals: who, in which order.
    shape: Vec<u32>,
    /// History of the locals: when.
    moments: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Segments are compared.
    #[default]
    Watching,
    /// What the iteration does is noted.
    Recording,
    /// Iterations are counted.
    Counting,
    /// What the last one did is done.
    Repeating,
}

/// What is known of the innermost loop.
#[derive(Debug, Default)]
pub(super) struct Steady {
    state: State,
    /// The loop's node.
    serial: u64,
    /// Segments of the last iteration.
    path: Vec<u32>,
    /// Those of the current one so far.
    current: Vec<u32>,
    /// The current one is no candidate.
    other: bool,
    /// Iterations on the same path before the current one.
    same: u32,
    attempts: u32,
    /// Lines of the current iteration so far.
    line: u32,
    locals: Vec<u32>,
    last: Iteration,
    now: Iteration,
    /// Counting: segments of the current iteration so far, next wait, whole iterations.
    at: usize,
    next: usize,
    count: u64,
    duration: u64,
    /// Which moments move.
    moves: Vec<bool>,
    is_touch: bool,
}

impl Steady {
    /// True if locals need not be looked at.
    #[inline]
    pub(super) fn counts(&self) -> bool {
        self.state == State::Counting
    }

    /// A local is looked at from now on, or no more.
    #[inline]
    pub(super) fn touching(&mut self, local: Option<u32>) {
        self.is_touch = local.is_some();
        if self.state == State::Recording {
            if let Some(local) = local.filter(|local| !self.locals.contains(local)) {
                self.locals.push(local);
            }
        }
    }

    /// A dependence was counted.
    #[inline]
    pub(super) fn found(&mut self, record: u32, distances: (u64, u64)) {
        if self.state == State::Recording && self.is_touch {
            self.now.effects.push(Effect { record, distances });
        }
    }

    /// What models wait for has been done already.
    #[inline]
    pub(super) fn has_waited(&self) -> bool {
        self.state == State::Repeating
    }

    /// A model waits.
    #[inline]
    pub(super) fn waits(&mut self, model: usize, level: usize, child: Child) {
        if self.state == State::Recording && self.is_touch {
            let (model, level) = (u8::try_from(model).unwrap_or(u8::MAX), crate::source::small(level));
            self.now.waits.push(Wait { line: self.line, model, level, child });
        }
    }

    fn restart(&mut self, serial: u64) {
        self.state = State::Watching;
        (self.serial, self.other, self.same, self.attempts) = (serial, false, 0, 0);
        self.current.clear();
        self.path.clear();
    }
}

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
        const OTHER: u32 = flag::CALL | flag::RETURN | flag::ENTRY | flag::FRAME;
        if info.flags & OTHER != 0 || info.runs.is_empty() {
            steady.other = true;
        }
        steady.current.push(id);
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
                self.models[usize::from(wait.model)].depend(wait.level as usize, wait.child);
            }
        }
    }

    /// The innermost loop turns.
    pub(super) fn turned(&mut self, context: &mut Context) {
        let Some((serial, turn)) = context.nodes.last().map(|node| (node.serial, node.turn)) else {
            return;
        };
        let steady = &mut context.steady;
        steady.line = 0;
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
                steady.last.waits.retain(|wait| {
                    let (run, level) = (&models[usize::from(wait.model)], wait.level as usize);
                    let of_loop = looped[usize::from(wait.model)] as usize;
                    run.model.lines && level + 1 == run.depth() || of_loop == level + 1
                });
                steady.last.waits.dedup();
                (steady.state, steady.at, steady.next, steady.count) = (State::Counting, 0, 0, 0);
                steady.duration = duration;
                return;
            }
            std::mem::swap(&mut steady.last, &mut steady.now);
        } else {
            context.steady.last.shape.clear();
            context.steady.last.moments.clear();
            context.steady.last.effects.clear();
            context.steady.last.waits.clear();
            context.steady.locals.clear();
        }
        let steady = &mut context.steady;
        steady.now.effects.clear();
        steady.now.waits.clear();
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
            let id = context.steady.path[at] as usize;
            let info = std::mem::take(&mut self.source.segments[id]);
            let mut touches = info.touches.iter();
            for run in &info.runs {
                context.now += 1;
                for (local, deed, site) in touches.by_ref().take(run.touches as usize) {
                    self.touch(context, *local, *deed, *site);
                }
            }
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
