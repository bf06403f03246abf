//! What a strip of lines does to models: lines that follow one another while no task begins or ends.
//!
//! **Argument:** own time grows by what lines cost, and by waits. Where lines are not noted, to wait on a line for what is ready at a time is
//! the same as to wait at the end for that time and all cost from that line on, since time and waits are maxima of sums. What lines
//! wait for in tasks further out is what those tasks need, on whichever line it is.

use super::{Child, Run, BRANCHES};

/// Models that run at once.
pub const COUNT: usize = 6;
/// The first of them that knows lines.
const FIRST: usize = 3;

/// A line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Its number, and whether a condition ends it.
    pub(super) number: u32,
    cost: u32,
    /// It goes on with the line of the call before it.
    goes_on: bool,
    /// Cost of those before.
    before: u64,
}

/// A wait of the innermost task.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Line, from 1.
    pub line: u32,
    /// For what.
    pub child: Child,
}

/// What a strip is for models.
#[derive(Debug, Default)]
pub struct Program {
    pub(super) lines: Vec<Line>,
    pub(super) cost: u64,
    /// What tasks need: place of the model, level, from that of the call, and what in it.
    pub needs: Vec<(u32, u32, Child)>,
    /// What the innermost task waits for, by model, in the order of lines.
    pub waits: [Vec<Wait>; COUNT],
    /// The same with the lines, of models that know them.
    plans: [Vec<Op>; COUNT],
}

/// What a model that knows lines does.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// A line begins.
    Line(Line),
    /// It waits for another line.
    AfterLine(u32),
    /// It waits for a call or loop.
    AfterChild(u64),
}

impl Program {
    /// How many lines there are.
    pub fn count(&self) -> u32 {
        crate::source::small(self.lines.len())
    }

    /// A further line.
    pub fn line(&mut self, number: u32, cost: u32, (branches, goes_on): (bool, bool)) {
        let number = if branches { number | BRANCHES } else { number };
        self.lines.push(Line { number, cost, goes_on, before: self.cost });
        self.cost += u64::from(cost);
    }

    /// What the innermost task waits for begins anew.
    pub fn clear(&mut self) {
        self.waits.iter_mut().for_each(Vec::clear);
    }

    /// The innermost task waits.
    pub fn wait(&mut self, place: usize, line: u32, child: Child) {
        let waits = &mut self.waits[place];
        if waits.iter().any(|wait| wait.line == line && wait.child == child) {
            return;
        }
        let after = waits.partition_point(|wait| wait.line <= line);
        waits.insert(after, Wait { line, child });
    }

    /// All waits are known.
    pub fn plan(&mut self) {
        for (plan, waits) in self.plans.iter_mut().zip(&self.waits).skip(FIRST) {
            plan.clear();
            for (number, line) in (1..).zip(&self.lines) {
                plan.push(Op::Line(*line));
                for wait in waits.iter().filter(|wait| wait.line == number) {
                    plan.push(match wait.child {
                        Child::Line(line) => Op::AfterLine(line),
                        child => Op::AfterChild(child.key()),
                    });
                }
            }
        }
    }
}

impl Run {
    /// The task within a level needs a child of it.
    #[inline]
    pub fn need(&mut self, level: usize, child: Child) {
        if level + 1 < self.depth {
            let ready = self.levels[level].ready(child);
            let inner = &mut self.levels[level + 1];
            inner.need = inner.need.max(ready);
        }
    }

    /// All lines of the innermost task; `work`: that of the program before the strip.
    #[inline]
    pub fn whole(&mut self, program: &Program, place: usize, work: u64, further: &[Wait]) {
        if self.model.lines {
            self.all_tasks(&program.plans[place], work, further);
        } else if self.model.hoist && further.is_empty() {
            self.all_noted(&program.plans[place], work);
        } else if self.model.hoist || !further.is_empty() || !program.waits[place].is_empty() {
            self.lines(program, place, (0, program.count()), work, further);
        }
    }

    /// All times are counted from the same number as those of lines.
    fn all_tasks(&mut self, plan: &[Op], work: u64, further: &[Wait]) {
        let control = self.model.control;
        let level = &mut self.levels[self.depth - 1];
        let base = level.base;
        let (mut end, mut condition, mut closed) = (base + level.end, base + level.condition, None);
        let (mut line, mut start, mut begun) = (level.line, base + level.line_start, level.line_work);
        let (mut number, mut at) = (0, 0);
        for op in plan {
            match op {
                Op::Line(next) => {
                    let work = work + next.before;
                    if line != 0 {
                        let finish = start + (work - begun);
                        level.lines.raise(line & !BRANCHES, finish);
                        end = end.max(finish);
                        if line & BRANCHES != 0 {
                            condition = condition.max(finish);
                        }
                        closed = Some(work);
                    }
                    let least = if next.goes_on { start } else { base };
                    (line, begun, start) = (next.number, work, if control { condition.max(least) } else { least });
                    number += 1;
                    while let Some(wait) = further.get(at).filter(|wait| wait.line == number) {
                        start = start.max(base + level.ready(wait.child));
                        at += 1;
                    }
                }
                Op::AfterLine(line) => start = start.max(level.lines.get(*line)),
                Op::AfterChild(key) => start = start.max(level.done.get(*key)),
            }
        }
        (level.line, level.line_start, level.line_work) = (line, start - base, begun);
        (level.end, level.condition) = (end - base, condition - base);
        if let Some(work) = closed {
            // Its own time is that of its latest line.
            level.set_time(end - base, work);
        }
    }

