//! Sentences of verdicts.

use workspan_analysis::verdict::{Contributor, Part, Reason, Unit};
use workspan_model::{Nanos, Ratio, Recording, Site, SiteId, SiteKind};

use super::words::{other_first, reason};

/// The first line names a region that has 28 % of the path; `try:` is about serial code that has this share.
#[track_caller]
fn check(share: f64, site: u32, expected: &str) {
    let at = |kind| Site {
        kind,
        file: "a.c".to_owned(),
        line: 58,
        column: 0,
        function: None,
        type_name: String::new(),
        module: String::new(),
        addresses: Vec::new(),
        via: None,
    };
    let serial = SiteKind::Serial { from: None, to: Some(SiteId(1)) };
    let recording = Recording { sites: vec![at(serial), at(SiteKind::Parallel)], ..Recording::default() };
    let main = Contributor { site: SiteId(1), share: Ratio(0.28), as_seen: Ratio(0.28), threads: None };
    let part = Part {
        site: Some(SiteId(site)),
        time: Nanos(1),
        share: Ratio(0.4),
        without: Ratio(7.0),
        of_path: Ratio(share),
        reason: Reason::SerialStart,
    };
    assert_eq!(other_first(&recording, &part, Some(&main)), expected);
    assert_eq!(other_first(&recording, &part, None), "");
}

#[test]
fn two_answers_are_explained() {
    check(
        0.27,
        0,
        "; code outside tasks and loops in the parallel region at a.c:58 takes more of the critical path, but other code runs beside \
         it, so that fewer processors wait for it",
    );
    check(0.28, 1, "");
    check(0.35, 0, "");
}

/// What the longest of a construct is called follows from the construct.
#[test]
fn sections_and_chunks_are_no_tasks() {
    let at = |kind| Site::at(kind, "a.c", 3, 0);
    let kinds = [SiteKind::Sections, SiteKind::Loop, SiteKind::Task, SiteKind::Broadcast];
    let recording = Recording { sites: kinds.into_iter().map(at).collect(), ..Recording::default() };
    let of = |site, why| reason(&recording, Some(SiteId(site)), &why);
    let long = Reason::LongTask { longest: Nanos(2_910_000), mean: Nanos(94_900) };
    assert_eq!(of(0, long), "one of the sections at a.c:3 takes 2.91 ms");
    assert_eq!(of(1, long), "a chunk of the loop at a.c:3 takes 2.91 ms");
    assert_eq!(of(2, long), "a task of a.c:3 takes 2.91 ms, the mean is 94.9 µs");
    // Three sections that two threads ran.
    assert_eq!(of(0, Reason::FewTasks { tasks: 2.0, of: Unit::Chunks }), "few or uneven sections at a.c:3");
    assert_eq!(of(0, Reason::FewTasks { tasks: 3.0, of: Unit::Iterations }), "3 sections at a.c:3");
    let few = Reason::FewTasks { tasks: 2.0, of: Unit::Tasks };
    assert_eq!(of(3, few), "2 tasks of the broadcast at a.c:3, one for each worker");
}
