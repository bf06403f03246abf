//! Races: planted, and fixed by each construct that orders.

use workspan_graph::races::{Conflict, Races};
use workspan_graph::replay::replay;
use workspan_trace::control::{Kind, Operation, TICKET_BITS};

use crate::made::{recording, Buffer};

/// Conflicts found, with the lines of both accesses.
fn races(name: &str, contexts: &[Vec<Buffer>]) -> Vec<(Conflict, u32, u32)> {
    let recording = recording(name, contexts);
    let mut races = Races::default();
    replay(&recording, &mut races).expect("readable");
    let line =
        |place: (u32, u32)| recording.program.place(place.0 as usize, place.1 as usize).map_or(0, |(_, line)| line);
    races.found().keys().map(|race| (race.conflict, line(race.first), line(race.second))).collect()
}

/// The first context creates a second; both do something; the first joins.
fn two(one: impl Fn(&mut Buffer), other: impl Fn(&mut Buffer), joined_before: bool) -> Vec<Vec<Buffer>> {
    let mut main = Buffer::default();
    main.control(Kind::Begin, &[1, 0]).control(Kind::Create, &[2, 3, 2]);
    if joined_before {
        main.control(Kind::Join, &[4, 50, 2]);
        one(&mut main);
    } else {
        one(&mut main);
        main.control(Kind::Join, &[4, 50, 2]);
    }
    let mut second = Buffer::default();
    second.control(Kind::Begin, &[3, 1]);
    other(&mut second);
    second.control(Kind::End, &[40]);
    vec![vec![main], vec![second]]
}

const PLACE: u64 = 0x1000;
// A load of 8 bytes is on line 10, a bulk store on line 11, an atomic update on line 15.
fn load(buffer: &mut Buffer) {
    buffer.load(PLACE);
}
fn store(buffer: &mut Buffer) {
    buffer.segment(1, &[PLACE, 8]);
}

#[test]
fn unordered_accesses_race_and_joined_ones_do_not() {
    assert_eq!(races("planted", &two(load, store, false)), [(Conflict::ReadWrite, 10, 11)]);
    assert_eq!(races("planted2", &two(store, store, false)), [(Conflict::WriteWrite, 11, 11)]);
    assert_eq!(races("reads", &two(load, load, false)), []);
    assert_eq!(races("joined", &two(load, store, true)), []);
}

#[test]
fn neighbours_do_not_race() {
    let halves = |from: u64| {
        move |buffer: &mut Buffer| {
            buffer.segment(1, &[PLACE + from, 4]);
        }
    };
    assert_eq!(races("halves", &two(halves(0), halves(4), false)), []);
    assert_eq!(races("overlap", &two(halves(0), halves(3), false)).len(), 1);
}

#[test]
fn a_lock_orders() {
    let locked = |first: u64| {
        move |buffer: &mut Buffer| {
            buffer.sync(10, 0x100, first, Operation::Lock);
            store(buffer);
            buffer.sync(12, 0x100, first + 1, Operation::Unlock);
        }
    };
    assert_eq!(races("locked", &two(locked(0), locked(2), false)), []);
    assert_eq!(races("locked2", &two(locked(2), locked(0), false)), []);
    let another = |buffer: &mut Buffer| {
        buffer.sync(10, 0x200, 9, Operation::Lock);
        store(buffer);
        buffer.sync(12, 0x200, 10, Operation::Unlock);
    };
    assert_eq!(races("other lock", &two(locked(0), another, false)).len(), 1);
}

#[test]
fn a_barrier_orders_what_is_before_with_what_is_after() {
    let wait = |buffer: &mut Buffer, arrival: u64| {
        buffer.control(Kind::Barrier, &[5, 6, 0x100, arrival, 2]);
    };
    let before = |buffer: &mut Buffer| {
        store(buffer);
        wait(buffer, 0);
    };
    let after = |buffer: &mut Buffer| {
        wait(buffer, 1);
        store(buffer);
    };
    assert_eq!(races("barrier after", &two(before, after, false)), []);
    assert_eq!(races("barrier before", &two(after, before, false)), []);
    let both = |arrival| {
        move |buffer: &mut Buffer| {
            store(buffer);
            wait(buffer, arrival);
        }
    };
    assert_eq!(races("barrier both", &two(both(0), both(1), false)).len(), 1);
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    let atomic = |buffer: &mut Buffer| {
        buffer.segment(3, &[PLACE]);
    };
    assert_eq!(races("atomics", &two(atomic, atomic, false)), []);
    assert_eq!(races("atomic and plain", &two(atomic, load, false)).len(), 1);
}

