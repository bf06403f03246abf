//! Misses of LRU caches of many sizes, in one pass.
//!
//! All caches have the same lines and ways; the number of sets doubles from one to the next. A line that is in a cache is in
//! all larger ones (set refinement, LRU: Hill and Smith 1989), and a line that was used last in its set of one cache was
//! used last in its set of all larger ones. So an access that finds it there needs no look at the larger ones: most
//! accesses end at the smallest.
//!
//! An access counts once for each line that it touches. Reads and writes are alike: a write fetches its line. The result is
//! exact, unless sets are [sampled](Caches::sampled).

use std::collections::BTreeMap;

use crate::events::Access;
use crate::level::{Found, Level};
use crate::replay::{Consumer, Executed};
use crate::sets::{Sample, CLUSTERS};

/// Smallest and largest cache, in bytes, unless others are chosen.
pub const SIZES: (u64, u64) = (1 << 10, 256 << 20);

/// Misses of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes of the cache.
    pub bytes: u64,
    /// Lines accessed.
    pub accesses: u64,
    /// Of these not found.
    pub misses: u64,
    /// Half of the interval in which the misses lie with 95 %; 0: they are exact.
    pub error: u64,
}

impl Size {
    /// True if the error is at most a share of all accesses.
    #[expect(clippy::cast_precision_loss, reason = "a limit")]
    pub fn is_within(&self, share: f64) -> bool {
        self.error as f64 <= share * self.accesses as f64
    }
}

/// Caches of all sizes that see the same accesses.
#[derive(Debug)]
pub struct Caches {
    shift: u32,
    ways: usize,
    levels: Vec<Level>,
    accesses: u64,
    sample: Option<Sample>,
}

/// Why caches cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// Lines of that size.
    #[error("a line has a power of two of bytes, from 1 to 65536")]
    Line,
    /// That many ways.
    #[error("a cache has 1 to 1024 ways, as a power of two")]
    Ways,
    /// No size is left.
    #[error("no cache of the chosen sizes has room for a set of lines")]
    Sizes,
    /// That sample.
    #[error("a sample is one of 2 to 1024 sets, as a power of two")]
    Sample,
}

impl Caches {
    /// All sizes that are a power of two and have room for a set.
    pub fn new(line: u64, ways: u64, (least, most): (u64, u64)) -> Result<Caches, Impossible> {
        if !line.is_power_of_two() || line > 1 << 16 {
            return Err(Impossible::Line);
        }
        if !ways.is_power_of_two() || ways > 1024 {
            return Err(Impossible::Ways);
        }
        let sizes = (0..40).map(|shift| 1_u64 << shift).filter(|bytes| (least..=most).contains(bytes));
        let levels: Vec<Level> = sizes
            .filter(|bytes| *bytes >= line * ways)
            .map(|bytes| {
                let sets = bytes / (line * ways);
                let lines = usize::try_from(sets * ways).unwrap_or(0);
                Level { bytes, mask: sets - 1, lines: vec![0; lines], misses: 0 }
            })
            .collect();
        if levels.is_empty() {
            return Err(Impossible::Sizes);
        }
        let ways = usize::try_from(ways).unwrap_or(1);
        Ok(Caches { shift: line.trailing_zeros(), ways, levels, accesses: 0, sample: None })
    }

    /// The same, of whose larger ones only one of some sets is simulated; the result then has an error.
    pub fn sampled(line: u64, ways: u64, sizes: (u64, u64), one_in: u64) -> Result<Caches, Impossible> {
        if !one_in.is_power_of_two() || !(2..=1024).contains(&one_in) {
            return Err(Impossible::Sample);
        }
        let mut caches = Caches::new(line, ways, sizes)?;
        // Of the smallest cache that is sampled some sets are; of the others, those that these were divided into.
        let sets = one_in * CLUSTERS;
        let first = caches.levels.iter().position(|level| level.mask + 1 >= sets);
        let Some(first) = first.filter(|first| *first > 0) else {
            return Ok(caches);
        };
        let sample = Sample::new(first, caches.levels[first].mask, one_in, caches.levels.len() - first);
        for level in &mut caches.levels[first..] {
            level.lines = vec![0; level.lines.len() / usize::try_from(one_in).unwrap_or(1)];
        }
        caches.sample = Some(sample);
        Ok(caches)
    }

