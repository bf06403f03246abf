//! Events are charged to the context in which they came: here the virtual clock makes one a tick.

use std::sync::atomic::Ordering;

use workspan_collect::handoff::Handoff;
use workspan_collect::join::JoinFrame;
use workspan_collect::{log, platform, strand, task};
use workspan_model::{ContextId, SiteKind as ModelKind};
use workspan_wire::shm::Clock;
use workspan_wire::site::SiteKind;

use crate::machine::{enter, leave, now, work, Machine};

/// Ticks, as events, by the kinds of the sites from the root to the context.
fn counted(machine: &Machine) -> Vec<(Vec<ModelKind>, u64)> {
    let recording = machine.recording();
    let run = &recording.runs[0];
    let kinds = |id: ContextId| {
        let mut path: Vec<ModelKind> = recording
            .contexts
            .path(id)
            .filter_map(|id| recording.contexts.site(id))
            .map(|site| recording.sites[site.0 as usize].kind)
            .collect();
        path.reverse();
        path
    };
    let twice: Vec<u64> = run.events[0].counts.iter().map(|count| 2 * count).collect();
    assert_eq!(run.events[1].counts, twice);
    let counts = recording.contexts.ids().zip(&run.events[0].counts);
    counts.filter(|(_, count)| **count > 0).map(|(id, count)| (kinds(id), *count)).collect()
}

fn of(counted: &[(Vec<ModelKind>, u64)], path: &[ModelKind]) -> u64 {
    counted.iter().filter(|(kinds, _)| kinds == path).map(|(_, count)| count).sum()
}

#[test]
fn each_context_has_its_own() {
    let machine = Machine::counting(1, false);
    let main = machine.threads[0];
    work(main, 1);
    let outer = enter(main, SiteKind::ParIter, 0);
    work(main, 10);
    let inner = enter(main, SiteKind::Scope, 0);
    work(main, 100);
    // Recursion, folded: one more context below the outermost instance, however deep.
    let again = enter(main, SiteKind::ParIter, 0);
    work(main, 1_000);
    let deeper = enter(main, SiteKind::ParIter, 0);
    work(main, 10_000);
    leave(main, deeper);
    leave(main, again);
    leave(main, inner);
    work(main, 100_000);
    leave(main, outer);
    work(main, 1_000_000);
    machine.finish();
    let counted = counted(&machine);
    use ModelKind::{ParIter, Scope};
    assert_eq!(of(&counted, &[ParIter]), 100_010);
    assert_eq!(of(&counted, &[ParIter, Scope]), 100);
    assert_eq!(of(&counted, &[ParIter, Scope, ParIter]), 11_000);
    let serial: Vec<u64> = counted
        .iter()
        .filter(|(kinds, _)| matches!(kinds[..], [ModelKind::Serial { .. }]))
        .map(|(_, count)| *count)
        .collect();
    assert_eq!(serial, [1, 1_000_000]);
    assert_eq!(counted.len(), 5, "{counted:?}");
    // What is nested counts for the region around it, once.
    let recording = machine.recording();
    let inclusive = recording.contexts.inclusive(&recording.runs[0].events[0].scaled());
    assert!((inclusive[0] - 1_111_111.0).abs() < 0.5, "{inclusive:?}");
}

#[test]
fn whoever_waits_is_charged_to_nobody() {
    let machine = Machine::counting(1, false);
    let main = machine.threads[0];
    let region = enter(main, SiteKind::Scope, 0);
    work(main, 5);
    strand::stop(main, now(main));
    task::enter_idle(main, now(main));
    work(main, 700);
    task::leave_idle(main, now(main));
    log::go(main, now(main));
    work(main, 3);
    leave(main, region);
    machine.finish();
    assert_eq!(counted(&machine), [(vec![ModelKind::Scope], 8)]);
}

#[test]
fn a_thief_counts_for_the_context_that_it_steals_from() {
    let machine = Machine::counting(2, false);
    let [main, thief] = machine.threads[..] else { unreachable!("there are two") };
    // The thief has done something before, asleep.
    work(thief, 400);
    let region = enter(main, SiteKind::ParIter, 0);
    let frame = JoinFrame::new();
    frame.fork(main, Some(now(main)));
    let mut suspended = task::Suspended::default();
    task::begin(thief, now(thief), &frame.origin(), &mut suspended);
    work(thief, 30);
    let inner = enter(thief, SiteKind::Scope, 0);
    work(thief, 6);
    leave(thief, inner);
    frame.stolen_done(thief, task::end(thief, now(thief), &suspended));
    work(thief, 500);
    work(main, 2);
    frame.left_done(main, Some(now(main)));
    frame.wait(main, now(main), false);
    work(main, 600);
    frame.resume(main, now(main));
    leave(main, region);
    machine.finish();
    let counted = counted(&machine);
    assert_eq!(of(&counted, &[ModelKind::ParIter]), 32);
    assert_eq!(of(&counted, &[ModelKind::ParIter, ModelKind::Scope]), 6);
    assert_eq!(counted.len(), 2, "{counted:?}");
}

#[test]
fn serial_code_takes_its_events_along() {
    let machine = Machine::counting(2, false);
    let [main, worker] = machine.threads[..] else { unreachable!("there are two") };
    work(main, 1);
    let handoff = Handoff::new();
    handoff.leave(main, now(main));
    let mut suspended = task::Suspended::default();
    task::begin(worker, now(worker), &handoff.origin().expect("it was left"), &mut suspended);
    handoff.begun(worker);
    work(worker, 20);
    let region = enter(worker, SiteKind::Scope, 0);
    work(worker, 300);
    leave(worker, region);
    work(worker, 4_000);
    handoff.done(worker, task::end(worker, now(worker), &suspended));
    work(main, 77);
    handoff.resume(main, now(main));
    work(main, 50_000);
    machine.finish();
    let counted: Vec<u64> = counted(&machine).into_iter().map(|(_, count)| count).collect();
    // Before the region, in it, and after it, on whichever thread.
    let mut sorted = counted;
    sorted.sort_unstable();
    assert_eq!(sorted, [21, 300, 54_000]);
}

/// What a reading takes is excluded from the strand that begins in the same hook, and of no other.
#[test]
fn time_of_readings_is_taken_out_once() {
    let machine = Machine::new(2);
    let header = machine.shared.header();
    header.config.clock.store(Clock::Real as u32, Ordering::Relaxed);
    header.config.ticks_per_second.store(1_000_000_000, Ordering::Relaxed);
    header.events.count.store(1, Ordering::Relaxed);
    header.events.asked[0].device.store(1, Ordering::Relaxed);
    header.events.asked[0].config[0].store(2, Ordering::Relaxed);
    let [main, thief] = machine.threads[..] else { unreachable!("there are two") };
    workspan_collect::events::start(machine.shared, thief);
    let region = enter(main, SiteKind::ParIter, 0);
    let frame = JoinFrame::new();
    frame.fork(main, Some(now(main)));
    let begun = platform::ticks();
    let mut suspended = task::Suspended::default();
    task::begin(thief, begun, &frame.origin(), &mut suspended);
    assert_eq!(thief.excluded.get(), 0);
    assert!(thief.start.get() >= begun);
    let ended = task::end(thief, platform::ticks(), &suspended);
    assert_eq!(thief.excluded.get(), 0);
    frame.stolen_done(thief, ended);
    workspan_collect::events::stop(thief);
    frame.left_done(main, Some(now(main)));
    frame.wait(main, now(main), false);
    frame.resume(main, now(main));
    leave(main, region);
}
