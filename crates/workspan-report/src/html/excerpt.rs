//! Which lines of a file to show.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Lines before and after a line of interest.
const AROUND: u32 = 3;

/// Ranges of lines around those of interest; ranges that touch, or have one line between them, are one. `last` is the
/// number of lines of the file: what lies beyond it is excluded.
pub(crate) fn excerpts(lines: &BTreeSet<u32>, last: u32) -> Vec<RangeInclusive<u32>> {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for line in lines.iter().copied().filter(|line| (1..=last).contains(line)) {
        let (from, to) = (line.saturating_sub(AROUND).max(1), line.saturating_add(AROUND).min(last));
        match ranges.last_mut() {
            // Leaving out one line would not save one.
            Some(before) if from <= before.end().saturating_add(2) => *before = *before.start()..=to,
            _ => ranges.push(from..=to),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[u32], last: u32, expected: &[RangeInclusive<u32>]) {
        assert_eq!(excerpts(&lines.iter().copied().collect(), last), expected);
    }

    #[test]
    fn excerpts_that_meet_are_one() {
        check(&[], 100, &[]);
        check(&[10], 100, &[7..=13]);
        check(&[10, 12], 100, &[7..=15]);
        check(&[10, 17], 100, &[7..=20]);
        check(&[10, 18], 100, &[7..=21]);
        check(&[10, 19], 100, &[7..=13, 16..=22]);
    }

    #[test]
    fn excerpts_stay_inside_the_file() {
        check(&[1, 99], 100, &[1..=4, 96..=100]);
        check(&[0, 101, u32::MAX], 100, &[]);
        check(&[u32::MAX], u32::MAX, &[u32::MAX - 3..=u32::MAX]);
    }
}
