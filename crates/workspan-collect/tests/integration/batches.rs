//! Tasks that one strand creates in a row, many before any of them runs: each is a word.

use workspan_collect::batch::TICKS;
use workspan_collect::group::{Group, TaskLink};
use workspan_collect::region;
use workspan_collect::strand::stop;
use workspan_collect::task::{enter_idle, Suspended};
use workspan_model::Recording;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use crate::machine::{call_site, enter, leave, now, work, Machine};

const TASKS: u64 = if cfg!(miri) { 40 } else { 10_000 };

/// Work of the task that was created as the `i`th.
fn size(i: u64) -> u64 {
    i * i % 101
}

fn create(thread: &Thread, group: &Group, copy: u8) -> TaskLink {
    let target = region::target(thread, &call_site(SiteKind::ScopeSpawn, copy)).expect("the tables have room");
    TaskLink::create(thread, now(thread), Some(group), std::ptr::null(), target, 1)
}

/// The body creates the tasks, so far apart and `copy(i)` being the site of the `i`th; another thread runs them, the last
/// one first. Returns what was recorded, and the most nodes that were in use.
fn tasks(apart: u64, copy: impl Fn(u64) -> u8) -> (Recording, usize) {
    let machine = Machine::new(2);
    let [body, thief] = machine.threads[..] else { unreachable!("there are two") };
    let region = enter(body, SiteKind::Scope, 0);
    let group = Box::new(Group::new());
    group.enter(body);
    let links: Vec<TaskLink> = (0..TASKS)
        .map(|i| {
            work(body, apart);
            create(body, &group, copy(i))
        })
        .collect();
    group.body_done(body, now(body));
    stop(thief, now(thief));
    enter_idle(thief, now(thief));
    for (i, link) in (0..TASKS).zip(links).collect::<Vec<_>>().into_iter().rev() {
        let mut suspended = Suspended::default();
        assert!(link.begin(thief, now(thief), &mut suspended), "it is followed");
        work(thief, size(i));
        link.end(thief, now(thief), &suspended);
    }
    let nodes = machine.nodes_in_use();
    group.exit(body, now(body));
    leave(body, region);
    machine.finish();
    if cfg!(miri) {
        return (Recording::default(), nodes);
    }
    let (recording, profile) = machine.profile();
    let longest = (0..TASKS).map(|i| (i + 1) * apart + size(i)).max().expect("there are tasks");
    let all = TASKS * apart + (0..TASKS).map(size).sum::<u64>();
    assert_eq!(profile.program.span.0.cast_unsigned(), longest, "{apart} apart");
    assert_eq!(profile.program.work.0.cast_unsigned(), all, "{apart} apart");
    assert_eq!(profile.program.tasks, TASKS, "{apart} apart");
    assert_eq!(recording.runs[0].lost_path.0, 0, "{apart} apart");
    (recording, nodes)
}

#[test]
fn one_after_the_other() {
    let (_, nodes) = tasks(1, |_| 0);
    assert!(nodes < 10, "{nodes}");
}

/// Each in a batch of its own, or two, or three.
#[test]
fn far_apart() {
    for share in [1, 2, 3] {
        tasks((1 << TICKS) / share - 1, |_| 0);
        tasks((1 << TICKS) / share, |_| 0);
        tasks((1 << TICKS) / share + 1, |_| 0);
    }
}

/// Between two tasks the strand is in another region: their paths differ, and nothing else does.
#[test]
fn with_a_region_in_between() {
    let machine = Machine::new(1);
    let thread = machine.threads[0];
    let region = enter(thread, SiteKind::Scope, 0);
    let group = Box::new(Group::new());
    group.enter(thread);
    let links: Vec<TaskLink> = (0..TASKS)
        .map(|_| {
            work(thread, 2);
            let between = enter(thread, SiteKind::Join, 0);
            work(thread, 7);
            leave(thread, between);
            create(thread, &group, 0)
        })
        .collect();
    group.body_done(thread, now(thread));
    for link in links {
        let mut suspended = Suspended::default();
        assert!(link.begin(thread, now(thread), &mut suspended), "it is followed");
        work(thread, 4);
        link.end(thread, now(thread), &suspended);
    }
    group.exit(thread, now(thread));
    leave(thread, region);
    machine.finish();
    if cfg!(miri) {
        return;
    }
    let (recording, profile) = machine.profile();
    let critical = |name: &str| {
        let mut rows = profile.sites.iter();
        let row = rows.find(|row| recording.sites[row.site.0 as usize].kind.name() == name);
        row.expect("it is there").critical.0.cast_unsigned()
    };
    assert_eq!([critical("scope"), critical("join"), critical("scope-spawn")], [2 * TASKS, 7 * TASKS, 4]);
}

/// Every task of another site than the one before.
#[test]
fn by_turns() {
    let (recording, _) = tasks(5, |i| u8::try_from(i % 3).expect("below 3"));
    let counts: Vec<u64> =
        recording.runs.iter().flat_map(|run| &run.totals).map(|t| t.tasks).filter(|n| *n > 0).collect();
    if !cfg!(miri) {
        assert_eq!(counts, [TASKS.div_ceil(3), (TASKS - 1).div_ceil(3), (TASKS - 2).div_ceil(3)]);
    }
}
