//! The shapes and their answers.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::OnceLock;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cost::cost;

/// A program with a known answer.
pub struct Shape {
    /// Name on the command line.
    pub name: &'static str,
    /// The program.
    pub run: fn(),
    /// Work and span in units, given the number of workers; 0 where there is no closed form.
    pub answer: fn(u64) -> (u64, u64),
}

macro_rules! shapes {
    ($($(#[$when:meta])* $name:literal $run:ident $answer:expr;)*) => {
        /// All shapes.
        pub const SHAPES: &[Shape] = &[$($(#[$when])* Shape { name: $name, run: $run, answer: $answer }),*];
    };
}

shapes! {
    "serial" serial |_| (7, 7);
    "join" join_two |_| (8, 5);
    "tree" tree |_| (256, 1);
    "chain" chain |_| (30, 20);
    "skewed" skewed |_| (36, 8);
    "costs" costs |_| (150, 50);
    "diamond" diamond |_| (13, 10);
    "join-context" join_context |_| (5, 3);
    "scope-flat" scope_flat |_| (20, 1);
    "scope-staggered" scope_staggered |_| (60, 15);
    "scope-nested" scope_nested |_| (18, 9);
    "scope-spawns-from-tasks" scope_spawns_from_tasks |_| (15, 9);
    "scope-fifo" scope_fifo |_| (20, 2);
    "scope-in-place" scope_in_place |_| (13, 8);
    "scope-in-place-fifo" scope_in_place_fifo |_| (13, 8);
    "scope-escaping" scope_escaping |_| (12, 10);
    "par-iter" par_iter |_| (64, 1);
    "par-iter-unequal" par_iter_unequal |_| (40, 4);
    "par-iter-nested" par_iter_nested |_| (36, 1);
    "par-iter-collect" par_iter_collect |_| (32, 1);
    "par-iter-sum" par_iter_sum |_| (32, 2);
    "par-iter-chain" par_iter_chain |_| (10, 3);
    "par-iter-flat-map" par_iter_flat_map |_| (12, 1);
    "par-iter-zip" par_iter_zip |_| (16, 1);
    "par-iter-fold-reduce" par_iter_fold_reduce |_| (16, 1);
    "par-chunks" par_chunks |_| (100, 10);
    "par-bridge" par_bridge |_| (88, 18);
    "par-bridge-slow-iterator" par_bridge_slow_iterator |_| (44, 41);
    "mix" mix |_| (41, 12);
    "broadcast" broadcast |p| (3 * p + 1, 4);
    "broadcast-spawn" broadcast_spawn |p| (2 * p + 1, 3);
    "install" install |_| (6, 6);
    "install-join" install_join |_| (12, 8);
    "install-across" install_across |_| (20, 11);
    "pool-scope" pool_scope |_| (13, 9);
    "spawn-detached" spawn_detached |_| (12, 9);
    "panic-left" panic_left |_| (9, 6);
    "panic-right" panic_right |_| (9, 6);
    "panic-in-task" panic_in_task |_| (9, 6);
    "yield" yields |_| (5, 3);
    "spawn-fifo" spawn_fifo |_| (9, 7);
    "recursion" recursion |_| (31, 31);
    #[cfg(feature = "core-1-12")] "current-thread" current_thread |_| (10, 7);
    #[cfg(feature = "rayon-1-9")] "walk-tree" walk_tree |_| (127, 0);
    "par-sort" par_sort |_| (0, 0);
    "par-sort-unstable" par_sort_unstable |_| (0, 0);
    "taskprof" taskprof |_| (3040, 930);
}

fn serial() {
    cost(7);
}

/// 1 + max(4, 3).
fn join_two() {
    cost(1);
    rayon::join(|| cost(4), || cost(3));
}

/// 2^8 leaves of 1.
fn tree() {
    fn node(depth: u32) {
        if depth == 0 {
            cost(1);
        } else {
            rayon::join(|| node(depth - 1), || node(depth - 1));
        }
    }
    node(8);
}

/// Ten times max(1, 2).
fn chain() {
    for _ in 0..10 {
        rayon::join(|| cost(1), || cost(2));
    }
}

/// Leaves of 1 to 8, all in parallel.
fn skewed() {
    fn node(n: u64) {
        if n == 0 {
            return;
        }
        rayon::join(|| cost(n), || node(n - 1));
    }
    node(8);
}

/// 10, 20, 30, 40 and 50 in parallel.
fn costs() {
    fn node(costs: &[u64]) {
        match costs {
            [] => {}
            [one] => cost(*one),
            [first, rest @ ..] => {
                rayon::join(|| cost(*first), || node(rest));
            }
        }
    }
    node(&[10, 20, 30, 40, 50]);
}

/// Serial 2, then (3 then max(1, 4)) beside 2, then serial 1: 2 + 7 + 1.
fn diamond() {
    cost(2);
    rayon::join(
        || {
            cost(3);
            rayon::join(|| cost(1), || cost(4));
        },
        || cost(2),
    );
    cost(1);
}

fn join_context() {
    rayon::join_context(|_| cost(2), |_| cost(3));
}

fn scope_flat() {
    rayon::scope(|s| {
        for _ in 0..20 {
            s.spawn(|_| cost(1));
        }
    });
}

/// The tenth task starts after 10 units of the body.
fn scope_staggered() {
    rayon::scope(|s| {
        for _ in 0..10 {
            cost(1);
            s.spawn(|_| cost(5));
        }
    });
}

/// Inner scopes of 3 tasks of 2 after 1: 3; two in a row and one beside: 1 + 3 + 3 + 2.
fn scope_nested() {
    fn inner() {
        rayon::scope(|s| {
            cost(1);
            s.spawn(|_| cost(2));
            s.spawn(|_| cost(2));
        });
    }
    rayon::scope(|s| {
        cost(1);
        s.spawn(|_| {
            inner();
            inner();
            cost(2);
        });
        inner();
    });
}

/// Tasks that spawn into the same scope: 1 + 2 + 3, and 1 + 2 + 1 + 5.
fn scope_spawns_from_tasks() {
    rayon::scope(|s| {
        cost(1);
        s.spawn(|s| {
            cost(2);
            s.spawn(|_| cost(3));
            cost(1);
            s.spawn(|_| cost(5));
        });
        s.spawn(|_| cost(3));
    });
}

fn scope_fifo() {
    rayon::scope_fifo(|s| {
        for _ in 0..10 {
            s.spawn_fifo(|_| cost(2));
        }
    });
}

fn scope_in_place() {
    cost(1);
    rayon::in_place_scope(|s| {
        s.spawn(|_| cost(6));
        s.spawn(|_| cost(3));
        cost(2);
    });
    cost(1);
}

fn scope_in_place_fifo() {
    cost(1);
    rayon::in_place_scope_fifo(|s| {
        s.spawn_fifo(|_| cost(6));
        s.spawn_fifo(|_| cost(3));
        cost(2);
    });
    cost(1);
}

/// A task spawned inside a join does not delay the join, but the scope: 1 + 9.
fn scope_escaping() {
    rayon::scope(|s| {
        cost(1);
        rayon::join(|| s.spawn(|_| cost(9)), || cost(1));
        cost(1);
    });
}

fn par_iter() {
    (0..64).into_par_iter().for_each(|_| cost(1));
}

fn par_iter_unequal() {
    (0..16u64).into_par_iter().for_each(|i| cost(i % 4 + 1));
}

fn par_iter_nested() {
    (0..6).into_par_iter().for_each(|_| (0..6).into_par_iter().for_each(|_| cost(1)));
}

fn par_iter_collect() {
    let items: Vec<u64> = (0..32).collect();
    let doubled: Vec<u64> = items
        .par_iter()
        .map(|x| {
            cost(1);
            2 * x
        })
        .collect();
    assert_eq!(doubled.len(), 32);
}

fn par_iter_sum() {
    let sum: u64 = (0..16u64)
        .into_par_iter()
        .map(|x| {
            cost(2);
            x
        })
        .sum();
    assert_eq!(sum, 120);
}

fn par_iter_chain() {
    (0..4).into_par_iter().map(|_| 1).chain((0..2).into_par_iter().map(|_| 3)).for_each(cost);
}

fn par_iter_flat_map() {
    (0..4).into_par_iter().flat_map(|_| (0..3).into_par_iter()).for_each(|_: i32| cost(1));
}

fn par_iter_zip() {
    (0..16).into_par_iter().zip((0..16).into_par_iter()).for_each(|(_, _): (i32, i32)| cost(1));
}

fn par_iter_fold_reduce() {
    let items: Vec<u64> = (0..16).collect();
    let sum = items
        .par_iter()
        .with_max_len(1)
        .fold(
            || 0,
            |sum, x| {
                cost(1);
                sum + x
            },
        )
        .reduce(|| 0, |a, b| a + b);
    assert_eq!(sum, 120);
}

fn par_chunks() {
    let items = vec![1u64; 100];
    items.par_chunks(10).for_each(|chunk| chunk.iter().for_each(|x| cost(*x)));
}

/// The iterator takes 1 per item, an item 10: the last starts after 8.
fn par_bridge() {
    (0..8).inspect(|_| cost(1)).par_bridge().for_each(|_| cost(10));
}

/// The iterator is the bottleneck: 4 × 10, then the last item.
fn par_bridge_slow_iterator() {
    (0..4).inspect(|_| cost(10)).par_bridge().for_each(|_| cost(1));
}

/// 1 + max(par_iter 10 × 1 → 1, scope (2; tasks 3, 5) → 7, join (4, 10)) + 1.
fn mix() {
    cost(1);
    rayon::join(
        || (0..10).into_par_iter().for_each(|_| cost(1)),
        || {
            rayon::join(
                || {
                    rayon::scope(|s| {
                        cost(2);
                        s.spawn(|_| cost(3));
                        s.spawn(|_| cost(5));
                    });
                },
                || {
                    rayon::join(|| cost(4), || cost(10));
                },
            )
        },
    );
    // 1 + 10 + (2 + 3 + 5) + 14 + 6 = 41; the last 6 in parallel.
    (0..6).into_par_iter().for_each(|_| cost(1));
}

fn broadcast() {
    cost(1);
    rayon::broadcast(|_| cost(3));
}

fn broadcast_spawn() {
    rayon::scope(|s| {
        cost(1);
        s.spawn_broadcast(|_, _| cost(2));
    });
}

fn pool() -> &'static ThreadPool {
    static POOL: OnceLock<ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| ThreadPoolBuilder::new().num_threads(2).build().expect("a pool"))
}

fn install() {
    cost(2);
    pool().install(|| cost(3));
    cost(1);
}

fn install_join() {
    cost(2);
    pool().install(|| {
        cost(1);
        rayon::join(|| cost(4), || cost(4));
    });
    cost(1);
}

/// From a worker of one pool into another, and back: 1 + 2 + max(3, 1 + 5) + 1 on one branch, 1 on the other; 1 after.
fn install_across() {
    cost(1);
    rayon::join(
        || {
            cost(2);
            pool().install(|| {
                rayon::join(
                    || cost(3),
                    || {
                        cost(1);
                        pool().install(|| cost(5));
                    },
                );
            });
            cost(1);
        },
        || cost(6),
    );
    cost(1);
}

/// All of another pool's constructs: 1 + 3 in a scope, then 2 beside 1, 1 in place, 2 in a fifo scope.
fn pool_scope() {
    pool().scope(|s| {
        cost(1);
        s.spawn(|_| cost(3));
        s.spawn(|_| cost(3));
    });
    pool().join(|| cost(2), || cost(1));
    pool().in_place_scope(|s| s.spawn(|_| cost(1)));
    pool().scope_fifo(|s| s.spawn_fifo(|_| cost(2)));
}

/// The detached task starts after 2 and takes 7; the rest takes 3 more.
fn spawn_detached() {
    static DONE: AtomicBool = AtomicBool::new(false);
    cost(2);
    rayon::spawn(|| {
        cost(7);
        DONE.store(true, Ordering::Release);
    });
    cost(3);
    wait(&DONE);
}

/// Polls, so that the wait is neither work that matters nor a hang.
fn wait(done: &AtomicBool) {
    while !done.load(Ordering::Acquire) {
        if rayon_core::yield_now().is_none() {
            std::thread::yield_now();
        }
    }
}

fn expect_panic(run: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "a panic must pass");
}

fn fail() {
    resume_unwind(Box::new("expected"));
}

fn panic_left() {
    expect_panic(|| {
        rayon::join(
            || {
                cost(3);
                fail();
            },
            || cost(5),
        );
    });
    cost(1);
}

fn panic_right() {
    expect_panic(|| {
        rayon::join(
            || cost(3),
            || {
                cost(5);
                fail();
            },
        );
    });
    cost(1);
}

fn panic_in_task() {
    expect_panic(|| {
        rayon::scope(|s| {
            s.spawn(|_| {
                cost(5);
                fail();
            });
            cost(3);
        });
    });
    cost(1);
}

fn yields() {
    rayon::join(
        || {
            cost(1);
            rayon_core::yield_now();
            rayon_core::yield_local();
            cost(1);
        },
        || cost(3),
    );
}

fn spawn_fifo() {
    static DONE: AtomicBool = AtomicBool::new(false);
    cost(2);
    rayon::spawn_fifo(|| {
        cost(5);
        DONE.store(true, Ordering::Release);
    });
    cost(2);
    wait(&DONE);
}

/// The main thread is a worker itself.
#[cfg(feature = "core-1-12")]
fn current_thread() {
    cost(2);
    let pool = ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().expect("a pool");
    pool.install(|| rayon::join(|| cost(3), || cost(4)));
    cost(1);
    // The calling thread stays its worker for good.
    std::mem::forget(pool);
}

/// Every node of a binary tree of seven levels takes 1.
#[cfg(feature = "rayon-1-9")]
fn walk_tree() {
    rayon::iter::walk_tree(1u32, |n| [2 * n, 2 * n + 1].into_iter().filter(|n| *n < 128)).for_each(|_| cost(1));
}

/// Comparisons made by the sorts.
pub static COMPARISONS: AtomicU64 = AtomicU64::new(0);

fn compare(a: &u64, b: &u64) -> std::cmp::Ordering {
    COMPARISONS.fetch_add(1, Ordering::Relaxed);
    cost(1);
    a.cmp(b)
}

fn shuffled() -> Vec<u64> {
    let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(1u64), next).map(|x| x >> 33).take(30_000).collect()
}

fn par_sort() {
    let mut items = shuffled();
    items.par_sort_by(compare);
    assert!(items.windows(2).all(|pair| pair[0] <= pair[1]));
}

fn par_sort_unstable() {
    let mut items = shuffled();
    items.par_sort_unstable_by(compare);
    assert!(items.windows(2).all(|pair| pair[0] <= pair[1]));
}

/// `even` and `odd` call one another, each with a join of its own; all in series.
fn recursion() {
    fn even(n: u64) {
        cost(1);
        if n > 0 {
            rayon::join(|| odd(n - 1), || ());
        }
    }
    fn odd(n: u64) {
        cost(1);
        if n > 0 {
            rayon::join(|| even(n - 1), || ());
        }
    }
    even(30);
}

/// The example of TaskProf (Fig. 3.2, 4.6), rebuilt from what the text says of it: 16 tasks; a recursive function whose
/// eight leaves take 200 and 220 in turn, the four nodes above them 10; then two tasks of 660 and 620.
///
/// Work 30 + 4 × 430 + 660 + 620 + 10 = 3040, span 30 + 230 + 660 + 10 = 930.
fn taskprof() {
    fn compute(level: u32, leaf: u64) {
        if level == 0 {
            cost(leaf);
            return;
        }
        rayon::scope(|s| {
            if level == 1 {
                cost(10);
            }
            s.spawn(move |_| compute(level - 1, 200));
            s.spawn(move |_| compute(level - 1, 220));
        });
    }
    cost(30);
    compute(3, 0);
    rayon::scope(|s| {
        s.spawn(|_| cost(660));
        s.spawn(|_| cost(620));
    });
    cost(10);
}
