//! Cache curves against a slow simulator of one cache.

use proptest::prelude::*;
use workspan_graph::cache::{Caches, SIZES};

/// Misses of one LRU cache: sets as lists, the line used last at the front.
fn slow(line: u64, ways: usize, bytes: u64, accesses: &[(u64, u64)]) -> (u64, u64) {
    let sets = bytes / (line * ways as u64);
    let mut cache: std::collections::HashMap<u64, Vec<u64>> = std::collections::HashMap::new();
    let (mut count, mut misses) = (0, 0);
    for (address, size) in accesses {
        for number in address / line..=(address + size - 1) / line {
            let set = cache.entry(number % sets).or_default();
            count += 1;
            match set.iter().position(|other| *other == number) {
                Some(at) => {
                    set.remove(at);
                }
                None => misses += 1,
            }
            set.insert(0, number);
            set.truncate(ways);
        }
    }
    (count, misses)
}

proptest! {
    #[test]
    fn curves_equal_a_slow_simulator(
        accesses in proptest::collection::vec((prop_oneof![0..4096_u64, 0..65536_u64, 0..4_000_000_u64], 1..100_u64), 0..600),
        shift in 3..8_u32,
        ways in 0..4_u32,
    ) {
        let (line, ways) = (1 << shift, 1_u64 << ways);
        let mut caches = Caches::new(line, ways, (64, 1 << 20)).expect("possible");
        accesses.iter().for_each(|(address, size)| caches.access(*address, *size));
        for size in caches.sizes() {
            let expected = slow(line, usize::try_from(ways).expect("few"), size.bytes, &accesses);
            prop_assert_eq!((size.accesses, size.misses), expected, "{} bytes", size.bytes);
        }
    }
}

#[test]
fn a_loop_over_an_array_misses_until_it_fits() {
    let mut caches = Caches::new(64, 4, SIZES).expect("possible");
    for _ in 0..3 {
        (0..1024).for_each(|line| caches.access(line * 64, 8));
    }
    let sizes = caches.sizes();
    assert_eq!(sizes.len(), 19);
    assert_eq!((sizes[0].bytes, sizes[18].bytes), (1 << 10, 256 << 20));
    for size in sizes {
        assert_eq!(size.misses, if size.bytes < 1 << 16 { 3072 } else { 1024 }, "{} bytes", size.bytes);
    }
}

#[test]
fn impossible_caches_are_refused() {
    for (line, ways) in [(0, 4), (48, 4), (64, 0), (64, 3), (65536, 1024), (1 << 20, 1)] {
        let made = Caches::new(line, ways, (1 << 10, 1 << 20));
        assert!(made.is_err(), "{line} {ways}");
    }
}
