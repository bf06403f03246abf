//! Long hooks, after which a strand goes on later than they began.

use workspan_collect::{clock, strand};

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
