//! Misses of LRU caches of many sizes, in one pass.
//!
//! All caches have the same lines and ways; the number of sets doubles from one to the next. A line that is in a cache is in
//! all larger ones (set refinement, LRU: Hill and Smith 1989), and a line that was used last in its set of one cache was
//! used last in its set of all larger ones. So an access that finds it there needs no look at the larger ones: most
//! accesses end at the smallest. Lines are looked for in batches: a batch passes one cache after the other, each of which
//! keeps what the next larger one need see.
//!
//! **Loops** whose accesses move by constant steps touch the same lines for some iterations, and then others. If no set of the
//! smallest cache has more of these lines than it has ways, they are all there after the first such iteration, in the order
//! of their last accesses, and each further one leaves all caches as it found them: it is counted and no more.
//!
//! An access counts once for each line that it touches. Reads and writes are alike: a write fetches its line. The result is
//! exact, unless sets are [sampled](Caches::sampled).

use crate::level::{pass_together, Found, Level};
use crate::replay::Iterations;
use crate::sets::{self, Sets};
use crate::windows::Windows;

/// Lines of a batch, about: they stay in the cache of who looks for them.
const BATCH: usize = 2048;
/// Lines of an iteration that are compared with each other, at most.
const COMPARED: usize = 16;
/// One of how many accesses small caches see, at most, where a run is sampled.
const MOST_WINDOWS: u64 = 16;

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
    /// Lines that were accessed and not looked for yet.
    pending: Vec<u64>,
    /// The one accessed last, + 1.
    last: u64,
    /// Accesses of a loop as they move: address, last byte, step.
    moving: Vec<(u64, u64, i64)>,
}

