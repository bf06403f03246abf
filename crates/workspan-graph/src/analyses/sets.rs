//! A sample of the sets of large caches, and what it says about all of them.
//!
//! Of a cache with `S` sets, `n` are simulated: one of `N`, but at least [`SETS`]. What falls into a set stays apart from all else, so
//! that a set is exact. The sets of a larger cache are drawn among those that the drawn sets of the one below it are divided into:
//! of most lines a single look says that no cache need see them.
//!
//! **Estimate.** A filter, a direct-mapped cache of [`FILTER`] lines, sees all lines. Of a set, let `b` be its misses there and `m`
//! those of the sampled cache; `B` is the exact sum of all `b`. The misses of the cache are `B r` with `r = Σm / Σb` over the
//! drawn sets, a ratio estimate: W. G. Cochran, *Sampling Techniques*, 1977, chapter 6. Sets are **clusters** of lines; where more
//! than 32 `N` sets are simulated, those that were one at 32 `N` count as one. The variance is
//! `B² (1 − n/S) n/(n − 1) Σ(m − r b)² / (Σb)²`; the error is 2.04 of its roots, the quantile of Student's distribution at 95 %
//! for 32 clusters. **Bias:** of the order of the variance over `n`. That sets are drawn in steps makes neighbours of the largest
//! caches a little likelier to be drawn together than this says.

use crate::level::{Found, Level};

/// Sets of a cache that are simulated, at least.
pub(crate) const SETS: usize = 32;
/// Lines of the filter.
const FILTER: usize = 512;
/// Sets that a cache must have to be sampled.
pub(crate) const LEAST: u64 = 8 * SETS as u64;
/// Quantile of Student's distribution.
const QUANTILE: f64 = 2.04;
/// Not drawn.
const NONE: u32 = u32::MAX;

/// A line of a drawn set that a loop enters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    /// In which iteration, and by which point.
    pub(crate) when: (u64, usize),
    /// The iteration in which the point is in another line.
    pub(crate) left: u64,
    pub(crate) line: u64,
    /// The filter did not have it.
    pub(crate) missed: bool,
}

/// Lines that a loop enters, by drawn cluster of the smallest sampled cache: what happens in one is no other's business.
pub(crate) type Entries = [Vec<Entered>; SETS];

/// A cache of which some sets are simulated.
#[derive(Debug)]
struct Sampled {
    level: Level,
    /// Clusters less one, and sets of a cluster.
    mask: u64,
    drawn: Vec<u32>,
    /// By drawn cluster: misses, and those of the filter.
    misses: Vec<u64>,
    below: Vec<u64>,
    clusters: u64,
    /// Lines differ in these bits where they are in different sets of a cluster.
    beyond: u32,
}

/// The sampled caches, from the smallest on.
#[derive(Debug)]
pub(crate) struct Sets {
    levels: Vec<Sampled>,
    /// How many of the caches a line has to be looked for in, by its lowest bits.
    depth: Vec<u8>,
    mask: u64,
    /// Lines + 1.
    filter: Vec<u64>,
    /// Misses of the filter.
    whole: u64,
}

impl Sets {
    /// Samples caches of which bytes and sets are given, of twice as many sets each: one of `one_in` sets of the large ones.
    pub(crate) fn new(sizes: &[(u64, u64)], one_in: u64, ways: usize) -> Sets {
        let most = SETS as u64 * one_in;
        let mut candidates: Vec<u64> = sizes.first().map_or(0..0, |(_, sets)| 0..(*sets).min(most)).collect();
        let (depth, filter) = (vec![0; index(most)], vec![0; FILTER]);
        let mut sets = Sets { levels: Vec::new(), depth, mask: most - 1, filter, whole: 0 };
        let mut before = 0;
        for (bytes, count) in sizes {
            let clusters = (*count).min(most);
            if before != 0 && clusters != before {
                candidates = candidates.iter().flat_map(|set| [*set, *set + before]).collect();
            }
            before = clusters;
            candidates.sort_by_key(|set| hash(*set));
            candidates.truncate(SETS);
            let mut drawn = vec![NONE; index(clusters)];
            for (number, cluster) in (0..).zip(&candidates) {
                drawn[index(*cluster)] = number;
            }
            for (low, depth) in (0..).zip(&mut sets.depth) {
                *depth += u8::from(drawn[index(low & (clusters - 1))] != NONE);
            }
            let lines = vec![0; candidates.len() * index(count / clusters) * ways];
            let level = Level { bytes: *bytes, mask: count - 1, lines, misses: 0 };
            let [misses, below] = [(); 2].map(|()| vec![0; candidates.len()]);
            sets.levels.push(Sampled {
                level,
                mask: clusters - 1,
                drawn,
                misses,
                below,
                clusters,
                beyond: clusters.trailing_zeros(),
            });
        }
        sets
    }

    /// The same caches, empty.
    pub(crate) fn fresh(&self) -> Sets {
        let level = |sampled: &Sampled| Sampled {
            level: Level { lines: vec![0; sampled.level.lines.len()], misses: 0, ..sampled.level },
            drawn: sampled.drawn.clone(),
            misses: vec![0; sampled.misses.len()],
            below: vec![0; sampled.misses.len()],
            ..*sampled
        };
        let (levels, filter) = (self.levels.iter().map(level).collect(), vec![0; self.filter.len()]);
        Sets { levels, depth: self.depth.clone(), filter, whole: 0, ..*self }
    }

