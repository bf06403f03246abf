//! Misses of LRU caches of many sizes, in one pass.
//!
//! All caches have the same lines and ways; the number of sets doubles from one to the next. A line that is in a cache is in
//! all larger ones (set refinement, LRU: Hill and Smith 1989), and a line that was used last in its set of one cache was
//! used last in its set of all larger ones. So an access that finds it there needs no look at the larger ones: most
//! accesses end at the smallest. Lines are looked for in batches: a batch passes one cache after the other, each of which
//! keeps what the next larger one need see.
//!
//! **Which lines are passed on:** one that was used last among those of its set of the smallest cache is at the front of its set in
//! all caches. The line used last in each such set is known beforehand ([`Caches::recent`]).
//!
//! An access counts once for each line that it touches. Reads and writes are alike: a write fetches its line. The result is
//! exact, unless sets are [sampled](Caches::sampled).

use crate::levels::Levels;
use crate::sets::{self, Entries, Sets};
use crate::streams::Streams;
use crate::windows::Windows;

/// Lines of a batch, about: they stay in the cache of who looks for them.
pub(super) const BATCH: usize = 2048;
/// Sets whose last lines are known, at most: fewer than the lines of the filter ([`sets`]).
const RECENT: u64 = 256;

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
    pub(super) shift: u32,
    pub(super) ways: usize,
    levels: Levels,
    /// Sets of the smallest cache, less one.
    pub(super) mask: u64,
    pub(super) accesses: u64,
    pub(super) sample: Option<Sample>,
    /// Lines that were accessed and not looked for yet.
    pub(super) pending: Vec<u64>,
    /// Of each set, or of several together, the line that was accessed last, + 1.
    pub(super) recent: Vec<u64>,
    /// Accesses of a loop.
    pub(super) streams: Option<Box<Streams>>,
}

/// What is looked at where not everything is.
#[derive(Debug)]
pub(super) struct Sample {
    /// The large caches, which the levels do not have.
    pub(super) sets: Sets,
    /// When the small ones look; nothing: always.
    windows: Option<Windows>,
    /// They look now.
    pub(super) open: bool,
    /// Bytes of the smallest cache that is not exact.
    from: Option<u64>,
    /// Memory for the lines that a loop enters.
    pub(super) entries: Entries,
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
    pub fn new(line: u64, ways: u64, sizes: (u64, u64)) -> Result<Caches, Impossible> {
        let sizes = possible(line, ways, sizes)?;
        Ok(Caches::of(line, ways, &sizes, None))
    }

    fn of(line: u64, ways: u64, sizes: &[(u64, u64)], sample: Option<Sample>) -> Caches {
        let ways = usize::try_from(ways).unwrap_or(1);
        // Where all caches are sampled the filter is the smallest.
        let mask = sizes.first().map_or(RECENT, |(_, sets)| *sets) - 1;
        let recent = vec![0; usize::try_from((mask + 1).min(RECENT)).unwrap_or(1)];
        let (levels, shift) = (Levels::new(sizes, ways), line.trailing_zeros());
        Caches { shift, ways, levels, mask, accesses: 0, sample, pending: Vec::new(), recent, streams: None }
    }

    /// The same for a run of `accesses` accesses, of which only a part is looked at: of the large caches one of `one_in` sets, of
    /// the small ones what happens in one of as many windows of time. The result then has an error.
    pub fn sampled(
        line: u64,
        ways: u64,
        sizes: (u64, u64),
        (one_in, accesses): (u64, u64),
    ) -> Result<Caches, Impossible> {
        if !one_in.is_power_of_two() || !(2..=1024).contains(&one_in) {
            return Err(Impossible::Sample);
        }
        let sizes = possible(line, ways, sizes)?;
        let first = sizes.iter().position(|(_, sets)| *sets >= sets::LEAST).unwrap_or(sizes.len());
        let (small, large) = sizes.split_at(first);
        let windows = Windows::new(accesses, one_in).filter(|_| first > 0);
        let from = if windows.is_some() { small.first() } else { large.first() };
        let from = from.map(|(bytes, _)| *bytes);
        let sets = Sets::new(large, one_in, usize::try_from(ways).unwrap_or(1));
        Ok(Caches::of(line, ways, small, Some(Sample { sets, windows, open: true, from, entries: Entries::default() })))
    }

    /// The smallest size whose misses are not exact.
    pub fn sampled_from(&self) -> Option<u64> {
        self.sample.as_ref().and_then(|sample| sample.from)
    }

    /// The same caches, empty.
    pub fn fresh(&self) -> Caches {
        let sample = self.sample.as_ref().map(|sample| Sample {
            sets: sample.sets.fresh(),
            windows: sample.windows.as_ref().map(Windows::fresh),
            open: true,
            from: sample.from,
            entries: Entries::default(),
        });
        let (levels, recent) = (self.levels.fresh(), vec![0; self.recent.len()]);
        Caches { levels, accesses: 0, sample, pending: Vec::new(), recent, streams: None, ..*self }
    }

