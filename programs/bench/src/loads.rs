//! The loads: what costs most to profile, and what should cost next to nothing.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::steps;

/// A load.
pub struct Load {
    /// Name on the command line.
    pub name: &'static str,
    /// Runs it this number of times.
    pub run: fn(u64),
}

/// All loads.
pub const LOADS: &[Load] = &[
    Load { name: "fib", run: fib_without_cutoff },
    Load { name: "fib-cutoff", run: fib_with_cutoff },
    Load { name: "sum", run: sum },
    Load { name: "sort", run: sort },
    Load { name: "sort-unstable", run: sort_unstable },
    Load { name: "chunks", run: chunks },
    Load { name: "tasks-iter", run: tasks_of_an_iterator },
    Load { name: "tasks-spawn", run: tasks_of_a_scope },
];

/// Elements of the loads over arrays.
const ELEMENTS: u64 = 10_000_000;
/// Tasks of the loads that are nothing but tasks.
const TASKS: u32 = 1_000_000;

fn fib(n: u64, cutoff: u64) -> u64 {
    if n < 2 {
        return n;
    }
    if n < cutoff {
        return fib(n - 1, cutoff) + fib(n - 2, cutoff);
    }
    let (a, b) = rayon::join(|| fib(n - 1, cutoff), || fib(n - 2, cutoff));
    a + b
}

/// 14 930 351 joins, and next to nothing else.
fn fib_without_cutoff(repeat: u64) {
    for _ in 0..repeat {
        assert_eq!(parallel_fib(black_box(35)), 9_227_465);
    }
}

/// The same without a cutoff to test.
fn parallel_fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| parallel_fib(n - 1), || parallel_fib(n - 2));
    a + b
}

/// Serial below 20: some 1600 joins.
fn fib_with_cutoff(repeat: u64) {
    for _ in 0..repeat {
        assert_eq!(fib(black_box(35), black_box(20)), 9_227_465);
    }
}

fn sum(repeat: u64) {
    let items: Vec<u64> = (0..ELEMENTS).collect();
    for _ in 0..repeat {
        assert_eq!(black_box(&items).par_iter().sum::<u64>(), ELEMENTS * (ELEMENTS - 1) / 2);
    }
}

/// Numbers without order.
fn shuffled() -> Vec<u64> {
    let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(1u64), next).map(|x| x >> 20).take(ELEMENTS as usize).collect()
}

fn sort(repeat: u64) {
    for _ in 0..repeat {
        let mut items = shuffled();
        items.par_sort();
        assert!(items[0] <= items[items.len() / 2] && items[items.len() / 2] <= items[items.len() - 1]);
    }
}

fn sort_unstable(repeat: u64) {
    for _ in 0..repeat {
        let mut items = shuffled();
        items.par_sort_unstable();
        assert!(items[0] <= items[items.len() / 2] && items[items.len() / 2] <= items[items.len() - 1]);
    }
}

/// Chunks of a thousand: ten thousand pieces at most.
fn chunks(repeat: u64) {
    let mut items: Vec<u64> = (0..ELEMENTS).collect();
    for _ in 0..repeat {
        black_box(&mut items).par_chunks_mut(1000).for_each(|chunk| chunk.iter_mut().for_each(|x| *x += 1));
        let sum = black_box(&items).par_chunks(1000).map(|chunk| chunk.iter().sum::<u64>()).reduce(|| 0, u64::max);
        assert!(sum > 0);
    }
}

fn sum_below(tasks: u32) -> u64 {
    u64::from(tasks) * (u64::from(tasks) - 1) / 2
}

/// Tasks of one element, made by splitting.
fn tasks_of_an_iterator(repeat: u64) {
    for _ in 0..repeat {
        let sum: u64 = (0..black_box(TASKS)).into_par_iter().with_max_len(1).map(u64::from).sum();
        assert_eq!(sum, sum_below(TASKS));
    }
}

/// Tasks of one element, made one by one.
fn tasks_of_a_scope(repeat: u64) {
    for _ in 0..repeat {
        spawns(TASKS);
    }
}

/// This number of tasks of one element, all made before the one sync.
pub fn spawns(tasks: u32) {
    let sum = AtomicU64::new(0);
    rayon::scope(|scope| {
        for i in 0..black_box(tasks) {
            let sum = &sum;
            scope.spawn(move |_| {
                sum.fetch_add(u64::from(i), Ordering::Relaxed);
            });
        }
    });
    assert_eq!(sum.into_inner(), sum_below(tasks));
}

/// A balanced tree; the pool and the code are warm when it begins.
pub fn tree(depth: u64, count: u64) {
    rayon::join(|| steps::run(count), || steps::run(count));
    leaves(depth, count);
}

fn leaves(depth: u64, count: u64) {
    if depth == 0 {
        steps::run(count);
    } else {
        rayon::join(|| leaves(depth - 1, count), || leaves(depth - 1, count));
    }
}
