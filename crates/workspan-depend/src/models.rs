//! Work and span in the task models, as the program streams by.
//!
//! For each model the running calls, and in some the loops and iterations, are tasks ([`Model`]). A task's own time is where its
//! serial execution stands; a child that ends notes when it was ready, and whoever depends on it waits for that. All times are relative to
//! the beginning of the task, so that a child is composed when it ends, wherever it began.
//!
//! **Cost:** a few additions for each call, loop, iteration and dependence; nothing for an access. **Memory:** the running tasks,
//! and for each of them one number for each place that it has called.

mod done;
mod jump;
mod shift;
mod times;

use self::done::Done;
pub use self::jump::jump;
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
    /// Its own instructions on a line.
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
    /// When each of its children was ready, by [`Child::key`].
    done: Done,
    /// The same of its iterations.
    iterations: u64,
    /// Own time at which the line that runs began.
    line: u32,
    line_start: u64,
    line_work: u64,
    condition: u64,
}

/// One model at work.
#[derive(Debug)]
pub struct Run {
    /// The model.
    pub model: Model,
    levels: Vec<Level>,
    /// Tables of levels that have ended, empty, for those that begin.
    spare: Vec<Done>,
    /// Work of the program so far.
    work: u64,
    /// Span of the main call, when it has ended.
    pub span: u64,
    /// Room for times that are compared.
    seen: ([Times; 3], [Times; 2]),
}

impl Run {
    /// Begins.
    pub fn new(model: Model) -> Run {
        Run { model, levels: vec![Level::default()], spare: Vec::new(), work: 0, span: 0, seen: Default::default() }
    }

    /// Levels now.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    fn time(&self, level: usize) -> u64 {
        let offset = self.levels.get(level).map_or(0, |level| level.offset);
        self.work.saturating_add_signed(offset)
    }

    fn set_time(&mut self, level: usize, time: u64) {
        let work = self.work;
        if let Some(level) = self.levels.get_mut(level) {
            level.offset = time.cast_signed() - work.cast_signed();
        }
    }

    /// The program worked.
    #[inline]
    pub fn work(&mut self, cost: u64) {
        self.work += cost;
    }

    /// Tasks of that work ran like the innermost one so far, one after another, and ended when it does.
    pub fn skip(&mut self, cost: u64) {
        self.work += cost;
        let top = self.levels.len() - 1;
        for level in &mut self.levels[top.saturating_sub(1)..] {
            // Their own time stands still.
            level.offset -= cost.cast_signed();
            level.line_work += cost;
        }
        self.levels[top].begun += cost;
    }

    /// A task begins.
    pub fn begin(&mut self) {
        let offset = -self.work.cast_signed();
        let begun = self.work;
        let done = self.spare.pop().unwrap_or_default();
        self.levels.push(Level { offset, begun, line_work: begun, done, ..Level::default() });
    }

    /// It ends.
    pub fn end(&mut self, child: Child) {
        if self.levels.len() < 2 {
            return;
        }
        self.close_line();
        let top = self.levels.len() - 1;
        let span = self.time(top).max(self.levels[top].end);
        let Some(mut level) = self.levels.pop() else {
            return;
        };
        level.done.clear();
        self.spare.push(level.done);
        let around = top - 1;
        // The time around stood still meanwhile.
        let before = level.begun.saturating_add_signed(self.levels[around].offset);
        let started = if self.model.hoist {
            let line = if self.model.lines { self.levels[around].line_start } else { 0 };
            level.need.max(line).max(if self.model.control { self.levels[around].condition } else { 0 })
        } else {
            before.max(level.need)
        };
        let own = if self.model.hoist { before } else { started };
        self.set_time(around, own);
        let finish = started + span;
        let work = self.work;
        let around = &mut self.levels[around];
        around.end = around.end.max(finish);
        match child {
            Child::Iteration => around.iterations = around.iterations.max(finish),
            _ => around.done.raise(child.key(), finish),
        }
        around.line_work = work;
        if top == 1 {
            self.span = self.span.max(finish);
        }
    }

    /// The current task goes on with another line. Only where lines count.
    #[inline]
    pub fn line(&mut self, line: u32, branches: bool) {
        if !self.model.hoist {
            return;
        }
        self.close_line();
        let top = self.levels.len() - 1;
        let now = if self.model.lines {
            if self.model.control {
                self.levels[top].condition
            } else {
                0
            }
        } else {
            self.time(top)
        };
        let work = self.work;
        let level = &mut self.levels[top];
        (level.line, level.line_start, level.line_work) = (line, now, work);
        if branches {
            level.line |= BRANCHES;
        }
    }

    fn close_line(&mut self) {
        if !self.model.hoist {
            return;
        }
        let top = self.levels.len() - 1;
        let work = self.work;
        let serial = self.time(top);
        let is_lines = self.model.lines;
        let level = &mut self.levels[top];
        if level.line == 0 {
            return;
        }
        let finish = if is_lines { level.line_start + (work - level.line_work) } else { serial };
        level.done.raise(Child::Line(level.line & !BRANCHES).key(), finish);
        level.end = level.end.max(finish);
        if level.line & BRANCHES != 0 {
            level.condition = level.condition.max(finish);
        }
        level.line = 0;
        if is_lines {
            // Its own time is that of its latest line.
            let end = level.end;
            self.set_time(top, end);
        }
    }

    /// What runs now depends on a child of a level.
    #[inline]
    pub fn depend(&mut self, level: usize, child: Child) {
        let Some(of) = self.levels.get(level) else {
            return;
        };
        let ready = match child {
            Child::Iteration => of.iterations,
            _ => of.done.get(child.key()),
        };
        if level + 1 < self.levels.len() {
            let inner = &mut self.levels[level + 1];
            inner.need = inner.need.max(ready);
        } else if self.model.lines {
            let level = &mut self.levels[level];
            level.line_start = level.line_start.max(ready);
        } else if ready > self.time(level) {
            self.set_time(level, ready);
        }
    }

    /// What runs now takes the result of a call on the same line.
    pub fn tail(&mut self, place: u32) {
        if self.model.lines {
            self.depend(self.levels.len() - 1, Child::Call(place));
        }
    }

    /// The span so far, of all that has ended and all that runs.
    pub fn finish(&mut self) -> u64 {
        while self.levels.len() > 1 {
            self.end(Child::Iteration);
        }
        self.close_line();
        self.time(0).max(self.levels[0].end).max(self.span)
    }
}

const BRANCHES: u32 = 1 << 31;