    /// Takes a line.
    #[inline]
    pub(crate) fn line(&mut self, line: u64, ways: usize) {
        if let Some(missed) = self.enter(line) {
            self.look(line, ways, missed);
        }
    }

    /// Takes a line to the filter. If some caches have to [see](Sets::look) it: whether the filter missed.
    #[inline]
    fn enter(&mut self, line: u64) -> Option<bool> {
        let known = &mut self.filter[index(line) & (FILTER - 1)];
        let missed = *known != line + 1;
        *known = line + 1;
        self.whole += u64::from(missed);
        (self.depth[index(line & self.mask)] != 0).then_some(missed)
    }

    /// The same for lines of a loop: `lines` of them, from that of an address on, each of them a step further than the one before. Those
    /// that caches have to see are given, with their numbers and their clusters of the smallest cache.
    #[inline]
    pub(crate) fn sweep(
        &mut self,
        (mut address, step, shift): (u64, u64, u32),
        lines: u64,
        mut seen: impl FnMut(u64, usize, u64, bool),
    ) {
        let Some(filter) = self.filter.first_chunk_mut::<FILTER>() else {
            return;
        };
        let (depth, mut whole) = (self.depth.as_slice(), 0);
        let drawn = self.levels.first().map_or(&[][..], |sampled| sampled.drawn.as_slice());
        for number in 0..lines {
            let line = address >> shift;
            let known = &mut filter[index(line) & (FILTER - 1)];
            let missed = *known != line + 1;
            *known = line + 1;
            whole += u64::from(missed);
            if depth[index(line) & (depth.len() - 1)] != 0 {
                let cluster = drawn.get(index(line) & (drawn.len() - 1));
                seen(number, cluster.map_or(0, |cluster| *cluster as usize), line, missed);
            }
            address = address.wrapping_add(step);
        }
        self.whole += whole;
    }

    /// True if two lines fall into one set of some cache.
    pub(crate) fn may_meet(&self, line: u64, other: u64) -> bool {
        self.levels.first().is_some_and(|sampled| (line ^ other) & sampled.level.mask == 0)
    }

    /// Looks for a line that some caches have to see.
    pub(crate) fn look(&mut self, line: u64, ways: usize, missed: bool) {
        let depth = self.depth[index(line & self.mask)];
        let levels = &mut self.levels[..usize::from(depth)];
        if missed {
            for sampled in levels.iter_mut() {
                sampled.below[sampled.drawn[index(line & sampled.mask)] as usize] += 1;
            }
        }
        for sampled in levels {
            let cluster = sampled.drawn[index(line & sampled.mask)];
            // The sets of a cluster are numbered by what distinguishes them; those of all drawn clusters lie side by side.
            let set = index((line & sampled.level.mask) >> sampled.beyond) * sampled.misses.len() + cluster as usize;
            match sampled.level.find(line, set, ways) {
                Found::First => return,
                Found::Further => {}
                Found::Nowhere => sampled.misses[cluster as usize] += 1,
            }
        }
    }

    /// Misses of each cache and drawn cluster.
    #[cfg(test)]
    pub(crate) fn misses(&self) -> Vec<Vec<u64>> {
        self.levels.iter().map(|sampled| sampled.misses.clone()).collect()
    }

    pub(crate) fn add(&mut self, other: &Sets) {
        self.whole += other.whole;
        for (sampled, other) in self.levels.iter_mut().zip(&other.levels) {
            sampled.misses.iter_mut().zip(&other.misses).for_each(|(count, other)| *count += other);
            sampled.below.iter_mut().zip(&other.below).for_each(|(count, other)| *count += other);
        }
    }

    /// Bytes, misses and their error, of each cache.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate; saturates"
    )]
    pub(crate) fn estimates(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.levels.iter().map(|sampled| {
            let sum = |counts: &[u64]| counts.iter().map(|count| *count as f64).sum::<f64>();
            let (found, below) = (sum(&sampled.misses), sum(&sampled.below));
            if below == 0.0 {
                // Of what was missed below, nothing was looked at: anything is possible.
                return (sampled.level.bytes, self.whole / 2, self.whole.div_ceil(2));
            }
            let (drawn, clusters, whole) = (sampled.misses.len() as f64, sampled.clusters as f64, self.whole as f64);
            let ratio = found / below;
            let pairs = sampled.misses.iter().zip(&sampled.below);
            let squares: f64 = pairs.map(|(found, below)| (*found as f64 - ratio * *below as f64).powi(2)).sum();
            let deviation = ((1.0 - drawn / clusters) * drawn / (drawn - 1.0) * squares).sqrt() / below;
            (sampled.level.bytes, (whole * ratio).round() as u64, (QUANTILE * whole * deviation).ceil() as u64)
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "sets are memory of this process")]
fn index(number: u64) -> usize {
    number as usize
}

/// Distributes numbers evenly (the finalisation of SplitMix64: Steele, Lea and Flood 2014).
fn hash(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