#[test]
fn memory_that_is_used_again_is_other_memory() {
    let lives = |ticket: u64| {
        move |buffer: &mut Buffer| {
            buffer.control(Kind::Allocate, &[PLACE, 64, ticket]);
            store(buffer);
            buffer.control(Kind::Free, &[PLACE, ticket + 1]);
        }
    };
    assert_eq!(races("reused", &two(lives(0), lives(2), false)), []);
    assert_eq!(races("reused2", &two(lives(2), lives(0), false)), []);
}

#[test]
fn an_atomic_operation_orders_by_its_tickets() {
    let release = |ticket: u64| {
        move |buffer: &mut Buffer| {
            store(buffer);
            buffer.control(Kind::Atomic, &[0x300, ticket, Operation::AtomicStore as u64]);
        }
    };
    let acquire = |ticket: u64| {
        move |buffer: &mut Buffer| {
            buffer.control(Kind::Atomic, &[0x300, ticket, Operation::AtomicLoad as u64]);
            load(buffer);
        }
    };
    assert_eq!(races("published", &two(release(0), acquire(1), false)), []);
    assert_eq!(races("published2", &two(acquire(1), release(0), false)), []);
    // It was looked at before it was published.
    assert_eq!(races("too early", &two(release(1), acquire(0), false)).len(), 1);
    // Another counter: another object.
    let other = |buffer: &mut Buffer| {
        buffer.control(Kind::Atomic, &[0x400, 1 << TICKET_BITS, Operation::AtomicLoad as u64]);
        load(buffer);
    };
    assert_eq!(races("another object", &two(release(0), other, false)).len(), 1);
}

#[test]
fn the_releasing_operation_itself_comes_before_who_acquires() {
    let update = |buffer: &mut Buffer| {
        buffer.control(Kind::Atomic, &[PLACE, 0, Operation::AtomicStore as u64]);
        buffer.segment(3, &[PLACE]);
    };
    let acquire = |buffer: &mut Buffer| {
        buffer.control(Kind::Atomic, &[PLACE, 1, Operation::AtomicLoad as u64]);
        store(buffer);
    };
    assert_eq!(races("last of them", &two(update, acquire, false)), []);
}

#[test]
fn readers_of_a_lock_are_not_ordered_among_themselves() {
    let held = |operation: Operation, first: u64| {
        move |buffer: &mut Buffer| {
            buffer.sync(10, 0x100, first, operation);
            store(buffer);
            buffer.sync(12, 0x100, first + 1, Operation::Unlock);
        }
    };
    let both = |first, second| two(held(first, 0), held(second, 2), false);
    assert_eq!(races("two readers", &both(Operation::ReadLock, Operation::ReadLock)).len(), 1);
    assert_eq!(races("reader and writer", &both(Operation::ReadLock, Operation::Lock)), []);
    assert_eq!(races("writer and reader", &both(Operation::Lock, Operation::ReadLock)), []);
}

#[test]
fn a_wait_for_a_gather_joins_the_tasks_that_name_it() {
    let check = |name: &str, awaited: u64, races_expected: usize| {
        let mut main = Buffer::default();
        main.control(Kind::Begin, &[1, 0]).control(Kind::Spawn, &[2, 3, 2, 7]).control(Kind::Gather, &[4, 50, awaited]);
        store(&mut main);
        let mut task = Buffer::default();
        task.control(Kind::Begin, &[3, 1]);
        store(&mut task);
        task.control(Kind::End, &[40]);
        assert_eq!(races(name, &[vec![main], vec![task]]).len(), races_expected, "{name}");
    };
    check("its gather", 7, 0);
    check("another gather", 8, 1);
}
