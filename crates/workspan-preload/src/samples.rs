//! Which creations of tasks are measured: one in [`MEAN`], in no step with what a program does regularly.
//!
//! A program that creates two tasks at two lines in turn would be measured at one of them alone if every 64th creation were: the
//! other's tasks would cost nothing. So the distance from one sample to the next changes, as by chance, the same in each run.
//!
//! **Cost:** three multiplications for each sample.

/// Creations from one sample to the next, on average.
pub const MEAN: u32 = 64;

/// Creations from the sample of this number to the next one: 33 to 95.
#[inline]
pub fn distance(sample: u32) -> u32 {
    // Of some odd factors, those with which lines have the most even shares of few samples, too.
    let mixed = sample.wrapping_mul(0x27d4_eb2f);
    let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0x297a_2d39);
    MEAN / 2 + 1 + ((u64::from(mixed) * u64::from(MEAN - 1)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a program that creates tasks at `period` lines in turn, each line has its share of the samples.
    #[track_caller]
    fn check(period: usize) {
        let (mut at, mut seen) = (0, vec![0_u32; period]);
        for sample in 0..4000 {
            seen[at % period] += 1;
            at += distance(sample) as usize;
        }
        let even = 4000 / period as u32;
        assert!(seen.iter().all(|seen| (even / 2..=even * 2).contains(seen)), "{period}: {seen:?}");
    }

    #[test]
    fn each_line_has_its_share() {
        (1..=16).chain([24, 32, 48, 63, 64, 65]).for_each(check);
    }

    #[test]
    fn of_so_many_creations_one_is_measured() {
        let sum: u64 = (0..10_000).map(|sample| u64::from(distance(sample))).sum();
        assert!(sum.abs_diff(10_000 * u64::from(MEAN)) < 1000, "{sum}");
        assert!((0..10_000).all(|sample| (33..=95).contains(&distance(sample))));
    }
}
