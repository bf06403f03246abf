//! Cache curves against a slow simulator of one cache.

use proptest::prelude::*;
use workspan_graph::cache::{Caches, Size, SIZES};
use workspan_graph::curve::{excerpts, Curve, Sharing};
use workspan_graph::events::Access;
use workspan_graph::replay::{replay, Iterations};
use workspan_trace::control::Kind;
use workspan_trace::program::Access as Mode;

use crate::made::{recording, Buffer};

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

/// Anywhere in a small memory, or in one of several arrays that begin in the same set of most caches.
fn address() -> impl Strategy<Value = u64> {
    prop_oneof![0..20_000_u64, (0..8_u64, 0..10_u64).prop_map(|(array, element)| (array << 17) + element * 8)]
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![1..80_u64, (0..6_u32).prop_map(|shift| 1 << shift), 1..600_u64]
}

/// Of elements, of lines and more, of columns; in either direction.
fn step() -> impl Strategy<Value = i64> {
    let columns = (0..14_u32, any::<bool>()).prop_map(|(shift, back)| if back { -(1 << shift) } else { 1 << shift });
    prop_oneof![-9..9_i64, -100..100_i64, -5000..5000_i64, columns]
}

proptest! {
    #[test]
    fn loops_equal_a_slow_simulator(
        loops in proptest::collection::vec(
            (
                proptest::collection::vec(
                    (address(), size(), step()),
                    0..9,
                ),
                0..200_u64,
            ),
            0..8,
        ),
        shift in 4..8_u32,
        ways in prop_oneof![0..4_u32, Just(2_u32)],
    ) {
        let (line, ways) = (1 << shift, 1_u64 << ways);
        let mut caches = Caches::new(line, ways, (64, 1 << 20)).expect("possible");
        let mut all = Vec::new();
        for (accesses, times) in loops {
            let access = |(address, size, _): &(u64, u64, i64)| Access {
                address: address + (1 << 30),
                size: *size,
                mode: Mode::Load,
                flags: 0,
                operation: 0,
            };
            let first: Vec<Access> = accesses.iter().map(access).collect();
            let steps: Vec<i64> = accesses.iter().map(|(.., step)| *step).collect();
            let iterations = Iterations { first: &first, steps: &steps, times };
            caches.iterate(iterations);
            iterations.each(&mut Vec::new(), |each| all.extend(each.iter().map(|access| (access.address, access.size))));
        }
        for size in caches.sizes() {
            let expected = slow(line, usize::try_from(ways).expect("few"), size.bytes, &all);
            prop_assert_eq!((size.accesses, size.misses), expected, "{} bytes", size.bytes);
        }
    }
}

proptest! {
    /// Caches that begin in the midst of a run say between which bounds its misses are.
    #[test]
    fn what_is_unknown_of_an_excerpt_is_a_bound(
        accesses in proptest::collection::vec((prop_oneof![0..4096_u64, 0..65536_u64, 0..4_000_000_u64], 1..100_u64), 0..600),
        from in 0..600_usize,
        ways in 0..4_u32,
    ) {
        let (line, ways) = (64, 1_u64 << ways);
        let from = from.min(accesses.len());
        let mut caches = Caches::new(line, ways, (64, 1 << 20)).expect("possible").watching();
        accesses[from..].iter().for_each(|(address, size)| caches.access(*address, *size));
        let unknown = caches.unknown();
        for (size, unknown) in caches.sizes().iter().zip(unknown) {
            let misses = |accesses| slow(line, usize::try_from(ways).expect("few"), size.bytes, accesses).1;
            let expected = misses(&accesses) - misses(&accesses[..from]);
            prop_assert!(expected <= size.misses, "{expected} {size:?}");
            prop_assert!(size.misses - unknown <= expected, "{expected} {unknown} {size:?}");
            // Those of caches that began empty are known.
            if from == 0 {
                prop_assert_eq!(expected, size.misses);
            }
        }
    }
}

