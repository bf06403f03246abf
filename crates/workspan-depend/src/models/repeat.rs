//! Iterations of an innermost loop that are all the same strip and wait for the same, many at once.
//!
//! **Argument, where iterations are tasks:** nothing has ended in an iteration, so its own length is always the same. What it needs from tasks
//! further out does not change while the loop runs. So either no iteration waits for others, and all begin when the first one could, or
//! each waits for those before, and begins when its predecessor is ready: in the state that one iteration leaves, the next one moves
//! all times by its length, or none.
//!
//! **Where lines are tasks of the call:** what an iteration does to the times of its lines is made of sums with constants and of maxima, so each
//! time after it is a convex function of those before: what [`jump`](mod@super::jump) says.

use super::{Level, Program, Run, Wait, BRANCHES};

/// Iterations that are not worth a jump.
const FEW: u64 = 5;

impl Run {
    /// Tasks of that work ran like the innermost one, one after another; `follows`: each waits for those before. `work`: that of the
    /// program now, at which the innermost one ends.
    pub fn skip(&mut self, cost: u64, times: u64, follows: bool, work: u64) {
        let hoist = self.model.hoist;
        let Some([around, level]) = self.levels[..self.depth].last_chunk_mut() else {
            return;
        };
        let open = if level.line == 0 { 0 } else { level.line_start + (work - level.line_work) };
        let own = if hoist && self.model.lines && level.line != 0 { open } else { level.time(work) };
        let span = own.max(level.end) * times;
        let cost = cost * times;
        around.offset -= cost.cast_signed();
        if follows {
            around.iterations += span;
            level.need += span;
            around.offset += if hoist { 0 } else { span.cast_signed() };
        }
        around.line_work += cost;
        level.offset -= cost.cast_signed();
        level.begun += cost;
        level.line_work += cost;
    }

    /// A strip, several times, in a model in which lines are tasks of the call; `work`: that of the program before.
    pub fn jump(&mut self, program: &Program, place: usize, (mut work, mut times): (u64, u64), further: &[Wait]) {
        let once = |run: &mut Run, work: &mut u64| {
            run.whole(program, place, *work, further);
            *work += program.cost;
        };
        let (mut seen, mut steps, mut moved) = std::mem::take(&mut self.room);
        let mut most = u64::MAX;
        while times > FEW && most > FEW {
            program.times(self.top(), &mut seen[0]);
            once(self, &mut work);
            program.times(self.top(), &mut seen[1]);
            once(self, &mut work);
            program.times(self.top(), &mut seen[2]);
            times -= 2;
            steps.clear();
            steps.extend(seen[2].iter().zip(&seen[1]).map(|(to, from)| to.wrapping_sub(*from)));
            let is_alike = |from: &[u64], to: &[u64]| {
                steps.iter().zip(from.iter().zip(to)).all(|(step, (from, to))| to.wrapping_sub(*from) == *step)
            };
            if !is_alike(&seen[0], &seen[1]) {
                continue;
            }
            let many = most.min(times - 1);
            moved.clear();
            moved.extend(seen[2].iter().zip(&steps).map(|(last, step)| last.wrapping_add(step.wrapping_mul(many))));
            let (before, offset, line_work) = (work, self.top().offset, self.top().line_work);
            work += many * program.cost;
            program.set_times(self.top_mut(), &moved, many);
            once(self, &mut work);
            program.times(self.top(), &mut seen[0]);
            if is_alike(&moved, &seen[0]) {
                times -= many + 1;
            } else {
                // As it was: each iteration sets the same times.
                work = before;
                program.set_times(self.top_mut(), &seen[2], 0);
                (self.top_mut().offset, self.top_mut().line_work) = (offset, line_work);
                most = many / 2;
            }
        }
        self.room = (seen, steps, moved);
        for _ in 0..times {
            once(self, &mut work);
        }
    }

    fn top(&self) -> &Level {
        &self.levels[self.depth - 1]
    }

    fn top_mut(&mut self) -> &mut Level {
        &mut self.levels[self.depth - 1]
    }
}

impl Program {
    /// All times that its lines change.
    fn times(&self, level: &Level, into: &mut Vec<u64>) {
        into.clear();
        into.extend([level.end, level.condition, level.line_start]);
        into.extend(self.numbers().map(|line| level.lines.get(line).saturating_sub(level.base)));
    }

    /// Sets them; `many`: iterations that have been skipped.
    fn set_times(&self, level: &mut Level, times: &[u64], many: u64) {
        let grown = times[0].wrapping_sub(level.end);
        let cost = many * self.cost;
        level.offset = level.offset.wrapping_add(grown.cast_signed()).wrapping_sub(cost.cast_signed());
        (level.end, level.condition, level.line_start) = (times[0], times[1], times[2]);
        level.line_work += cost;
        for (line, time) in self.numbers().zip(&times[3..]) {
            level.lines.set(line, level.base + time);
        }
    }

    fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.lines.iter().map(|line| line.number & !BRANCHES)
    }
}
