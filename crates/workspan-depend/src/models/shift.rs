//! Taking the times of the innermost tasks, and moving them by many iterations at once.

use super::times::Times;
use super::Run;

/// Levels that an iteration of an innermost loop changes: the iteration's, and the one around it.
const LEVELS: usize = 2;

impl Run {
    /// The innermost tasks now, of a model that knows no lines.
    pub fn times(&self, into: &mut Times, work: u64) {
        let Times { times, begun, shape } = into;
        times.clear();
        begun.clear();
        shape.clear();
        let running = self.running();
        let first = running.len().saturating_sub(LEVELS);
        shape.push(running.len());
        for (at, level) in running.iter().enumerate().skip(first) {
            // The time of a task stands still while another one runs within it.
            let clock = running.get(at + 1).map_or(work, |inner| inner.begun);
            times.push(clock.saturating_add_signed(level.offset));
            times.extend([level.end, level.need, level.iterations, level.line_start, level.condition]);
            let before = times.len();
            times.extend(level.done.numbers(level.base).map(|number| number - level.base));
            let done = times.len() - before;
            begun.extend([level.begun, level.line_work]);
            shape.extend([level.line as usize, done]);
        }
    }

    /// The same step as from the second to the last `many` times more; `work`: afterwards.
    pub fn shift(&mut self, seen: &[Times; 3], many: u64, work: u64) {
        let by = |of: fn(&Times) -> &Vec<u64>, at: usize| {
            let last = of(&seen[2])[at];
            last.wrapping_add(last.wrapping_sub(of(&seen[1])[at]).wrapping_mul(many))
        };
        let (depth, first) = (self.depth, self.depth.saturating_sub(LEVELS));
        for (at, level) in self.levels[first..depth].iter_mut().enumerate() {
            (level.begun, level.line_work) = (by(|times| &times.begun, 2 * at), by(|times| &times.begun, 2 * at + 1));
        }
        let mut next = 0;
        let mut take = || {
            next += 1;
            by(|times| &times.times, next - 1)
        };
        for at in first..depth {
            let clock = self.levels[..depth].get(at + 1).map_or(work, |inner| inner.begun);
            let level = &mut self.levels[at];
            level.offset = take().cast_signed() - clock.cast_signed();
            for time in
                [&mut level.end, &mut level.need, &mut level.iterations, &mut level.line_start, &mut level.condition]
            {
                *time = take();
            }
            let base = level.base;
            level.done.numbers_mut(base).for_each(|time| *time = base + take());
        }
    }
}
