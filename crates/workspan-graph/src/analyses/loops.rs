//! Loops in caches of all sizes: iterations that leave all caches as they found them are counted, and not looked at.
//!
//! The accesses of a loop touch the same lines for some iterations, and then others ([`crate::streams`]). If no set of the smallest
//! cache has more of these lines than it has ways, they are all there after the first such iteration, in the order of their last
//! accesses, and each further one changes nothing. Nor does one after an iteration that found all its lines to be the ones used
//! last of their sets.

use crate::cache::{Caches, BATCH};
use crate::replay::Iterations;
use crate::sets::{Entered, Entries, Sets};
use crate::streams::{Point, Streams};

/// Iterations that are looked at before a batch is passed on, at most.
const MOST: u64 = 128;
/// Accesses of a loop that are looked at one by one.
const SHORT: u64 = 6;
/// Iterations of which each point enters its lines before the next one does.
const BLOCK: u64 = 32;
/// Iterations of a loop that are worth being skipped.
const WORTH: u64 = 8;

impl Caches {
    /// Iterations of a loop.
    pub fn iterate(&mut self, iterations: Iterations<'_>) {
        if iterations.times.saturating_mul(iterations.first.len() as u64) <= SHORT {
            self.one_by_one(iterations);
            return;
        }
        let mut streams = self.streams.take().unwrap_or_default();
        streams.begin(iterations, self.shift);
        let mut left = if streams.points.is_empty() { 0 } else { iterations.times };
        while left > 0 {
            let most = self.until_turn(streams.lines()).min(left);
            let (times, lines);
            if self.rests() && most >= WORTH {
                (times, lines) = (most, streams.lines_beyond(most));
                self.skip(&streams, most);
                streams.jump(most);
            } else {
                times = if streams.fast { self.hurry(&streams, most) } else { self.stay(&streams, most) };
                lines = streams.lines_of(times);
                streams.advance(times);
            }
            self.accesses += lines;
            left -= times;
            if self.pending.len() >= BATCH {
                self.pass();
            }
            if self.sample.is_some() {
                self.tick(lines);
            }
        }
        self.streams = Some(streams);
    }

    /// All accesses of all iterations.
    fn one_by_one(&mut self, iterations: Iterations<'_>) {
        for number in 0..iterations.times {
            for (access, step) in iterations.first.iter().zip(iterations.steps) {
                self.access(access.address.wrapping_add(step.cast_unsigned().wrapping_mul(number)), access.size);
            }
        }
    }

    /// An iteration of slow points, and those that follow if they change nothing.
    fn stay(&mut self, streams: &Streams, most: u64) -> u64 {
        let before = self.pending.len();
        for touch in &streams.touches {
            self.touch(touch.address >> self.shift);
        }
        let same = streams.stretch().min(most);
        let stays = same > 1 && (self.pending.len() == before || self.fit(streams));
        if stays {
            same
        } else {
            1
        }
    }

    /// Iterations of slow and fast points.
    fn hurry(&mut self, streams: &Streams, most: u64) -> u64 {
        let times = streams.stretch().min(most).min(MOST);
        for number in 0..times {
            for touch in &streams.touches {
                self.touch(touch.address.wrapping_add(touch.step.wrapping_mul(number)) >> self.shift);
            }
        }
        times
    }

    /// True if all lines of an iteration fit into the smallest cache at once, whatever it has.
    fn fit(&self, streams: &Streams) -> bool {
        let ways = self.ways as u64;
        let lines = streams.touches.len();
        if lines as u64 <= ways {
            return true;
        }
        if lines > 15 {
            return false;
        }
        // Of each of 16 sets, or of more together, how many lines there are, in four bits.
        let mut counts = 0_u64;
        let mask = self.mask.min(15);
        for touch in &streams.touches {
            let place = 4 * ((touch.address >> self.shift) & mask);
            counts += 1 << place;
            if (counts >> place) & 15 > ways {
                return false;
            }
        }
        true
    }

    /// Iterations that sampled sets alone see. Of a few iterations, points enter their lines one point after the other; what enters a
    /// drawn cluster is then brought in order.
    fn skip(&mut self, streams: &Streams, times: u64) {
        // The small caches, and what is known of their sets, stay behind.
        self.recent.fill(0);
        let (shift, ways) = (self.shift, self.ways);
        let Some(sample) = &mut self.sample else {
            return;
        };
        let (sets, entries) = (&mut sample.sets, &mut sample.entries);
        for from in (0..times).step_by(usize::try_from(BLOCK).unwrap_or(1)) {
            for (number, point) in streams.points.iter().enumerate() {
                enter(sets, entries, (number, &point.after(from)), (from, (times - from).min(BLOCK), shift));
            }
        }
        for entered in entries.iter_mut().filter(|entered| !entered.is_empty()) {
            entered.sort_by_key(|each| each.when);
            if interfere(sets, entered) {
                for at in 0..entered.len() {
                    let first = entered[at];
                    entered.extend((first.when.0 + 1..first.left).map(|iteration| Entered {
                        when: (iteration, first.when.1),
                        missed: false,
                        ..first
                    }));
                }
                entered.sort_by_key(|each| each.when);
            }
            for each in entered.drain(..) {
                sets.look(each.line, ways, each.missed);
            }
        }
    }
}

/// The lines that a point enters in some iterations.
#[inline]
fn enter(
    sets: &mut Sets,
    entries: &mut Entries,
    (number, point): (usize, &Point),
    (from, times, shift): (u64, u64, u32),
) {
    let mut seen = |(iteration, stay): (u64, u64), cluster: usize, line: u64, missed: bool| {
        let left = from + iteration.saturating_add(stay).min(times);
        if let Some(entered) = entries.get_mut(cluster) {
            entered.push(Entered { when: (from + iteration, number), left, line, missed });
        }
    };
    let step = point.step.cast_unsigned();
    if point.is_fast(shift) {
        sets.sweep((point.address, step, shift), times, |number, cluster, line, missed| {
            seen((number, 1), cluster, line, missed);
        });
        return;
    }
    let stay = point.stay(shift);
    match point.iterations_of_a_line(shift) {
        // It goes from line to line, and stays equally long in each but the first.
        Some(further) => {
            let lines = 1 + times.saturating_sub(stay).div_ceil(further);
            let line = if point.step > 0 { 1 << shift } else { (1_u64 << shift).wrapping_neg() };
            sets.sweep((point.address, line, shift), lines, |number, cluster, line, missed| {
                let when = if number == 0 { (0, stay) } else { (stay + (number - 1) * further, further) };
                seen(when, cluster, line, missed);
            });
        }
        None => {
            let (mut point, mut iteration) = (*point, 0);
            while iteration < times {
                let stay = point.stay(shift).min(times - iteration);
                sets.sweep((point.address, 0, shift), 1, |_, cluster, line, missed| {
                    seen((iteration, stay), cluster, line, missed);
                });
                iteration += stay;
                point.address = point.address.wrapping_add(step.wrapping_mul(stay));
            }
        }
    }
}

/// True if a line may come to a drawn set while another one is touched in it again and again. All are in order.
fn interfere(sets: &Sets, entered: &[Entered]) -> bool {
    entered.iter().enumerate().any(|(at, each)| {
        let meanwhile = entered[at + 1..].iter().take_while(|other| other.when.0 < each.left);
        let mut others = meanwhile.filter(|other| other.line != each.line);
        others.any(|other| sets.may_meet(each.line, other.line))
    })
}

#[cfg(test)]
mod tests;
