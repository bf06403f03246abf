//! One LRU cache: its sets side by side, in each the line that was used last first.

/// A cache of one size.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) bytes: u64,
    /// Sets less one.
    pub(crate) mask: u64,
    /// Lines + 1, set by set, the one used last first; 0: none yet. Memory that is never used takes none.
    pub(crate) lines: Vec<u64>,
    pub(crate) misses: u64,
}

/// Where in its set a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It was used last of all.
    First,
    /// It was there.
    Further,
    /// It was not.
    Nowhere,
}

impl Level {
    /// Looks for a line, which becomes the one used last.
    #[inline]
    pub(crate) fn find(&mut self, line: u64, set: usize, ways: usize) -> Found {
        let set = &mut self.lines[set * ways..(set + 1) * ways];
        let entry = line + 1;
        if set[0] == entry {
            return Found::First;
        }
        // What was used since moves back by one; what was used longest ago leaves, or the line its old place.
        let mut moved = entry;
        for way in set {
            std::mem::swap(way, &mut moved);
            if moved == entry {
                return Found::Further;
            }
        }
        self.misses += 1;
        Found::Nowhere
    }
}
