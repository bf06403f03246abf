//! Shapes of graphs: constructs of section 3 of the Contech paper, with the tasks and edges that they must have.

use workspan_graph::graph::{Graph, Task, Type};
use workspan_trace::control::{Kind, Operation};

use crate::made::{recording, Buffer};

fn counts(graph: &Graph) -> [u64; 5] {
    [Type::Work, Type::Create, Type::Join, Type::Sync, Type::Barrier].map(|kind| graph.count(kind))
}

fn names(graph: &Graph) -> Vec<(String, String)> {
    let name = |task: u32| {
        let Task { context, sequence, kind, .. } = graph.tasks[task as usize];
        format!("{context}:{sequence}{}", kind.letter())
    };
    graph.edges.iter().map(|(from, to)| (name(*from), name(*to))).collect()
}

fn has(graph: &Graph, from: &str, to: &str) {
    let wanted = (from.to_owned(), to.to_owned());
    assert!(names(graph).contains(&wanted), "no edge from {from} to {to} in {:?}", names(graph));
}

/// Every task is visited once, after its predecessors.
fn is_acyclic(graph: &Graph) {
    let order = graph.order();
    assert_eq!(order.len(), graph.tasks.len());
    let mut position = vec![usize::MAX; order.len()];
    for (at, task) in order.iter().enumerate() {
        position[*task as usize] = at;
    }
    assert!(graph.edges.iter().all(|(from, to)| position[*from as usize] < position[*to as usize]));
}

fn begin(creator: u64) -> Buffer {
    let mut buffer = Buffer::default();
    buffer.control(Kind::Begin, &[10, creator]);
    buffer
}

#[test]
fn create_and_join() {
    let mut main = begin(0);
    main.load(8).control(Kind::Create, &[20, 21, 2]).load(8).load(8).control(Kind::Join, &[30, 40, 2]).load(8);
    let mut other = begin(1);
    other.store(16).control(Kind::End, &[35]);
    let graph = Graph::of(&recording("create", &[vec![main], vec![other]]));
    assert_eq!(counts(&graph), [4, 1, 1, 0, 0]);
    assert_eq!((graph.contexts, graph.complete), (2, true));
    for (from, to) in [("0:0W", "0:1C"), ("0:1C", "0:2W"), ("0:1C", "1:0W"), ("1:0W", "0:3J"), ("0:2W", "0:3J")] {
        has(&graph, from, to);
    }
    assert_eq!(graph.edges.len(), 6);
    let loads: Vec<u64> = graph.tasks.iter().map(|task| task.tally.loads).collect();
    assert_eq!(loads, [1, 0, 2, 0, 1, 1]);
    assert_eq!((graph.tasks[3].start, graph.tasks[3].end, graph.tasks[5].end), (30, 40, 35));
    is_acyclic(&graph);
}

#[test]
fn locks_are_linked_by_their_tickets_and_not_by_time() {
    let mut main = begin(0);
    main.control(Kind::Create, &[20, 21, 2]).sync(50, 0x100, 2, Operation::Lock).sync(60, 0x100, 3, Operation::Unlock);
    let mut other = begin(1);
    // Another object shares the counter: its tickets are between.
    other.sync(70, 0x100, 0, Operation::Lock).sync(80, 0x200, 7, Operation::Lock).sync(90, 0x100, 1, Operation::Unlock);
    let graph = Graph::of(&recording("locks", &[vec![main], vec![other]]));
    assert_eq!(counts(&graph), [8, 1, 0, 5, 0]);
    has(&graph, "1:1S", "1:5S");
    has(&graph, "1:5S", "0:3S");
    has(&graph, "0:3S", "0:5S");
    is_acyclic(&graph);
}

#[test]
fn a_wait_is_three_syncs() {
    let mut main = begin(0);
    main.sync(20, 0x100, 0, Operation::Lock);
    main.control(Kind::Sync, &[30, 30, 0x100, 1, Operation::Unlock as u64]);
    main.control(Kind::Sync, &[30, 45, 0x200, 1, Operation::Wait as u64]);
    main.control(Kind::Sync, &[45, 45, 0x100, 2, Operation::Lock as u64]);
    main.sync(50, 0x100, 3, Operation::Unlock);
    let mut other = begin(0);
    other.sync(40, 0x200, 0, Operation::Signal);
    let graph = Graph::of(&recording("wait", &[vec![main], vec![other]]));
    // Lock, the three of the wait without work between them, unlock; and the signal.
    assert_eq!(counts(&graph), [6, 0, 0, 6, 0]);
    for (from, to) in [("0:3S", "0:4S"), ("0:4S", "0:5S"), ("1:1S", "0:4S"), ("0:1S", "0:3S")] {
        has(&graph, from, to);
    }
    is_acyclic(&graph);
}

#[test]
fn a_barrier_is_one_task_for_each_passage() {
    let passes = |arrivals: [u64; 2], creator| {
        let mut buffer = begin(creator);
        for (time, arrival) in (0..).zip(arrivals) {
            buffer.load(8).control(Kind::Barrier, &[100 + time * 50, 140 + time * 50, 0x100, arrival, 3]);
        }
        vec![buffer]
    };
    let contexts = [passes([0, 4], 0), passes([2, 3], 1), passes([1, 5], 1)];
    let graph = Graph::of(&recording("barrier", &contexts));
    assert_eq!(counts(&graph), [9, 0, 0, 0, 2]);
    // The first is of context 1, which came last; the second of context 2.
    for (from, to) in
        [("0:0W", "1:1B"), ("1:0W", "1:1B"), ("2:0W", "1:1B"), ("1:1B", "0:1W"), ("1:1B", "1:2W"), ("1:1B", "2:1W")]
    {
        has(&graph, from, to);
    }
    has(&graph, "2:2B", "0:2W");
    is_acyclic(&graph);
}

#[test]
fn tasks_go_on_in_the_next_chunk() {
    let mut first = begin(0);
    first.load(8).load(8);
    let mut second = Buffer::default();
    second.load(8).control(Kind::End, &[99]);
    let graph = Graph::of(&recording("chunks", &[vec![first, second]]));
    assert_eq!(counts(&graph), [1, 0, 0, 0, 0]);
    assert_eq!((graph.tasks[0].tally.loads, graph.tasks[0].end), (3, 99));
}
