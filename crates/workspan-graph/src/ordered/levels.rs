//! Caches of all sizes, from the smallest on: in a short form where they have four ways, and as long as lines have short names.

use crate::four::{self, Four};
use crate::level::{pass_together, Found, Level};
use crate::names::Names;

/// Caches that a batch passes at once, in the short form and otherwise.
const SHORT: usize = 4;
const TOGETHER: usize = 4;

/// The caches.
#[derive(Debug)]
pub(crate) struct Levels {
    kind: Kind,
    ways: usize,
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
        Levels { kind, ways }
    }

    /// The same caches, empty.
    pub(crate) fn fresh(&self) -> Levels {
        let sizes: Vec<(u64, u64)> = match &self.kind {
            Kind::Four { levels, .. } => levels.iter().map(|level| (level.bytes, level.sets.len() as u64)).collect(),
            Kind::Any { levels } => levels.iter().map(|level| (level.bytes, level.mask + 1)).collect(),
        };
        Levels::new(&sizes, self.ways)
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
