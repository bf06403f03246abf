//! Work and span in the task models, as the program streams by.
//!
//! For each model the running calls, and in some the loops and iterations, are tasks ([`Model`]). A task's own time is where its
//! serial execution stands; a child that ends notes when it was ready, and whoever depends on it waits for that. All times are relative to
//! the beginning of the task, so that a child is composed when it ends, wherever it began.
//!
//! The work of the program so far is one number for all models: whoever calls keeps it.
//!
//! **Cost:** a few additions for each call, loop, iteration and dependence, and in models with lines for each line; nothing for an access.
//! **Memory:** the deepest tasks at one time, and for each of them one number for each place that it has called, and for each of its lines.

mod done;
mod jump;
mod later;
mod lines;
mod repeat;
mod shift;
mod strip;
#[cfg(test)]
mod strips;
mod times;

use self::done::Done;
pub use self::jump::jump;
pub use self::later::{Known, Later, LineFacts, StripFacts};
use self::lines::Lines;
pub use self::strip::{Program, Wait, COUNT};
pub use self::times::Times;

/// What may run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// As in the report.
    pub name: &'static str,
    /// Iterations of loops are tasks.
    pub loops: bool,
    /// Only of those loops that carry no dependence.
    pub parallel_only: bool,
    /// A call waits for all calls of a place that it was ever seen to depend on.
    pub aggregated: bool,
    /// Conditions on the result of a call wait for it.
    pub control: bool,
    /// Dependences within reductions do not count.
    pub reductions: bool,
    /// Calls begin as soon as dependences allow.
    pub hoist: bool,
    /// Lines are tasks.
    pub lines: bool,
}

const BASE: Model = Model {
    name: "base",
    loops: false,
    parallel_only: false,
    aggregated: true,
    control: true,
    reductions: false,
    hoist: false,
    lines: false,
};

/// All models.
pub const MODELS: [Model; 9] = [
    BASE,
    Model { name: "exact", aggregated: false, ..BASE },
    Model { name: "no-control", control: false, ..BASE },
    Model { name: "loops", loops: true, ..BASE },
    Model { name: "parallel-loops", loops: true, parallel_only: true, ..BASE },
    Model { name: "reductions", loops: true, reductions: true, ..BASE },
    Model { name: "hoist", hoist: true, ..BASE },
    Model { name: "lines", hoist: true, lines: true, ..BASE },
    Model {
        name: "everything",
        loops: true,
        parallel_only: false,
        aggregated: false,
        control: false,
        reductions: true,
        hoist: true,
        lines: true,
    },
];

/// Models that go through the [journal](crate::journal) once all dependences are known: one bit each.
pub const LATER: u16 = {
    let (mut later, mut at) = (0, 0);
    while at < MODELS.len() {
        let model = MODELS[at];
        if model.aggregated && !model.hoist && !model.reductions && (!model.loops || model.parallel_only) {
            later |= 1 << at;
        }
        at += 1;
    }
    later
};

/// The first of [`MODELS`] in which lines are noted: those before it do not hoist.
pub const LINES: usize = 6;

const _: () =
    assert!(!MODELS[LINES - 1].hoist && MODELS[LINES].hoist && MODELS[LINES + 1].hoist && MODELS[LINES + 2].hoist);

/// What a task depends on within the task around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Child {
    /// The calls of a place.
    Call(u32),
    /// A loop.
    Loop(u32),
    /// Iterations of the loop that is the task.
    Iteration,
    /// Its own instructions on a line: [number](crate::source::Source::line_of) in its function.
    Line(u32),
}

impl Child {
    /// As a key.
    #[inline]
    fn key(self) -> u64 {
        match self {
            Child::Call(place) => u64::from(place) << 2,
            Child::Loop(number) => u64::from(number) << 2 | 1,
            Child::Iteration => 2,
            Child::Line(line) => u64::from(line) << 2 | 3,
        }
    }
}