    fn all_noted(&mut self, plan: &[Op], work: u64) {
        let level = &mut self.levels[self.depth - 1];
        let base = level.base;
        let (mut end, mut condition, mut line) = (base + level.end, base + level.condition, level.line);
        let (mut time, mut cost, mut behind) = (base + level.time(work), 0, work);
        let mut need = base + level.line_need;
        for op in plan {
            match op {
                Op::Line(next) => {
                    (time, need) = (time + cost, if next.goes_on { need } else { base });
                    if line != 0 {
                        level.lines.raise(line & !BRANCHES, time);
                        end = end.max(time);
                        if line & BRANCHES != 0 {
                            condition = condition.max(time);
                        }
                    }
                    (line, cost) = (next.number, u64::from(next.cost));
                    behind = work + next.before + cost;
                }
                Op::AfterLine(line) => need = need.max(level.lines.get(*line)),
                Op::AfterChild(key) => need = need.max(level.done.get(*key)),
            }
            time = time.max(need);
        }
        (level.end, level.condition, level.line, level.line_need) = (end - base, condition - base, line, need - base);
        level.set_time(time + cost - base, behind);
    }

    /// Lines from one on, up to another, of the innermost task; `work`: that of the program before the strip. `further`: other waits, in
    /// the order of lines.
    #[inline]
    pub fn lines(&mut self, program: &Program, place: usize, (from, to): (u32, u32), work: u64, further: &[Wait]) {
        let waits = &program.waits[place][..];
        if self.model.lines {
            self.tasks(program, (from, to), work, (waits, further));
        } else if self.model.hoist {
            self.noted(program, (from, to), work, (waits, further));
        } else if !waits.is_empty() || !further.is_empty() {
            let end = program.lines.get(to as usize).map_or(program.cost, |line| line.before);
            let level = &mut self.levels[self.depth - 1];
            let before = level.time(work + end);
            let mut time = before;
            for wait in waits.iter().chain(further).filter(|wait| from < wait.line && wait.line <= to) {
                let ready = level.ready(wait.child);
                if ready > 0 {
                    time = time.max(ready + end - program.lines[wait.line as usize - 1].before);
                }
            }
            if time > before {
                level.set_time(time, work + end);
            }
        }
    }

    /// Lines that are tasks.
    fn tasks(&mut self, program: &Program, (from, to): (u32, u32), work: u64, (waits, further): (&[Wait], &[Wait])) {
        let control = self.model.control;
        let level = &mut self.levels[self.depth - 1];
        let (mut at, mut next) = (waits.partition_point(|wait| wait.line <= from), 0);
        let (mut end, mut condition, mut closed) = (level.end, level.condition, None);
        let (mut line, mut start, mut begun) = (level.line, level.line_start, level.line_work);
        for (number, each) in (from + 1..).zip(&program.lines[from as usize..to as usize]) {
            let work = work + each.before;
            if line != 0 {
                let finish = start + (work - begun);
                level.lines.raise(line & !BRANCHES, level.base + finish);
                end = end.max(finish);
                if line & BRANCHES != 0 {
                    condition = condition.max(finish);
                }
                closed = Some(work);
            }
            let least = if each.goes_on { start } else { 0 };
            (line, begun, start) = (each.number, work, if control { condition.max(least) } else { least });
            while let Some(wait) = waits.get(at).filter(|wait| wait.line == number) {
                start = start.max(level.ready(wait.child));
                at += 1;
            }
            while let Some(wait) = further.get(next).filter(|wait| wait.line == number) {
                start = start.max(level.ready(wait.child));
                next += 1;
            }
        }
        (level.line, level.line_start, level.line_work) = (line, start, begun);
        (level.end, level.condition) = (end, condition);
        if let Some(work) = closed {
            // Its own time is that of its latest line.
            level.set_time(end, work);
        }
    }

    /// Lines whose ends are noted.
    fn noted(&mut self, program: &Program, (from, to): (u32, u32), work: u64, (waits, further): (&[Wait], &[Wait])) {
        let level = &mut self.levels[self.depth - 1];
        let (mut at, mut next) = (waits.partition_point(|wait| wait.line <= from), 0);
        let mut end = work + program.lines.get(from as usize).map_or(0, |line| line.before);
        let mut time = level.time(end);
        let (mut line, mut need) = (level.line, level.line_need);
        for (number, each) in (from + 1..).zip(&program.lines[from as usize..to as usize]) {
            if line != 0 {
                level.lines.raise(line & !BRANCHES, level.base + time);
                level.end = level.end.max(time);
                if line & BRANCHES != 0 {
                    level.condition = level.condition.max(time);
                }
            }
            (line, need) = (each.number, if each.goes_on { need } else { 0 });
            while let Some(wait) = waits.get(at).filter(|wait| wait.line == number) {
                need = need.max(level.ready(wait.child));
                at += 1;
            }
            while let Some(wait) = further.get(next).filter(|wait| wait.line == number) {
                need = need.max(level.ready(wait.child));
                next += 1;
            }
            time = time.max(need) + u64::from(each.cost);
            end = work + each.before + u64::from(each.cost);
        }
        (level.line, level.line_need) = (line, need);
        level.set_time(time, end);
    }
}
