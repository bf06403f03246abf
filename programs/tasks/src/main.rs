//! Pairs of a program that races and its fixed form, and constructs whose graph is known.
//!
//! `tasks CASE THREADS RACY`; without arguments it prints the names of the pairs. `tasks random THREADS SEED` runs a random program
//! and prints whether it races.

mod everyday;
mod random;

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

use rayon::prelude::*;

/// A number that any thread may use without asking.
struct Shared(UnsafeCell<i64>);

// SAFETY: none: that is what the program is for.
unsafe impl Sync for Shared {}

static A: Shared = Shared(UnsafeCell::new(0));
static B: Shared = Shared(UnsafeCell::new(0));
static CELLS: [Shared; 300] = [const { Shared(UnsafeCell::new(0)) }; 300];

impl Shared {
    const fn new() -> Shared {
        Shared(UnsafeCell::new(0))
    }

    fn get(&self) -> i64 {
        // SAFETY: as above.
        unsafe { *self.0.get() }
    }

    fn set(&self, value: i64) {
        // SAFETY: as above.
        unsafe { *self.0.get() = value }
    }

    fn add(&self, value: i64) {
        self.set(self.get() + value);
    }
}

fn fib(n: i64) -> i64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn join(racy: bool) {
    rayon::join(|| A.set(1), || if racy { A.set(2) } else { B.set(2) });
    A.add(B.get());
}

fn nested_joins(racy: bool) {
    let other = if racy { &B } else { &CELLS[0] };
    rayon::join(|| rayon::join(|| A.set(1), || B.set(2)), || rayon::join(|| other.set(3), || fib(6)));
}

fn scope(racy: bool) {
    rayon::scope(|scope| {
        for i in 0..20 {
            scope.spawn(move |_| CELLS[if racy { 0 } else { i }].add(1));
        }
    });
    A.set(CELLS[3].get());
}

fn body_of_scope(racy: bool) {
    rayon::scope(|scope| {
        if !racy {
            B.set(A.get());
        }
        scope.spawn(|_| A.set(1));
        if racy {
            B.set(A.get());
        }
    });
}

fn scope_in_scope(racy: bool) {
    rayon::scope_fifo(|scope| {
        scope.spawn_fifo(move |scope| {
            if !racy {
                A.set(1);
            }
            scope.spawn_fifo(|_| B.set(A.get()));
            if racy {
                A.set(1);
            }
        });
    });
    A.add(B.get());
}

fn in_place(racy: bool) {
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| A.set(1));
        if racy { &A } else { &B }.set(2);
    });
    A.add(B.get());
}

fn broadcast(racy: bool) {
    rayon::broadcast(|context| CELLS[if racy { 0 } else { context.index() }].add(1));
    rayon::scope(|scope| {
        scope.spawn_broadcast(move |_, context| CELLS[if racy { 0 } else { context.index() }].add(1));
    });
    A.set(CELLS[0].get());
}

fn iterators(racy: bool) {
    let mut numbers = vec![1_i64; 500];
    numbers.par_iter_mut().enumerate().for_each(|(i, number)| *number += i as i64);
    let doubled: Vec<i64> = numbers.par_iter().map(|number| number * 2).filter(|number| number % 3 != 0).collect();
    numbers.par_sort_unstable_by(|a, b| b.cmp(a));
    let folded = (0..300_usize)
        .into_par_iter()
        .fold(Vec::new, |mut list, i| {
            CELLS[if racy { i / 2 } else { i }].add(1);
            list.push(i);
            list
        })
        .reduce(Vec::new, |mut a, mut b| {
            a.append(&mut b);
            a
        });
    A.set(doubled.len() as i64 + folded.len() as i64);
}

fn pool(racy: bool) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    B.set(2);
    let sum = pool.install(|| {
        let (a, b) = rayon::join(|| B.get(), || if racy { B.set(3) } else { A.set(3) });
        let () = b;
        a
    });
    A.set(sum + B.get());
}

fn counted(racy: bool) {
    let counter = AtomicI64::new(0);
    (0..200_i64).into_par_iter().for_each(|i| {
        counter.fetch_add(i, Ordering::Relaxed);
        if racy {
            A.add(1);
        }
    });
    A.add(counter.load(Ordering::Relaxed));
}

fn owned_together(racy: bool) {
    let shared = Arc::new((Shared(UnsafeCell::new(3)), 4));
    rayon::scope(|scope| {
        for i in 0..10 {
            let shared = Arc::clone(&shared);
            scope.spawn(move |_| {
                CELLS[i].set(shared.0.get());
                if racy {
                    shared.0.set(5);
                }
            });
        }
        drop(shared);
    });
}

type Case = (&'static str, fn(bool));

const PAIRS: &[Case] = &[
    ("join", join),
    ("nested_joins", nested_joins),
    ("scope", scope),
    ("body_of_scope", body_of_scope),
    ("scope_in_scope", scope_in_scope),
    ("in_place", in_place),
    ("broadcast", broadcast),
    ("iterators", iterators),
    ("pool", pool),
    ("counted", counted),
    ("owned_together", owned_together),
];

/// What creates a known number of tasks. A call from outside of the pool is a task, too.
const SHAPES: &[Case] = &[
    ("one_join", |_| drop(rayon::join(|| A.set(1), || B.set(2)))),
    ("fib", |_| A.set(fib(8))),
    ("spawns", |_| {
        rayon::scope(|scope| (0..20).for_each(|i| scope.spawn(move |_| CELLS[i].set(1))));
    }),
    ("everywhere", |_| drop(rayon::broadcast(|context| CELLS[context.index()].set(1)))),
    ("inside", |_| rayon::scope(|scope| scope.spawn(|scope| scope.spawn(|_| A.set(1))))),
];

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, case, threads, racy] = words.as_slice() else {
        PAIRS.iter().chain(everyday::PAIRS).for_each(|(name, _)| println!("{name}"));
        return;
    };
    let threads = threads.parse().expect("a number");
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("the first pool");
    if case == "random" {
        println!("{}", random::run(racy.parse().expect("a number")));
        return;
    }
    let found = PAIRS.iter().chain(everyday::PAIRS).chain(SHAPES).find(|(name, _)| name == case);
    found.expect("a case").1(racy == "1");
    println!("{} {}", A.get(), B.get());
}
