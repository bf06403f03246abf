//! Long hooks, after which a strand goes on later than they began.

use workspan_collect::{clock, platform, strand};
use workspan_wire::shm;

use crate::machine::Machine;

/// A strand of 1000 ticks meets a hook that began at tick 5000.
#[track_caller]
fn check(hook_stops: bool) {
    let machine = Machine::new(1);
    let main = machine.threads[0];
    let (begun, hook) = (4_000, 5_000);
    let before = strand::span(main);
    main.start.set(begun);
    if hook_stops {
        strand::stop(main, hook);
        strand::go(main, hook);
    }
    clock::restart(main, hook);
    assert_eq!(strand::span(main) - before, 1_000);
    assert!(main.start.get() > hook);
}

#[test]
fn what_ran_before_a_long_hook_counts_once() {
    check(true);
    // A recursion into the current region changes nothing.
    check(false);
}

#[test]
fn a_batch_that_ends_early_takes_back_what_it_left_out() {
    const BATCH_COST: i64 = 100_000;
    let machine = Machine::new(1);
    let main = machine.threads[0];
    main.tiny.set(i64::MAX);
    main.batching.set(1);
    main.probe.set(BATCH_COST);
    strand::go(main, clock::read(main));
    let before = strand::span(main);
    for _ in 0..100 {
        let now = clock::read(main);
        strand::stop(main, now);
        strand::go(main, now);
    }
    // Each reading counts one hook of a batch, and time has passed besides.
    let (one_hook, hooks) = (BATCH_COST / i64::from(shm::BATCH), 100);
    assert!(strand::span(main) - before >= -(one_hook + 1) * hooks, "{}", strand::span(main) - before);
}

#[test]
fn a_long_look_at_the_clock_belongs_to_no_strand() {
    let machine = Machine::new(1);
    let main = machine.threads[0];
    main.tiny.set(0);
    main.short.set(i64::MAX);
    let collector = main.collector.get();
    let begun = platform::ticks().wrapping_sub(10_000);
    main.start.set(begun);
    let now = clock::read(main);
    let look = main.collector.get() - collector;
    assert!(look > 0, "the look took {look}");
    let strand = now.wrapping_sub(main.start.get()) as i64;
    assert_eq!(strand + look, now.wrapping_sub(begun) as i64);
}
