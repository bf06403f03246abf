//! The most valuable set of items that a knapsack can carry, by branch and bound: an item is taken or left, the two
//! beside each other, unless the room that is left, filled at the value per weight of that item, would not beat the
//! best set so far, which all tasks share. Items come in order of that ratio, and the search begins with the set that
//! takes whatever fits in that order. Size is the number of items; with no more than cutoff of them left no tasks are
//! made.
//!
//! What is cut off depends on what was found before, and so on the order in which tasks run: with several workers the
//! work differs from run to run.
//!
//! Work O(2ⁿ), span O(n).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::input::Numbers;

#[derive(Clone, Copy)]
struct Item {
    weight: u64,
    value: u64,
}

pub fn run(n: usize, cutoff: usize) -> bool {
    let mut numbers = Numbers::new();
    let mut to_100 = || 1 + numbers.next() % 100;
    let mut items: Vec<Item> = (0..n).map(|_| Item { weight: to_100(), value: to_100() }).collect();
    items.sort_by(|a, b| (b.value * a.weight).cmp(&(a.value * b.weight)));
    let room = items.iter().map(|item| item.weight).sum::<u64>() / 2;
    let best = AtomicU64::new(greedy(&items, room));
    if cutoff < 2 {
        rayon::scope(|_| search(&items, room, 0, &best));
    } else {
        rayon::scope(|_| search_with_cutoff(&items, room, 0, &best, cutoff));
    }
    best.into_inner() == most(&items, room)
}

/// The value of the set that takes whatever fits.
fn greedy(items: &[Item], mut room: u64) -> u64 {
    let mut value = 0;
    for item in items {
        if item.weight <= room {
            room -= item.weight;
            value += item.value;
        }
    }
    value
}

/// Notes the best of a set of this value and what can be added to it.
fn search(items: &[Item], room: u64, value: u64, best: &AtomicU64) {
    let Some((item, rest)) = open(items, room, value, best) else {
        return;
    };
    rayon::join(
        || {
            if item.weight <= room {
                search(rest, room - item.weight, value + item.value, best);
            }
        },
        || search(rest, room, value, best),
    );
}

fn search_with_cutoff(items: &[Item], room: u64, value: u64, best: &AtomicU64, cutoff: usize) {
    if items.len() <= cutoff {
        return search_serially(items, room, value, best);
    }
    let Some((item, rest)) = open(items, room, value, best) else {
        return;
    };
    rayon::join(
        || {
            if item.weight <= room {
                search_with_cutoff(rest, room - item.weight, value + item.value, best, cutoff);
            }
        },
        || search_with_cutoff(rest, room, value, best, cutoff),
    );
}

fn search_serially(items: &[Item], room: u64, value: u64, best: &AtomicU64) {
    let Some((item, rest)) = open(items, room, value, best) else {
        return;
    };
    if item.weight <= room {
        search_serially(rest, room - item.weight, value + item.value, best);
    }
    search_serially(rest, room, value, best);
}

/// Notes a set; the next item and those behind it, if they may lead to a better one.
fn open<'i>(items: &'i [Item], room: u64, value: u64, best: &AtomicU64) -> Option<(&'i Item, &'i [Item])> {
    let known = best.load(Ordering::Relaxed);
    if value > known {
        best.fetch_max(value, Ordering::Relaxed);
    }
    let (item, rest) = items.split_first()?;
    let bound = value + room * item.value / item.weight;
    (bound > known.max(value)).then_some((item, rest))
}

/// The answer by dynamic programming: the most for each room, with ever more items.
fn most(items: &[Item], room: u64) -> u64 {
    let mut most = vec![0; room as usize + 1];
    for item in items {
        for room in (item.weight as usize..most.len()).rev() {
            most[room] = most[room].max(most[room - item.weight as usize] + item.value);
        }
    }
    most[room as usize]
}
