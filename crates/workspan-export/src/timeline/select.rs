//! Which of too many are kept: the longest.

use workspan_model::histogram::{bucket, BUCKETS};
use workspan_model::Nanos;

/// How many there are of each length, within a quarter.
#[derive(Clone, Debug)]
pub(super) struct Lengths([u64; BUCKETS]);

impl Default for Lengths {
    fn default() -> Lengths {
        Lengths([0; BUCKETS])
    }
}

impl Lengths {
    /// Counts one, unless it has no length.
    pub(super) fn add(&mut self, length: Nanos) {
        if length > Nanos::ZERO {
            self.0[bucket(length.0.unsigned_abs())] += 1;
        }
    }

    /// For as many as there is room for.
    pub(super) fn select(&self, room: u64) -> Selection {
        let mut left = room;
        for (floor, count) in self.0.iter().enumerate().rev() {
            if *count > left {
                return Selection { floor, keep: left, of: *count, seen: 0 };
            }
            left -= count;
        }
        Selection { floor: 0, keep: 1, of: 1, seen: 0 }
    }
}

/// Keeps what is longer than a certain length, and of those of that length evenly as many as there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    floor: usize,
    keep: u64,
    of: u64,
    seen: u64,
}

impl Selection {
    /// Whether the next one is kept. Each must be asked once.
    pub fn keeps(&mut self, length: Nanos) -> bool {
        let at = bucket(length.0.max(0).unsigned_abs());
        if at != self.floor {
            return at > self.floor;
        }
        let share = |seen: u64| u128::from(seen) * u128::from(self.keep) / u128::from(self.of.max(1));
        let (before, after) = (share(self.seen), share(self.seen + 1));
        self.seen += 1;
        after > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lengths: &[i64], room: u64, expected: &[bool]) {
        let mut counted = Lengths::default();
        lengths.iter().for_each(|length| counted.add(Nanos(*length)));
        let mut selection = counted.select(room);
        let kept: Vec<bool> = lengths.iter().map(|length| selection.keeps(Nanos(*length))).collect();
        assert_eq!(kept, expected);
    }

    #[test]
    fn the_longest_are_kept_and_of_equals_every_so_many_th() {
        check(&[5, 900, 5, 70], 4, &[true; 4]);
        check(&[5, 900, 5, 70], 2, &[false, true, false, true]);
        check(&[5, 900, 5, 70], 0, &[false; 4]);
        check(&[8, 8, 8, 8, 8, 8], 2, &[false, false, true, false, false, true]);
        check(&[8, 8, 9_000, 8, 8], 3, &[false, true, true, false, true]);
    }
}
