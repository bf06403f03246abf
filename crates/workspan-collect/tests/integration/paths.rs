//! Critical paths take bounded memory.

use std::sync::atomic::Ordering;

use workspan_collect::join::JoinFrame;
use workspan_collect::{calls, path, strand};
use workspan_wire::shm::{NODE, OWNED};
use workspan_wire::site::SiteKind;

use crate::machine::{enter, leave, now, work, Machine};

const ROUNDS: u64 = if cfg!(miri) { 200 } else { 20_000 };

/// Many regions one after the other within one branch: the chain is folded, not grown.
#[test]
fn a_long_row_of_regions_is_folded() {
    let machine = Machine::new(1);
    let thread = machine.threads[0];
    let outer = enter(thread, SiteKind::Scope, 0);
    let frame = JoinFrame::new();
    frame.fork(thread, Some(now(thread)));
    for round in 0..ROUNDS {
        let inner = enter(thread, SiteKind::Join, u8::try_from(round % 4).expect("below 4"));
        let nested = JoinFrame::new();
        nested.fork(thread, Some(now(thread)));
        let deeper = enter(thread, SiteKind::ParIter, u8::try_from(round % 3).expect("below 3"));
        work(thread, 3);
        leave(thread, deeper);
        nested.left_done(thread, Some(now(thread)));
        nested.right_inline(thread);
        work(thread, 2);
        nested.right_done(thread, Some(now(thread)));
        leave(thread, inner);
        work(thread, 1);
        assert!(machine.nodes_in_use() < 120, "round {round}: {}", machine.nodes_in_use());
    }
    frame.left_done(thread, Some(now(thread)));
    frame.right_inline(thread);
    frame.right_done(thread, Some(now(thread)));
    leave(thread, outer);
    machine.finish();
    if cfg!(miri) {
        return;
    }
    let (recording, profile) = machine.profile();
    assert_eq!(profile.program.span.0.cast_unsigned(), 4 * ROUNDS);
    assert_eq!(profile.program.work.0.cast_unsigned(), 6 * ROUNDS);
    assert_eq!(recording.runs[0].lost_path.0, 0);
    let scope = profile.sites.iter().find(|s| recording.sites[s.site.0 as usize].kind.name() == "scope");
    assert_eq!(scope.expect("the scope is there").critical.0.cast_unsigned(), ROUNDS);
}

/// Calls that are awaited, each known two rounds after it was marked, on a path of which somebody else holds what was: what
/// is known becomes one entry, and what is not is kept.
#[test]
fn awaited_calls_take_room_while_they_are_awaited() {
    let machine = Machine::new(1);
    let thread = machine.threads[0];
    let shared = machine.shared;
    let outer = enter(thread, SiteKind::Scope, 0);
    let context = strand::context(thread);
    let mark = |parts| {
        let call = calls::begin(shared, context, 0, parts);
        strand::set_path(thread, path::mark(shared, strand::path(thread), call));
        call
    };
    let held_open = mark(2);
    calls::add(shared, held_open, 1);
    calls::let_go(thread, held_open);
    let mut awaited = Vec::new();
    for round in 0..ROUNDS {
        awaited.push(mark(1));
        // A path that is not taken in the end.
        let mut other = path::own(shared, strand::path(thread));
        other = path::mark(shared, other, awaited[0]);
        path::release(shared, other);
        if awaited.len() > 2 {
            calls::make_known(shared, awaited.remove(0), 5, 3);
        }
        assert!(machine.nodes_in_use() < 120 && machine.calls_in_use() < 250, "round {round}");
    }
    for call in awaited {
        calls::make_known(shared, call, 5, 3);
    }
    // A task in it, and a call in another task of its own.
    calls::keep_open(shared, held_open);
    let inner = calls::begin(shared, context, held_open, 1);
    assert_eq!(calls::task_over(thread, held_open, 7), 0);
    assert_eq!(calls::task_over(thread, inner, 11), 0);
    assert_eq!(calls::let_go(thread, held_open), 18, "work of tasks goes up");
    assert!(strand::path(thread) & OWNED != 0);
    leave(thread, outer);
    machine.finish();
    let recording = machine.recording();
    let on_path = recording.runs[0].totals.iter().map(|totals| totals.on_path).find(|on_path| on_path.instances > 0);
    let on_path = on_path.expect("the calls are there");
    // The region itself is one, of no length; and the one that was held open, of no span.
    assert_eq!(on_path.instances, ROUNDS + 2);
    assert_eq!(on_path.work.0.cast_unsigned(), 5 * ROUNDS + 1 + 7 + 11);
    assert_eq!(on_path.span.0.cast_unsigned(), 3 * ROUNDS);
}

/// The members of a team wake late: whenever the path goes on, somebody still holds what it had before. It is folded behind
/// that.
#[test]
fn a_path_of_which_somebody_always_holds_what_was_is_folded() {
    let machine = Machine::new(1);
    let shared = machine.shared;
    let mut tip = 0;
    let mut late = Vec::new();
    for round in 0..ROUNDS {
        // Another's path begins at the tip, and a new one, which is to be the longest.
        late.push(path::add(shared, tip & !OWNED, 7, 1));
        let longest = path::add(shared, tip & !OWNED, u32::try_from(round % 3).expect("below 3"), 1);
        path::release(shared, tip);
        tip = longest;
        if late.len() > 2 {
            path::release(shared, late.remove(0));
        }
        assert!(machine.nodes_in_use() < 150, "round {round}: {}", machine.nodes_in_use());
    }
    late.into_iter().for_each(|path| path::release(shared, path));
    // Nothing is lost by it.
    let mut sums = [0; 3];
    let mut at = tip & NODE;
    while at != 0 {
        let node = shared.node(at);
        for i in 0..node.len.get() as usize {
            sums[node.contexts[i].get() as usize] += node.ticks[i].get();
        }
        at = node.parent.load(Ordering::Relaxed);
    }
    let each = |context: u64| ((ROUNDS + 2 - context) / 3).cast_signed();
    assert_eq!(sums, [each(0), each(1), each(2)]);
    path::release(shared, tip);
    assert_eq!(machine.nodes_in_use(), 0);
}
