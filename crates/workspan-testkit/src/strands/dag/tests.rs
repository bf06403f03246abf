//! Rows whose graph is known.

use super::super::random::random;
use super::*;

#[test]
fn a_path_has_the_length_that_it_should_have() {
    for seed in 0..200 {
        let run = random(seed);
        let answer = evaluate(&run.recording, &run.rows);
        let path: i64 = answer.path.iter().map(|row| run.rows[*row].cost.0 + run.rows[*row].blocked.0).sum();
        assert_eq!(path, answer.span, "seed {seed}");
        assert!(answer.uniform <= answer.span, "seed {seed}");
        assert_eq!(answer.places.len(), run.rows.len(), "seed {seed}");
    }
}
