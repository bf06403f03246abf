//! Factored speedups against runs whose user work, scheduling work and idle time are known, worker by worker.

use workspan_analysis::factored::{
    causes, factors, read, Bend, Cause, Curve, Factors, Gap, Measured, Point, Profiled, Quotient, Reading, Sample,
};
use workspan_model::Nanos;
use workspan_testkit::random::Random;

/// What a run with P workers did, all of them together; with one worker there is no idle time.
#[derive(Clone, Copy, Debug)]
struct Known {
    user: i64,
    scheduling: i64,
    idle: i64,
}

impl Known {
    /// Its wall time: the idle time is what is left of P workers.
    fn random(random: &mut Random, workers: i64, user: i64) -> Known {
        let mut below = |most: i64| i64::try_from(random.below(most.unsigned_abs())).unwrap_or(0);
        let (user, scheduling) = (user + below(user / 4) - user / 16, below(user / 8));
        let least = (user + scheduling) / workers + 1;
        let time = least + below(least);
        Known { user, scheduling, idle: time * workers - user - scheduling }
    }

    fn sample(self, workers: i64) -> Sample {
        let time = (self.user + self.scheduling + self.idle) / workers;
        Sample { time: Nanos(time), idle: Nanos(self.idle), ..Sample::default() }
    }
}

/// Random runs: of the baseline and the elision, and for each P with one worker and with P.
#[derive(Debug)]
struct Made {
    measured: Measured,
    /// With one worker, and with P, in the order of the points.
    known: Vec<(Vec<Known>, Vec<Known>)>,
}

fn made(random: &mut Random) -> Made {
    let mut user = 1_000_000 + i64::try_from(random.below(1 << 40)).unwrap_or(0);
    let count = 1 + random.below(5);
    let baseline = (0..count).map(|_| Nanos(user - i64::try_from(random.below(500_000)).unwrap_or(0))).collect();
    let (mut points, mut known) = (Vec::new(), Vec::new());
    for workers in [1, 2, 3, 8, 40] {
        // The work depends on P.
        user += i64::try_from(random.below(100_000)).unwrap_or(0);
        let ones: Vec<Known> = (0..count).map(|_| Known { idle: 0, ..Known::random(random, 1, user) }).collect();
        let many: Vec<Known> = (0..count).map(|_| Known::random(random, workers, user)).collect();
        points.push(Point {
            workers: u32::try_from(workers).unwrap_or(1),
            runs: many.iter().map(|run| run.sample(workers)).collect(),
            one_worker: ones.iter().map(|run| run.sample(1).time).collect(),
            ..Point::default()
        });
        known.push((ones, many));
    }
    // The elision is the user's work alone.
    let elision = known[0].0.iter().map(|run| Nanos(run.user)).collect();
    Made { measured: Measured { baseline, elision, points }, known }
}

#[expect(clippy::cast_precision_loss, reason = "below 2^52")]
fn mean(values: impl Iterator<Item = i64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    values.map(|value| value as f64).sum::<f64>() / count
}

#[track_caller]
fn close(found: f64, expected: f64, slack: f64, what: &str) {
    assert!((found - expected).abs() <= slack, "{what}: {found} instead of {expected}");
}

#[track_caller]
fn curve(found: Option<Quotient>, expected: f64, what: &str) {
    let found = found.expect("its times are above zero").value.0;
    close(found, expected, expected.abs() * 1e-9, what);
}

/// Facts 2.1 to 2.8, exactly where they are between means, and to rounding against what the runs were made of.
#[test]
fn the_facts_hold() {
    let mut random = Random::new(7);
    for _ in 0..300 {
        let Made { measured, known } = made(&mut random);
        let factors = factors(&measured);
        assert_eq!(factors.len(), known.len());
        for (factors, (ones, many)) in factors.iter().zip(&known) {
            let workers = i64::from(factors.workers);
            let p = f64::from(factors.workers);
            let Factors { baseline, one_worker, time, idle, work, inflation, .. } = *factors;
            // 2.1: P·T_P = W_P + I_P.
            assert_eq!(time.mean * workers, work.mean + idle.mean);
            // 2.2 and 2.3: F_P = W_P − T_1 = P·T_P − I_P − T_1.
            assert_eq!(inflation, work.mean - one_worker.mean);
            assert_eq!(inflation, time.mean * workers - idle.mean - one_worker.mean);
            // 2.4: P·T_P = T_1 + I_P + F_P.
            assert_eq!(time.mean * workers, one_worker.mean + idle.mean + inflation);
            // 2.5: T_s / T_P = P·T_s / (T_1 + I_P + F_P), and the other curves.
            let [s, one, waited, inflated] = [baseline.mean, one_worker.mean, idle.mean, inflation].map(Nanos::as_f64);
            let speedups = factors.speedups;
            curve(speedups.actual, p * s / (one + waited + inflated), "actual");
            curve(speedups.maximal, p * s / one, "maximal");
            curve(speedups.idle_specific, p * s / (one + waited), "idle-time-specific");
            curve(speedups.inflation_specific, p * s / (one + inflated), "inflation-specific");
            close(speedups.linear, p, 0.0, "linear");
            // 2.6: T_1 = W_1 + S_1. 2.7: P·T_P = W_P + S_P + I_P.
            let of =
                |runs: &[Known], what: fn(&Known) -> i64| mean(runs.iter().map(what).collect::<Vec<_>>().into_iter());
            let [user_one, scheduling_one] = [of(ones, |run| run.user), of(ones, |run| run.scheduling)];
            let [user, scheduling] = [of(many, |run| run.user), of(many, |run| run.scheduling)];
            close(one, user_one + scheduling_one, 1.0, "2.6");
            let rounding = p + 2.0;
            close(p * time.mean.as_f64(), user + scheduling + waited, rounding, "2.7");
            // 2.8: F_P is user and scheduling work inflation.
            close(inflated, (user - user_one) + (scheduling - scheduling_one), rounding, "2.8");
        }
        // S_1 ≈ T_1 − T_elision, where the work is the same.
        let first = &factors[0];
        let elision = first.elision.expect("it was measured").mean;
        let scheduling = mean(known[0].0.iter().map(|run| run.scheduling).collect::<Vec<_>>().into_iter());
        close((first.one_worker.mean - elision).as_f64(), scheduling, 2.0, "S_1");
        curve(first.speedups.elision, first.baseline.mean.as_f64() / elision.as_f64(), "elision");
    }
}

