//! Waits for other threads: who goes on after whom, and what is known of waits for nobody.

use workspan_collect::thread::{prepare, with_slot, Role};
use workspan_collect::waits::{publish_end_at, Born, Wait};
use workspan_collect::{path, strand};
use workspan_wire::shm::Thread;

use crate::machine::{now, work, Machine};

/// A machine whose second thread has just been created by `main`, after 100 ticks of its own.
fn creator_and_child() -> (Machine, &'static Thread, &'static Thread) {
    let machine = Machine::new(2);
    let (main, child) = (machine.threads[0], machine.threads[1]);
    prepare(machine.shared, child, Role::External);
    work(main, 100);
    let born = Born::at(main, now(main));
    with_slot(child, false, || born.start());
    (machine, main, child)
}

/// `main` works for so long, waits for the child, which does so too, and for a time of its own clock.
#[track_caller]
fn check_join(of_main: u64, of_child: u64, blocked: u64, span: i64) {
    const ID: u64 = 0x7f00_dead_beef;
    let (machine, main, child) = creator_and_child();
    work(child, of_child);
    publish_end_at(child, now(child), ID);
    work(main, of_main);
    let wait = Wait::begin_at(main, now(main));
    work(main, blocked);
    wait.end_of_thread_at(now(main), ID);
    assert_eq!(strand::span(main), span);
    assert_eq!(main.task.work.get(), (100 + of_main).cast_signed(), "waiting is no work");
    assert_eq!(main.blocked.get(), 0, "nor is it waiting for the outside world");
    assert_eq!(main.waited.get(), blocked.cast_signed());
    // What is in its path is what is in its span: here, all of it is serial.
    work(main, 7);
    machine.finish();
    let recording = machine.recording();
    let run = &recording.runs[0];
    assert_eq!(run.span.0, span + 7);
    assert_eq!(run.critical.iter().map(|part| part.0).sum::<i64>() + run.lost_path.0, span + 7);
    assert_eq!(run.lost_path.0, 0);
}

#[test]
fn a_thread_that_is_joined() {
    // Created at 100. The later of the two ends counts; how long the wait took here does not.
    check_join(10, 300, 1_000, 400);
    check_join(300, 10, 0, 400);
    check_join(50, 50, 5, 150);
}

#[test]
fn a_wait_for_nobody_known() {
    let (_machine, main, _child) = creator_and_child();
    let wait = Wait::begin_at(main, now(main));
    work(main, 40);
    wait.end_of_thread_at(now(main), 0xbad);
    assert_eq!((strand::span(main), main.task.work.get()), (140, 100));
}

#[test]
fn an_end_that_nobody_waits_for_gives_way_to_the_next() {
    let (machine, main, child) = creator_and_child();
    for _ in 0..3 {
        work(child, 10);
        publish_end_at(child, now(child), 5);
    }
    let wait = Wait::begin_at(main, now(main));
    wait.end_of_thread_at(now(main), 5);
    assert_eq!(strand::span(main), 130);
    // It is used up.
    let wait = Wait::begin_at(main, now(main));
    work(main, 9);
    wait.end_of_thread_at(now(main), 5);
    assert_eq!(strand::span(main), 139);
    path::settle(main);
    machine.finish();
    assert!(machine.nodes_in_use() < 8, "{}", machine.nodes_in_use());
}
