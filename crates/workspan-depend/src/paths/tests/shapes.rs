//! Shapes as in Mak's chapter 6, with answers in closed form; changes; files; merging.

use super::{at, equal, Small};
use crate::file::{decode, encode};
use crate::paths::change::{removed, At, Change, Deed, Named};
use crate::paths::evaluate::{evaluate, Evaluated, Tasks};
use crate::paths::merge::merge;
use crate::paths::{Clause, Paths};
use crate::profile::Profile;

fn plain(paths: &Paths) -> Evaluated {
    evaluate(paths, &Change::default(), Tasks::Lines)
}

fn named(text: &str) -> Named {
    Named::parse(text).expect("it is well-formed")
}

fn without(paths: &Paths, text: &str, deed: Deed) -> Evaluated {
    let change = Change { removed: removed(paths, &named(text), deed), ..Change::default() };
    assert!(!change.removed.is_empty(), "{text}");
    evaluate(paths, &change, Tasks::Lines)
}

/// Figure 6.3: a loop whose only costly line calls a function that takes what the call before has left. 38 calls.
fn sha() -> Small {
    let mut small = Small::new();
    let own = small.in_loop(0, 197, 0, (1, 39));
    let condition = small.piece(0, 197, own, 2, 39);
    let update = small.piece(0, 198, own, 6, 38);
    small.edge(update, update, "digest", Some((own, 1)), 37);
    small.edge(condition, condition, "at", Some((own, 1)), 38);
    let called = small.call(0, update, "sha_update", 1, 38);
    small.piece(called, 170, 0, 413_740, 38);
    small
}

#[test]
fn figure_6_3_a_chain_of_calls() {
    let small = sha();
    let found = plain(&small.paths);
    equal(found.program.work, f64::from(38 * 413_746 + 39 * 2));
    assert!((found.program.span - f64::from(38 * 413_746)).abs() < 1.0, "{:?}", found.program);
    let body = found.bodies.iter().find(|body| body.in_loop == 1).expect("the loop");
    // The line is on the path in each iteration, the dependence between them.
    assert!((body.nodes[1].times - 39.0).abs() < 1e-6 && (body.arcs[0].3 - 38.0).abs() < 1e-6, "{body:?}");
    let called = found.bodies.iter().find(|body| body.context == 1).expect("the call");
    assert!((called.reach - 38.0).abs() < 1e-6, "{called:?}");
    let found = without(&small.paths, "digest", Deed::Remove).program;
    assert!(found.span < 413_746.0 * 1.01, "{found:?}");
}

/// Figure 6.4: three nested loops, and a variable that all of them advance.
#[test]
fn figure_6_4_induction_variables_hold_all_loops() {
    let mut small = Small::new();
    let (rows, columns, mask) = (60, 80, 49);
    let outer = small.in_loop(0, 667, 0, (1, rows));
    let middle = small.in_loop(0, 674, outer, (rows, rows * columns));
    let inner = small.in_loop(0, 675, middle, (rows * columns, rows * columns * mask));
    let line = small.piece(0, 677, inner, 10, rows * columns * mask);
    let step = small.piece(0, 680, middle, 1, rows * columns);
    small.edge(line, line, "ip", Some((inner, 1)), rows * columns * (mask - 1));
    small.edge(line, step, "ip", None, rows * columns);
    small.edge(step, line, "ip", Some((middle, 1)), rows * (columns - 1));
    small.edge(step, line, "ip", Some((outer, 1)), rows - 1);
    let found = plain(&small.paths).program;
    assert!(found.work / found.span < 1.002, "{found:?}");
    let found = without(&small.paths, "ip", Deed::ClosedForm).program;
    assert!((found.span - 10.0).abs() < 1e-6 && found.work / found.span > 2000.0, "{found:?}");
    // Only the innermost loop: its lines no longer wait, those around it do.
    let found = without(&small.paths, "ip@prog.c:675", Deed::ClosedForm).program;
    let expected = f64::from(u32::try_from(rows * columns).expect("few")) * 11.0;
    assert!((found.span - expected).abs() < 25.0, "{found:?}");
}

