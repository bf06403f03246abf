//! Critical paths take bounded memory.

use workspan_collect::join::JoinFrame;
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
