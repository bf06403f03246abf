//! Speedup, parallelism, and the laws: defined here, once, for every command.
//!
//! With `W` for the work, `S` for the span, and `T` for the time on one processor:
//!
//! | what | is |
//! |---|---|
//! | time on one processor | `T = max(W, S, Σ max(work, critical) over what runs one after the other)`: `W`, unless the program waits for the outside world |
//! | parallelism | `T / S`: the speedup on any number of processors, never below 1 |
//! | work law | no schedule on `P` processors is shorter than `T / P` |
//! | span law | none is shorter than `S` |
//! | Brent's theorem | no greedy schedule is longer than `(W + B) / P + S (1 - 1/P)`, `B` for the time blocked, at most `S` |
//! | speedup | `T` over the time |
//!
//! A strand that waits for the outside world (a file, a timer, another process) holds no processor: others run meanwhile.
//! A strand that waits for another strand is part of a chain, and blocked for no time at all.
//!
//! **Argument.** One processor can do in `P` times the time what `P` do, so `T/P` bounds what they take even where `T` is
//! more than `W`. Of what runs one after the other, each takes one processor at least its work, and at least its part of
//! the path. A greedy schedule leaves no processor idle while a strand is ready, and pays nothing for moving work: while
//! some are idle, the longest path that is left gets shorter, of which at most `B` is blocked. So the truth may be
//! below the lower bound, by what stealing costs.

use workspan_model::{Nanos, Ratio};

/// What runs before something else of the program's critical path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// Work that must be over before the path goes on.
    pub work: Nanos,
    /// Its part of the critical path.
    pub critical: Nanos,
}

/// Time on one processor of a program with this work and span; `stages`, as far as they are known, run one after the
/// other.
pub fn on_one(work: Nanos, span: Nanos, stages: impl IntoIterator<Item = Stage>) -> Nanos {
    let (mut in_turn, mut rest) = (Nanos::ZERO, span);
    for stage in stages {
        in_turn += stage.work.max(stage.critical).at_least_zero();
        rest -= stage.critical;
    }
    work.max(span).max(in_turn + rest.at_least_zero())
}

/// Parallelism: time on one processor over span. Of a site or region that is its work, or its span if it waits for longer
/// than it works. `None` without a span.
pub fn parallelism(on_one: Nanos, span: Nanos) -> Option<Ratio> {
    on_one.max(span).over(span)
}

/// Span of a row whose instances add up to `sum`, in a program of span `program`: instances that run one after the other are a
/// chain of that length; of those beside each other no chain has all, and none is longer than the program's.
pub fn row_span(sum: Nanos, program: Nanos) -> Nanos {
    sum.min(program)
}

/// Speedup of a schedule that takes `time`.
pub fn speedup(on_one: Nanos, time: Nanos) -> Option<Ratio> {
    on_one.over(time)
}

/// Between what the speedup of a greedy schedule lies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Processors.
    pub processors: u32,
    /// At least.
    pub least: f64,
    /// At most.
    pub most: f64,
}

/// Powers of two for which bounds are reported: up to 1024.
pub const POWERS: u32 = 11;

/// What the laws are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Sum of all strands.
    pub work: Nanos,
    /// Longest chain of strands.
    pub span: Nanos,
    /// Time that strands waited for the outside world.
    pub blocked: Nanos,
    /// Time on one processor.
    pub on_one: Nanos,
}

/// No schedule of this number of processors is shorter, by the work law: rounded up.
pub fn work_law(on_one: Nanos, processors: u32) -> Nanos {
    let p = i64::from(processors.max(1));
    Nanos(on_one.0.div_euclid(p) + i64::from(on_one.0.rem_euclid(p) != 0))
}

impl Program {
    /// No schedule of this number of processors is shorter.
    pub fn shortest(&self, processors: u32) -> Nanos {
        work_law(self.on_one, processors).max(self.span)
    }

