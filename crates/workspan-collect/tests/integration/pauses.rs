//! What is taken out of strands for pauses that leave no trace.

use std::sync::atomic::Ordering;

use workspan_collect::pause;
use workspan_collect::shared::current_account;
use workspan_wire::shm::Thread;

use crate::machine::Machine;

/// A thread on a machine with pauses of up to 10 000 ticks that take 1 % of the time; ten strands of 50 000 were seen.
fn thread(machine: &Machine) -> &'static Thread {
    let config = &machine.shared.header().config;
    config.pause_ticks.store(10_000, Ordering::Relaxed);
    config.pause_ppm.store(10_000, Ordering::Relaxed);
    let thread = machine.threads[0];
    pause::start(thread);
    for _ in 0..10 {
        assert_eq!(pause::take(thread, current_account(thread), 50_000, false), 0);
        pause::learn(current_account(thread), 50_000);
    }
    thread
}

#[test]
fn as_many_as_are_due() {
    let machine = Machine::new(1);
    let thread = thread(&machine);
    let take = |ticks| pause::take(thread, current_account(thread), ticks, false);
    // One is due from the start.
    assert_eq!(take(59_000), 9_000);
    assert_eq!(take(59_000), 0);
    // A tick is a nanosecond here: 1 % of 800 000 are 8000, and 1000 were left.
    thread.anchor.cpu.set(800_000);
    assert_eq!(take(59_010), 0);
    assert_eq!(take(59_000), 9_000);
    // However long nothing stands out, no more than four become due.
    thread.anchor.cpu.set(800_000_000);
    assert_eq!([59_000; 5].map(take), [9_000, 9_000, 9_000, 9_000, 0]);
}

#[test]
fn longer_than_a_pause_is_the_programs_own() {
    let machine = Machine::new(1);
    let thread = thread(&machine);
    let account = current_account(thread);
    assert_eq!(pause::take(thread, account, 60_001, false), 0);
    assert!(pause::stands_out(account, 60_001, 0));
    // Among strands of this size that were never seen before, nothing is remarkable.
    pause::learn(account, 200_000);
    assert!(!pause::stands_out(account, 209_000, 0));
    assert_eq!(pause::take(thread, account, 209_000, false), 0);
}

#[test]
fn what_follows_a_switch_needs_no_share() {
    let machine = Machine::new(1);
    let thread = thread(&machine);
    let account = current_account(thread);
    for _ in 0..10 {
        assert_eq!(pause::take(thread, account, 100_000, true), 50_000);
    }
    assert_eq!(pause::take(thread, account, 150_001, true), 0);
}
