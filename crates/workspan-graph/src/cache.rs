//! Misses of LRU caches of many sizes, in one pass.
//!
//! All caches have the same lines and ways; the number of sets doubles from one to the next. A line that is in a cache is in
//! all larger ones (set refinement, LRU: Hill and Smith 1989), and a line that was used last in its set of one cache was
//! used last in its set of all larger ones. So an access that finds it there needs no look at the larger ones: most
//! accesses end at the smallest.
//!
//! An access counts once for each line that it touches. Reads and writes are alike: a write fetches its line. The result is
//! exact.

use std::collections::BTreeMap;

use crate::events::Access;
use crate::replay::{Consumer, Executed};

/// Smallest and largest cache, in bytes, unless others are chosen.
pub const SIZES: (u64, u64) = (1 << 10, 256 << 20);

/// A cache of one size.
#[derive(Debug)]
struct Level {
    bytes: u64,
    /// Sets less one.
    mask: u64,
    /// Lines + 1, set by set, the one used last first; 0: none yet. Memory that is never used takes none.
    lines: Vec<u64>,
    misses: u64,
}

/// Misses of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes of the cache.
    pub bytes: u64,
    /// Lines accessed.
    pub accesses: u64,
    /// Of these not found.
    pub misses: u64,
}

/// Caches of all sizes that see the same accesses.
#[derive(Debug)]
pub struct Caches {
    shift: u32,
    ways: usize,
    levels: Vec<Level>,
    accesses: u64,
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
        Ok(Caches { shift: line.trailing_zeros(), ways, levels, accesses: 0 })
    }

    /// The same caches, empty.
    pub fn fresh(&self) -> Caches {
        let level = |level: &Level| Level { lines: vec![0; level.lines.len()], misses: 0, ..*level };
        Caches { levels: self.levels.iter().map(level).collect(), accesses: 0, ..*self }
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
        for level in &mut self.levels {
            #[expect(clippy::cast_possible_truncation, reason = "sets are memory of this process")]
            let first = (line & level.mask) as usize * self.ways;
            let set = &mut level.lines[first..first + self.ways];
            let entry = line + 1;
            if set[0] == entry {
                return;
            }
            // What was used since moves back by one; what was used longest ago leaves, or the line its old place.
            let mut moved = entry;
            let mut found = false;
            for way in set {
                std::mem::swap(way, &mut moved);
                if moved == entry {
                    found = true;
                    break;
                }
            }
            level.misses += u64::from(!found);
        }
    }

    /// Accesses, and misses of the smallest cache.
    #[inline]
    pub fn counts(&self) -> (u64, u64) {
        (self.accesses, self.levels.first().map_or(0, |level| level.misses))
    }

    /// Misses of each size.
    pub fn sizes(&self) -> Vec<Size> {
        let size = |level: &Level| Size { bytes: level.bytes, accesses: self.accesses, misses: level.misses };
        self.levels.iter().map(size).collect()
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
        let mut sum = self.empty.sizes();
        for caches in self.caches.values() {
            for (sum, size) in sum.iter_mut().zip(caches.sizes()) {
                sum.accesses += size.accesses;
                sum.misses += size.misses;
            }
        }
        sum
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
