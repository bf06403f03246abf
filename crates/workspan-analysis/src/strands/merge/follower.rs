//! One run beside the first: which of its strands is the same as the first one's next.

use workspan_model::{Event, Strand};

use super::cursor::{Class, Cursor, Node, Signature, Source};
use super::Places;

/// Parts of a construct that are compared at a time where two runs differ.
const PARTS: usize = 64;
/// Rows that are looked at ahead for that, in each run.
const ROWS: usize = 1 << 16;
/// For each row this many may be looked at ahead on the average: so the cost stays linear in the rows.
const CREDIT: usize = 16;
/// And this many at once.
const MOST_CREDIT: usize = 1 << 20;

/// A run beside the first.
///
/// While both are in the same constructs, its cursor stands in the body of the construct that the first one's is in, and at
/// the same depth.
#[derive(Debug)]
pub(super) struct Follower<S> {
    cursor: Cursor<S>,
    /// The first run is in a part, of a construct at this depth, that this run lacks.
    away: Option<u32>,
    /// Further parts of this body that this run lacks.
    skip: usize,
    /// The rows before these were the same, and next to them: the strands began at the same event.
    adjacent: bool,
    credit: usize,
    /// Strands of the first run that are not in this one.
    pub(super) missing: u64,
    /// Strands of this one that are not in the first run.
    pub(super) extra: u64,
}

impl<S: Source> Follower<S> {
    pub(super) fn new(source: S) -> Follower<S> {
        Follower {
            cursor: Cursor::new(source),
            away: None,
            skip: 0,
            adjacent: true,
            credit: MOST_CREDIT,
            missing: 0,
            extra: 0,
        }
    }

    /// The strand that is the same as `node`, which `first` has next.
    #[inline]
    pub(super) fn follow(
        &mut self,
        node: &Node,
        first: &mut Cursor<S>,
        places: &mut Places,
    ) -> Result<Option<Strand>, S::Error> {
        self.credit = MOST_CREDIT.min(self.credit + CREDIT);
        if self.away.is_some_and(|depth| node.depth > depth) {
            return Ok(self.miss(node, places));
        }
        self.away = None;
        if node.is_part() {
            self.part(node, first, places)
        } else {
            self.end(node, places)
        }
    }

    fn part(&mut self, node: &Node, first: &mut Cursor<S>, places: &mut Places) -> Result<Option<Strand>, S::Error> {
        let signature = node.signature();
        while self.skip == 0 {
            let Some(other) = self.cursor.peek(0)?.filter(|other| other.is_part()) else {
                break;
            };
            if other.signature() == signature {
                let other = *other;
                return Ok(self.take(node, &other, places));
            }
            self.resynchronise(node.depth, first, places)?;
        }
        self.skip = self.skip.saturating_sub(1);
        if node.class == Class::Open {
            self.away = Some(node.depth);
        }
        Ok(self.miss(node, places))
    }

    /// The construct around ends, or its branch. Whatever this run has more of it is skipped.
    fn end(&mut self, node: &Node, places: &mut Places) -> Result<Option<Strand>, S::Error> {
        self.skip = 0;
        while let Some(other) = self.cursor.peek(0)?.copied() {
            let ends = other.class == Class::Close || (other.class, node.class) == (Class::Next, Class::Next);
            if other.depth > node.depth || !ends {
                self.leave_out(&other, places);
            } else if other.class == node.class {
                return Ok(self.take(node, &other, places));
            } else {
                break;
            }
        }
        Ok(self.miss(node, places))
    }

