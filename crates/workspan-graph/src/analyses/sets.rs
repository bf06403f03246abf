//! A sample of the sets of caches, and what it says about all of them.
//!
//! A set of a small cache is divided into several of a larger one. So the lines of some sets of the smallest sampled cache see in
//! all sampled caches what they would see if all lines were simulated: no line of another set ever takes their place. Of the
//! sets, which are **clusters** of lines, one of N is drawn by a fixed hash.
//!
//! **Estimate.** The caches below are simulated whole. Of a cluster, let `b` be the misses of the largest of these, and `m` those of
//! a sampled cache; `B` is the exact sum of all `b`. The misses of the sampled cache are `B r` with `r = Σm / Σb` over the
//! sample, a ratio estimate: W. G. Cochran, *Sampling Techniques*, 1977, chapter 6. Its variance is
//! `B² (1 − 1/N) n / (n − 1) Σ(m − r b)² / (Σb)²` for `n` clusters; the error is 2.13 of its roots, the quantile of Student's
//! distribution at 95 % for 16 clusters, which is too much for more. **Bias:** of the order of 1/n of the variance.

use crate::level::{Found, Level};

/// Clusters that are drawn, at least.
pub(crate) const CLUSTERS: u64 = 32;
/// Quantile of Student's distribution.
const QUANTILE: f64 = 2.13;
/// Not drawn.
const NONE: u32 = u32::MAX;

/// What is sampled, and what it has counted.
#[derive(Debug)]
pub(crate) struct Sample {
    /// The smallest level that is sampled.
    pub(crate) first: usize,
    /// Clusters less one.
    mask: u64,
    one_in: u64,
    /// Of each cluster its number among those that are drawn.
    drawn: Vec<u32>,
    /// Of each that is drawn: misses of the level below.
    below: Vec<u64>,
    /// The same of each sampled level.
    misses: Vec<Vec<u64>>,
}

impl Sample {
    pub(crate) fn new(first: usize, mask: u64, one_in: u64, levels: usize) -> Sample {
        let mut order: Vec<u64> = (0..=mask).collect();
        order.sort_by_key(|cluster| hash(*cluster));
        let clusters = order.len() / usize::try_from(one_in).unwrap_or(1);
        let mut drawn = vec![NONE; order.len()];
        for (number, cluster) in (0..).zip(&order[..clusters]) {
            drawn[usize::try_from(*cluster).unwrap_or(0)] = number;
        }
        Sample { first, mask, one_in, drawn, below: vec![0; clusters], misses: vec![vec![0; clusters]; levels] }
    }

    /// The same sample, that has counted nothing.
    pub(crate) fn fresh(&self) -> Sample {
        let (clusters, levels) = (self.below.len(), self.misses.len());
        Sample { drawn: self.drawn.clone(), below: vec![0; clusters], misses: vec![vec![0; clusters]; levels], ..*self }
    }

    /// Takes a line, that the largest of the caches below has missed, or not.
    #[inline]
    pub(crate) fn line(&mut self, levels: &mut [Level], line: u64, ways: usize, missed: bool) {
        #[expect(clippy::cast_possible_truncation, reason = "clusters are memory of this process")]
        let cluster = self.drawn[(line & self.mask) as usize];
        if cluster == NONE {
            return;
        }
        let cluster = cluster as usize;
        self.below[cluster] += u64::from(missed);
        for (level, misses) in levels.iter_mut().zip(&mut self.misses) {
            // The sets of a cluster are numbered by what distinguishes them; those of all drawn clusters lie side by side.
            #[expect(clippy::cast_possible_truncation, reason = "sets are memory of this process")]
            let set = ((line & level.mask) / (self.mask + 1)) as usize * self.below.len() + cluster;
            match level.find(line, set, ways) {
                Found::First => return,
                Found::Further => {}
                Found::Nowhere => misses[cluster] += 1,
            }
        }
    }

    pub(crate) fn add(&mut self, other: &Sample) {
        let counts = self.misses.iter_mut().chain([&mut self.below]);
        for (counts, others) in counts.zip(other.misses.iter().chain([&other.below])) {
            counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
        }
    }

    /// Misses of a sampled level and their error, if there were `whole` of the level below.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate; saturates"
    )]
    pub(crate) fn estimate(&self, level: usize, whole: u64) -> (u64, u64) {
        let Some(misses) = self.misses.get(level) else {
            return (0, 0);
        };
        let sum = |counts: &[u64]| counts.iter().map(|count| *count as f64).sum::<f64>();
        let (below, found) = (sum(&self.below), sum(misses));
        if below == 0.0 {
            // Of what was missed below, nothing was looked at: anything is possible.
            return (whole / 2, whole.div_ceil(2));
        }
        let ratio = found / below;
        let squares =
            misses.iter().zip(&self.below).map(|(found, below)| (*found as f64 - ratio * *below as f64).powi(2));
        let clusters = misses.len() as f64;
        let share = 1.0 - 1.0 / self.one_in as f64;
        let deviation = (share * clusters / (clusters - 1.0).max(1.0) * squares.sum::<f64>()).sqrt() / below;
        let whole = whole as f64;
        ((whole * ratio).round() as u64, (QUANTILE * whole * deviation).ceil() as u64)
    }
}

/// Distributes numbers evenly (the finalisation of SplitMix64: Steele, Lea and Flood 2014).
fn hash(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
