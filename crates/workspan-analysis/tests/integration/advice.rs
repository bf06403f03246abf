//! Advice on random runs: each step is the right one, by the graph of all strands, and the last one is the last.

use std::collections::BTreeMap;

use workspan_analysis::advise::greedy::WORTH_A_STEP;
use workspan_analysis::advise::{advise, Goal, Kind, Outcome};
use workspan_analysis::strands::{Place, Point, Region};
use workspan_analysis::{profile, replay};
use workspan_model::{ContextId, Creation, Event, Nanos, Run, Site, SiteId, SiteKind, Strand};
use workspan_testkit::strands::dag::Spot;
use workspan_testkit::strands::{evaluate, random, RandomRun};

use crate::predict::{recording, row, tasks};

/// Where each row is, in all contexts.
fn places(run: &RandomRun) -> Vec<Place> {
    let tree = &run.recording.contexts;
    let point = |spot| match spot {
        Spot::Begin => Point::Begin,
        Spot::End => Point::End,
        Spot::Wait => Point::Wait,
        Spot::Enter => Point::Enter,
        Spot::Leave => Point::Leave,
        Spot::Meet => Point::Meet,
        Spot::At(context) => tree.site(context).map_or(Point::Unknown, Point::Site),
    };
    let answer = evaluate(&run.recording, &run.rows);
    let places = answer.places.into_iter().zip(&run.rows);
    places
        .map(|((before, after), row)| {
            Place::of(tree, &Region { context: row.context, before: point(before), after: point(after) })
        })
        .collect()
}

/// The critical path with costs divided: its length, and what places have of it, in nanoseconds and strands.
fn path(run: &RandomRun, places: &[Place], factors: &BTreeMap<Place, f64>) -> (i64, BTreeMap<Place, (f64, u64)>) {
    let mut rows = run.rows.clone();
    for (row, place) in rows.iter_mut().zip(places) {
        let factor = factors.get(place).copied().unwrap_or(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "far below 2^53")]
        let divided = (row.cost.0 as f64 / factor).round() as i64;
        row.cost = Nanos(divided);
    }
    let answer = evaluate(&run.recording, &rows);
    let mut parts: BTreeMap<Place, (f64, u64)> = BTreeMap::new();
    for row in answer.path.iter().filter(|row| rows[**row].cost != Nanos::ZERO) {
        let part = parts.entry(places[*row]).or_default();
        part.0 += rows[*row].cost.as_f64();
        part.1 += 1;
    }
    (answer.span, parts)
}

