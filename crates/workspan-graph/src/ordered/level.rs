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

    /// Looks for lines one after the other, and keeps those that were not used last: larger caches need not see the others.
    /// `each` takes those that are kept, and whether they were missed.
    pub(crate) fn pass(&mut self, lines: &mut Vec<u64>, ways: usize, mut each: impl FnMut(u64, bool)) {
        if ways == 4 {
            self.pass_four(lines, each);
            return;
        }
        lines.retain(|line| {
            let found = self.find(*line, set(*line & self.mask), ways);
            if found != Found::First {
                each(*line, found == Found::Nowhere);
            }
            found != Found::First
        });
    }

    /// The same for four ways. Without branches: whether a line is there is hard to predict, and sets do not wait for each other.
    fn pass_four(&mut self, lines: &mut Vec<u64>, mut each: impl FnMut(u64, bool)) {
        let mut kept = 0;
        for at in 0..lines.len() {
            let line = lines[at];
            let entry = line + 1;
            let from = set(line & self.mask) * 4;
            let Some(set) = self.lines.get_mut(from..).and_then(|rest| rest.first_chunk_mut::<4>()) else {
                continue;
            };
            let [a, b, c, d] = *set;
            let first = a == entry;
            let second = first | (b == entry);
            let third = second | (c == entry);
            let missed = !(third | (d == entry));
            *set = [entry, if first { b } else { a }, if second { c } else { b }, if third { d } else { c }];
            self.misses += u64::from(missed);
            lines[kept] = line;
            kept += usize::from(!first);
            if !first {
                each(line, missed);
            }
        }
        lines.truncate(kept);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "sets are memory of this process")]
fn set(number: u64) -> usize {
    number as usize
}
