//! Verdicts on random runs: sums, and the laws that no time may break.

use workspan_analysis::schedule::{greedy, BuildOptions, Graph, Stealing};
use workspan_analysis::verdict::{
    bounds, even_loops, judge, simulated, Basis, Cause, Evidence, Judged, OfEven, Reason,
};
use workspan_analysis::what_if::{Change, Factor, Selector};
use workspan_analysis::{profile, replay, Scenario};
use workspan_model::{ContextId, Event, Nanos, Run, Strand};
use workspan_testkit::strands::random_with_waits;

use crate::predict::{recording, row, tasks, TASK};

const RUNS: u64 = 1000;

#[test]
fn losses_and_work_add_up_to_the_processors_time() {
    let (mut limited, mut loops) = (0, 0);
    for seed in 0..RUNS {
        let made = random_with_waits(seed);
        let replayed = replay(&made.recording, &made.rows).unwrap_or_else(|never| match never {});
        // Creating tasks is part of their creators' work; here some of it.
        let overhead_ps = i64::try_from(seed % 3).unwrap_or(0) * 1000;
        let run = replayed.into_run(&Run { join_cost_ps: overhead_ps, ..Run::default() });
        let profile = profile(&made.recording, &run);
        let (work, span, on_one) = (profile.program.work, profile.program.span, profile.program.on_one);
        for processors in [1, 2, 3, 16, 1000] {
            let label = format!("seed {seed} on {processors}");
            let evidence = bounds(&made.recording, &run, &profile, processors);
            let all = i64::from(processors);
            assert_eq!(evidence.basis, Basis::Bounds);
            // Chunks of loops may be made smaller.
            let shortest = profile.program.uniform.filter(|_| evidence.loops.is_some()).map_or(span, |even| even.span);
            assert!(evidence.time >= shortest && evidence.time * all >= work, "{label}: {evidence:?}");
            loops += usize::from(evidence.loops.is_some());
            assert!(evidence.longest >= evidence.time, "{label}: {evidence:?}");
            let blamed: Nanos = evidence.blame.iter().map(|blame| blame.waiting).sum();
            assert_eq!(blamed, evidence.ideal * all - on_one, "{label}");
            let Some(judged) = judge(&made.recording, &run, &profile, &evidence) else {
                assert_eq!(work, Nanos::ZERO, "{label}");
                continue;
            };
            let lost: Nanos = judged.losses.iter().map(|loss| loss.time).sum();
            let useful = on_one - profile.program.overhead.min(work);
            assert_eq!(useful + lost, judged.time * all, "{label}: {judged:?}");
            let losses = judged.losses.iter().filter(|loss| loss.cause != Cause::TaskOverhead);
            let speedups: f64 = losses.map(|loss| loss.speedup.0).sum();
            assert!((judged.speedup.0 + speedups - f64::from(processors)).abs() < 1e-6, "{label}: {judged:?}");
            for loss in &judged.losses {
                let parts: Nanos = loss.parts.iter().map(|part| part.time).sum();
                assert!(parts <= loss.time && loss.time > Nanos::ZERO, "{label}: {loss:?}");
            }
            limited += usize::from(judged.losses.iter().any(|loss| loss.share.0 > 0.5));
        }
    }
    assert!(limited > 100 && loops > 100, "{limited} {loops}");
}

