//! Caches of all sizes, from the smallest on: in a short form where they have four ways, and as long as lines have short names.

use crate::four::{self, Four};
use crate::level::{pass_together, Found, Level};
use crate::names::Names;

/// Caches that a batch passes at once, in the short form and otherwise.
const SHORT: usize = 4;
const TOGETHER: usize = 4;
/// Lines that are noted before those that are there twice are removed.
const LINES: usize = 1 << 20;

/// The caches.
#[derive(Debug)]
pub(crate) struct Levels {
    kind: Kind,
    ways: usize,
    /// If that is wanted, lines that the largest cache did not have, or did not use last: all lines are among them.
    lines: Option<Vec<u64>>,
}

#[derive(Debug)]
enum Kind {
    /// By names; and memory for those of a batch.
    Four { levels: Vec<Four>, names: Box<Names>, batch: Vec<u32> },
    /// By the lines' own numbers.
    Any { levels: Vec<Level> },
}

impl Levels {
    /// Empty caches, of which bytes and sets are given; the last has most.
    pub(crate) fn new(sizes: &[(u64, u64)], ways: usize) -> Levels {
        let names = Names::new(sizes.last().map_or(1, |(_, sets)| *sets)).filter(|_| ways == 4);
        let kind = match names {
            Some(names) => {
                let levels = sizes.iter().map(|(bytes, sets)| Four::new(*bytes, *sets)).collect();
                Kind::Four { levels, names: Box::new(names), batch: Vec::new() }
            }
            None => Kind::Any { levels: sizes.iter().map(|(bytes, sets)| Level::new(*bytes, *sets, ways)).collect() },
        };
        Levels { kind, ways, lines: None }
    }

    /// Bytes and sets of each.
    fn sizes(&self) -> Vec<(u64, u64)> {
        match &self.kind {
            Kind::Four { levels, .. } => levels.iter().map(|level| (level.bytes, level.sets.len() as u64)).collect(),
            Kind::Any { levels } => levels.iter().map(|level| (level.bytes, level.mask + 1)).collect(),
        }
    }

    /// The same caches, empty.
    pub(crate) fn fresh(&self) -> Levels {
        let lines = self.lines.as_ref().map(|_| Vec::new());
        Levels { lines, ..Levels::new(&self.sizes(), self.ways) }
    }

    /// Lines are noted from now on.
    pub(crate) fn watch(&mut self) {
        self.lines = Some(Vec::new());
    }

    /// Of each cache how many places for lines are taken, if lines are noted.
    pub(crate) fn taken(&mut self) -> Vec<u64> {
        let sizes = self.sizes();
        let lines = self.lines.get_or_insert_default();
        lines.sort_unstable();
        lines.dedup();
        let most = sizes.last().map_or(1, |(_, sets)| *sets);
        let mut counts = vec![0_u16; usize::try_from(most).unwrap_or(0)];
        let mut taken = |sets: u64| {
            let place = |line: &u64| usize::try_from(line & (sets - 1)).unwrap_or(0);
            let mut taken = 0;
            for line in lines.iter() {
                let count = &mut counts[place(line)];
                let has_room = usize::from(*count) < self.ways;
                *count += u16::from(has_room);
                taken += u64::from(has_room);
            }
            lines.iter().for_each(|line| counts[place(line)] = 0);
            taken
        };
        sizes.into_iter().map(|(_, sets)| taken(sets)).collect()
    }

    /// Looks for lines one after the other, and takes them.
    pub(crate) fn pass(&mut self, lines: &mut Vec<u64>) {
        if let Kind::Four { levels, names, batch } = &mut self.kind {
            batch.clear();
            batch.extend(lines.iter().map_while(|line| names.name(*line)));
            let named = batch.len();
            let (together, rest) = levels.as_chunks_mut::<SHORT>();
            together.iter_mut().for_each(|some| four::pass(some, batch));
            rest.iter_mut().for_each(|one| four::pass(std::array::from_mut(one), batch));
            if let Some(noted) = &mut self.lines {
                note(noted, batch.iter().filter_map(|name| names.line(*name)));
            }
            lines.drain(..named);
            if !lines.is_empty() {
                self.widen();
            }
        }
        if let Kind::Any { levels } = &mut self.kind {
            if self.ways == 4 {
                let (together, rest) = levels.as_chunks_mut::<TOGETHER>();
                together.iter_mut().for_each(|some| pass_together(some, lines));
                rest.iter_mut().for_each(|level| level.pass_four(lines));
            } else {
                levels.iter_mut().for_each(|level| level.pass(lines, self.ways));
            }
            if let Some(noted) = &mut self.lines {
                note(noted, lines.iter().copied());
            }
        }
        lines.clear();
    }

    /// Goes on without names.
    #[cold]
    fn widen(&mut self) {
        if let Kind::Four { levels, names, .. } = &self.kind {
            let level = |level: &Four| {
                let lines = level.names().map(|name| names.line(name).map_or(0, |line| line + 1)).collect();
                Level { bytes: level.bytes, mask: level.sets.len() as u64 - 1, lines, misses: level.misses }
            };
            self.kind = Kind::Any { levels: levels.iter().map(level).collect() };
        }
    }

    /// Looks for a line in the smallest cache alone. True if it was not there.
    #[inline]
    pub(crate) fn look(&mut self, line: u64) -> bool {
        if let Kind::Four { levels, names, .. } = &mut self.kind {
            match names.name(line) {
                Some(name) => return levels.first_mut().is_some_and(|level| level.find(name)),
                None => self.widen(),
            }
        }
        match &mut self.kind {
            Kind::Four { .. } => false,
            Kind::Any { levels } => levels.first_mut().is_some_and(|level| {
                let set = usize::try_from(line & level.mask).unwrap_or(0);
                level.find(line, set, self.ways) == Found::Nowhere
            }),
        }
    }

    /// Bytes and misses of each.
    pub(crate) fn counts(&self) -> Vec<(u64, u64)> {
        match &self.kind {
            Kind::Four { levels, .. } => levels.iter().map(|level| (level.bytes, level.misses)).collect(),
            Kind::Any { levels } => levels.iter().map(|level| (level.bytes, level.misses)).collect(),
        }
    }

    /// Adds misses of other caches of the same sizes.
    pub(crate) fn add(&mut self, other: &Levels) {
        let counts = other.counts();
        let misses: &mut dyn Iterator<Item = &mut u64> = match &mut self.kind {
            Kind::Four { levels, .. } => &mut levels.iter_mut().map(|level| &mut level.misses),
            Kind::Any { levels } => &mut levels.iter_mut().map(|level| &mut level.misses),
        };
        misses.zip(counts).for_each(|(misses, (_, other))| *misses += other);
    }
}

/// Adds lines, of which each counts once.
fn note(noted: &mut Vec<u64>, lines: impl Iterator<Item = u64>) {
    let before = noted.len();
    noted.extend(lines);
    // Now and then, so that they take no more memory than there are lines.
    if before / LINES != noted.len() / LINES {
        noted.sort_unstable();
        noted.dedup();
    }
}
