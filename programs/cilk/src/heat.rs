//! Heat in a square plate whose edge is kept at zero, by Jacobi: in each of two hundred steps every point moves towards
//! the mean of its four neighbours. The points inside are divided by rows, the halves beside each other, down to cutoff
//! rows; each step waits for the one before. Size is the number of rows of the points inside.
//!
//! It starts with a wave that keeps its form: each step makes it smaller by the same factor, which is the check.
//!
//! Work Θ(n²) per step, span Θ(n) per step.

use std::f64::consts::PI;

/// Steps.
const STEPS: i32 = 200;
/// The part of the difference from its neighbours' sum that a point makes up for in a step.
const RATE: f64 = 0.2;

pub fn run(n: usize, cutoff: usize) -> bool {
    let (vertical, horizontal) = (n / 20 + 1, n / 30 + 1);
    let (down, across) = (wave(n, vertical), wave(n, horizontal));
    let mut plate: Vec<f64> = down.iter().flat_map(|y| across.iter().map(move |x| x * y)).collect();
    let mut next = vec![0.0; plate.len()];
    rayon::scope(|_| {
        for _ in 0..STEPS {
            let width = n + 2;
            step(&plate, &mut next[width..width * (n + 1)], width, cutoff.max(1));
            std::mem::swap(&mut plate, &mut next);
        }
    });
    let part = |waves: usize| (PI * waves as f64 / (2 * (n + 1)) as f64).sin().powi(2);
    let factor = (1.0 - 4.0 * RATE * (part(vertical) + part(horizontal))).powi(STEPS);
    let expected = down.iter().flat_map(|y| across.iter().map(move |x| factor * x * y));
    plate.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= 1e-10)
}

/// This number of half waves over `n` points and one more at each end.
fn wave(n: usize, count: usize) -> Vec<f64> {
    (0..n + 2).map(|i| (PI * (i * count) as f64 / (n + 1) as f64).sin()).collect()
}

/// Makes rows of `next` from those of `plate` and from one more above and below.
fn step(plate: &[f64], next: &mut [f64], width: usize, cutoff: usize) {
    let rows = next.len() / width;
    if rows > cutoff {
        let half = rows / 2 * width;
        let (top, bottom) = next.split_at_mut(half);
        rayon::join(
            || step(&plate[..half + 2 * width], top, width, cutoff),
            || step(&plate[half..], bottom, width, cutoff),
        );
        return;
    }
    for (i, next) in next.chunks_exact_mut(width).enumerate() {
        let row = |at: usize| &plate[(i + at) * width..][..width];
        let (above, here, below) = (row(0), row(1), row(2));
        for j in 1..width - 1 {
            next[j] = here[j] + RATE * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4.0 * here[j]);
        }
    }
}
