//! Interning: equal keys give equal numbers, also from many threads at once, and full tables lose nothing silently.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::thread;

use workspan_collect::tables::{intern_site, target, SiteDetail, SiteKey, ROOT};
use workspan_wire::shm::{MAX_CONTEXTS, MAX_SITES};
use workspan_wire::site::SiteKind;

use crate::machine::Machine;

fn key(line: u32) -> SiteKey<'static> {
    SiteKey { kind: SiteKind::Join, file: "src/main.rs", line, column: 7, serial: (0, 0), address: 0 }
}

#[test]
fn threads_agree() {
    let machine = Machine::new(1);
    let shared = machine.shared;
    let lines = if cfg!(miri) { 8 } else { 200 };
    let work = || {
        (0..lines)
            .map(|line| intern_site(shared, &key(line), SiteDetail::default).expect("there is room"))
            .collect::<Vec<_>>()
    };
    let (first, second) = thread::scope(|s| {
        let other = s.spawn(work);
        (work(), other.join().expect("no panic"))
    });
    assert_eq!(first, second);
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), lines as usize);
}

#[test]
fn full_tables_are_counted() {
    let machine = Machine::new(1);
    let shared = machine.shared;
    let many = u32::try_from(MAX_SITES).expect("a small table");
    for line in 0..many + 5 {
        assert_eq!(intern_site(shared, &key(line), SiteDetail::default).is_some(), line < many);
    }
    assert_eq!(shared.header().dropped_sites.load(Ordering::Relaxed), 5);
    for site in 0..u32::try_from(MAX_CONTEXTS).expect("a small table") - 1 {
        assert_ne!(target(shared, ROOT, site).context, ROOT);
    }
    assert_eq!(target(shared, ROOT, 1_000_000).context, ROOT);
    assert_eq!(shared.header().dropped_contexts.load(Ordering::Relaxed), 1);
}

/// A calls B calls A calls B: neither is outermost twice, and there are no more contexts than that.
#[test]
fn mutual_recursion_makes_no_new_contexts() {
    let machine = Machine::new(1);
    let shared = machine.shared;
    let (a, b) = (1, 2);
    let first = target(shared, ROOT, a);
    let second = target(shared, first.context, b);
    let third = target(shared, second.context, a);
    let fourth = target(shared, third.context, b);
    let fifth = target(shared, fourth.context, a);
    assert!(!first.recursive && !second.recursive && third.recursive && fourth.recursive);
    assert_eq!((fourth.context, fifth), (second.context, third));
}
