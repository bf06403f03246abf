//! Two recordings node by node: TaskProf's Fig. 5.2 rebuilt, and random runs against the graph of all strands.

use std::collections::BTreeMap;

use workspan_analysis::differential::{differential, unite, Cost, Differential, PlaceRow, Runs, Sums};
use workspan_analysis::strands::Place;
use workspan_model::{ContextId, ContextTree, Event, Nanos, Recording, SiteId, SiteKind, Strand};
use workspan_testkit::random::Random;
use workspan_testkit::strands::{evaluate, partners, random};

use crate::example::{Example, L10, L16, L24, L34, L35, L4, L9};
use crate::merge::{ends, noisy, Batches};
use crate::oracle::regions;
use crate::rules::break_rows;

type Side = (Recording, Vec<Vec<Strand>>);

fn compared(base: &Side, new: &Side) -> (Recording, Differential) {
    let united = unite(&base.0, &new.0);
    let open = || Ok(Runs { base: batches(&base.1, [3, 100]), new: batches(&new.1, [1, 7]) });
    let found = differential(&united, open).unwrap_or_else(|never: std::convert::Infallible| match never {});
    (united.recording, found)
}

fn batches(runs: &[Vec<Strand>], lengths: [usize; 2]) -> Vec<Batches<'_>> {
    runs.iter().zip(lengths.into_iter().cycle()).map(|(rows, length)| Batches { rows, length }).collect()
}

/// The runs of Fig. 5.2: a serial beginning (S0), two pairs of tasks on L4-L6 (S2 to S5), a pair on L16-L20 (S6, S7), and
/// the end (S1).
fn model(steps: [i64; 8]) -> Side {
    let [s0, s1, s2, s3, s4, s5, s6, s7] = steps;
    let mut example = Example::default();
    example.row(s0, Event::Group);
    for (site, first, second) in [(L34, s2, s3), (L35, s4, s5)] {
        example.spawn(0, site, |example| {
            example.row(0, Event::Group);
            example.spawn(0, L9, |example| example.region(L4, first));
            example.spawn(0, L10, |example| example.region(L4, second));
            example.row(0, Event::Wait);
        });
    }
    example.row(0, Event::Wait);
    example.row(0, Event::Group);
    example.spawn(0, L34, |example| example.region(L16, s6));
    example.spawn(0, L35, |example| example.region(L16, s7));
    example.row(0, Event::Wait);
    example.row(s1, Event::End);
    let (recording, rows) = example.recorded();
    (recording, vec![rows])
}

fn cost(base: i64, new: i64) -> Cost {
    Cost { base: Nanos(base), new: Nanos(new) }
}

#[test]
fn the_path_is_that_of_the_parallel_run() {
    // Serially S2 is the longest of four; in parallel all four are inflated, and S3 is.
    let base = model([30, 10, 440, 430, 420, 410, 165, 155]);
    let new = model([31, 10, 900, 960, 880, 870, 168, 150]);
    let (_, found) = compared(&base, &new);
    assert!(found.same() && found.problems.is_empty());
    assert_eq!(found.span, Nanos(31 + 960 + 168 + 10));
    assert_eq!(found.program.work, cost(2060, 3969));
    // S0, S3, S6, S1 in both.
    assert_eq!(found.program.critical, cost(30 + 430 + 165 + 10, 31 + 960 + 168 + 10));
    let site = |site| found.sites.iter().find(|row| row.site == site).map(|row| (row.sums.work, row.sums.critical));
    assert_eq!(site(Some(L4)), Some((cost(1700, 3610), cost(430, 960))));
    assert_eq!(site(Some(L16)), Some((cost(320, 318), cost(165, 168))));
    assert_eq!(site(None), Some((cost(40, 41), cost(40, 41))));
    assert_eq!(site(Some(L9)), Some((cost(0, 0), cost(0, 0))));
    assert_eq!(site(Some(L24)), None);
    // What is inflated most on the path comes first.
    assert_eq!(found.places[0].place.site, Some(L4));
    assert_eq!(format!("{:.3}", found.sites[0].sums.critical.inflation().unwrap().0), "2.233");
    assert_eq!(found.sites[0].sums.work.more(), Nanos(1910));
}

#[test]
fn of_repeated_runs_each_strand_has_its_median() {
    let runs = |all: [[i64; 8]; 3]| {
        let sides = all.map(model);
        (sides[0].0.clone(), sides.into_iter().flat_map(|side| side.1).collect())
    };
    let base = runs([[30, 10, 1, 430, 420, 410, 165, 155], [9, 10, 440, 430, 420, 410, 165, 155], [99; 8]]);
    let new = runs([[31, 9, 900, 2000, 1, 1, 168, 150], [31, 10, 900, 960, 1, 1, 168, 150], [1; 8]]);
    let (_, found) = compared(&base, &new);
    assert!(found.same());
    assert_eq!(found.program.critical, cost(30 + 430 + 165 + 10, 31 + 960 + 168 + 9));
    assert_eq!((found.base.len(), found.others.len()), (3, 2));
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    program: Sums,
    places: BTreeMap<Place, Sums>,
    only_base: i64,
    matched: u64,
    span: i64,
}