#[test]
fn each_step_is_the_heaviest_and_the_last_is_the_last() {
    let (mut steps, mut stopped, mut divided_less) = (0, 0, 0);
    for seed in 0..720u64 {
        let run = random(seed);
        let recorded = replay(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
        let recorded = recorded.into_run(&Run::default());
        let of = |n: u64| usize::try_from(seed % n).unwrap();
        let goal =
            Goal { target: [2.0, 6.0, 1e9][of(3)], factor: [2.0, 16.0][of(2)], threshold: [0.0, 1e7, 1e9][of(9) / 3] };
        let advice = advise(&run.recording, &recorded, &run.rows, &goal).unwrap_or_else(|never| match never {});
        if advice.even.is_some() {
            // Its steps are for other costs than those of the rows: `agreement` compares them.
            continue;
        }
        let places = places(&run);
        let program = profile(&run.recording, &recorded).program;
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let creation = if program.tasks > 0 { program.overhead.as_f64() / program.tasks as f64 } else { 0.0 };
        let shortest = (goal.threshold * creation).max(1.0);
        // Costs are rounded to a nanosecond here, to a thousandth there.
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let near = |a: f64, b: f64| (a - b).abs() <= run.rows.len() as f64;
        let work = program.on_one.as_f64();
        let label = format!("seed {seed} {goal:?}");
        let mut factors = BTreeMap::new();
        let (mut span, mut parts) = path(&run, &places, &factors);
        #[expect(clippy::cast_precision_loss, reason = "a count, for a mean")]
        let eligible = |(ran, strands): &(f64, u64), factor: f64| ran / *strands as f64 >= shortest * factor;
        let least = WORTH_A_STEP * work / goal.target;
        // By what, and what that has of the path: by the whole factor, or a half of it and so on where nothing else is worth a step.
        let heaviest = |parts: &BTreeMap<Place, (f64, u64)>| {
            let factors = std::iter::successors(Some(goal.factor), |factor| Some(factor / 2.0));
            let all = factors.take_while(|factor| *factor > 1.0).map(|factor| {
                let long = parts.values().filter(|part| eligible(part, factor));
                (factor, long.map(|part| part.0).fold(0.0, f64::max))
            });
            let all: Vec<(f64, f64)> = all.filter(|(_, critical)| *critical > 0.0).collect();
            all.iter().copied().find(|(_, critical)| *critical >= least).or_else(|| all.first().copied())
        };
        for step in &advice.steps {
            assert!(work / Nanos(span).as_f64() < goal.target, "{label}");
            let (critical, _) = parts[&step.place];
            assert!(near(critical, step.critical.as_f64()), "{label}");
            let (by, most) = heaviest(&parts).expect("one is divided");
            assert!(near(critical, most), "{label}");
            let before = span;
            factors.entry(step.place).and_modify(|factor| *factor *= by).or_insert(by);
            assert!((factors[&step.place] - step.factor).abs() < 1e-9, "{label}");
            divided_less += u32::from(by < goal.factor);
            // This path is shorter now; the longest one is no longer than it was.
            (span, parts) = path(&run, &places, &factors);
            assert!(near(Nanos(span).as_f64(), step.span.as_f64()) && span <= before, "{label}");
            steps += 1;
        }
        let reached = work / Nanos(span).as_f64() >= goal.target;
        match advice.outcome {
            Outcome::AlreadyEnough => assert!(reached && advice.steps.is_empty(), "{label}"),
            Outcome::Reached => assert!(reached, "{label}"),
            Outcome::Overhead | Outcome::TooShort => {
                stopped += 1;
                assert!(!reached && heaviest(&parts).is_none(), "{label} {parts:?}");
            }
            Outcome::Scattered | Outcome::Waiting => {
                let most = heaviest(&parts).map_or(0.0, |(_, critical)| critical);
                stopped += u32::from(most == 0.0);
                assert!(most > 0.0 || advice.outcome == Outcome::Waiting, "{label}");
                assert!(!reached && most <= least + run.rows.len() as f64, "{label} {parts:?}");
            }
            Outcome::GaveUp => assert!(!reached && advice.steps.len() == 64, "{label}"),
            Outcome::NoData => assert_eq!(span, 0, "{label}"),
        }
    }
    assert!(steps > 400 && stopped > 40 && divided_less > 10, "{steps} steps, {divided_less} by less, {stopped} stops");
}

/// Of tasks of a site those are too large that are longer than the target allows, not all of them.
#[test]
fn large_tasks_are_those_that_the_target_does_not_allow() {
    let mut recording = recording();
    recording.sites.push(Site::at(SiteKind::ScopeSpawn, "", 2, 1));
    let other = recording.contexts.intern(ContextId::ROOT, SiteId(2)).unwrap();
    let large = |rows: &Vec<Strand>, goal: Goal| {
        let run = replay(&recording, rows).unwrap_or_else(|never| match never {}).into_run(&Run::default());
        let advice = advise(&recording, &run, rows, &goal).unwrap_or_else(|never| match never {});
        advice.findings.into_iter().find_map(|finding| match finding.kind {
            Kind::TooCoarse(grain, large) => Some((grain, large)),
            _ => None,
        })
    };
    // 3998 short tasks, and two of 100 µs, of which one is the critical path: 600 µs of work in 100.
    let mut rows = tasks(4000, 100, 1);
    let long: Vec<usize> =
        rows.iter().enumerate().filter(|(_, row)| row.event == Event::End).map(|(at, _)| at).collect();
    for at in [long[7], long[2000]] {
        rows[at].cost = Nanos(100_000);
    }
    let goal = Goal { target: 64.0, ..Goal::default() };
    let (grain, found) = large(&rows, goal).expect("two are");
    assert_eq!((grain.tasks, found.count, found.on_path, found.mean_on_path), (4000, 2, 1, Nanos(100_000)));
    assert!(found.median.0 < 130 && found.longest.0 >= 100_000, "{found:?}");
    // Six times as parallel as 64 requires less than a tenth of what the longest takes.
    assert!((5_000..20_000).contains(&found.limit.0), "{found:?}");
    // What is worth a task follows the threshold.
    assert_eq!((grain.creation, grain.cutoff), (Nanos(1), Nanos(10)));
    let (grain, found) = large(&rows, Goal { threshold: 140.0, ..goal }).expect("still");
    assert_eq!((grain.cutoff, found.count, found.pieces.round()), (Nanos(140), 2, 64.0));
    // All are alike, and too few.
    let (_, found) = large(&tasks(16, 5_000, 1), goal).expect("all are");
    assert_eq!((found.count, found.on_path), (16, 1));
    // Enough of them, and a target that is reached.
    assert_eq!(large(&tasks(1000, 5_000, 1), goal), None);
    assert_eq!(large(&tasks(16, 5_000, 1), Goal { target: 8.0, ..goal }), None);
    // None of the site's creations was measured: those of the program stand for them.
    let mut rows = tasks(16, 5_000, 0);
    let measured = Creation { context: other, group: Some(0), overhead: Nanos(32) };
    for _ in 0..16 {
        rows.insert(1, row(Event::Spawn(measured), ContextId::ROOT, 0));
        rows.insert(2, row(Event::End, other, 1_000));
    }
    let unknown = large(&rows, goal).map(|(grain, _)| (grain.site, grain.creation, grain.cutoff));
    assert_eq!(unknown, Some((SiteId(1), Nanos(16), Nanos(160))));
}
