//! Control events in any order and with any contents: graphs are made, replays end, and every access is seen once.

use proptest::prelude::*;
use workspan_graph::events::Access;
use workspan_graph::graph::Graph;
use workspan_graph::races::Races;
use workspan_graph::replay::{replay, Consumer, Executed};
use workspan_graph::sharing::Sharing;
use workspan_trace::control::Kind;

use crate::made::{recording, Buffer};

#[derive(Default)]
struct Count(u64);

impl Consumer for Count {
    fn segment(&mut self, _: Executed<'_>, _: &[Access]) {
        self.0 += 1;
    }
}

/// Small numbers, so that contexts and objects meet; and large ones.
fn slot() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..6_u64, 1 => (0..4_u64).prop_map(|low| low | 1 << 47), 1 => 0..1_u64 << 48]
}

proptest! {
    #[test]
    fn any_events_make_a_graph_and_a_replay(
        threads in proptest::collection::vec(proptest::collection::vec((0..18_u32, [slot(), slot(), slot(), slot(), slot()]), 0..30), 1..4),
    ) {
        let mut segments = 0;
        let mut contexts = Vec::new();
        for events in threads {
            let mut buffer = Buffer::default();
            buffer.control(Kind::Begin, &[1, 0]);
            for (id, slots) in events {
                match Kind::of(id) {
                    Some(kind) => buffer.control(kind, &slots[..kind.slots()]),
                    None => {
                        segments += 1;
                        buffer.store(0x1000 + slots[0] % 8 * 4)
                    }
                };
            }
            contexts.push(vec![buffer]);
        }
        let recording = recording("any", &contexts);
        let graph = Graph::of(&recording);
        prop_assert!(graph.order().len() <= graph.tasks.len());
        let mut count = Count::default();
        replay(&recording, &mut count).expect("readable");
        prop_assert_eq!(count.0, segments);
        replay(&recording, &mut Races::default()).expect("readable");
        replay(&recording, &mut Sharing::new(64)).expect("readable");
    }
}
