//! The order of moments against paths in an explicit graph, on random programs of tasks with locks, barriers and joins by
//! anybody.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use workspan_graph::order::{Learnt, Order};

/// What a random context does next.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Create,
    Join(usize),
    Release(u64),
    Acquire(u64),
    Access,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => Just(Deed::Create),
        3 => any::<usize>().prop_map(Deed::Join),
        1 => (0..3_u64).prop_map(Deed::Release),
        1 => (0..3_u64).prop_map(Deed::Acquire),
        4 => Just(Deed::Access),
    ]
}

/// A graph in which each event of a context is a node.
#[derive(Default)]
struct Slow {
    edges: BTreeMap<usize, Vec<usize>>,
    last: BTreeMap<u32, usize>,
    nodes: usize,
}

impl Slow {
    fn event(&mut self, context: u32) -> usize {
        let node = self.nodes;
        self.nodes += 1;
        if let Some(before) = self.last.insert(context, node) {
            self.edges.entry(before).or_default().push(node);
        }
        node
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.edges.entry(from).or_default().push(to);
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let (mut open, mut seen) = (vec![from], BTreeSet::new());
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            if seen.insert(node) {
                open.extend(self.edges.get(&node).into_iter().flatten());
            }
        }
        false
    }
}

proptest! {
    #[test]
    fn moments_are_ordered_as_paths_say(deeds in proptest::collection::vec((any::<usize>(), deed()), 0..120)) {
        let (mut order, mut slow) = (Order::default(), Slow::default());
        let mut running = vec![0_u32];
        let mut created = 1;
        slow.event(0);
        let mut objects: BTreeMap<u64, Learnt> = BTreeMap::new();
        let mut released: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        // Accesses: context, moment, node.
        let mut accesses: Vec<(u32, u32, usize)> = Vec::new();
        for (who, deed) in deeds {
            let context = running[who % running.len()];
            match deed {
                Deed::Create => {
                    let node = slow.event(context);
                    order.create(context, created);
                    let first = slow.event(created);
                    slow.edge(node, first);
                    running.push(created);
                    created += 1;
                }
                Deed::Join(whom) => {
                    // What is joined has ended, and does nothing any more. Some are joined twice.
                    let ended = running[whom % running.len()];
                    if ended != context && ended != 0 {
                        let last = slow.last[&ended];
                        let others = if whom % 3 == 0 { running[whom / 7 % running.len()] } else { context };
                        for joins in BTreeSet::from([context, others]) {
                            if joins != ended {
                                let node = slow.event(joins);
                                slow.edge(last, node);
                                order.join(joins, ended);
                            }
                        }
                        running.retain(|one| *one != ended);
                    }
                }
                Deed::Release(object) => {
                    let node = slow.event(context);
                    released.entry(object).or_default().push(node);
                    let learnt = order.release(context);
                    let known = objects.entry(object).or_default();
                    let mut all = (**known).clone();
                    for (other, moment) in learnt.iter() {
                        let entry = all.entry(*other).or_default();
                        *entry = (*entry).max(*moment);
                    }
                    *known = Learnt::new(all);
                }
                Deed::Acquire(object) => {
                    let node = slow.event(context);
                    for from in released.get(&object).into_iter().flatten() {
                        slow.edge(*from, node);
                    }
                    if let Some(learnt) = objects.get(&object) {
                        order.learn(context, learnt);
                    }
                }
                Deed::Access => {
                    let node = slow.event(context);
                    for (other, moment, from) in &accesses {
                        let expected = slow.reaches(*from, node);
                        prop_assert_eq!(order.is_before(*other, *moment, context), expected, "{} {} {}", other, moment, context);
                    }
                    accesses.push((context, order.now(context), node));
                }
            }
        }
    }
}

#[test]
fn deep_and_wide_trees_take_no_clock_for_each_context() {
    let mut order = Order::default();
    // A chain of creations, each joined by its creator, and as many tasks of one creator.
    for context in 0..100_000 {
        order.create(context, context + 1);
    }
    assert!(order.is_before(3, 1, 100_000));
    assert!(!order.is_before(3, 2, 100_000));
    for context in (0..100_000).rev() {
        order.join(context, context + 1);
    }
    assert!(order.is_before(77_777, 1, 0));
    for task in 200_000..300_000 {
        order.create(0, task);
    }
    assert!(!order.is_before(200_000, 1, 299_999));
    for task in 200_000..300_000 {
        order.join(0, task);
    }
    assert!(order.is_before(250_000, 1, 0));
}
