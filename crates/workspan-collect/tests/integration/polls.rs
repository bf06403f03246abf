//! Threads that have looked until they end, on machines that are late.

use workspan_collect::polls;

use crate::machine::Machine;

/// A thread has looked for ten million ticks up to tick `now`. The look at the clocks is over after `look` ticks, and the thread has
/// come to its end `after` more.
#[track_caller]
fn check(look: u64, after: u64, looked_to_its_end: bool) {
    let machine = Machine::new(1);
    let main = machine.threads[0];
    let now = 1_000_000_000;
    polls::looked(main, 10_000_000, now);
    polls::look_ends(main, now, now + look);
    assert_eq!(polls::looked_to_end(main, now + look + after), looked_to_its_end, "{look}, {after}");
}

#[test]
fn a_late_look_at_the_clocks_is_no_work() {
    check(0, 1_000, true);
    // The kernel let others run meanwhile.
    check(5_000_000, 1_000, true);
    // It has worked since.
    check(0, 5_000_000, false);
    check(5_000_000, 5_000_000, false);
}

#[test]
fn of_another_look_nothing_is_known() {
    let machine = Machine::new(1);
    let main = machine.threads[0];
    polls::looked(main, 10_000_000, 1_000_000_000);
    polls::look_ends(main, 2_000_000_000, 3_000_000_000);
    assert!(!polls::looked_to_end(main, 3_000_000_000));
}

/// Looks at the clocks, wherever they are and however many, and waits of its own.
#[test]
fn what_the_collector_took_is_no_work() {
    let machine = Machine::new(1);
    let main = machine.threads[0];
    let now = 1_000_000_000;
    polls::looked(main, 10_000_000, now);
    // What it worked besides is.
    main.collector.set(main.collector.get() + 59_900_000);
    assert!(polls::looked_to_end(main, now + 60_000_000));
    assert!(!polls::looked_to_end(main, now + 65_000_000));
}