/// Loops over parts of memory of all sizes, in two threads.
#[test]
fn excerpts_are_as_exact_as_they_say() {
    let thread = |seed: u64| {
        let mut random = Random(seed);
        let chunk = |number: u64| {
            let mut buffer = Buffer::default();
            let part = 512 << (number / 20);
            for _ in 0..64 {
                let first = 0x10_0000_0000 * seed + random.below(part) * 8;
                buffer.segment(5, &[first, first + (1 << 30), 8, 1000]);
            }
            buffer
        };
        let mut buffers: Vec<Buffer> = (0..60).map(chunk).collect();
        let mut first = Buffer::default();
        first.control(Kind::Begin, &[1, 0]);
        first.bytes.extend(&buffers[0].bytes);
        buffers[0] = first;
        buffers
    };
    let recording = recording("excerpts", &[thread(1), thread(2)]);
    let sampled = excerpts::sizes(&recording, (64, 4), SIZES, (64, 0.02)).expect("possible").expect("long enough");
    let mut curve = Curve::new(Caches::new(64, 4, SIZES).expect("possible"), Sharing::Private);
    replay(&recording, &mut curve).expect("readable");
    let exact = curve.sizes();
    assert!(sampled.suffices);
    assert_eq!(sampled.sizes.len(), exact.len());
    for (sampled, exact) in sampled.sizes.iter().zip(&exact) {
        assert_eq!(sampled.bytes, exact.bytes);
        assert!(sampled.misses.abs_diff(exact.misses) <= sampled.error, "{sampled:?} {exact:?}");
    }
}

/// More regions than short names can number.
#[test]
fn lines_all_over_the_memory_equal_a_slow_simulator() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut accesses = Vec::new();
    for number in 0..20_000_u64 {
        let region = if number % 3 == 0 { number } else { random.below(number / 2 + 1) };
        accesses.push(((region << 27) + random.below(64) * 64, 8));
    }
    let mut caches = Caches::new(64, 4, SIZES).expect("possible");
    accesses.iter().for_each(|(address, size)| caches.access(*address, *size));
    for size in caches.sizes() {
        let expected = slow(64, 4, size.bytes, &accesses);
        assert_eq!((size.accesses, size.misses), expected, "{} bytes", size.bytes);
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

/// Numbers that repeat exactly (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// Sweeps, strides, columns of matrices, and addresses of which few are frequent, in turns.
fn trace(random: &mut Random) -> Vec<u64> {
    let mut addresses = Vec::new();
    for _ in 0..6 {
        let (kind, base, lines) = (random.below(4), random.below(1 << 20) * 64, 64 << random.below(10));
        let stride = 8 << random.below(10);
        for number in 0..40_000 {
            addresses.push(match kind {
                0 => base + number * 8 % (lines * 64),
                1 => base + number * stride % (lines * 64),
                2 => base + (number % 256) * 4096 + number / 256 * 8,
                _ => {
                    let (a, b) = (random.below(lines), random.below(lines));
                    base + a * b / lines * 64
                }
            });
        }
    }
    addresses
}

/// Bytes of the smallest cache of which sets are drawn.
const LARGE: u64 = 64 << 10;

/// How often stated errors hold, and how far off estimates with an error of at most 1 % of the accesses are.
#[derive(Default)]
struct Held {
    intervals: usize,
    within: usize,
    narrow: Vec<f64>,
}

impl Held {
    fn see(&mut self, exact: &Size, sampled: &Size) {
        let off = exact.misses.abs_diff(sampled.misses);
        if sampled.is_within(0.01) {
            self.narrow.push(off as f64 / exact.accesses as f64);
        }
        self.intervals += 1;
        self.within += usize::from(off <= sampled.error + 1);
    }

    #[track_caller]
    fn check(&self) {
        let Held { intervals, within, narrow } = self;
        assert!(narrow.iter().all(|off| *off <= 0.01), "{narrow:?} of {intervals}");
        assert!(within * 100 >= intervals * 90, "{within} of {intervals}");
    }

    /// Most intervals are wide where strides of a power of two meet few sets: a quarter is not.
    #[track_caller]
    fn check_narrow(&self) {
        let Held { intervals, narrow, .. } = self;
        assert!(narrow.len() * 4 >= *intervals, "{narrow:?} of {intervals}");
    }
}

#[test]
fn samples_are_as_exact_as_they_say() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut held = Held::default();
    for _ in 0..12 {
        let trace = trace(&mut random);
        let mut exact = Caches::new(64, 4, SIZES).expect("possible");
        let mut sampled = Caches::sampled(64, 4, SIZES, (8, trace.len() as u64)).expect("possible");
        for address in &trace {
            exact.access(*address, 8);
            sampled.access(*address, 8);
        }
        // So short a run has no room for windows: the small caches are exact.
        assert_eq!(sampled.sampled_from(), Some(LARGE));
        for (exact, sampled) in exact.sizes().into_iter().zip(sampled.sizes()) {
            assert_eq!((exact.bytes, exact.accesses), (sampled.bytes, sampled.accesses));
            if exact.bytes < LARGE {
                assert_eq!(exact, sampled);
                continue;
            }
            held.see(&exact, &sampled);
        }
    }
    held.check();
    held.check_narrow();
}