#[derive(Debug, Default)]
struct Level {
    /// Own time, less the work of the program so far.
    offset: i64,
    /// Work of the program when it began.
    begun: u64,
    /// When all children were ready that have ended.
    end: u64,
    /// When what it depends on is ready, by the clock of the level around it.
    need: u64,
    /// Higher than what tasks before it have noted below.
    base: u64,
    /// When each of its calls and loops was ready, by [`Child::key`], counted from there.
    done: Done,
    /// The same of its lines.
    lines: Lines,
    /// The same of its iterations.
    iterations: u64,
    /// The line that runs, and own time at which it began.
    line: u32,
    line_start: u64,
    line_work: u64,
    /// When all is ready that the line waits for: no call of it has its arguments before.
    line_need: u64,
    condition: u64,
}

impl Level {
    #[inline]
    fn begin(&mut self, work: u64) {
        (self.offset, self.begun, self.line_work) = (-work.cast_signed(), work, work);
        // Nothing was noted after its end.
        self.base += self.end + 1;
        (self.end, self.need, self.iterations) = (0, 0, 0);
        (self.line, self.line_start, self.line_need, self.condition) = (0, 0, 0, 0);
        self.done.begin();
    }

    /// When a child was ready.
    #[inline]
    fn ready(&self, child: Child) -> u64 {
        match child {
            Child::Iteration => self.iterations,
            Child::Line(line) => self.lines.get(line).saturating_sub(self.base),
            Child::Call(_) | Child::Loop(_) => self.done.get(child.key()).saturating_sub(self.base),
        }
    }

    #[inline]
    fn time(&self, work: u64) -> u64 {
        work.saturating_add_signed(self.offset)
    }

    #[inline]
    fn set_time(&mut self, time: u64, work: u64) {
        self.offset = time.cast_signed() - work.cast_signed();
    }

    #[inline]
    fn close_line(&mut self, model: Model, work: u64) {
        if self.line == 0 {
            return;
        }
        let finish = if model.lines { self.line_start + (work - self.line_work) } else { self.time(work) };
        self.lines.raise(self.line & !BRANCHES, self.base + finish);
        self.end = self.end.max(finish);
        if self.line & BRANCHES != 0 {
            self.condition = self.condition.max(finish);
        }
        self.line = 0;
        if model.lines {
            // Its own time is that of its latest line.
            self.set_time(self.end, work);
        }
    }
}

/// Work of the program so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// With that of the line that runs.
    pub work: u64,
    /// That of the line alone.
    pub line: u64,
}

/// One model at work.
#[derive(Debug)]
pub struct Run {
    /// The model.
    pub model: Model,
    /// Running tasks, and room for deeper ones.
    levels: Vec<Level>,
    depth: usize,
    /// Span of the main call, when it has ended.
    pub span: u64,
    /// Room for times that are compared.
    seen: ([Times; 3], [Times; 2]),
    /// Room for those of lines.
    room: Room,
}

/// Times three times, steps, and times that were moved.
type Room = ([Vec<u64>; 3], Vec<u64>, Vec<u64>);

impl AsMut<Run> for Run {
    fn as_mut(&mut self) -> &mut Run {
        self
    }
}

impl Run {
    /// Begins.
    pub fn new(model: Model) -> Run {
        Run {
            model,
            levels: vec![Level::default()],
            depth: 1,
            span: 0,
            seen: Default::default(),
            room: Default::default(),
        }
    }

    /// Levels now.
    #[inline]
    pub fn depth(&self) -> usize {
        self.depth
    }

    fn running(&self) -> &[Level] {
        &self.levels[..self.depth]
    }

    /// A task begins.
    #[inline]
    pub fn begin(&mut self, work: u64) {
        if self.levels.len() == self.depth {
            self.levels.push(Level::default());
        }
        self.levels[self.depth].begin(work);
        self.depth += 1;
    }

    /// It ends.
    #[inline]
    pub fn end(&mut self, child: Child, work: u64) {
        if self.depth < 2 {
            return;
        }
        let finish = self.close(work, false);
        self.ended(child, finish);
    }

    /// A call ends that is too small to be a task: what follows begins when it is ready.
    pub fn end_inline(&mut self, child: Child, work: u64) {
        if self.depth < 2 {
            return;
        }
        let finish = self.close(work, true);
        self.ended(child, finish);
    }

    #[inline]
    fn ended(&mut self, child: Child, finish: u64) {
        self.depth -= 1;
        let around = &mut self.levels[self.depth - 1];
        match child {
            Child::Iteration => around.iterations = around.iterations.max(finish),
            _ => around.done.raise(child.key(), around.base + finish),
        }
        if self.depth == 1 {
            self.span = self.span.max(finish);
        }
    }

