//! Interning: equal keys give equal numbers, also from many threads at once, and full tables lose nothing silently.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::thread;

use workspan_collect::tables::{intern_site, target, SiteDetail, SiteKey, ROOT};
use workspan_wire::shm::{FIRST_CONTEXTS, MAX_ACCOUNT_PAGES, MAX_CONTEXTS, MAX_SITES, PAGE_ACCOUNTS};
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

/// Each thread has accounts of its own for contexts beyond the first ones, and a reader finds all of them.
#[test]
fn accounts_come_in_pages() {
    let machine = Machine::new(2);
    let shared = machine.shared;
    let many = u32::try_from(FIRST_CONTEXTS + PAGE_ACCOUNTS + PAGE_ACCOUNTS / 2).expect("a small table");
    let last = (0..many).map(|line| {
        let site = intern_site(shared, &key(line), SiteDetail::default).expect("there is room");
        target(shared, ROOT, site).context
    });
    let contexts: Vec<u32> = last.collect();
    for (factor, thread) in [(1, machine.threads[0]), (1_000_000, machine.threads[1])] {
        for context in &contexts {
            let account = shared.account(thread, *context);
            assert_eq!(account.self_work.replace(i64::from(*context) * factor), 0, "nobody else's");
        }
    }
    let recording = machine.recording();
    let totals = &recording.runs[0].totals;
    assert_eq!(totals.len(), contexts.len() + 1);
    for (context, totals) in (0..).zip(totals) {
        assert_eq!(totals.self_work.0, i64::from(context) * 1_000_001);
    }
    assert_eq!(recording.runs[0].losses.contexts, 0);
}

/// Without a page, the context around is charged; each page that is missing counts once.
#[test]
fn pages_that_are_missing_are_counted() {
    let machine = Machine::new(1);
    let (shared, thread) = (machine.shared, machine.threads[0]);
    let many = u32::try_from(FIRST_CONTEXTS + PAGE_ACCOUNTS).expect("a small table");
    let around = target(shared, ROOT, 0).context;
    let contexts: Vec<u32> = (1..many - 1).map(|site| target(shared, around, site).context).collect();
    let all = u32::try_from(MAX_ACCOUNT_PAGES).expect("a small table");
    shared.header().account_pages.store(all, Ordering::Relaxed);
    let outer = shared.account(thread, around);
    for context in contexts {
        let inner = std::ptr::eq(shared.account(thread, context), outer);
        assert_eq!(inner, context as usize >= FIRST_CONTEXTS, "{context}");
    }
    assert_eq!(shared.header().dropped_contexts.load(Ordering::Relaxed), 1);
    assert_eq!(shared.header().account_pages.load(Ordering::Relaxed), all);
}

/// More contexts than there is room for: sites that are met then stand below their region, one context each, whatever is between; those
/// that were met before stay where they are.
#[test]
fn what_does_not_fit_stands_below_its_region() {
    let machine = Machine::new(1);
    let shared = machine.shared;
    let many = u32::try_from(MAX_CONTEXTS).expect("a small table");
    let region = target(shared, ROOT, many).context;
    let outer: Vec<u32> = (0..many / 16).map(|site| target(shared, region, many + 1 + site).context).collect();
    let early = target(shared, outer[0], 1);
    let mut at = 0;
    while shared.header().contexts.load(Ordering::Relaxed) < many - many / 8 {
        target(shared, region, 3 * many + at);
        at += 1;
    }
    // A site in all of them: one context for all but the one that was there.
    let late: BTreeSet<u32> = outer.iter().map(|outer| target(shared, *outer, 1).context).collect();
    assert_eq!(late.len(), 2);
    assert!(late.contains(&early.context));
    let folded = late.iter().find(|context| **context != early.context).expect("another one");
    assert_eq!(target(shared, region, 1).context, *folded);
    assert_eq!(shared.header().dropped_contexts.load(Ordering::Relaxed), 0);
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
