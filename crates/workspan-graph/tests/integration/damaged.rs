//! Recordings that the fuzzer begins with, and those that it made of them: all are read, made graphs and replayed.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use workspan_graph::bounds::Bounds;
use workspan_graph::cache::Caches;
use workspan_graph::code::Code;
use workspan_graph::codec::Decoder;
use workspan_graph::curve::{excerpts, Curve, Sharing as Shared};
use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::moved::Moved;
use workspan_graph::part;
use workspan_graph::path::critical;
use workspan_graph::program::Program;
use workspan_graph::races::Races;
use workspan_graph::replay::replay;
use workspan_graph::sample::Sample;
use workspan_graph::sharing::Sharing;
use workspan_graph::timeline::{observed, potential};
use workspan_graph::walk::Walk;
use workspan_graph::working_set::WorkingSets;
use workspan_trace::control::{Kind, FIRST_SEGMENT};

use crate::made::{description, recording, Buffer};

#[test]
fn whatever_a_file_says_it_is_replayed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("readable").path();
        let recording = Recording::open(&path).expect("its head is whole");
        let graph = Graph::of(&recording);
        let path = critical(&graph);
        assert!(path.span <= path.work && !graph.order().is_empty());
        let (ran, could) = (observed(&graph, 10), potential(&graph, 10));
        let mean = |intervals: &[workspan_graph::timeline::Interval]| {
            intervals.iter().map(|each| each.parallelism).sum::<f64>()
        };
        assert!(mean(&ran).is_finite() && mean(&could).is_finite());
        let caches = Caches::sampled(64, 4, (1 << 10, 1 << 20), (8, 1 << 30)).expect("possible");
        replay(&recording, &mut Curve::new(caches, Shared::Private)).expect("readable");
        replay(&recording, &mut Races::default()).expect("readable");
        replay(&recording, &mut Sharing::new(64)).expect("readable");
        replay(&recording, &mut Code::new(&graph)).expect("readable");
        let mut sets = WorkingSets::new(&graph, 64);
        replay(&recording, &mut sets).expect("readable");
        sets.finish(&graph);
        assert_eq!(sets.sets.values().map(|set| set.fed).sum::<u64>(), sets.feeds.values().sum::<u64>());
        count += 1;
    }
    assert!(count >= 5, "{count}");
}

/// What a crash in `memset(p, 0, -1)` leaves, or a file that says so: it is looked at up to a bound, and counted.
#[test]
fn an_access_of_all_memory_is_cut() {
    const ALL: u64 = (1 << 48) - 1;
    let mut buffer = Buffer::default();
    buffer.control(Kind::Begin, &[1, 0]).segment(1, &[0x1000, ALL]).segment(1, &[ALL, ALL]);
    buffer.load(8).control(Kind::Transfer, &[0x2000, ALL, 1]).load(8).control(Kind::End, &[9]);
    let mut recording = recording("all-memory", &[vec![buffer]]);
    let graph = Graph::of(&recording);
    let all = |recording: &Recording| {
        let caches = || Caches::new(64, 4, (1 << 10, 1 << 20)).expect("possible");
        let mut curve = Curve::new(caches(), Shared::Private);
        part::replay(recording, &mut curve).expect("readable");
        part::replay(recording, &mut Races::default()).expect("readable");
        part::replay(recording, &mut Sharing::new(64)).expect("readable");
        part::replay(recording, &mut Moved::new(1 << 20, 4, 1).expect("possible")).expect("readable");
        part::replay(recording, &mut WorkingSets::new(&graph, 64)).expect("readable");
        curve.sizes()[0].accesses
    };
    let lines = Bounds::of(&recording).most() / 64;
    // Those that begin at a line, the one at the end of all addresses, and the loads.
    assert_eq!((all(&recording), recording.cut.count()), (2 * lines + 1 + 2, 15));
    recording.sample = Sample::new(8);
    all(&recording);
    excerpts::sizes(&recording, (64, 4), (1 << 10, 1 << 20), (4, 0.01)).expect("readable");
    let mut seen = 0;
    let walk = Walk::new(&recording, &graph);
    for chunk in walk.chunks(|_| true) {
        let memory = (&mut Decoder::default(), &mut Vec::new());
        let mut take = |_| {
            seen += 1;
            ControlFlow::Continue(())
        };
        let read = walk.read(&recording, memory, chunk, |_| true, &mut take);
        assert_eq!(read.expect("readable"), ControlFlow::Continue(()));
    }
    assert!((3..=5).contains(&seen), "{seen}");
}

/// A few bytes cannot make room for ids that nobody has.
#[test]
fn a_module_far_beyond_all_others_is_damage() {
    let mut program = Program::new();
    assert!(program.add(FIRST_SEGMENT + (1 << 25), &description()).is_err());
    assert!(program.add(FIRST_SEGMENT + 1000, &description()).is_ok());
    assert!(program.add(FIRST_SEGMENT, &description()).is_ok());
    assert!(program.ids() < 2000 && program.entry(FIRST_SEGMENT + 500).is_none());
}
