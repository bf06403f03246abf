//! The programs. Times are in units; the parallelism stands with each, before and after.

use rayon::prelude::*;

use crate::cost::cost;

/// A program, and the same without what keeps it from scaling.
pub struct Cause {
    pub name: &'static str,
    pub run: fn(),
    pub fixed: fn(),
}

pub const CAUSES: &[Cause] = &[
    Cause { name: "serial-start", run: || serial_start(1), fixed: || serial_start(PIECES) },
    Cause { name: "partition", run: || sort(64 * 1024, 1), fixed: || sort(64 * 1024, PIECES) },
    Cause { name: "too-fine", run: || many_tasks(1), fixed: || many_tasks(64) },
    Cause { name: "heavy-pair", run: || heavy_pair(1, 1), fixed: || heavy_pair(PIECES, PIECES) },
    Cause { name: "marked", run: || marked(1), fixed: || marked(PIECES) },
    Cause { name: "marks", run: marks, fixed: marks },
    Cause { name: "functions", run: functions, fixed: functions },
    Cause { name: "heavy-pair-half", run: || heavy_pair(1, 1), fixed: || heavy_pair(PIECES, 1) },
];

/// Equal parts into which a fixed program divides what was serial.
pub const PIECES: u64 = 8;

/// So much, in this number of parts beside each other.
pub fn divided(units: u64, pieces: u64) {
    match pieces {
        1 => cost(units),
        _ => {
            rayon::join(|| divided(units / 2, pieces / 2), || divided(units - units / 2, pieces - pieces / 2));
        }
    }
}

/// Reading in takes 16 000 in one piece, then 64 items take 1 000 each.
/// Work 80 000, span 17 000: 4.7; divided by 8: 80 000 over 3 000, 26.7.
fn serial_start(pieces: u64) {
    divided(16_000, pieces);
    (0..64).into_par_iter().for_each(|_| cost(1_000));
}

/// Quicksort: to divide the items takes as many units as there are, before the halves are sorted beside each other; 1 024
/// are sorted in one piece, in ten times as many.
/// Work 65 536 × (6 + 10), span 65 536 × (2 − 1/32) + 10 240: 7.5; divided by 8: 1 048 576 over 26 368, 39.8.
fn sort(items: u64, pieces: u64) {
    if items <= 1_024 {
        return cost(items * 10);
    }
    divided(items, pieces);
    rayon::join(|| sort(items / 2, pieces), || sort(items / 2, pieces));
}

/// 16 384 items of 4 units, this number of to a task.
fn many_tasks(grain: u64) {
    fn halves(items: u64, grain: u64) {
        if items <= grain {
            cost(items * 4);
        } else {
            rayon::join(|| halves(items / 2, grain), || halves(items - items / 2, grain));
        }
    }
    halves(16_384, grain);
}

/// Two phases side by side that take 10 000 in one piece each, beside 32 light ones: while one of the two is left as it
/// is, the other is of no use.
/// Work 52 000, span 10 000: 5.2; one divided by 8: the same; both: 52 000 over 1 250, 41.6.
fn heavy_pair(first: u64, second: u64) {
    rayon::scope(|scope| {
        scope.spawn(move |_| divided(10_000, first));
        scope.spawn(move |_| divided(10_000, second));
        for _ in 0..32 {
            scope.spawn(|_| cost(1_000));
        }
    });
}

/// A task that takes 8 000 in the middle of 9 000, of which no event reports but the marks around it; the other one takes
/// 1 000.
/// Work 10 000, span 9 000: 1.11; divided by 8: 10 000 over 2 000, 5.
fn marked(pieces: u64) {
    let long = || {
        cost(500);
        {
            let _region = workspan_probe::region("middle");
            divided(8_000, pieces);
        }
        cost(500);
    };
    rayon::join(long, || cost(1_000));
}

/// Marks within marks, in a recursion, left behind, and ended out of order: the program goes on as if nothing had been.
/// Work 100 + 2 × 30 + 5 + 7 + 11, span 100 + 30 + 5 + 7 + 11.
fn marks() {
    let outer = workspan_probe::region("outer");
    cost(100);
    let both = || {
        let _recursion = workspan_probe::region("both");
        // Nobody ends this one but what is around it.
        std::mem::forget(workspan_probe::region("forgotten"));
        cost(30);
    };
    rayon::join(both, both);
    let inner = workspan_probe::region("inner");
    cost(5);
    drop(outer);
    cost(7);
    drop(inner);
    cost(11);
}

/// Functions that are marked, one of them a recursion that forks.
/// Work 7 × 10, span 30; of the seven calls of `leaf`, three are on the critical path.
fn functions() {
    walk(2);
}

#[workspan_probe::function]
fn walk(depth: u32) {
    leaf();
    if depth > 0 {
        rayon::join(|| walk(depth - 1), || walk(depth - 1));
    }
}

#[workspan_probe::function]
fn leaf() {
    cost(10);
}
