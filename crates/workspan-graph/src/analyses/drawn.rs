//! Misses of caches by a sample of the lines: the sets that are drawn are exact, and say how many misses all have.
//!
//! **Estimate.** Of a drawn class of lines ([`crate::sample`]) let `a` be the lines accessed and `m` the misses; `A` is the exact
//! number of accesses of the program. The misses are `A r` with `r = Σm / Σa`, a ratio estimate: W. G. Cochran, *Sampling Techniques*, 1977,
//! chapter 6. The error is `t √( A² (1 − n/256) n/(n − 1) Σ(m − r a)² / (Σa)² )` of `n` classes, `t` the quantile of Student's
//! distribution at 95 %. **Bias:** an access that lies in two lines counts once in `A`.

use std::collections::BTreeMap;

use crate::cache::{Caches, Impossible, Size};
use crate::curve::Sharing;
use crate::events::Access;
use crate::replay::{Consumer, Executed};
use crate::sample::{Sample, CLASSES, LINE};

/// Caches of several sizes, on the lines of a sample.
#[derive(Debug)]
pub struct Drawn {
    sharing: Sharing,
    /// Of each size its bytes, and the cache before the first access.
    empty: Vec<(u64, Caches)>,
    caches: BTreeMap<u32, Vec<Caches>>,
    /// Of each class the lines accessed.
    accesses: Vec<u64>,
    /// Of each size and class the misses.
    misses: Vec<Vec<u64>>,
}

impl Drawn {
    /// Sizes from the first to the second, except those that have fewer sets than there are classes.
    pub fn new(ways: u64, sizes: (u64, u64), sharing: Sharing) -> Result<Drawn, Impossible> {
        let least = smallest(ways).max(sizes.0);
        let bytes =
            std::iter::successors(Some(least), |bytes| bytes.checked_mul(2)).take_while(|bytes| *bytes <= sizes.1);
        let empty = bytes.map(|bytes| Ok((bytes, Caches::new(LINE, ways, (bytes, bytes))?)));
        let empty: Vec<_> = empty.collect::<Result<_, Impossible>>()?;
        let misses = vec![vec![0; CLASSES]; empty.len()];
        Ok(Drawn { sharing, empty, caches: BTreeMap::new(), accesses: vec![0; CLASSES], misses })
    }

    /// Misses of each size, estimated for as many accesses as the program made.
    pub fn sizes(&self, sample: &Sample, accesses: u64) -> Vec<Size> {
        let drawn: Vec<usize> = (0..CLASSES as u64).filter(|class| sample.has(*class)).map(Sample::class).collect();
        let of =
            |misses: &Vec<u64>| drawn.iter().map(|class| (misses[*class], self.accesses[*class])).collect::<Vec<_>>();
        let size = |((bytes, _), misses): (&(u64, Caches), &Vec<u64>)| {
            let (estimate, error) = estimate(&of(misses), accesses);
            Size { bytes: *bytes, accesses, misses: estimate, error }
        };
        self.empty.iter().zip(&self.misses).map(size).collect()
    }
}

/// Bytes of the smallest cache of these ways that a sample says something about.
pub fn smallest(ways: u64) -> u64 {
    CLASSES as u64 * LINE * ways
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "estimates")]
fn estimate(classes: &[(u64, u64)], accesses: u64) -> (u64, u64) {
    let (misses, seen) = classes.iter().fold((0, 0), |(m, a), class| (m + class.0, a + class.1));
    let count = classes.len() as f64;
    if seen == 0 || count < 2.0 {
        return (0, accesses);
    }
    let (all, seen, ratio) = (accesses as f64, seen as f64, misses as f64 / seen as f64);
    let apart: f64 = classes.iter().map(|(m, a)| (*m as f64 - ratio * *a as f64).powi(2)).sum();
    let variance = (1.0 - count / CLASSES as f64) * count / (count - 1.0) * apart / (seen * seen);
    ((all * ratio).round() as u64, (quantile(classes.len()) * all * variance.sqrt()).ceil() as u64)
}

/// Of Student's distribution, at 95 %, for this number of classes.
fn quantile(classes: usize) -> f64 {
    match classes {
        0..=8 => 2.37,
        9..=16 => 2.14,
        17..=32 => 2.04,
        33..=64 => 2.0,
        _ => 1.98,
    }
}

impl Consumer for Drawn {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        if accesses.is_empty() {
            return;
        }
        let which = if self.sharing == Sharing::Shared { 0 } else { executed.thread };
        let empty = &self.empty;
        let caches = self.caches.entry(which).or_insert_with(|| empty.iter().map(|(_, cache)| cache.fresh()).collect());
        for access in accesses {
            // Each lies in one line.
            let class = Sample::class(access.address / LINE);
            self.accesses[class] += 1;
            for (cache, misses) in caches.iter_mut().zip(&mut self.misses) {
                misses[class] += cache.look(access.address, access.size).1;
            }
        }
    }
}
