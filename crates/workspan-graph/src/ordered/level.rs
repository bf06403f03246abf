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
    /// One without lines.
    pub(crate) fn new(bytes: u64, sets: u64, ways: usize) -> Level {
        Level { bytes, mask: sets - 1, lines: vec![0; set(sets) * ways], misses: 0 }
    }

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
    pub(crate) fn pass(&mut self, lines: &mut Vec<u64>, ways: usize) {
        lines.retain(|line| self.find(*line, set(*line & self.mask), ways) != Found::First);
    }

    /// The same for four ways. Without branches: whether a line is there is hard to predict.
    pub(crate) fn pass_four(&mut self, lines: &mut Vec<u64>) {
        let mut kept = 0;
        for at in 0..lines.len() {
            let line = lines[at];
            let (first, missed) = step(&mut self.lines, self.mask, line);
            self.misses += u64::from(missed);
            lines[kept] = line;
            kept += usize::from(!first);
        }
        lines.truncate(kept);
    }
}

/// Looks for lines in four caches of four ways at once: where one set waits for itself, the next cache's need not. For a cache
/// that need not see a line, since it was used last in a smaller one, that changes nothing.
pub(crate) fn pass_together(levels: &mut [Level; 4], lines: &mut Vec<u64>) {
    let [one, two, three, four] = levels;
    let mut misses = [0; 4];
    let mut kept = 0;
    for at in 0..lines.len() {
        let line = lines[at];
        let found = [
            step(&mut one.lines, one.mask, line),
            step(&mut two.lines, two.mask, line),
            step(&mut three.lines, three.mask, line),
            step(&mut four.lines, four.mask, line),
        ];
        for (misses, (_, missed)) in misses.iter_mut().zip(found) {
            *misses += u64::from(missed);
        }
        lines[kept] = line;
        kept += usize::from(!found[3].0);
    }
    lines.truncate(kept);
    for (level, misses) in levels.iter_mut().zip(misses) {
        level.misses += misses;
    }
}

/// Whether a line was used last in its set of four, and whether it was not there; then it is the one used last.
#[inline(always)]
fn step(lines: &mut [u64], mask: u64, line: u64) -> (bool, bool) {
    let entry = line + 1;
    let Some(set) = lines.get_mut(set(line & mask) * 4..).and_then(|rest| rest.first_chunk_mut::<4>()) else {
        return (true, false);
    };
    let [a, b, c, d] = *set;
    let first = a == entry;
    let second = first | (b == entry);
    let third = second | (c == entry);
    let missed = !(third | (d == entry));
    *set = [entry, if first { b } else { a }, if second { c } else { b }, if third { d } else { c }];
    (first, missed)
}

#[expect(clippy::cast_possible_truncation, reason = "sets are memory of this process")]
fn set(number: u64) -> usize {
    number as usize
}