    /// An iteration ends, and the next one begins.
    #[inline]
    pub fn turn(&mut self, work: u64) {
        if self.depth < 2 {
            return;
        }
        let finish = self.close(work, false);
        let [around, level] = &mut self.levels[self.depth - 2..self.depth] else {
            return;
        };
        around.iterations = around.iterations.max(finish);
        level.begin(work);
    }

    /// What a task that ends is for the one around it; when it is ready. `inline`: the one around has waited for it.
    #[inline]
    fn close(&mut self, work: u64, inline: bool) -> u64 {
        let [around, level] = &mut self.levels[self.depth - 2..self.depth] else {
            return 0;
        };
        let model = self.model;
        if model.hoist {
            level.close_line(model, work);
        }
        let span = level.time(work).max(level.end);
        // The time around stood still meanwhile.
        let before = level.begun.saturating_add_signed(around.offset);
        let started = if model.hoist && !inline {
            let line = if model.lines { around.line_start } else { around.line_need };
            level.need.max(line).max(if model.control { around.condition } else { 0 })
        } else {
            before.max(level.need)
        };
        let finish = started + span;
        let time = match () {
            () if inline => finish,
            () if model.hoist => before,
            () => started,
        };
        around.set_time(time, work);
        around.end = around.end.max(finish);
        // The line goes on without what its calls did.
        around.line_work += work - level.begun;
        finish
    }

    /// The current task goes on with another line, or with that of the call before it: then what the line has waited for is still needed. Only
    /// where lines count.
    #[inline]
    pub fn line(&mut self, line: u32, (branches, goes_on): (bool, bool), work: u64) {
        let model = self.model;
        if !model.hoist {
            return;
        }
        let level = &mut self.levels[self.depth - 1];
        level.close_line(model, work);
        let now = if !model.lines {
            level.time(work)
        } else if model.control {
            level.condition
        } else {
            0
        };
        let (start, need) = if goes_on { (level.line_start, level.line_need) } else { (0, 0) };
        let now = if model.lines { now.max(start) } else { now };
        (level.line, level.line_start, level.line_work, level.line_need) = (line, now, work, need);
        if branches {
            level.line |= BRANCHES;
        }
    }

    /// What runs now depends on a child of a level.
    #[inline]
    pub fn depend(&mut self, level: usize, child: Child, now: Clock) {
        if level >= self.depth {
            return;
        }
        let ready = self.levels[level].ready(child);
        self.wait(level, ready, now);
    }

    /// What runs now depends on children of a level.
    #[inline]
    pub fn depend_all(&mut self, level: usize, children: &[Child], now: Clock) {
        if level >= self.depth {
            return;
        }
        // To wait for several is to wait for the last one.
        let of = &self.levels[level];
        let ready = children.iter().fold(0, |ready, child| of.ready(*child).max(ready));
        self.wait(level, ready, now);
    }

    #[inline]
    fn wait(&mut self, level: usize, ready: u64, now: Clock) {
        if level + 1 < self.depth {
            let inner = &mut self.levels[level + 1];
            inner.need = inner.need.max(ready);
            return;
        }
        let of = &mut self.levels[level];
        of.line_need = of.line_need.max(ready);
        if self.model.lines {
            of.line_start = of.line_start.max(ready);
        } else if ready > 0 && ready + now.line > of.time(now.work) {
            // The line waits, then runs.
            of.set_time(ready + now.line, now.work);
        }
    }

    /// What runs now takes the result of a call on the same line.
    pub fn tail(&mut self, place: u32, now: Clock) {
        if self.model.lines {
            self.depend(self.depth - 1, Child::Call(place), now);
        }
    }

    /// The span so far, of all that has ended and all that runs.
    pub fn finish(&mut self, work: u64) -> u64 {
        while self.depth > 1 {
            self.end(Child::Iteration, work);
        }
        let (model, level) = (self.model, &mut self.levels[0]);
        if model.hoist {
            level.close_line(model, work);
        }
        level.time(work).max(level.end).max(self.span)
    }
}

const BRANCHES: u32 = 1 << 31;
