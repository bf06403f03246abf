//! Stored files, one of each minor version that was published: today's reader gives what their writer was given.
//!
//! Nothing in them comes from a run; every number is another, so that none can be taken for its neighbour. The newest is
//! also what today's writer writes. When the format has got a new minor version, make its file, and leave the others:
//!
//! ```sh
//! WORKSPAN_BLESS=1 cargo test -p workspan-read --test integration golden
//! ```

use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use workspan_model::histogram::Bucket;
use workspan_model::{
    AskedBy, AskedThreads, Clock, ContextId, ContextTree, Ending, EventCounts, Exit, Feature, Function, Histogram,
    Lock, Losses, Machine, Nanos, OnPath, OpenRegion, Ran, Recording, Role, Run, Site, SiteId, SiteKind, Totals,
    UnseenLock, WaitFor,
};
use workspan_read::file::{decode, encode, MAJOR, MINOR};

/// Minor versions of the stored files.
const STORED: &[u16] = &[0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

fn stored(minor: u16) -> Vec<u8> {
    static BLESSED: Once = Once::new();
    let file = |minor| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{MAJOR}.{minor}.wspan"));
    BLESSED.call_once(|| {
        if std::env::var_os("WORKSPAN_BLESS").is_some() {
            fs::write(file(MINOR), encode(&expected(MINOR))).expect("the tests are writable");
        }
    });
    fs::read(file(minor)).expect("it is stored")
}

/// What is in the file of a minor version.
fn expected(minor: u16) -> Recording {
    let mut contexts = ContextTree::default();
    for (parent, site) in [(0, 2), (0, 0), (2, 1), (3, 0), (0, 3)] {
        contexts.intern(ContextId(parent), SiteId(site)).expect("parents come first");
    }
    Recording {
        command: vec!["./prog".to_owned(), "two words".to_owned()],
        directory: "/home/user/project".to_owned(),
        made_by: "0.1.0".to_owned(),
        runtime: "rayon-core 1.13.0".to_owned(),
        made_at: 1_767_225_600,
        machine: Machine {
            processor: "A processor".to_owned(),
            cpus: 2,
            system: "linux 6.1".to_owned(),
            ticks_per_second: 2_600_000_000,
            interrupt_ns: [17_000, 20_000, 31_000],
            interrupt_period_ns: 4_000_000,
            steal_ns: if minor >= 4 { 85 } else { 0 },
        },
        has_debug_info: true,
        debug_info_problem: (minor >= 2).then(|| "1 unit is damaged".to_owned()),
        sites: sites(minor),
        contexts,
        runs: vec![first_run(minor), second_run()],
        ran: if minor >= 8 { vec![ran()] } else { Vec::new() },
        unseen_locks: if minor >= 12 { vec![unseen_lock()] } else { Vec::new() },
    }
}

fn unseen_lock() -> UnseenLock {
    UnseenLock { lock: "std::sync::Mutex".to_owned(), file: "src/main.rs".to_owned(), line: 12 }
}

fn ran() -> Ran {
    Ran {
        site: SiteId(2),
        function: "prog::write_output".to_owned(),
        file: "src/out.rs".to_owned(),
        lines: (40, 88),
        samples: 131,
        within: 127,
        callees: vec![("prog::escape".to_owned(), 61)],
        threads: 3,
        main_thread: true,
    }
}

fn sites(minor: u16) -> Vec<Site> {
    let none = Site::at(SiteKind::Join, "", 0, 0);
    let mut sites = vec![
        Site {
            file: "src/main.rs".to_owned(),
            line: 8,
            column: 5,
            function: Some(Function { name: "prog::main".to_owned(), from_debug_info: true, offset: None }),
            ..none.clone()
        },
        Site {
            kind: SiteKind::ParIter,
            file: "/home/user/.cargo/registry/src/index/dep-1.0.0/src/lib.rs".to_owned(),
            line: 300,
            column: 17,
            function: Some(Function { name: "dep::map".to_owned(), from_debug_info: false, offset: None }),
            type_name: "dep::map::{{closure}}".to_owned(),
            addresses: vec![0x1234, 0x56_789a],
            via: Some(("src/main.rs".to_owned(), 9)),
            ..none.clone()
        },
        Site { kind: SiteKind::Serial { from: None, to: Some(SiteId(0)) }, ..none.clone() },
        Site { kind: SiteKind::Serial { from: Some(SiteId(0)), to: None }, ..none.clone() },
    ];
    if minor >= 1 {
        sites.push(Site {
            kind: SiteKind::Task,
            function: Some(Function { name: "work".to_owned(), from_debug_info: false, offset: Some(31) }),
            type_name: "work".to_owned(),
            module: "/usr/lib/libwork.so".to_owned(),
            addresses: vec![0x401f],
            ..none.clone()
        });
    }
    if minor >= 3 {
        sites.push(Site { kind: SiteKind::Marked, column: 8, addresses: vec![0x402f], ..none.clone() });
    }
    if minor >= 11 {
        sites.push(Site { kind: SiteKind::PoolTask, file: "src/pool.rs".to_owned(), line: 41, ..none });
    }
    sites
}

fn first_run(minor: u16) -> Run {
    let since_3 = |value| if minor >= 3 { Nanos(value) } else { Nanos::ZERO };
    let since_5 = |value| if minor >= 5 { Nanos(value) } else { Nanos::ZERO };
    let lock = |lock| if minor >= 3 { lock } else { Lock::None };
    let bucket = |low, high, count| Bucket { low: Nanos(low), high: Nanos(high), count };
    Run {
        clock: Clock::Real,
        exit: Exit::Code(3),
        ending: Ending::InsideRegion,
        wall: Nanos(1_000_001),
        cpu: Nanos(2_000_002),
        span: Nanos(700_007),
        uniform_span: since_3(300_003),
        burdened_span: since_5(800_008),
        steal: since_5(86),
        totals: vec![
            Totals::default(),
            Totals { self_work: Nanos(40_004), ..Totals::default() },
            Totals {
                self_work: Nanos(50_005),
                instances: 2,
                work: Nanos(900_009),
                span: Nanos(600_006),
                on_path: if minor >= 4 {
                    OnPath { instances: 1, work: Nanos(450_005), span: Nanos(350_003) }
                } else {
                    OnPath::default()
                },
                entries: 3,
                tasks: 4,
                items: 0,
                task_work: Nanos(80_008),
                overhead: Nanos(11),
                blocked: Nanos(12),
                polled: Nanos(if minor >= 9 { 7 } else { 0 }),
                wall: Nanos(500_000),
                uniform_span: since_3(200_002),
                burdened_span: since_5(650_006),
                contended: since_3(34),
                lock: lock(Lock::Several),
                sizes: Histogram::new([bucket(0, 1, 1), bucket(10_240, 12_288, 3)]),
            },
            // Costs that were taken out of very short strands may leave less than nothing.
            Totals { self_work: Nanos(-13), tasks: 70, items: 6, ..Totals::default() },
            Totals { entries: 5, ..Totals::default() },
            Totals { self_work: Nanos(14), lock: lock(Lock::One(0x35)), ..Totals::default() },
        ],
        critical: [0, 40_004, 640_000, 20_000, 0, 2].map(Nanos).to_vec(),
        lost_path: Nanos(1),
        open: vec![OpenRegion { context: ContextId(2), outermost: true, span: Nanos(15) }],
        workers: 16,
        pools: 17,
        threads: 18,
        logical_cores: Some(64),
        asked: (minor >= 7)
            .then(|| AskedThreads { answer: 40, by: vec![AskedBy::CurrentNumThreads, AskedBy::OmpGetNumProcs] }),
        idle: Nanos(19),
        preempted: Nanos(20),
        blocked: Nanos(21),
        interrupted: Nanos(22),
        first_use: Nanos(if minor >= 10 { 23_023 } else { 0 }),
        collector: Nanos(23),
        interrupts: 24,
        join_cost_ps: 10_250,
        probe_cost_ps: 2_600,
        batched_probe_cost_ps: -27,
        displaced: Nanos(28),
        features: vec![Feature::SwitchWitness, Feature::RunDelay],
        losses: Losses { sites: 29, contexts: 30, threads: 31, path_nodes: 32 },
        other_processes: 33,
        events: if minor >= 6 { events() } else { Vec::new() },
        waits: if minor >= 11 { waits() } else { Vec::new() },
    }
}

fn waits() -> Vec<WaitFor> {
    let wait = |waiter, on, count: u64| {
        let part = |number: i64| Nanos(1_000 * number + count as i64);
        WaitFor { waiter, on, count, waited: part(3), locked: part(2), passed_on: part(1) }
    };
    vec![
        wait(Role::Main, Role::Threads(SiteId(6)), 161),
        wait(Role::Threads(SiteId(6)), Role::Outside, 162),
        wait(Role::Threads(SiteId(6)), Role::Threads(SiteId(4)), 163),
    ]
}

fn events() -> Vec<EventCounts> {
    vec![
        EventCounts {
            name: "page-faults".to_owned(),
            counts: vec![0, 36, 37, 0, 38, 39],
            whole: Some(151),
            counted_ppm: 1_000_000,
            threads: 4,
            missing_threads: 1,
            refused: Some("error 24 of the system".to_owned()),
            outside_kernel: false,
        },
        EventCounts {
            name: "cpu/event=0xd2,umask=4/".to_owned(),
            counts: vec![0, 1 << 40, 0, 0, 0, 7],
            whole: None,
            counted_ppm: 400_000,
            threads: 5,
            missing_threads: 0,
            refused: None,
            outside_kernel: true,
        },
    ]
}

fn second_run() -> Run {
    Run {
        clock: Clock::Virtual,
        exit: Exit::Signal(9),
        ending: Ending::Unseen,
        totals: vec![Totals::default(); 6],
        critical: vec![Nanos::ZERO; 6],
        features: vec![Feature::InterruptWitness, Feature::SteadyCounter],
        ..Run::default()
    }
}

#[test]
fn every_version_is_read() {
    for minor in STORED {
        let bytes = stored(*minor);
        assert_eq!((bytes[8], bytes[10]), (1, u8::try_from(*minor).expect("small")));
        assert_eq!(decode(&bytes), Ok((expected(*minor), Vec::new())), "version {MAJOR}.{minor}");
    }
}

#[test]
fn the_newest_is_what_is_written() {
    assert_eq!(STORED.last(), Some(&MINOR), "the format has a new version: see the head of this file");
    assert!(stored(MINOR) == encode(&expected(MINOR)), "a payload has changed: increment `MINOR`");
}