/// From the graph of the new run, and explicit keys.
fn expected(recording: &Recording, base: &[Strand], new: &[Strand]) -> Expected {
    let answer = evaluate(recording, new);
    let regions = regions(recording, new, &answer);
    let partners = partners(new, base);
    let mut on_path = vec![false; new.len()];
    answer.path.iter().for_each(|row| on_path[*row] = true);
    let mut told = Expected { span: answer.span, ..Expected::default() };
    for (at, row) in new.iter().enumerate() {
        told.matched += u64::from(partners[at].is_some());
        if matches!(row.event, Event::After(_)) {
            continue;
        }
        let place = told.places.entry(Place::of(&recording.contexts, &regions[at])).or_default();
        for sums in [&mut told.program, place] {
            let path = |cost: Nanos| if on_path[at] { cost } else { Nanos::ZERO };
            sums.strands += u64::from(row.cost != Nanos::ZERO);
            sums.critical_blocked += path(row.blocked);
            match partners[at] {
                Some(partner) => {
                    let before = base[partner].cost;
                    sums.work.base += before;
                    sums.work.new += row.cost;
                    sums.critical.base += path(before);
                    sums.critical.new += path(row.cost);
                }
                None => {
                    sums.only_new += row.cost;
                    sums.critical_only_new += path(row.cost);
                }
            }
        }
    }
    let taken: std::collections::BTreeSet<usize> = partners.iter().flatten().copied().collect();
    told.only_base = base.iter().enumerate().filter(|(at, _)| !taken.contains(at)).map(|(_, row)| row.cost.0).sum();
    told
}

#[track_caller]
fn check(label: &str, found: &Differential, expected: &Expected, base: &[Strand], new: &[Strand]) {
    assert!(found.problems.is_empty(), "{label}: {:?}", found.problems);
    let places = found.places.iter().map(|PlaceRow { place, sums }| (*place, *sums)).collect();
    let told = Expected {
        program: found.program,
        places,
        only_base: found.only_base.0,
        matched: found.matched,
        span: found.span.0,
    };
    assert_eq!(told, *expected, "{label}");
    assert_eq!(found.strands, new.len() as u64, "{label}");
    assert_eq!(found.base[0].extra, base.len() as u64 - found.matched, "{label}");
    assert_eq!(found.base[0].missing, new.len() as u64 - found.matched, "{label}");
    assert_eq!(found.same(), expected.matched == base.len() as u64 && base.len() == new.len(), "{label}");
    // Nothing is lost.
    let work = |rows: &[Strand]| rows.iter().map(|row| row.cost).sum::<Nanos>();
    assert_eq!(found.program.work.new + found.program.only_new, work(new), "{label}");
    assert_eq!(found.program.work.base + found.only_base, work(base), "{label}");
    let path = found.program.critical.new + found.program.critical_only_new + found.program.critical_blocked;
    assert_eq!(path, found.span, "{label}");
    let only_base: Nanos = found.sites.iter().map(|row| row.only_base).sum();
    assert_eq!(only_base, found.only_base, "{label}");
}

/// Such rows as report an order have no cost.
fn with_noise(random: &mut Random, row: &Strand) -> Strand {
    if matches!(row.event, Event::After(_)) {
        *row
    } else {
        noisy(random, row)
    }
}

/// The same recording, its sites and contexts numbered otherwise.
fn renumbered(recording: &Recording, rows: &[Strand]) -> Side {
    let count = u32::try_from(recording.sites.len()).unwrap();
    let site = |id: SiteId| SiteId(count - 1 - id.0);
    let mut sites = recording.sites.clone();
    sites.reverse();
    for other in &mut sites {
        if let SiteKind::Serial { from, to } = &mut other.kind {
            (*from, *to) = (from.map(site), to.map(site));
        }
    }
    let mut contexts = ContextTree::default();
    let mut numbers = vec![ContextId::ROOT; recording.contexts.len()];
    let mut left = vec![ContextId::ROOT];
    while let Some(parent) = left.pop() {
        let children: Vec<ContextId> = recording.contexts.children(parent).collect();
        for child in children.into_iter().rev() {
            let around = numbers[parent.index()];
            numbers[child.index()] = contexts.intern(around, site(recording.contexts.site(child).unwrap())).unwrap();
            left.push(child);
        }
    }
    let number = |id: ContextId| numbers[id.index()];
    let rows = rows.iter().map(|row| {
        let mut row = Strand { context: number(row.context), ..*row };
        match &mut row.event {
            Event::Spawn(creation) | Event::Call(creation) => creation.context = number(creation.context),
            Event::Enter(inner) => *inner = number(*inner),
            _ => {}
        }
        row
    });
    (Recording { sites, contexts, ..Recording::default() }, vec![rows.collect()])
}