    /// No greedy schedule of this number of processors is longer, by Brent's theorem: rounded up.
    pub fn brent(&self, processors: u32) -> Nanos {
        let all = self.work + self.path_blocked();
        let longest = work_law(all, processors) + self.span - Nanos(self.span.0 / i64::from(processors.max(1)));
        longest.max(self.shortest(processors))
    }

    /// On one path nothing is blocked for longer than the span.
    fn path_blocked(&self) -> Nanos {
        self.blocked.at_least_zero().min(self.span.at_least_zero())
    }

    /// The bounds on a number of processors, which are not rounded. Without anything to run all are zero.
    pub fn bounds(&self, processors: u32) -> Bounds {
        let on_one = self.on_one.max(self.span).as_f64();
        let (all, span) = ((self.work + self.path_blocked()).as_f64(), self.span.as_f64());
        if on_one <= 0.0 || processors == 0 {
            return Bounds { processors, ..Bounds::default() };
        }
        let p = f64::from(processors);
        let shortest = (on_one / p).max(span);
        // A schedule may leave all processors idle but one.
        let longest = (all / p + span * (1.0 - 1.0 / p)).max(shortest).min(on_one);
        Bounds { processors, least: on_one / longest, most: on_one / shortest }
    }

    /// The bounds on 1, 2, 4 … 1024 processors: at least what the span allows, at most what the shortest does, the other end of its range.
    pub fn curve(&self, shortest: Option<Nanos>) -> [Bounds; POWERS as usize] {
        let other = Program { span: shortest.map_or(self.span, |shortest| shortest.min(self.span)), ..*self };
        std::array::from_fn(|power| Bounds { most: other.bounds(1 << power).most, ..self.bounds(1 << power) })
    }
}

/// A time, multiplied.
#[expect(clippy::cast_possible_truncation, reason = "a time")]
pub(crate) fn scaled(time: Nanos, factor: f64) -> Nanos {
    Nanos((time.as_f64() * factor).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(work: i64, blocked: i64, span: i64, processors: u32, least: f64, most: f64) {
        let [work, blocked, span] = [work, blocked, span].map(Nanos);
        let found = Program { work, span, blocked, on_one: work.max(span) }.bounds(processors);
        assert!((found.least - least).abs() < 1e-9 && (found.most - most).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_laws_hold() {
        // All of it serial.
        check(100, 0, 100, 8, 1.0, 1.0);
        // Ten at a time.
        check(1_000, 0, 100, 1, 1.0, 1.0);
        check(1_000, 0, 100, 10, 1_000.0 / 190.0, 10.0);
        check(1_000, 0, 100, 1_000, 1_000.0 / 100.9, 10.0);
        check(0, 0, 0, 8, 0.0, 0.0);
        check(100, 0, 10, 0, 0.0, 0.0);
        // Half of it waits for the outside world, and nothing else can run meanwhile.
        check(50, 50, 100, 8, 1.0, 1.0);
        // Eight wait at the same time.
        check(800, 800, 200, 8, 800.0 / 300.0, 4.0);
    }

    #[test]
    fn one_processor_does_in_turn_what_the_path_has_in_turn() {
        let stage = |work, critical| Stage { work: Nanos(work), critical: Nanos(critical) };
        // Nothing waits: it is the work.
        assert_eq!(on_one(Nanos(1_000), Nanos(100), [stage(0, 20), stage(800, 80)]), Nanos(1_000));
        // A second of sleep, then two tasks of a second beside each other.
        assert_eq!(on_one(Nanos(2), Nanos(2), [stage(0, 1), stage(2, 1)]), Nanos(3));
        // A thread that sleeps, beside four seconds of work.
        assert_eq!(on_one(Nanos(4), Nanos(5), [stage(0, 0)]), Nanos(5));
        assert_eq!(parallelism(Nanos(1), Nanos(2)), Some(Ratio(1.0)));
        assert_eq!(parallelism(Nanos(1), Nanos::ZERO), None);
    }
}