    /// The smallest size whose misses are not exact.
    pub fn sampled_from(&self) -> Option<u64> {
        self.sample.as_ref().and_then(|sample| self.levels.get(sample.first)).map(|level| level.bytes)
    }

    /// The same caches, empty.
    pub fn fresh(&self) -> Caches {
        let level = |level: &Level| Level { lines: vec![0; level.lines.len()], misses: 0, ..*level };
        let sample = self.sample.as_ref().map(Sample::fresh);
        Caches { levels: self.levels.iter().map(level).collect(), accesses: 0, sample, ..*self }
    }

    /// An access.
    #[inline]
    pub fn access(&mut self, address: u64, size: u64) {
        if size == 0 {
            return;
        }
        let last = address.saturating_add(size - 1) >> self.shift;
        for line in (address >> self.shift)..=last {
            self.line(line);
        }
    }

    #[inline]
    fn line(&mut self, line: u64) {
        self.accesses += 1;
        let whole = self.sample.as_ref().map_or(self.levels.len(), |sample| sample.first);
        let (whole, others) = self.levels.split_at_mut(whole);
        let mut missed = false;
        for level in whole {
            #[expect(clippy::cast_possible_truncation, reason = "sets are memory of this process")]
            let set = (line & level.mask) as usize;
            match level.find(line, set, self.ways) {
                Found::First => return,
                Found::Further => missed = false,
                Found::Nowhere => missed = true,
            }
        }
        if let Some(sample) = &mut self.sample {
            sample.line(others, line, self.ways, missed);
        }
    }

    /// Accesses, and misses of the smallest cache.
    #[inline]
    pub fn counts(&self) -> (u64, u64) {
        (self.accesses, self.levels.first().map_or(0, |level| level.misses))
    }

    /// Misses of each size.
    pub fn sizes(&self) -> Vec<Size> {
        let size = |(number, level): (usize, &Level)| {
            let (misses, error) = match &self.sample {
                Some(sample) if number >= sample.first => {
                    sample.estimate(number - sample.first, self.levels[sample.first - 1].misses)
                }
                _ => (level.misses, 0),
            };
            Size { bytes: level.bytes, accesses: self.accesses, misses, error }
        };
        self.levels.iter().enumerate().map(size).collect()
    }

    /// Adds what other caches of the same sizes have counted.
    fn add(&mut self, other: &Caches) {
        self.accesses += other.accesses;
        for (level, other) in self.levels.iter_mut().zip(&other.levels) {
            level.misses += other.misses;
        }
        if let (Some(sample), Some(other)) = (&mut self.sample, &other.sample) {
            sample.add(other);
        }
    }
}

/// Who shares a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each context has its own.
    Private,
    /// All contexts use one, taking turns.
    Shared,
}

/// Caches of a replayed recording.
#[derive(Debug)]
pub struct Curve {
    empty: Caches,
    sharing: Sharing,
    caches: BTreeMap<u32, Caches>,
}

impl Curve {
    /// Before the first access.
    pub fn new(caches: Caches, sharing: Sharing) -> Curve {
        Curve { empty: caches, sharing, caches: BTreeMap::new() }
    }

    /// Misses of each size, of all caches of that size together.
    pub fn sizes(&self) -> Vec<Size> {
        let mut sum = self.empty.fresh();
        self.caches.values().for_each(|caches| sum.add(caches));
        sum.sizes()
    }
}

impl Consumer for Curve {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        if accesses.is_empty() {
            return;
        }
        let which = match self.sharing {
            Sharing::Private => executed.context,
            Sharing::Shared => 0,
        };
        let caches = self.caches.entry(which).or_insert_with(|| self.empty.fresh());
        for access in accesses {
            caches.access(access.address, access.size);
        }
    }
}
