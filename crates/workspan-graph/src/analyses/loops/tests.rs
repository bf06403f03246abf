//! What sampled sets see of a loop whose iterations are skipped is what they see of all its accesses.

use proptest::prelude::*;
use workspan_trace::program::Access as Mode;

use crate::cache::Caches;
use crate::events::Access;
use crate::replay::Iterations;

proptest! {
    #[test]
    fn drawn_sets_see_the_same(
        loops in proptest::collection::vec(
            (
                proptest::collection::vec(
                    (
                        (0..4_u64, 0..3000_u64).prop_map(|(array, byte)| (array << 20) + byte),
                        prop_oneof![1..40_u64, Just(8), Just(200)],
                        prop_oneof![
                            -40..40_i64,
                            (0..17_u32, any::<bool>()).prop_map(|(shift, back)| if back { -(1 << shift) } else { 1 << shift }),
                        ],
                    ),
                    1..7,
                ),
                8..300_u64,
            ),
            1..10,
        ),
    ) {
        // No cache is small: there are no windows, and the sets may rest as if there were.
        let caches = || Caches::sampled(64, 4, (1 << 16, 1 << 22), (4, 0)).expect("possible");
        let (mut one_by_one, mut skipping) = (caches(), caches());
        skipping.sample.as_mut().expect("sampled").open = false;
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
            iterations.each(&mut Vec::new(), |each| {
                each.iter().for_each(|access| one_by_one.access(access.address, access.size));
            });
            skipping.iterate(iterations);
        }
        prop_assert_eq!(one_by_one.accesses, skipping.accesses);
        let misses = |caches: &Caches| caches.sample.as_ref().map(|sample| sample.sets.misses());
        prop_assert_eq!(misses(&one_by_one), misses(&skipping));
    }
}