/// With neither negative idle time nor negative inflation each curve is below those it is a part of.
#[test]
fn curves_lie_in_their_order() {
    let mut random = Random::new(11);
    let mut seen = 0;
    for _ in 0..300 {
        for factors in factors(&made(&mut random).measured) {
            if factors.inflation < Nanos::ZERO {
                continue;
            }
            seen += 1;
            let value = |quotient: Option<Quotient>| quotient.expect("above zero").value.0 * (1.0 - 1e-12);
            let speedups = factors.speedups;
            let [maximal, idle, inflation, actual] =
                [speedups.maximal, speedups.idle_specific, speedups.inflation_specific, speedups.actual].map(value);
            assert!(maximal >= idle.max(inflation) * 0.999_999 && idle.min(inflation) >= actual * 0.999_999);
        }
    }
    assert!(seen > 300, "{seen}");
}

/// The causes of every run add up, whatever was measured.
#[test]
fn causes_add_up() {
    let mut random = Random::new(13);
    let mut number = |most: u64| i64::try_from(random.below(most)).unwrap_or(0);
    for _ in 0..1_000 {
        let span = Nanos(number(1 << 40));
        let gap = Gap {
            workers: u32::try_from(1 + number(64)).unwrap_or(1),
            baseline: Nanos(number(1 << 40)),
            one_worker: Nanos(number(1 << 40)),
            task_overhead: Nanos(number(1 << 30)),
            time: Nanos(number(1 << 40)),
            idle: Nanos(number(1 << 41) - (1 << 20)),
            span: (number(2) == 0).then_some(span),
            off: Nanos(number(1 << 30) - (1 << 20)),
        };
        let found = causes(&gap);
        let idle = found.parallelism + found.scheduling;
        let sum = found.algorithmic + found.task_overhead + idle + found.no_processor + found.inflation;
        assert_eq!((sum, found.no_processor), (found.total, gap.off), "{gap:?}");
        assert_eq!(sum, found.total, "{gap:?}");
        assert_eq!(found.idle(), gap.idle);
    }
}

/// Runs without noise of a made-up program: for each P its T_1, I_P and F_P, in milliseconds.
fn program(baseline: i64, points: &[(u32, i64, i64, i64)]) -> Vec<Factors> {
    let ms = |value: i64| Nanos(value * 1_000_000);
    let point = |(workers, one, idle, inflation): &(u32, i64, i64, i64)| Point {
        workers: *workers,
        runs: vec![
            Sample {
                time: Nanos(ms(one + idle + inflation).0 / i64::from(*workers)),
                idle: ms(*idle),
                ..Sample::default()
            };
            3
        ],
        one_worker: vec![ms(*one); 3],
        ..Point::default()
    };
    let points = points.iter().map(point).collect();
    factors(&Measured { baseline: vec![ms(baseline)], elision: Vec::new(), points })
}

fn reading(baseline: i64, points: &[(u32, i64, i64, i64)]) -> Reading {
    read(&program(baseline, points), None).expect("there are points")
}

#[track_caller]
fn check(baseline: i64, points: &[(u32, i64, i64, i64)], largest: &[Cause], bent: &[(Curve, Bend)]) {
    let reading = reading(baseline, points);
    assert_eq!(reading.largest.iter().map(|(cause, _)| *cause).collect::<Vec<_>>(), largest);
    let found: Vec<_> =
        reading.shapes.iter().filter(|shape| shape.bend != Bend::Straight).map(|s| (s.curve, s.bend)).collect();
    assert_eq!(found, bent);
}

