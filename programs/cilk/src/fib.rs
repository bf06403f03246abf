//! Fibonacci numbers by their recurrence: fib(n) = fib(n - 1) + fib(n - 2), the two beside each other.
//!
//! Size is n; calls below the cutoff make no tasks. Next to no work but that of making tasks.
//!
//! Work Θ(φⁿ), span Θ(n).

use std::hint::black_box;

pub fn run(n: usize, cutoff: usize) -> bool {
    let (expected, _) = (0..n).fold((0, 1), |(a, b), _| (b, a + b));
    let found = if cutoff < 2 { parallel(black_box(n)) } else { with_cutoff(black_box(n), cutoff) };
    found == expected
}

fn parallel(n: usize) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = rayon::join(|| parallel(n - 1), || parallel(n - 2));
    a + b
}

fn with_cutoff(n: usize, cutoff: usize) -> u64 {
    if n < cutoff {
        return serial(n);
    }
    let (a, b) = rayon::join(|| with_cutoff(n - 1, cutoff), || with_cutoff(n - 2, cutoff));
    a + b
}

fn serial(n: usize) -> u64 {
    if n < 2 {
        n as u64
    } else {
        serial(n - 1) + serial(n - 2)
    }
}