#[test]
fn sums_are_those_of_the_graph() {
    for seed in 0..800 {
        let run = random(seed);
        let mut random = Random::new(seed);
        let new: Vec<Strand> = run.rows.iter().map(|row| with_noise(&mut random, row)).collect();
        let base: Vec<Strand> = run.rows.iter().map(|row| with_noise(&mut random, row)).collect();
        let side = renumbered(&run.recording, &base);
        let (united, found) = compared(&side, &(run.recording.clone(), vec![new.clone()]));
        assert_eq!((&united.sites, &united.contexts), (&run.recording.sites, &run.recording.contexts), "seed {seed}");
        let expected = expected(&run.recording, &base, &new);
        assert_eq!(expected.matched, new.len() as u64);
        check(&format!("seed {seed}"), &found, &expected, &base, &new);
    }
}

/// Rows without the subtrees that begin here.
fn without(rows: &[Strand], subtrees: &[(usize, usize)]) -> Vec<Strand> {
    let lacks = |at: &usize| subtrees.iter().any(|(begin, end)| (begin..=end).contains(&at));
    (0..rows.len()).filter(|at| !lacks(at)).map(|at| rows[at]).collect()
}

#[test]
fn what_only_one_side_has_is_apart() {
    let mut differ = 0;
    for seed in 0..1500 {
        let mut run = random(seed);
        // An order among tasks counts creations, and these differ then.
        if run.rows.iter().any(|row| matches!(row.event, Event::After(_))) {
            continue;
        }
        let mut random = Random::new(seed);
        let optional: Vec<(usize, usize)> = ends(&run.rows).into_iter().filter(|_| random.once_in(6)).collect();
        for (begin, _) in &optional {
            // Unlike all others: at a site of its own.
            let recording = &mut run.recording;
            let old = recording.contexts.get(run.rows[*begin].context).copied().unwrap();
            let number = u32::try_from(recording.sites.len()).unwrap();
            let mut site = recording.sites[old.site.unwrap().0 as usize].clone();
            match &mut site.kind {
                SiteKind::Serial { from, to } => {
                    (*from, *to) = (Some(SiteId(1 + number % 19)), Some(SiteId(1 + number / 19 % 19)));
                }
                _ => site.line = 1000 + number,
            }
            recording.sites.push(site);
            run.rows[*begin].context = recording.contexts.intern(old.parent, SiteId(number)).unwrap();
        }
        let side = |random: &mut Random| {
            let lacks: Vec<_> = optional.iter().copied().filter(|_| random.once_in(3)).collect();
            let rows = without(&run.rows, &lacks);
            rows.iter().map(|row| noisy(random, row)).collect::<Vec<Strand>>()
        };
        let (base, new) = (side(&mut random), side(&mut random));
        let expected = expected(&run.recording, &base, &new);
        differ += u64::from(expected.matched < new.len() as u64);
        let (_, found) = compared(&renumbered(&run.recording, &base), &(run.recording.clone(), vec![new.clone()]));
        check(&format!("seed {seed}"), &found, &expected, &base, &new);
    }
    assert!(differ > 200, "{differ}");
}

#[test]
fn recordings_of_other_programs_and_broken_rows_do_no_harm() {
    for seed in 0..600 {
        let (base, new) = (random(seed), random(seed + 1));
        let mut rng = Random::new(seed);
        let mut sides = [base.rows, new.rows];
        for rows in &mut sides {
            for _ in 0..rng.below(5) {
                if !rows.is_empty() {
                    break_rows(&mut rng, rows);
                }
            }
        }
        let [base_rows, new_rows] = sides;
        let (_, found) = compared(&(base.recording, vec![base_rows.clone()]), &(new.recording, vec![new_rows.clone()]));
        assert_eq!(found.matched + found.base[0].extra, base_rows.len() as u64, "seed {seed}");
        assert_eq!(found.matched + found.base[0].missing, new_rows.len() as u64, "seed {seed}");
    }
    let nothing = compared(&Side::default(), &Side::default()).1;
    assert_eq!(nothing, Differential::default());
}

#[test]
fn sites_that_only_the_base_has_are_known_by_name() {
    let new = model([30, 10, 440, 430, 420, 410, 165, 155]);
    let mut other = Example::default();
    other.row(30, Event::Group);
    other.spawn(0, L34, |example| example.region(L24, 70));
    other.row(0, Event::Wait);
    other.row(10, Event::End);
    let (mut recording, rows) = other.recorded();
    recording.sites[L24.0 as usize].line = 99;
    let mut longer = rows.clone();
    longer.iter_mut().filter(|row| row.cost > Nanos::ZERO).for_each(|row| row.cost += Nanos(1));
    let repeated = vec![rows.clone(), longer.clone(), longer];
    let (united, found) = compared(&(recording.clone(), vec![rows]), &new);
    let row = found.sites.iter().find(|row| row.only_base == Nanos(70)).unwrap();
    assert_eq!(united.sites[row.site.unwrap().0 as usize].line, 99);
    // The end comes after another construct.
    assert_eq!((row.unmatched.extra, found.only_base.0, found.same()), (1, 80, false));
    // Of several runs the mean: the sites' sum to the program's, whatever is rounded off.
    let (_, found) = compared(&(recording, repeated), &new);
    let only_base: Nanos = found.sites.iter().map(|row| row.only_base).sum();
    assert_eq!((only_base, found.only_base), (Nanos(81), Nanos(81)));
}
