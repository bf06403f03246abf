//! Who waited for whom, against a computation tick by tick.

use workspan_collect::wait_graph::{remember, spread, Waited};
use workspan_testkit::waits::{generate, redistributed, Waited as Expected};

/// Waits that come out as they should, of random threads: each once by itself, and again for all who waited for the waiting thread.
#[test]
fn waits_are_redistributed() {
    /// Programs, most waits of a thread, ticks of waits that are passed on in all.
    const SIZE: (u64, usize, u64) = if cfg!(miri) { (2, 8, 100) } else { (400, 60, 100_000) };
    let (seeds, most, least) = SIZE;
    let mut passed_on = 0;
    for seed in 0..seeds {
        for threads in 2..=6 {
            // Later than all that other seeds have left behind.
            let waits = generate(seed, threads, most, 1_000_000 * (seed * 10 + u64::from(threads) + 1));
            let mut found = Expected::new();
            for wait in &waits {
                let over = Waited { slot: wait.thread, from: wait.from, to: wait.to, by: wait.by, lock: false };
                remember(over);
                spread(over, &mut |part, ticks, direct| {
                    let sums = found.entry((part.slot, part.by)).or_default();
                    let sum = if direct { &mut sums.0 } else { &mut sums.1 };
                    *sum += ticks.cast_unsigned();
                });
            }
            let expected = redistributed(&waits);
            passed_on += expected.values().map(|sums| sums.1).sum::<u64>();
            assert_eq!(found, expected, "seed {seed}, {threads} threads: {waits:?}");
        }
    }
    assert!(passed_on > least, "hardly anybody waited for who waits: {passed_on}");
}

/// What a thread has waited for long ago is forgotten, and no more than that.
#[test]
fn only_the_last_waits_are_kept() {
    let wait = |slot, from, to, by| Waited { slot, from, to, by: Some(by), lock: false };
    for number in 0..100 {
        remember(wait(20, 10 * number, 10 * number + 5, 21));
    }
    let mut found = (0, 0);
    spread(wait(22, 0, 1_000, 20), &mut |_, ticks, direct| match direct {
        true => found.0 += ticks,
        false => found.1 += ticks,
    });
    assert_eq!(found, (1_000, 64 * 5));
}
