//! What a strip of lines does to models: lines that follow one another while no task begins or ends.
//!
//! **Argument:** own time grows by what lines cost, and by waits. Where lines are not noted, to wait on a line for what is ready at a time is
//! the same as to wait at the end for that time and all cost from that line on, since time and waits are maxima of sums. What lines
//! wait for in tasks further out is what those tasks need, on whichever line it is.

use super::{Child, Run, BRANCHES};

/// Models that run at once.
pub const COUNT: usize = 6;

/// A line.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Its number, and whether a condition ends it.
    number: u32,
    cost: u32,
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
    lines: Vec<Line>,
    cost: u64,
    /// What tasks need, by model: level, from that of the call, and what in it.
    needs: [Vec<(u32, Child)>; COUNT],
    /// What the innermost task waits for, by model, in the order of lines.
    pub waits: [Vec<Wait>; COUNT],
}

impl Program {
    /// A further line.
    pub fn line(&mut self, number: u32, cost: u32, branches: bool) {
        let number = if branches { number | BRANCHES } else { number };
        self.lines.push(Line { number, cost, before: self.cost });
        self.cost += u64::from(cost);
    }

    /// A task of a level needs a child of it.
    pub fn need(&mut self, place: usize, level: u32, child: Child) {
        if !self.needs[place].contains(&(level, child)) {
            self.needs[place].push((level, child));
        }
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
}

impl Run {
    /// What tasks of the call at a level need.
    #[inline]
    pub fn need(&mut self, program: &Program, place: usize, base: usize) {
        for (level, child) in &program.needs[place] {
            let level = base + *level as usize;
            if level + 1 < self.depth {
                let ready = self.levels[level].ready(*child);
                let inner = &mut self.levels[level + 1];
                inner.need = inner.need.max(ready);
            }
        }
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
    fn tasks(&mut self, program: &Program, (from, to): (u32, u32), work: u64, waits: (&[Wait], &[Wait])) {
        let control = self.model.control;
        let level = &mut self.levels[self.depth - 1];
        let (mut waits, mut further) = (waits.0.iter().peekable(), waits.1.iter().peekable());
        let mut closed = None;
        for (number, line) in (from + 1..).zip(&program.lines[from as usize..to as usize]) {
            let work = work + line.before;
            if level.line != 0 {
                let finish = level.line_start + (work - level.line_work);
                level.lines.raise(level.line & !BRANCHES, finish);
                level.end = level.end.max(finish);
                if level.line & BRANCHES != 0 {
                    level.condition = level.condition.max(finish);
                }
                closed = Some(work);
            }
            let mut start = if control { level.condition } else { 0 };
            while let Some(wait) = waits.next_if(|wait| wait.line <= number) {
                if wait.line == number {
                    start = start.max(level.ready(wait.child));
                }
            }
            while let Some(wait) = further.next_if(|wait| wait.line <= number) {
                start = start.max(level.ready(wait.child));
            }
            (level.line, level.line_start, level.line_work) = (line.number, start, work);
        }
        if let Some(work) = closed {
            // Its own time is that of its latest line.
            level.set_time(level.end, work);
        }
    }

    /// Lines whose ends are noted.
    fn noted(&mut self, program: &Program, (from, to): (u32, u32), work: u64, waits: (&[Wait], &[Wait])) {
        let level = &mut self.levels[self.depth - 1];
        let (mut waits, mut further) = (waits.0.iter().peekable(), waits.1.iter().peekable());
        let first = program.lines.get(from as usize).map_or(0, |line| line.before);
        let mut time = level.time(work + first);
        let mut end = work + first;
        for (number, line) in (from + 1..).zip(&program.lines[from as usize..to as usize]) {
            if level.line != 0 {
                level.lines.raise(level.line & !BRANCHES, time);
                level.end = level.end.max(time);
                if level.line & BRANCHES != 0 {
                    level.condition = level.condition.max(time);
                }
            }
            let begun = time;
            while let Some(wait) = waits.next_if(|wait| wait.line <= number) {
                if wait.line == number {
                    time = time.max(level.ready(wait.child));
                }
            }
            while let Some(wait) = further.next_if(|wait| wait.line <= number) {
                time = time.max(level.ready(wait.child));
            }
            time += u64::from(line.cost);
            (level.line, level.line_start, level.line_work) = (line.number, begun, work + line.before);
            end = work + line.before + u64::from(line.cost);
        }
        level.set_time(time, end);
    }
}