/// Figures 6.5 to 6.7: a serial main loop with two calls; what is inside one of them can be parallel.
#[test]
fn figure_6_5_a_serial_loop_is_parallel_inside() {
    let mut small = Small::new();
    let main_loop = small.in_loop(0, 40, 0, (1, 100));
    let (price, pivot) = (small.piece(0, 41, main_loop, 1, 100), small.piece(0, 88, main_loop, 500, 100));
    small.edge(price, pivot, "arc", None, 100);
    small.edge(pivot, price, "tree", Some((main_loop, 1)), 99);
    let called = small.call(0, price, "primal_bea_mpp", 1, 100);
    let inner = small.in_loop(called, 102, 0, (100, 30_000));
    let push = small.piece(called, 106, inner, 8, 30_000);
    small.edge(push, push, "next", Some((inner, 1)), 29_900);
    let found = plain(&small.paths).program;
    assert_eq!((found.work, found.span.round()), (290_100.0, 290_100.0));
    let found = without(&small.paths, "next@primal_bea_mpp", Deed::ClosedForm).program;
    assert!((found.span - 100.0 * (1.0 + 8.0 + 500.0)).abs() < 1e-6, "{found:?}");
    // Twice as fast: only what lies on the path counts.
    let faster = |line: u32, factor: f64| {
        let change = Change { faster: [(("prog.c".to_owned(), line), factor)].into(), ..Change::default() };
        evaluate(&small.paths, &change, Tasks::Lines).program.span.round()
    };
    equal(faster(88, 2.0), 290_100.0 - 25_000.0);
    equal(faster(41, 2.0), 290_100.0 - 120_050.0);
    equal(faster(102, 4.0), 290_100.0 - 180_000.0);
}

/// What lines have of the critical path adds up to it, whatever is faster: a line, a loop with loops and calls in it, a line that calls.
#[test]
fn parts_of_the_critical_path_add_up() {
    let mut small = Small::new();
    let outer = small.in_loop(0, 5, 0, (1, 20));
    let inner = small.in_loop(0, 6, outer, (20, 200));
    let line = small.piece(0, 7, inner, 3, 200);
    let calls = small.piece(0, 8, outer, 6, 20);
    small.edge(line, line, "s", Some((inner, 1)), 180);
    small.edge(line, calls, "s", None, 20);
    small.edge(calls, line, "s", Some((outer, 1)), 19);
    let called = small.call(0, calls, "work", 1, 20);
    let own = small.in_loop(called, 3, 0, (20, 400));
    let chain = small.piece(called, 4, own, 5, 400);
    small.edge(chain, chain, "x", Some((own, 1)), 380);
    let span = |lines: &[u32]| {
        let faster = lines.iter().map(|line| (("prog.c".to_owned(), *line), 4.0)).collect();
        let found = evaluate(&small.paths, &Change { faster, ..Change::default() }, Tasks::Lines);
        let weights = found.bodies.iter().flat_map(|body| body.nodes.iter().map(move |node| (body.weight, node)));
        equal(weights.map(|(weight, node)| weight * node.times * node.own).sum(), found.program.span);
        found.program.span
    };
    let (of_lines, of_calls) = (200.0 * 3.0, 20.0 * 6.0 + 400.0 * 5.0);
    equal(span(&[]), of_lines + of_calls);
    equal(span(&[5]), (of_lines + of_calls) / 4.0);
    equal(span(&[6]), of_lines / 4.0 + of_calls);
    equal(span(&[8]), of_lines + of_calls / 4.0);
    equal(span(&[5, 8, 3, 7]), of_lines / 16.0 + 20.0 * 6.0 / 16.0 + 400.0 * 5.0 / 64.0);
}

/// Iterations that wait for whole iterations: two lines, of which one is a chain.
#[test]
fn iterations_as_tasks_wait_for_whole_iterations() {
    let mut small = Small::new();
    let own = small.in_loop(0, 5, 0, (1, 1000));
    let (chain, other) = (small.piece(0, 6, own, 3, 1000), small.piece(0, 7, own, 20, 1000));
    small.edge(chain, chain, "s", Some((own, 1)), 999);
    small.edge(chain, other, "s", None, 1000);
    equal(plain(&small.paths).program.span, 3020.0);
    equal(evaluate(&small.paths, &Change::default(), Tasks::Iterations).program.span, 23_000.0);
    // A clause takes it away.
    small.paths.edges[0].clause = Clause::Reduction;
    equal(evaluate(&small.paths, &Change::default(), Tasks::Iterations).program.span, 23.0);
}

