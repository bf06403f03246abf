//! Merge sort with a merge in parallel: the halves are sorted beside each other, each into the other one of two arrays,
//! and merged back. To merge, the longer run is cut in its middle, the shorter one where that element would be, and the
//! two pairs are merged beside each other. Up to cutoff elements no tasks are made. Size is the number of elements.
//!
//! Work Θ(n log n), span Θ(log³ n).

use crate::input::Numbers;

/// What is sorted by insertion.
const FEW: usize = 32;

pub fn run(n: usize, cutoff: usize) -> bool {
    let mut numbers = Numbers::new();
    let mut items: Vec<u64> = (0..n).map(|_| numbers.next()).collect();
    let mut spare = vec![0; n];
    let sum = |items: &[u64]| items.iter().fold(0, |sum: u64, x| sum.wrapping_add(*x));
    let expected = sum(&items);
    rayon::scope(|_| sort(&mut items, &mut spare, false, cutoff.max(FEW)));
    items.is_sorted() && sum(&items) == expected
}

/// Sorts `items`, into `spare` or where they are.
fn sort(items: &mut [u64], spare: &mut [u64], into_spare: bool, cutoff: usize) {
    let (count, half) = (items.len(), items.len() / 2);
    if count <= FEW {
        sort_by_insertion(items);
        if into_spare {
            spare.copy_from_slice(items);
        }
        return;
    }
    let (left, right) = items.split_at_mut(half);
    let (spare_left, spare_right) = spare.split_at_mut(half);
    if count > cutoff {
        rayon::join(|| sort(left, spare_left, !into_spare, cutoff), || sort(right, spare_right, !into_spare, cutoff));
    } else {
        sort(left, spare_left, !into_spare, cutoff);
        sort(right, spare_right, !into_spare, cutoff);
    }
    let (from, to) = if into_spare { (items, spare) } else { (spare, items) };
    merge(&from[..half], &from[half..], to, cutoff);
}

/// Out of line, as `merge_serially` is: what surrounds it must not change how it is compiled.
#[inline(never)]
fn sort_by_insertion(items: &mut [u64]) {
    for i in 1..items.len() {
        let item = items[i];
        let mut at = i;
        while at > 0 && items[at - 1] > item {
            items[at] = items[at - 1];
            at -= 1;
        }
        items[at] = item;
    }
}

fn merge(a: &[u64], b: &[u64], to: &mut [u64], cutoff: usize) {
    if to.len() <= cutoff {
        return merge_serially(a, b, to);
    }
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let middle = long.len() / 2;
    let at = short.partition_point(|x| *x < long[middle]);
    let (first, last) = to.split_at_mut(middle + at);
    rayon::join(
        || merge(&long[..middle], &short[..at], first, cutoff),
        || merge(&long[middle..], &short[at..], last, cutoff),
    );
}

#[inline(never)]
fn merge_serially(a: &[u64], b: &[u64], to: &mut [u64]) {
    let (mut i, mut j) = (0, 0);
    for to in to {
        if j == b.len() || (i < a.len() && a[i] <= b[j]) {
            *to = a[i];
            i += 1;
        } else {
            *to = b[j];
            j += 1;
        }
    }
}