/// No schedule is faster than the bound, and who others wait for in a schedule is who runs meanwhile.
#[test]
fn schedules_keep_to_the_bounds() {
    let mut close = 0;
    for seed in 0..RUNS {
        let made = random_with_waits(seed);
        let replayed = replay(&made.recording, &made.rows).unwrap_or_else(|never| match never {});
        let run = replayed.into_run(&Run::default());
        let profile = profile(&made.recording, &run);
        let graph = Graph::of(&made.recording, &made.rows, &BuildOptions::default());
        let graph = graph.unwrap_or_else(|never| match never {});
        let even = even_loops(&made.recording, &run, &profile).map(|loops| {
            let options = BuildOptions { factors: loops.factors.clone(), ..BuildOptions::default() };
            let graph = Graph::of(&made.recording, &made.rows, &options).unwrap_or_else(|never| match never {});
            (loops, graph)
        });
        for processors in [1, 2, 3, 16] {
            let label = format!("seed {seed} on {processors}");
            let bound = bounds(&made.recording, &run, &profile, processors);
            let schedule = greedy(&graph, processors);
            assert!(schedule.time >= bound.ideal, "{label}: {schedule:?} {bound:?}");
            assert!(schedule.time <= bound.longest, "{label}: {schedule:?} {bound:?}");
            let policy = Stealing::of(Nanos(1), 0);
            let evidence = simulated(&made.recording, &run, &profile, &graph, processors, &policy, None);
            assert!(evidence.ideal <= schedule.time && evidence.ideal >= bound.ideal, "{label}: {evidence:?}");
            assert_eq!(evidence.basis, Basis::Simulated);
            assert!(evidence.ideal <= evidence.time && evidence.time <= evidence.longest, "{label}: {evidence:?}");
            let blamed: Nanos = evidence.blame.iter().map(|blame| blame.waiting).sum();
            assert_eq!(blamed, evidence.ideal * i64::from(processors) - profile.program.on_one, "{label}");
            close += usize::from(bound.ideal == schedule.time);
            let Some((loops, of_loops)) = &even else { continue };
            let seen = evidence;
            let of_even = Some(OfEven { loops, graph: of_loops });
            let evidence = simulated(&made.recording, &run, &profile, &graph, processors, &policy, of_even);
            // Its lower end is the typical schedule of what was seen.
            let longest = seen.longest.max(evidence.time);
            assert!(evidence.time <= evidence.longest && evidence.longest <= longest, "{label}: {evidence:?}");
            assert!(evidence.ideal <= evidence.time, "{label}: {evidence:?}");
            let blamed: Nanos = evidence.blame.iter().map(|blame| blame.waiting).sum();
            assert_eq!(blamed, evidence.ideal * i64::from(processors) - profile.program.on_one, "{label}");
        }
    }
    assert!(close > 1000, "{close}");
}

/// No schedule beats what is promised of a site whose code no longer stands on the critical path; and it is the same with
/// strands and without.
#[test]
fn what_a_change_brings_at_most_is_a_bound() {
    let (mut tried, mut beyond) = (0, 0);
    for seed in 0..RUNS {
        let made = random_with_waits(seed);
        let replayed = replay(&made.recording, &made.rows).unwrap_or_else(|never| match never {});
        let run = replayed.into_run(&Run::default());
        let profile = profile(&made.recording, &run);
        if even_loops(&made.recording, &run, &profile).is_some() {
            continue;
        }
        let graph = Graph::of(&made.recording, &made.rows, &BuildOptions::default());
        let graph = graph.unwrap_or_else(|never| match never {});
        for processors in [2, 3, 16] {
            let label = format!("seed {seed} on {processors}");
            let policy = Stealing::of(Nanos(1), 0);
            let of_strands = simulated(&made.recording, &run, &profile, &graph, processors, &policy, None);
            let of_totals = bounds(&made.recording, &run, &profile, processors);
            let [with, without] = [&of_strands, &of_totals].map(|evidence| {
                let judged = judge(&made.recording, &run, &profile, evidence);
                let losses = judged.into_iter().flat_map(|judged| judged.losses);
                let losses = losses.filter(|loss| loss.cause == Cause::Parallelism);
                losses.flat_map(|loss| loss.parts).collect::<Vec<_>>()
            });
            for part in &with {
                // Code under a lock of its own counts for what is around it.
                let own = profile.on_path(part.site).over(profile.program.span).unwrap_or_default();
                let Some(site) = part.site.filter(|_| own == part.of_path) else { continue };
                let change = Change { part: Selector::Site(site), factor: Factor::INFINITE };
                let scenario = Scenario { changes: vec![change] };
                let changed = graph.with_factors(scenario.factors(&made.recording));
                let speedup = profile.program.on_one.over(greedy(&changed, processors).time).unwrap_or_default();
                // Positions are rounded to nanoseconds.
                assert!(speedup.0 <= part.without.0 * 1.01, "{label}: {speedup:?} {part:?}");
                tried += 1;
                beyond += usize::from(speedup.0 > part.without.0 * 0.9);
                if let Some(same) = without.iter().find(|other| other.site == part.site) {
                    assert_eq!(same.without, part.without, "{label}");
                }
            }
        }
    }
    assert!(tried > 1000 && beyond > 100, "{tried} {beyond}");
}