/// Runs long enough for windows: small caches, too, see a part only.
#[test]
fn windows_of_time_are_as_exact_as_they_say() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut held = Held::default();
    for _ in 0..6 {
        let parts: Vec<Vec<u64>> = (0..4).map(|_| trace(&mut random)).collect();
        let total = 30_000_000_usize;
        let mut exact = Caches::new(64, 4, (1 << 10, 32 << 10)).expect("possible");
        let mut sampled = Caches::sampled(64, 4, (1 << 10, 32 << 10), (16, total as u64)).expect("possible");
        assert_eq!(sampled.sampled_from(), Some(1 << 10));
        for address in parts.iter().flatten().cycle().take(total) {
            exact.access(*address, 8);
            sampled.access(*address, 8);
        }
        for (exact, sampled) in exact.sizes().into_iter().zip(sampled.sizes()) {
            assert_eq!((exact.bytes, exact.accesses), (sampled.bytes, sampled.accesses));
            held.see(&exact, &sampled);
        }
    }
    held.check();
}

/// Loops as a recording has them: sampled sets see which lines are entered, and windows all iterations.
#[test]
fn samples_of_loops_are_as_exact_as_they_say() {
    let mut random = Random(0x0123_4567_89ab_cdef);
    let mut held = Held::default();
    for _ in 0..6 {
        let arrays: Vec<(u64, i64)> = (0..12)
            .map(|_| {
                let step = [8, 16, -8, 12, 64, 4104, 16_000][usize::try_from(random.below(7)).expect("few")];
                ((1 << 30) + random.below(1 << 24) * 8, step)
            })
            .collect();
        let mut exact = Caches::new(64, 4, SIZES).expect("possible");
        let mut sampled = Caches::sampled(64, 4, SIZES, (16, 24_000_000)).expect("possible");
        for _ in 0..15_000 {
            let chosen: Vec<(u64, i64)> =
                (0..4).map(|_| arrays[usize::try_from(random.below(12)).expect("few")]).collect();
            let from = random.below(64);
            let access = |(base, step): &(u64, i64)| Access {
                address: base.wrapping_add_signed(step * from.cast_signed() * 400),
                size: 8,
                mode: Mode::Load,
                flags: 0,
                operation: 0,
            };
            let first: Vec<Access> = chosen.iter().map(access).collect();
            let steps: Vec<i64> = chosen.iter().map(|(_, step)| *step).collect();
            for caches in [&mut exact, &mut sampled] {
                caches.iterate(Iterations { first: &first, steps: &steps, times: 400 });
            }
        }
        for (exact, sampled) in exact.sizes().into_iter().zip(sampled.sizes()) {
            assert_eq!((exact.bytes, exact.accesses), (sampled.bytes, sampled.accesses));
            held.see(&exact, &sampled);
        }
    }
    held.check();
    held.check_narrow();
}

#[test]
fn impossible_samples_are_refused() {
    for one_in in [0, 1, 3, 2048] {
        assert!(Caches::sampled(64, 4, SIZES, (one_in, 0)).is_err(), "{one_in}");
    }
    // Nothing of such small caches is left to be sampled in so short a run.
    let mut small = Caches::sampled(64, 4, (1 << 10, 1 << 14), (64, 1000)).expect("possible");
    assert_eq!((small.sampled_from(), small.sizes().len()), (None, 5));
}
