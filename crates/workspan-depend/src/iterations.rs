//! Which iteration of a running loop a moment belongs to.
//!
//! Iterations that take the same number of moments are kept as one entry, as in strided compression: a loop without
//! conditions needs one.

/// Entries that one loop has at most; older iterations then count as the oldest one kept.
const MOST: usize = 1 << 20;

#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: u64,
    stride: u64,
    first: u64,
    count: u64,
}

/// The iterations of one execution of a loop.
#[derive(Clone, Debug, Default)]
pub struct Iterations {
    entries: Vec<Stretch>,
}

impl Iterations {
    /// An iteration begins.
    pub fn begin(&mut self, number: u64, now: u64) {
        if let Some(last) = self.entries.last_mut() {
            let expected = last.start + last.stride * last.count;
            if last.count == 1 {
                (last.stride, last.count) = (now - last.start, 2);
                return;
            }
            if expected == now {
                last.count += 1;
                return;
            }
        }
        if self.entries.len() >= MOST {
            self.entries.drain(1..MOST / 2);
        }
        self.entries.push(Stretch { start: now, stride: 0, first: number, count: 1 });
    }

    /// Several iterations begin, one after another, at the same distance.
    pub fn begin_all(&mut self, number: u64, now: u64, stride: u64, count: u64) {
        for further in 0..count {
            self.begin(number + further, now + further * stride);
            // All that follow are as long as these two.
            if let Some(last) = self.entries.last_mut().filter(|last| last.count > 1 && last.stride == stride) {
                last.count += count - further - 1;
                return;
            }
        }
    }

    /// None any more.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The iteration that was running at a moment.
    pub fn at(&self, moment: u64) -> u64 {
        let after = self.entries.partition_point(|entry| entry.start <= moment);
        let Some(entry) = after.checked_sub(1).and_then(|at| self.entries.get(at)) else {
            return 0;
        };
        let steps = (moment - entry.start).checked_div(entry.stride).unwrap_or(0);
        entry.first + steps.min(entry.count - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_are_as_good_as_each() {
        let (mut each, mut all) = (Iterations::default(), Iterations::default());
        let (mut number, mut now) = (0, 3);
        for (stride, count) in [(4, 1), (2, 1), (2, 5), (7, 3), (7, 1), (7, 2), (1, 9), (5, 2), (1, 1), (1, 0), (1, 4)]
        {
            all.begin_all(number, now, stride, count);
            for _ in 0..count {
                each.begin(number, now);
                number += 1;
                now += stride;
            }
            assert_eq!(format!("{each:?}"), format!("{all:?}"));
        }
    }

    #[test]
    fn each_moment_finds_its_iteration() {
        let (mut log, mut starts, mut now) = (Iterations::default(), Vec::new(), 5);
        for number in 0..200_u64 {
            log.begin(number, now);
            starts.push(now);
            now += if number % 17 < 11 { 3 } else { number % 5 + 1 };
        }
        for moment in 5..now {
            let expected = starts.partition_point(|start| *start <= moment) - 1;
            assert_eq!(log.at(moment), expected as u64, "{moment}");
        }
        assert!(log.entries.len() < 120);
    }
}
