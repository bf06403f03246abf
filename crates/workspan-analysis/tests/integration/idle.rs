//! Idle time of regions of runs in which it is known, by hand, what each thread did: workers, and a main thread beside them.

use workspan_analysis::profile;
use workspan_model::{ContextId, ContextTree, Nanos, Recording, Run, Site, SiteId, SiteKind, Totals};

/// Two regions, with serial code before them; times in all, on two workers.
struct Known {
    /// Serial code, on the main thread.
    serial: i64,
    /// Of each region: wall time, work of workers, work of the main thread.
    regions: [[i64; 3]; 2],
    /// Whether the main thread is one of the two workers, as OpenMP has it.
    main_works: bool,
    /// Time in strands in which a worker had no processor.
    preempted: i64,
}

const WORKERS: i64 = 2;

#[track_caller]
fn check(known: &Known, expected: [i64; 2]) {
    let mut contexts = ContextTree::default();
    for id in [0, 1, 2] {
        contexts.intern(ContextId::ROOT, SiteId(id)).unwrap();
    }
    let kinds = [SiteKind::Serial { from: None, to: Some(SiteId(1)) }, SiteKind::ParIter, SiteKind::Join];
    let sites = kinds.map(|kind| Site::at(kind, "a.rs", 1, 1)).into();
    let recording = Recording { sites, contexts, ..Recording::default() };

    let wall = known.serial + known.regions.iter().map(|[wall, ..]| wall).sum::<i64>();
    let by_workers = known.regions.iter().map(|[_, workers, _]| workers).sum::<i64>();
    let by_main = known.serial + known.regions.iter().map(|[.., main]| main).sum::<i64>();
    let busy = by_workers + known.preempted + if known.main_works { by_main } else { 0 };
    let totals = |wall, work| Totals { self_work: Nanos(work), wall: Nanos(wall), entries: 1, ..Totals::default() };
    let regions = known.regions.map(|[wall, workers, main]| totals(wall, workers + main));
    let run = Run {
        wall: Nanos(wall),
        idle: Nanos(WORKERS * wall - busy),
        preempted: Nanos(known.preempted),
        workers: u32::try_from(WORKERS).unwrap(),
        span: Nanos(wall),
        totals: [Totals::default(), totals(0, known.serial)].into_iter().chain(regions).collect(),
        ..Run::default()
    };
    let rows = profile(&recording, &run).regions;
    let found = [1, 2].map(|site| rows.iter().find(|row| row.site == SiteId(site)).unwrap().idle.0);
    assert_eq!(found, expected, "of {} in all", run.idle);
}

#[test]
fn idle_time_of_a_region_is_that_of_its_workers() {
    let known = Known { serial: 0, regions: [[100, 150, 0], [100, 200, 0]], main_works: false, preempted: 0 };
    check(&known, [50, 0]);
    // In serial code both workers wait.
    check(&Known { serial: 30, ..known }, [50, 0]);
    // One of them runs it.
    check(&Known { serial: 30, main_works: true, ..known }, [50, 0]);
    // The main thread runs most of a region itself, and no worker is busy meanwhile.
    let alone = [[100, 0, 0], [100, 50, 100]];
    check(&Known { regions: alone, ..known }, [200, 150]);
    check(&Known { regions: alone, serial: 30, ..known }, [200, 150]);
    // In two regions the same share of the work.
    check(&Known { regions: [[100, 60, 60], [100, 40, 40]], ..known }, [140, 160]);
    // Without a processor nobody waits for work, but that is not known of a region: at most all of it is idle.
    check(&Known { regions: [[100, 50, 100], [0, 0, 0]], preempted: 50, ..known }, [100, 0]);
}
