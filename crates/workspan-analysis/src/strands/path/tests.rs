//! A path stays as short as there are keys, and what others hold of it stays as it is.

use super::*;

fn stretch(key: u32) -> Stretch {
    Stretch { key, span: 1, secondary: 1, work: 0 }
}

#[test]
fn a_long_chain_stays_short_though_somebody_always_holds_its_end() {
    let mut paths = Paths::new();
    let (mut path, mut held) = (0, 0);
    for n in 0..100_000 {
        path = paths.add(path, stretch(n % 3));
        paths.release(held);
        held = paths.own(path);
    }
    assert!(paths.nodes.len() < 300, "{} nodes", paths.nodes.len());
    let mut sums = [0; 3];
    paths.stretches(path).for_each(|part| sums[part.key as usize] += part.span);
    assert_eq!(sums, [33_334, 33_333, 33_333]);
}

#[test]
fn tokens_whose_sums_are_known_become_one_node() {
    let mut paths = Paths::new();
    let mut tail = Tail::at(0, 0);
    let outer = paths.tokens.create();
    paths.mark(&mut tail, stretch(outer));
    for n in 0..100_000 {
        let token = paths.tokens.create();
        paths.mark(&mut tail, stretch(token));
        // Somebody else's, which is not taken.
        let mut other = tail.borrowed();
        let lost = paths.tokens.create();
        paths.mark(&mut other, stretch(lost));
        paths.release(other.path);
        for token in [token, lost] {
            paths.tokens.make_known(token, Stretch { key: 1 + n % 2, span: 3, secondary: 1, work: 5 });
        }
    }
    paths.tokens.make_known(outer, Stretch { key: 3, span: 7, secondary: 1, work: 9 });
    assert!(paths.nodes.len() < 300 && paths.tokens.most() < 300, "{} {}", paths.nodes.len(), paths.tokens.most());
    let mut sums = [(0, 0, 0); 4];
    for Stretch { key, span, secondary, work } in paths.stretches(tail.path) {
        let sum = &mut sums[key as usize];
        *sum = (sum.0 + span, sum.1 + secondary, sum.2 + work);
    }
    let each = (150_000, 50_000, 250_000);
    assert_eq!(sums, [(0, 0, 0), each, each, (7, 1, 9)]);
}

#[test]
fn what_others_hold_stays_as_it_is() {
    let mut paths = Paths::new();
    let mut path = 0;
    let mut held = Vec::new();
    for n in 0..500u32 {
        path = paths.add(path, stretch(n % 7));
        if n % 50 == 0 {
            held.push((paths.own(path), n));
        }
    }
    for (path, n) in held {
        let sum: i64 = paths.stretches(path).map(|part| part.span).sum();
        assert_eq!(sum, i64::from(n) + 1);
        paths.release(path);
    }
    paths.release(path);
    // All free.
    let mut free = 0;
    let mut at = paths.free;
    while at != NONE {
        free += 1;
        at = paths.nodes[at as usize].parent;
    }
    assert_eq!(free, paths.nodes.len() - 1);
}