    /// An access.
    #[inline]
    pub fn access(&mut self, address: u64, size: u64) {
        if size == 0 {
            return;
        }
        let (first, last) = (address >> self.shift, address.saturating_add(size - 1) >> self.shift);
        for line in first..=last {
            self.line(line);
            if self.pending.len() >= BATCH {
                self.pass();
            }
        }
        if self.sample.is_some() {
            self.tick(last - first + 1);
        }
    }

    #[inline]
    fn line(&mut self, line: u64) {
        self.accesses += 1;
        self.touch(line);
    }

    /// A line, whose access is counted elsewhere.
    #[inline(always)]
    pub(super) fn touch(&mut self, line: u64) {
        #[expect(clippy::cast_possible_truncation, reason = "the lowest bits")]
        let place = line as usize & (self.recent.len() - 1);
        if self.recent[place] == line.wrapping_add(1) {
            return;
        }
        self.recent[place] = line.wrapping_add(1);
        if let Some(sample) = &mut self.sample {
            sample.sets.line(line, self.ways);
            if !sample.open {
                return;
            }
        }
        self.pending.push(line);
    }

    /// True if the small caches see nothing for now.
    #[inline]
    pub(super) fn rests(&self) -> bool {
        self.sample.as_ref().is_some_and(|sample| !sample.open)
    }

    /// Iterations with `lines` lines each until that changes, or until it may.
    #[inline]
    pub(super) fn until_turn(&self, lines: u64) -> u64 {
        let windows = self.sample.as_ref().and_then(|sample| sample.windows.as_ref());
        windows.map_or(u64::MAX, |windows| windows.left().div_ceil(lines.max(1)).max(1))
    }

    /// Counts accesses for the windows of time.
    pub(super) fn tick(&mut self, accesses: u64) {
        let windows = self.sample.as_mut().and_then(|sample| sample.windows.as_mut());
        if windows.is_some_and(|windows| windows.pass(accesses)) {
            self.pass();
            let misses: Vec<u64> = self.levels.counts().into_iter().map(|(_, misses)| misses).collect();
            // What the small caches did not see is not known to them.
            self.recent.fill(0);
            if let Some(Sample { windows: Some(windows), open, .. }) = &mut self.sample {
                windows.turn(&misses, self.accesses);
                *open = windows.open();
            }
        }
    }

    /// Lines accessed so far.
    pub(crate) fn seen(&self) -> u64 {
        self.accesses
    }

    /// The same caches, which say afterwards what is [unknown](Caches::unknown).
    pub fn watching(mut self) -> Caches {
        self.levels.watch();
        self
    }

    /// Of each size how many misses took an empty place, and may be hits if the run did not begin where these caches did.
    pub fn unknown(&mut self) -> Vec<u64> {
        self.pass();
        self.levels.taken()
    }

    /// Looks for the lines of the batch.
    pub(super) fn pass(&mut self) {
        self.levels.pass(&mut self.pending);
    }

    /// An access, looked for at once in the smallest cache: how many lines it has, and how many of them are not there.
    #[inline]
    pub fn look(&mut self, address: u64, size: u64) -> (u64, u64) {
        let (mut lines, mut misses) = (0, 0);
        if size > 0 {
            for line in (address >> self.shift)..=(address.saturating_add(size - 1) >> self.shift) {
                lines += 1;
                misses += u64::from(self.levels.look(line));
            }
        }
        (lines, misses)
    }

    /// Misses of each size.
    pub fn sizes(&mut self) -> Vec<Size> {
        self.pass();
        let accesses = self.accesses;
        let windows = self.sample.as_ref().and_then(|sample| sample.windows.as_ref());
        let small = self.levels.counts().into_iter().enumerate().map(|(number, (bytes, misses))| {
            let exact = || (misses, 0);
            let (misses, error) = windows.map_or_else(exact, |windows| windows.estimate(number, accesses));
            Size { bytes, accesses, misses, error }
        });
        let large = self.sample.iter().flat_map(|sample| sample.sets.estimates());
        small.chain(large.map(|(bytes, misses, error)| Size { bytes, accesses, misses, error })).collect()
    }

    /// Adds what other caches of the same sizes have counted.
    pub(crate) fn add(&mut self, mut other: Caches) {
        other.pass();
        self.accesses += other.accesses;
        self.levels.add(&other.levels);
        if let (Some(sample), Some(other)) = (&mut self.sample, other.sample) {
            sample.sets.add(&other.sets);
            if let (Some(windows), Some(other)) = (&mut sample.windows, other.windows) {
                windows.add(other);
            }
        }
    }
}

/// Bytes and sets of all sizes that are a power of two and have room for a set.
fn possible(line: u64, ways: u64, (least, most): (u64, u64)) -> Result<Vec<(u64, u64)>, Impossible> {
    if !line.is_power_of_two() || line > 1 << 16 {
        return Err(Impossible::Line);
    }
    if !ways.is_power_of_two() || ways > 1024 {
        return Err(Impossible::Ways);
    }
    let sizes = (0..40).map(|shift| 1_u64 << shift).filter(|bytes| (least..=most).contains(bytes));
    let sizes: Vec<(u64, u64)> =
        sizes.filter(|bytes| *bytes >= line * ways).map(|bytes| (bytes, bytes / (line * ways))).collect();
    if sizes.is_empty() {
        Err(Impossible::Sizes)
    } else {
        Ok(sizes)
    }
}