/// The evidence, from a graph of this number of pieces at most, and the verdict.
fn judged(rows: &Vec<Strand>, most: usize, processors: u32) -> (Evidence, Judged) {
    let recording = recording();
    let replayed = replay(&recording, rows).unwrap_or_else(|never| match never {});
    let run = replayed.into_run(&Run::default());
    let profile = profile(&recording, &run);
    let options = BuildOptions { most, ..BuildOptions::default() };
    let graph = Graph::of(&recording, rows, &options).unwrap_or_else(|never| match never {});
    let evidence = simulated(&recording, &run, &profile, &graph, processors, &Stealing::of(Nanos(1), 0), None);
    let judged = judge(&recording, &run, &profile, &evidence).unwrap();
    (evidence, judged)
}

/// A scope behind serial code, each of whose ten tasks is blocked for so long.
fn blocked(each: i64) -> Vec<Strand> {
    let mut rows = tasks(10, 400, 0);
    rows.iter_mut().filter(|row| row.event == Event::End).for_each(|row| row.blocked = Nanos(each));
    rows.insert(0, row(Event::Sync, ContextId::ROOT, 1000));
    rows
}

/// A strand that creates tasks one by one is what others wait for, though twice as many of its tasks run at a time; those are, behind it.
#[test]
fn who_creates_too_slowly_has_the_blame() {
    let (evidence, judged) = judged(&tasks(60, 1000, 400), usize::MAX, 16);
    let blamed = |context: ContextId| evidence.blame.iter().filter(move |blame| blame.context == context);
    let of = |context: ContextId| blamed(context).map(|blame| blame.waiting).sum::<Nanos>();
    let [creator, created] = [ContextId::ROOT, TASK].map(of);
    // 16 processors take 25 000: until the last of 60 tasks is created, and that task.
    let idle: Nanos = creator + created;
    assert_eq!(idle, Nanos(16 * 25_000 - 60 * 1400));
    assert!(creator.0 * 100 >= idle.0 * 90 && created > Nanos::ZERO, "{creator:?} {created:?}");
    assert!(judged.losses[0].parts.iter().all(|part| part.reason != Reason::InTurn), "{judged:?}");
}

#[test]
fn who_is_blocked_has_the_blame() {
    // Others run meanwhile.
    let mut rows = blocked(0);
    rows[3].blocked = Nanos(700);
    let (evidence, _) = judged(&rows, usize::MAX, 1);
    assert_eq!(evidence.blame, []);
    // Of the last task, nobody does.
    let mut rows = blocked(0);
    let last = rows.iter().rposition(|row| row.event == Event::End).unwrap();
    rows[last].blocked = Nanos(700);
    let (evidence, _) = judged(&rows, usize::MAX, 2);
    // One processor waits for the serial code; in the greedy schedule both wait for the last task: 1000 to 1400.
    let blamed: Vec<_> = evidence.blame.iter().map(|blame| (blame.context, blame.waiting)).collect();
    assert_eq!(blamed, [(ContextId::ROOT, Nanos(421)), (TASK, Nanos(591))]);
}

#[test]
fn tasks_wait_if_they_are_blocked_for_longer_than_they_run() {
    for (each, expected) in [(50, false), (400, false), (401, true)] {
        let (_, judged) = judged(&blocked(each), usize::MAX, 16);
        let reasons: Vec<Reason> = judged.losses.iter().flat_map(|loss| &loss.parts).map(|part| part.reason).collect();
        assert_eq!(reasons.contains(&Reason::Waits), expected, "{each}: {reasons:?}");
    }
}

#[test]
fn folded_pieces_are_no_tasks() {
    let rows = tasks(10_000, 400, 1);
    for (most, whole) in [(usize::MAX, true), (1000, false)] {
        let (evidence, _) = judged(&rows, most, 16);
        assert!(evidence.blame.iter().all(|blame| blame.longest.is_some() == whole), "{evidence:?}");
        assert!(evidence.blame.iter().all(|blame| blame.strands.is_some() == whole), "{evidence:?}");
    }
}

/// Of a short strand the clock may say that it was blocked for less than no time.
#[test]
fn nobody_is_blocked_for_less_than_no_time() {
    let rows = blocked(-3);
    let graph = Graph::of(&recording(), &rows, &BuildOptions::default()).unwrap_or_else(|never| match never {});
    assert_eq!(graph.blocked(), Nanos::ZERO);
}