/// A dependence on each hundredth iteration, or in each hundredth: chains of a hundredth.
#[test]
fn rare_dependences_hold_rarely() {
    let spans = [(100, 999_900), (1, 10_000)].map(|(distance, count)| {
        let mut small = Small::new();
        let own = small.in_loop(0, 5, 0, (1, 1_000_000));
        let line = small.piece(0, 6, own, 7, 1_000_000);
        small.edge(line, line, "a", Some((own, distance)), count);
        plain(&small.paths).program.span
    });
    assert!(spans.iter().all(|span| (span - 70_000.0).abs() < 800.0), "{spans:?}");
}

/// Recursion as deep as one likes: each call costs 5 and calls itself, 1000 times; and as a tree.
#[test]
fn recursion_comes_to_an_end() {
    let mut small = Small::new();
    let first = small.piece(0, 2, 0, 1, 1);
    let called = small.call(0, first, "f", 16, 1000);
    small.paths.contexts[0].calls[0].2 = 1;
    let own = small.piece(called, 9, 0, 5, 1000);
    small.paths.contexts[called].calls.push((own, u32::try_from(called).expect("few"), 999));
    let found = plain(&small.paths).program;
    assert!((found.work - 5001.0).abs() < 1.0 && (found.span - 5001.0).abs() < 1.0, "{found:?}");
}

#[test]
fn named_dependences() {
    let small = sha();
    let all = |text: &str, deed| removed(&small.paths, &named(text), deed).len();
    assert_eq!(all("digest", Deed::Private), 1);
    assert_eq!(all("digest@main", Deed::Remove), 1);
    assert_eq!(all("digest@prog.c:197", Deed::ClosedForm), 1);
    assert_eq!(all("prog.c:198->198", Deed::Remove), 1);
    for nothing in ["digest@sha_update", "digest@prog.c:198", "digest@g.c:197", "198->197", "dig"] {
        assert_eq!(all(nothing, Deed::Remove), 0, "{nothing}");
    }
    assert_eq!((Named::parse(""), Named::parse("x@"), At::parse("a.c:0"), At::parse("a.c")), (None, None, None, None));
    assert!(At::parse("c:3").expect("a place").is("b/c", 3) && !At::parse("c:3").expect("a place").is("b/ac", 3));
}

#[test]
fn they_come_back_from_a_file_and_damage_is_found() {
    let profile = Profile { paths: sha().paths, ..Profile::default() };
    let bytes = encode(&profile);
    assert_eq!(decode(&bytes).expect("whole").paths, profile.paths);
    let mut wrong = profile.clone();
    wrong.paths.edges[0].to = 3;
    assert!(decode(&encode(&wrong)).is_err(), "a number of no piece");
    let mut wrong = profile.clone();
    wrong.paths.loops[0].parent = 1;
    assert!(decode(&encode(&wrong)).is_err(), "a loop around itself");
    for at in 17..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        if let Ok(found) = decode(&damaged) {
            let _ = plain(&found.paths);
            let _ = merge(found.paths, profile.paths.clone());
        }
    }
}

#[test]
fn two_runs_are_the_sum() {
    let (one, mut other) = (sha().paths, sha());
    let line = other.piece(0, 300, 0, 5, 2);
    other.paths.contexts[0].pieces.sort_unstable();
    let found = merge(one.clone(), other.paths.clone());
    assert_eq!(found.pieces.len(), one.pieces.len() + 1);
    let digest = found.edges.iter().find(|edge| edge.variable == "digest").expect("it is there");
    assert_eq!((digest.count, found.contexts[0].entries), (74, 2));
    let (alone, more) = (plain(&one).program, plain(&other.paths).program);
    let both = plain(&found).program;
    equal(both.work, alone.work + more.work);
    assert!((both.span - alone.span - more.span).abs() < 1.0, "{both:?}");
    assert_eq!(found.pieces[found.pieces.len() - 1].place, at(300));
    assert_eq!(other.paths.pieces[line as usize].cost, 5);
    // The same with itself and nothing.
    assert_eq!(merge(Paths::default(), one.clone()), merge(one.clone(), Paths::default()));
}