/// The patterns of Acar et al. 2.5 and of their case studies.
#[test]
fn curves_are_read() {
    // Nothing to say.
    check(1000, &[(1, 1000, 0, 0), (2, 1000, 0, 0), (4, 1000, 10, 10)], &[], &[]);
    // A parallel algorithm that does half as much again, and scales.
    check(1000, &[(1, 1500, 0, 0), (2, 1500, 0, 0), (4, 1500, 0, 0)], &[Cause::Algorithmic], &[]);
    // Overhead that grows with P: chart 3f.
    check(
        1000,
        &[(1, 1000, 0, 0), (4, 1400, 0, 0), (8, 2500, 0, 0)],
        &[Cause::Algorithmic],
        &[
            (Curve::Maximal, Bend::Flattens),
            (Curve::IdleSpecific, Bend::Flattens),
            (Curve::InflationSpecific, Bend::Flattens),
            (Curve::Actual, Bend::Flattens),
        ],
    );
    // Too little parallelism: what workers are added only wait.
    check(
        1000,
        &[(1, 1000, 0, 0), (4, 1000, 1000, 0), (8, 1000, 3000, 0)],
        &[Cause::Idle],
        &[(Curve::IdleSpecific, Bend::Flattens), (Curve::Actual, Bend::Flattens)],
    );
    // A memory bottleneck: chart 4a.
    check(
        1000,
        &[(1, 1000, 0, 0), (10, 1000, 0, 200), (20, 1000, 0, 1300)],
        &[Cause::Inflation],
        &[(Curve::InflationSpecific, Bend::Flattens), (Curve::Actual, Bend::Flattens)],
    );
    // Contention: more workers make it worse.
    check(
        1000,
        &[(1, 1000, 0, 0), (2, 1000, 0, 600), (4, 1000, 0, 3000)],
        &[Cause::Inflation],
        &[(Curve::InflationSpecific, Bend::Falls), (Curve::Actual, Bend::Falls)],
    );
    // Idle time and inflation together: chart 3b; the larger comes first.
    check(
        1000,
        &[(1, 1000, 0, 0), (2, 1000, 300, 200), (4, 1000, 700, 500)],
        &[Cause::Idle, Cause::Inflation],
        &[(Curve::IdleSpecific, Bend::Bends), (Curve::InflationSpecific, Bend::Bends), (Curve::Actual, Bend::Bends)],
    );
}

/// Without a baseline, the program with one worker is its own; the cost of its tasks is still found.
#[test]
fn a_program_is_its_own_baseline() {
    let ms = |value: i64| Nanos(value * 1_000_000);
    let point = |workers: u32, one: i64, time: i64, idle: i64| Point {
        workers,
        runs: vec![Sample { time: ms(time), idle: ms(idle), ..Sample::default() }],
        one_worker: vec![ms(one)],
        ..Point::default()
    };
    let points = vec![point(2, 1100, 600, 40), point(1, 1000, 1000, 0)];
    let measured = Measured { elision: vec![ms(900)], points, ..Measured::default() };
    let found = factors(&measured);
    assert_eq!(found.iter().map(|f| (f.workers, f.baseline.mean)).collect::<Vec<_>>(), [(1, ms(1000)), (2, ms(1000))]);
    let causes = read(&found, None).expect("there are points").causes;
    let values = [causes.algorithmic, causes.task_overhead, causes.idle(), causes.inflation];
    // T_1 − T_elision at P = 2 is 200, so the baseline without tasks is 800.
    assert_eq!((causes.total, values), (ms(400), [ms(100), ms(200), ms(40), ms(60)]));
}

#[test]
fn a_bend_within_the_errors_is_none() {
    let point = |workers: u32, times: [i64; 3]| Point {
        workers,
        runs: times.map(|time| Sample { time: Nanos(time), ..Sample::default() }).to_vec(),
        one_worker: vec![Nanos(1_000_000); 3],
        ..Point::default()
    };
    let shape = |last: [i64; 3]| {
        let points = vec![point(1, [1_000_000; 3]), point(2, [500_000; 3]), point(4, last)];
        let measured = Measured { baseline: vec![Nanos(1_000_000); 3], elision: Vec::new(), points };
        let reading = read(&factors(&measured), None).expect("there are points");
        reading.shapes.into_iter().find(|shape| shape.curve == Curve::Actual).map(|shape| shape.bend)
    };
    assert_eq!(shape([400_000; 3]), Some(Bend::Bends));
    assert_eq!(shape([200_000, 600_000, 400_000]), Some(Bend::Straight));
}

/// Neither no runs, nor times that cannot be, are an error.
#[test]
fn any_input_is_answered() {
    assert_eq!(factors(&Measured::default()), []);
    assert_eq!(read(&[], None), None);
    let odd = Point {
        workers: u32::MAX,
        runs: vec![Sample { time: Nanos(i64::MAX), idle: Nanos(i64::MIN), ..Sample::default() }],
        one_worker: vec![Nanos(0)],
        ..Point::default()
    };
    let none = Point { workers: 2, ..Point::default() };
    let measured = Measured { baseline: vec![Nanos(-1)], elision: vec![Nanos(0)], points: vec![odd, none] };
    let found = factors(&measured);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].speedups.maximal, None);
    assert!(read(&found, Some(Profiled { task_overhead: Nanos(5), span: Nanos(i64::MAX) }))
        .is_some_and(|reading| reading.shapes.is_empty()));
}