    /// Both stand before parts that differ: finds the next two that are the same.
    #[cold]
    fn resynchronise(&mut self, depth: u32, first: &mut Cursor<S>, places: &mut Places) -> Result<(), S::Error> {
        let rows = ROWS.min(self.credit / 4);
        let ours = first.parts(depth, PARTS, rows)?;
        let theirs = self.cursor.parts(depth, PARTS, rows)?;
        let compared = ours.parts.len() * theirs.parts.len() / 8;
        self.credit = self.credit.saturating_sub(ours.rows + theirs.rows + compared);
        let (skip, leave_out) = match first_pair(&ours.parts, &theirs.parts) {
            Some(pair) => pair,
            // What is not all there may come later.
            None if ours.whole && !theirs.whole => (0, theirs.parts.len()),
            None if theirs.whole && !ours.whole => (ours.parts.len(), 0),
            None => (ours.parts.len(), theirs.parts.len()),
        };
        self.skip = skip;
        for _ in 0..leave_out {
            self.leave_out_part(depth, places)?;
        }
        Ok(())
    }

    fn leave_out_part(&mut self, depth: u32, places: &mut Places) -> Result<(), S::Error> {
        let mut inside = false;
        while let Some(other) = self.cursor.peek(0)?.copied() {
            if inside && other.depth <= depth {
                break;
            }
            inside = true;
            self.leave_out(&other, places);
        }
        Ok(())
    }

    fn leave_out(&mut self, other: &Node, places: &mut Places) {
        self.cursor.advance();
        self.adjacent = false;
        self.extra += 1;
        places.extra(&other.row);
    }

    fn miss(&mut self, node: &Node, places: &mut Places) -> Option<Strand> {
        self.adjacent = false;
        self.missing += 1;
        places.missing(node.row.context);
        None
    }

    /// The rows are the same. So are the strands that they end, if those began at the same event.
    #[inline]
    fn take(&mut self, node: &Node, other: &Node, places: &mut Places) -> Option<Strand> {
        self.cursor.advance();
        let adjacent = std::mem::replace(&mut self.adjacent, true);
        if let (Event::Next(ours), Event::Next(theirs)) = (node.row.event, other.row.event) {
            if ours != theirs {
                // Another piece follows.
                self.skip = usize::MAX;
                self.adjacent = false;
            }
        }
        if adjacent {
            return Some(other.row);
        }
        self.missing += 1;
        self.extra += 1;
        places.missing(node.row.context);
        places.extra(&other.row);
        None
    }

    /// The first run has ended.
    pub(super) fn finish(&mut self, places: &mut Places) -> Result<(), S::Error> {
        while let Some(other) = self.cursor.peek(0)?.copied() {
            self.leave_out(&other, places);
        }
        Ok(())
    }
}

/// Where a longest common subsequence begins; of several the one that leaves out least before.
fn first_pair(ours: &[Signature], theirs: &[Signature]) -> Option<(usize, usize)> {
    let width = theirs.len() + 1;
    // Of what is left from here on.
    let mut common = vec![0u16; (ours.len() + 1) * width];
    let mut best = (0, 0, None);
    for i in (0..ours.len()).rev() {
        for j in (0..theirs.len()).rev() {
            let at = i * width + j;
            common[at] = if ours[i] == theirs[j] {
                let length = common[at + width + 1] + 1;
                let near = usize::MAX - (i + j);
                if (length, near) > (best.0, best.1) {
                    best = (length, near, Some((i, j)));
                }
                length
            } else {
                common[at + 1].max(common[at + width])
            };
        }
    }
    best.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ours: &str, theirs: &str, expected: Option<(usize, usize)>) {
        let [ours, theirs] = [ours, theirs].map(|text| text.bytes().map(|byte| (byte, 0, 0)).collect::<Vec<_>>());
        assert_eq!(first_pair(&ours, &theirs), expected);
    }

    #[test]
    fn what_is_left_out_is_least() {
        check("abab", "bab", Some((1, 0)));
        check("aab", "xaab", Some((0, 1)));
        check("xxaaaa", "aaaaaa", Some((2, 0)));
        check("xab", "yzab", Some((1, 2)));
        check("abc", "xyz", None);
        check("", "a", None);
    }
}
