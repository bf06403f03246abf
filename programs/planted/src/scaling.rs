//! Programs that do not scale to 16 processors, each for one reason, and that do once it is removed. Times are in units; the
//! speedup of the best schedule on 16 processors stands with each, before and after.

use rayon::prelude::*;

use crate::causes::{divided, Cause, PIECES};
use crate::cost::cost;

pub const CAUSES: &[Cause] = &[
    Cause { name: "serial-middle", run: || serial_middle(1), fixed: || serial_middle(PIECES) },
    Cause { name: "serial-end", run: || serial_end(1), fixed: || serial_end(PIECES) },
    Cause { name: "too-coarse", run: || equal_tasks(4), fixed: || equal_tasks(256) },
    Cause { name: "uneven", run: || uneven(1), fixed: || uneven(PIECES) },
    Cause { name: "shared-iterator", run: shared_iterator, fixed: by_index },
    Cause { name: "shrinking", run: || shrinking(false), fixed: || shrinking(true) },
    Cause { name: "chain", run: || chain(false), fixed: || chain(true) },
    Cause { name: "narrow-steps", run: || steps(4), fixed: || steps(32) },
    Cause { name: "two-levels", run: || two_levels(3), fixed: || two_levels(64) },
    Cause { name: "folds", run: folds, fixed: folds_as_tree },
];

/// Two loops, with 16 000 in one piece in between.
/// 80 000 over 20 000: 4; divided by 8: over 6 000, 13.3.
fn serial_middle(pieces: u64) {
    (0..32).into_par_iter().for_each(|_| cost(1_000));
    divided(16_000, pieces);
    (0..32).into_par_iter().for_each(|_| cost(1_000));
}

/// The same at the end.
fn serial_end(pieces: u64) {
    (0..64).into_par_iter().for_each(|_| cost(1_000));
    divided(16_000, pieces);
}

/// 64 000, in this number of tasks. With 4: 4; with 256: 16.
fn equal_tasks(tasks: u64) {
    rayon::scope(|scope| {
        for _ in 0..tasks {
            scope.spawn(move |_| cost(64_000 / tasks));
        }
    });
}

/// 64 tasks, of which one takes twenty times as long as the others.
/// 83 000 over 20 000: 4.2; divided by 8: over about 5 500, 15.
fn uneven(pieces: u64) {
    rayon::scope(|scope| {
        for task in 0..64 {
            scope.spawn(move |_| if task == 0 { divided(20_000, pieces) } else { cost(1_000) });
        }
    });
}

/// 400 items, of which getting one takes as long as half of what is done with it, one after the other.
/// 60 000 over 20 000: 3; by index: 16.
fn shared_iterator() {
    let items = (0..400).inspect(|_| cost(50));
    items.par_bridge().for_each(|_| cost(100));
}

fn by_index() {
    (0..400).into_par_iter().for_each(|_| cost(150));
}

/// Pieces of a loop, each a task.
fn pieces(count: u64) -> impl ParallelIterator {
    (0..usize::try_from(count).expect("small")).into_par_iter().with_max_len(1)
}

/// Stages of 16, 8, 4, 2, 1 tasks of 1 000. 31 000 over 5 000: 6.2; of 32 tasks that make as much: 16.
fn shrinking(divided: bool) {
    for tasks in [16u64, 8, 4, 2, 1] {
        let (tasks, each) = if divided { (32, tasks * 1_000 / 32) } else { (tasks, 1_000) };
        pieces(tasks).for_each(|_| cost(each));
    }
}

/// 64 tasks, each of which creates the next one when it is done. 1; when it begins: 16.
fn chain(first: bool) {
    fn link<'s>(scope: &rayon::Scope<'s>, left: u32, first: bool) {
        if !first {
            cost(1_000);
        }
        if left > 1 {
            scope.spawn(move |scope| link(scope, left - 1, first));
        }
        if first {
            cost(1_000);
        }
    }
    rayon::scope(|scope| link(scope, 64, first));
}

/// 100 loops one after the other, each with this number of pieces: 4; 16.
fn steps(count: u64) {
    for _ in 0..100 {
        pieces(count).for_each(|_| cost(3_200 / count));
    }
}

/// A join, in each branch of which there is a loop of this number of pieces: 6; 16.
fn two_levels(count: u64) {
    let branch = || pieces(count).for_each(|_| cost(48_000 / count));
    rayon::join(branch, branch);
}

/// 64 partial results that are put together one after the other, for half of what each took; or four times as many, by twos.
/// 96 000 over 36 000: 2.7; about 15.
fn folds() {
    let parts: Vec<u64> = (0..64).into_par_iter().map(|_| cost_of(1_000)).collect();
    for part in parts {
        cost(part / 2);
    }
}

fn folds_as_tree() {
    fn tree(parts: u64) {
        if parts == 1 {
            return cost(250);
        }
        rayon::join(|| tree(parts / 2), || tree(parts / 2));
        cost(25);
    }
    tree(256);
}

fn cost_of(units: u64) -> u64 {
    cost(units);
    units
}
