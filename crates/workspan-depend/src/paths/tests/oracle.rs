//! The longest path of a body against all its iterations, written out as one graph and searched by recursion.

use proptest::prelude::*;

use super::equal;
use crate::paths::level::{longest, Arc, MOST};

/// When a node of an iteration is ready, by the definition.
fn ready(at: (usize, usize), weights: &[f64], arcs: &[Arc], known: &mut Vec<Vec<Option<f64>>>) -> f64 {
    let (turn, node) = at;
    if let Some(known) = known[turn][node] {
        return known;
    }
    let mut start = 0.0_f64;
    for arc in arcs.iter().filter(|arc| arc.to == node && arc.distance <= turn) {
        start = start.max(ready((turn - arc.distance, arc.from), weights, arcs, known));
    }
    known[turn][node] = Some(start + weights[node]);
    start + weights[node]
}

fn slow(weights: &[f64], arcs: &[Arc], turns: usize) -> f64 {
    let mut known = vec![vec![None; weights.len()]; turns];
    let mut most = 0.0_f64;
    for turn in 0..turns {
        for node in 0..weights.len() {
            most = most.max(ready((turn, node), weights, arcs, &mut known));
        }
    }
    most
}

/// Weights, and dependences; those within an iteration go from smaller to greater numbers.
fn body() -> impl Strategy<Value = (Vec<f64>, Vec<Arc>)> {
    let weights = prop::collection::vec((0_u32..40).prop_map(f64::from), 1..7);
    let arcs = prop::collection::vec((0_usize..7, 0_usize..7, 0_usize..5), 0..12);
    (weights, arcs).prop_map(|(weights, arcs)| {
        let count = weights.len();
        let all = arcs.into_iter().map(|(from, to, distance)| Arc { from: from % count, to: to % count, distance });
        let arcs = all.filter(|arc| arc.distance > 0 || arc.from < arc.to).collect();
        (weights, arcs)
    })
}

proptest! {
    #[test]
    fn the_longest_path_is_that_of_the_definition((weights, arcs) in body(), turns in 1_usize..40) {
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let found = longest(&weights, &arcs, turns as f64);
        equal(found.span, slow(&weights, &arcs, turns));
        // The path that is shown has that weight.
        let shown: f64 = found.nodes.iter().zip(&weights).map(|(times, weight)| times * weight).sum();
        prop_assert!((shown - found.span).abs() < 1e-6, "{shown} of {}", found.span);
        let (steps, taken) = (found.nodes.iter().sum::<f64>(), found.arcs.iter().sum::<f64>());
        prop_assert!(found.span == 0.0 || (steps - taken - 1.0).abs() < 1e-6);
    }

    /// Beyond what is gone through one by one, the span grows as the definition's does. What the estimate may lack is less than
    /// the weight of the iterations that the longest dependence spans.
    #[test]
    fn what_is_not_gone_through_grows_alike((weights, arcs) in body(), more in 1_usize..900) {
        let turns = MOST + more;
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let found = longest(&weights, &arcs, turns as f64).span;
        let expected = slow(&weights, &arcs, turns);
        let one: f64 = weights.iter().sum();
        prop_assert!((found - expected).abs() <= 8.0 * one, "{found} of {expected}");
    }
}

#[test]
fn a_dependence_that_spans_more_than_is_gone_through_holds() {
    // Every 1000th iteration waits: 10 chains of 100000 / 1000 links.
    let arcs = [Arc { from: 1, to: 0, distance: 1000 }, Arc { from: 0, to: 1, distance: 0 }];
    let found = longest(&[3.0, 4.0], &arcs, 100_000.0).span;
    assert!((found - 700.0).abs() < 7.0, "{found}");
}

#[test]
fn circles_within_an_iteration_end() {
    let arcs = [Arc { from: 0, to: 1, distance: 0 }, Arc { from: 1, to: 0, distance: 0 }];
    equal(longest(&[3.0, 4.0], &arcs, 1.0).span, 7.0);
}
