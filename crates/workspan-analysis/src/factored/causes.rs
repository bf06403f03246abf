//! The gap between a parallel run and the ideal one, by cause.
//!
//! Of P·T_P, the time that P workers have, the ideal run needs T_s. What is beyond falls to the causes, which do not
//! overlap and add up to it exactly: (T_1 − S_1 − T_s) + S_1 + I_P + (W_P − T_1), by fact 2.1. Of the last one, time without a
//! processor is a cause by itself: that is the machine's, not the program's.

use workspan_model::Nanos;

/// What a gap is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// P.
    pub workers: u32,
    /// T_s.
    pub baseline: Nanos,
    /// T_1.
    pub one_worker: Nanos,
    /// S_1, the cost of tasks in a run with one worker: T_1 − T_elision, or as profiled.
    pub task_overhead: Nanos,
    /// T_P.
    pub time: Nanos,
    /// I_P.
    pub idle: Nanos,
    /// The span of a run with P workers, if it is known.
    pub span: Option<Nanos>,
    /// Of W_P − T_1: what had no processor.
    pub off: Nanos,
}

/// The gap by cause. A cause below zero has made the run faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// All of it: P·T_P − T_s.
    pub total: Nanos,
    /// The parallel program does more than the baseline: T_1 − S_1 − T_s.
    pub algorithmic: Nanos,
    /// Creating tasks: S_1.
    pub task_overhead: Nanos,
    /// Idle time that every schedule has, as the span is longer than a worker's share of the work: of I_P at most
    /// P·T_∞ − W_P. All of I_P if the span is not known.
    pub parallelism: Nanos,
    /// The rest of I_P: the scheduler's, or of tasks too large to share out.
    pub scheduling: Nanos,
    /// Workers had work but no processor: blocked, or others were at work there; beyond that with one worker.
    pub no_processor: Nanos,
    /// The same work takes longer on P workers: the rest of W_P − T_1.
    pub inflation: Nanos,
}

impl Causes {
    /// I_P.
    pub fn idle(&self) -> Nanos {
        self.parallelism + self.scheduling
    }
}

/// Splits the gap.
pub fn causes(gap: &Gap) -> Causes {
    let workers = i64::from(gap.workers);
    let available = gap.time * workers;
    let work = available - gap.idle;
    let unavoidable = |span: Nanos| (span * workers - work).at_least_zero().min(gap.idle.at_least_zero());
    let parallelism = gap.span.map_or(gap.idle, unavoidable);
    Causes {
        total: available - gap.baseline,
        algorithmic: gap.one_worker - gap.task_overhead - gap.baseline,
        task_overhead: gap.task_overhead,
        parallelism,
        scheduling: gap.idle - parallelism,
        no_processor: gap.off,
        inflation: work - gap.one_worker - gap.off,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Planted, in the order of the fields of [`Causes`] after `total`.
    #[track_caller]
    fn check(planted: [i64; 6], workers: u32, baseline: i64) {
        let [algorithmic, task_overhead, parallelism, scheduling, no_processor, inflation] = planted;
        let one_worker = baseline + algorithmic + task_overhead;
        let available = one_worker + parallelism + scheduling + no_processor + inflation;
        assert_eq!(available % i64::from(workers), 0, "to be written down in whole numbers");
        let time = available / i64::from(workers);
        let span = (one_worker + no_processor + inflation + parallelism) / i64::from(workers);
        let gap = Gap {
            workers,
            baseline: Nanos(baseline),
            one_worker: Nanos(one_worker),
            task_overhead: Nanos(task_overhead),
            time: Nanos(time),
            idle: Nanos(parallelism + scheduling),
            span: Some(Nanos(span)),
            off: Nanos(no_processor),
        };
        let found = causes(&gap);
        let Causes { algorithmic, task_overhead, parallelism, scheduling, no_processor, inflation, .. } = found;
        let values = [algorithmic, task_overhead, parallelism, scheduling, no_processor, inflation].map(|n| n.0);
        assert_eq!(values, planted);
        assert_eq!(found.total.0, planted.iter().sum::<i64>());
        let without = causes(&Gap { span: None, ..gap });
        assert_eq!((without.parallelism, without.idle()), (gap.idle, gap.idle));
    }

    #[test]
    fn what_was_planted_is_found() {
        check([0, 0, 0, 0, 0, 0], 4, 400);
        check([100, 0, 0, 0, 0, 0], 2, 400);
        check([0, 100, 0, 0, 0, 0], 2, 400);
        check([0, 0, 100, 0, 0, 0], 2, 400);
        check([0, 0, 0, 100, 0, 0], 2, 400);
        check([0, 0, 0, 0, 100, 0], 2, 400);
        check([0, 0, 0, 0, 0, 100], 2, 400);
        check([10, 20, 30, 40, 60, 40], 4, 400);
        // A parallel program that does less than the baseline, and runs better on several caches.
        check([-50, 10, 20, 20, -10, -30], 4, 400);
    }
}
