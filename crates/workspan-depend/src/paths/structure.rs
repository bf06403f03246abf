//! What lies in what: loops in loops, and contexts that call one another.
//!
//! **Cost:** of contexts, one look at each call; of loops, their depth.

use super::Paths;
use crate::source::small;

/// Contexts that nothing calls.
pub(super) fn roots(paths: &Paths) -> Vec<u32> {
    let mut called = vec![false; paths.contexts.len()];
    paths.contexts.iter().flat_map(|each| &each.calls).for_each(|(_, to, _)| called[*to as usize] = true);
    (0..).zip(called).filter(|(_, called)| !called).map(|(at, _)| at).collect()
}

/// Contexts, each behind those that it calls, and whether that is impossible.
pub(super) fn order(paths: &Paths) -> (Vec<u32>, bool) {
    let (mut order, mut state, mut has_back) = (Vec::new(), vec![0_u8; paths.contexts.len()], false);
    for root in roots(paths).into_iter().chain(0..small(paths.contexts.len())) {
        let mut stack = vec![(root, 0)];
        while let Some((at, next)) = stack.last_mut() {
            let here = *at as usize;
            if *next == 0 && state[here] != 0 {
                stack.pop();
                continue;
            }
            state[here] = 1;
            let Some((_, to, _)) = paths.contexts[here].calls.get(*next) else {
                state[here] = 2;
                order.push(*at);
                stack.pop();
                continue;
            };
            *next += 1;
            match state[*to as usize] {
                0 => stack.push((*to, 0)),
                1 => has_back = true,
                _ => {}
            }
        }
    }
    (order, has_back)
}

/// Loops around a loop, itself first; all + 1.
pub(super) fn around(paths: &Paths, mut inner: u32) -> impl Iterator<Item = u32> + '_ {
    let outwards = std::iter::from_fn(move || {
        let found = inner;
        inner = paths.loops.get((inner as usize).checked_sub(1)?).map_or(0, |each| each.parent);
        Some(found)
    });
    outwards.take(paths.loops.len() + 1)
}

/// The innermost loop, + 1, that two pieces lie in.
pub(super) fn common(paths: &Paths, from: u32, to: u32) -> u32 {
    let of = |piece: u32| paths.pieces[piece as usize].in_loop;
    let outer: Vec<u32> = around(paths, of(from)).collect();
    around(paths, of(to)).find(|each| outer.contains(each)).unwrap_or(0)
}