/// What is looked at where not everything is.
#[derive(Debug)]
struct Sample {
    /// The large caches, which the levels do not have.
    sets: Sets,
    /// When the small ones look; nothing: always.
    windows: Option<Windows>,
    /// They look now.
    open: bool,
    /// Bytes of the smallest cache that is not exact.
    from: Option<u64>,
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
        let (shift, pending, moving) = (line.trailing_zeros(), Vec::new(), Vec::new());
        Ok(Caches { shift, ways, levels, accesses: 0, sample: None, pending, last: 0, moving })
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
        let mut caches = Caches::new(line, ways, sizes)?;
        let first = caches.levels.iter().position(|level| level.mask + 1 >= sets::LEAST).unwrap_or(caches.levels.len());
        let large = caches.levels.split_off(first);
        let windows = Windows::new(accesses, one_in.min(MOST_WINDOWS)).filter(|_| first > 0);
        let small = windows.as_ref().and_then(|_| caches.levels.first());
        let from = small.or(large.first()).map(|level| level.bytes);
        let sets = Sets::new(large, one_in, caches.ways);
        caches.sample = Some(Sample { sets, windows, open: true, from });
        Ok(caches)
    }

    /// The smallest size whose misses are not exact.
    pub fn sampled_from(&self) -> Option<u64> {
        self.sample.as_ref().and_then(|sample| sample.from)
    }

    /// The same caches, empty.
    pub fn fresh(&self) -> Caches {
        let level = |level: &Level| Level { lines: vec![0; level.lines.len()], misses: 0, ..*level };
        let sample = self.sample.as_ref().map(|sample| Sample {
            sets: sample.sets.fresh(),
            windows: sample.windows.as_ref().map(Windows::fresh),
            open: true,
            ..*sample
        });
        let levels = self.levels.iter().map(level).collect();
        Caches { levels, accesses: 0, sample, pending: Vec::new(), last: 0, moving: Vec::new(), ..*self }
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
        // The line used last of all was used last in its sets.
        if line + 1 == self.last {
            return;
        }
        self.last = line + 1;
        if let Some(sample) = &mut self.sample {
            sample.sets.line(line, self.ways);
            if !sample.open {
                return;
            }
        }
        self.pending.push(line);
    }

    /// Iterations of a loop.
    pub fn iterate(&mut self, iterations: Iterations<'_>) {
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        let accesses = iterations.first.iter().zip(iterations.steps).filter(|(access, _)| access.size > 0);
        moving.extend(accesses.map(|(access, step)| (access.address, access.address + (access.size - 1), *step)));
        let line = 1_u64 << self.shift;
        let may_stay = moving.iter().all(|(.., step)| step.unsigned_abs() < line);
        let mut left = if moving.is_empty() { 0 } else { iterations.times };
        while left > 0 {
            let before = self.accesses;
            for (first, last, _) in &moving {
                for line in (first >> self.shift)..=(last >> self.shift) {
                    self.line(line);
                }
            }
            let mut times = 1;
            if may_stay && left > 1 {
                let same = moving.iter().map(|access| stays(*access, line)).min().unwrap_or(1).min(left);
                if same > 1 && self.fit(&moving) {
                    times = same;
                    self.accesses += (self.accesses - before) * (same - 1);
                }
            }
            left -= times;
            for (first, last, step) in &mut moving {
                let by = step.cast_unsigned().wrapping_mul(times);
                (*first, *last) = (first.wrapping_add(by), last.wrapping_add(by));
            }
            if self.pending.len() >= BATCH {
                self.pass();
            }
            if self.sample.is_some() {
                self.tick(self.accesses - before);
            }
        }
        self.moving = moving;
    }

    /// True if all lines of an iteration fit into the smallest cache at once, whatever it has.
    fn fit(&self, moving: &[(u64, u64, i64)]) -> bool {
        let mut list = [0; COMPARED];
        let mut count = 0;
        for line in moving.iter().flat_map(|(first, last, _)| (first >> self.shift)..=(last >> self.shift)) {
            let Some(place) = list.get_mut(count) else {
                return false;
            };
            (*place, count) = (line, count + 1);
        }
        let lines = &list[..count];
        let mask = self.levels.first().map_or(0, |level| level.mask);
        let of_set = |line: u64| lines.iter().filter(|other| (**other ^ line) & mask == 0).count();
        count <= self.ways || lines.iter().all(|line| of_set(*line) <= self.ways)
    }

    /// Counts accesses for the windows of time.
    fn tick(&mut self, accesses: u64) {
        let windows = self.sample.as_mut().and_then(|sample| sample.windows.as_mut());
        if windows.is_some_and(|windows| windows.pass(accesses)) {
            self.pass();
            let misses: Vec<u64> = self.levels.iter().map(|level| level.misses).collect();
            if let Some(Sample { windows: Some(windows), open, .. }) = &mut self.sample {
                windows.turn(&misses, self.accesses);
                *open = windows.open();
            }
        }
    }

    /// Looks for the lines of the batch.
    fn pass(&mut self) {
        let lines = &mut self.pending;
        if self.ways == 4 {
            for levels in self.levels.chunks_mut(4) {
                match levels.first_chunk_mut::<4>() {
                    Some(four) => pass_together(four, lines),
                    None => levels.iter_mut().for_each(|level| level.pass_four(lines)),
                }
            }
        } else {
            self.levels.iter_mut().for_each(|level| level.pass(lines, self.ways));
        }
        lines.clear();
    }

    /// An access, looked for at once in the smallest cache: how many lines it has, and how many of them are not there.
    #[inline]
    pub fn look(&mut self, address: u64, size: u64) -> (u64, u64) {
        let (mut lines, mut misses) = (0, 0);
        let Some(level) = self.levels.first_mut().filter(|_| size > 0) else {
            return (0, 0);
        };
        for line in (address >> self.shift)..=(address.saturating_add(size - 1) >> self.shift) {
            #[expect(clippy::cast_possible_truncation, reason = "sets are memory of this process")]
            let set = (line & level.mask) as usize;
            lines += 1;
            misses += u64::from(level.find(line, set, self.ways) == Found::Nowhere);
        }
        (lines, misses)
    }

    /// Misses of each size.
    pub fn sizes(&mut self) -> Vec<Size> {
        self.pass();
        let accesses = self.accesses;
        let windows = self.sample.as_ref().and_then(|sample| sample.windows.as_ref());
        let small = self.levels.iter().enumerate().map(|(number, level)| {
            let exact = || (level.misses, 0);
            let (misses, error) = windows.map_or_else(exact, |windows| windows.estimate(number, accesses));
            Size { bytes: level.bytes, accesses, misses, error }
        });
        let large = self.sample.iter().flat_map(|sample| sample.sets.estimates());
        small.chain(large.map(|(bytes, misses, error)| Size { bytes, accesses, misses, error })).collect()
    }

    /// Adds what other caches of the same sizes have counted.
    pub(crate) fn add(&mut self, mut other: Caches) {
        other.pass();
        self.accesses += other.accesses;
        for (level, other) in self.levels.iter_mut().zip(&other.levels) {
            level.misses += other.misses;
        }
        if let (Some(sample), Some(other)) = (&mut self.sample, other.sample) {
            sample.sets.add(&other.sets);
            if let (Some(windows), Some(other)) = (&mut sample.windows, other.windows) {
                windows.add(other);
            }
        }
    }
}

/// Iterations during which an access stays in its lines.
#[inline]
fn stays((first, last, step): (u64, u64, i64), line: u64) -> u64 {
    if step == 0 {
        return u64::MAX;
    }
    let room = |byte: u64| if step > 0 { line - 1 - (byte & (line - 1)) } else { byte & (line - 1) };
    1 + room(first).min(room(last)) / step.unsigned_abs()
}
