//! Accesses of a loop as they move: which lines they touch, and for how many iterations these stay the same.
//!
//! An access is seen as **points**: its first byte, its last, and one in each line between. A point is **slow** if it stays in its
//! line for some iterations, and **fast** if its step is at least a line: then it is in another one in each. A **stretch** is a number
//! of iterations in which no slow point leaves its line. Points of one access may be in the same line; that is touched twice in a row
//! then, which changes nothing, and counts once.

use crate::replay::Iterations;

/// A point of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Where it is, or was when it entered its line, if it is slow.
    pub(crate) address: u64,
    pub(crate) step: i64,
    /// Zeros at the end of the step, if that is a power of two; else more than a line has.
    bits: u32,
    /// It is a further point of the access before it.
    further: bool,
    /// Iterations, from the one that comes, in which it stays in its line.
    until: u64,
}

/// What is touched in an iteration: an address, and what it grows by. A slow point's does not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) address: u64,
    pub(crate) step: u64,
}

/// The accesses of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    shift: u32,
    /// In the order of the accesses.
    pub(crate) points: Vec<Point>,
    /// Of each point.
    pub(crate) touches: Vec<Touch>,
    /// Some points are fast.
    pub(crate) fast: bool,
    /// Some accesses have several points; of some of them the number of lines changes from one iteration to the next.
    further: bool,
    varies: bool,
    /// Lines that the next iteration touches.
    lines: u64,
}

impl Streams {
    /// The accesses of the first iteration, those of no byte excluded.
    pub(crate) fn begin(&mut self, iterations: Iterations<'_>, shift: u32) {
        self.shift = shift;
        self.points.clear();
        self.touches.clear();
        (self.fast, self.further, self.varies) = (false, false, false);
        let line = 1_u64 << shift;
        for (access, step) in iterations.first.iter().zip(iterations.steps).filter(|(access, _)| access.size > 0) {
            let (address, step, extra) = (access.address, *step, access.size - 1);
            let by = step.unsigned_abs();
            let (fast, bits) = (by >= line, if by.is_power_of_two() { by.trailing_zeros() } else { u32::MAX });
            self.fast |= fast;
            // An aligned access that moves by multiples of its size stays within lines.
            let within = access.size.is_power_of_two() && extra < line && (address | step.cast_unsigned()) & extra == 0;
            let points = if within { 0 } else { extra.div_ceil(line) };
            for number in 0..=points {
                let address = address.wrapping_add(extra.min(number << shift));
                let mut point = Point { address, step, bits, further: number > 0, until: 1 };
                if !fast {
                    point.until = point.stay(shift);
                }
                self.points.push(point);
                self.touches.push(Touch { address, step: if fast { step.cast_unsigned() } else { 0 } });
            }
            self.further |= points > 0;
            self.varies |= points > 0 && fast;
        }
        self.count();
    }

    /// Lines of an iteration that begins here.
    fn count(&mut self) {
        self.lines = self.points.len() as u64;
        if self.further {
            let pairs = self.touches.windows(2).zip(&self.points[1..]).filter(|(_, point)| point.further);
            self.lines -=
                pairs.filter(|(pair, _)| pair[0].address >> self.shift == pair[1].address >> self.shift).count() as u64;
        }
    }

    /// Lines that the next iteration touches.
    #[inline]
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Lines that some iterations of the stretch touch.
    #[inline]
    pub(crate) fn lines_of(&self, times: u64) -> u64 {
        if self.varies {
            self.lines_beyond(times)
        } else {
            self.lines * times
        }
    }

    /// Lines that some iterations touch, however many stretches they are. Every slow point has just entered its line, or no access has
    /// several.
    pub(crate) fn lines_beyond(&self, times: u64) -> u64 {
        let mut lines = self.points.len() as u64 * times;
        if self.further {
            for pair in self.points.windows(2).filter(|pair| pair[1].further) {
                let line = |point: &Point, number: u64| {
                    point.address.wrapping_add(point.step.cast_unsigned().wrapping_mul(number)) >> self.shift
                };
                let same = |iterations: u64| {
                    (0..iterations)
                        .map(|number| u64::from(line(&pair[0], number) == line(&pair[1], number)))
                        .sum::<u64>()
                };
                // After `period` iterations both are at the same bytes of their lines.
                let period = 1_u64 << self.shift.saturating_sub(pair[0].step.trailing_zeros());
                lines -= same(period.min(times)) * (times / period).max(1)
                    + same(times % period) * u64::from(times > period);
            }
        }
        lines
    }

    /// Iterations of the stretch that has begun.
    #[inline]
    pub(crate) fn stretch(&self) -> u64 {
        let slow = self.points.iter().zip(&self.touches).filter(|(_, touch)| touch.step == 0);
        slow.map(|(point, _)| point.until).min().unwrap_or(u64::MAX)
    }

    /// Some iterations later, of which the stretch has at least as many left.
    #[inline]
    pub(crate) fn advance(&mut self, times: u64) {
        for (point, touch) in self.points.iter_mut().zip(&mut self.touches) {
            point.address = point.address.wrapping_add(point.step.cast_unsigned().wrapping_mul(times));
            if touch.step == 0 {
                point.until -= times;
                if point.until == 0 {
                    touch.address = point.address;
                    point.until = point.stay(self.shift);
                }
            } else {
                touch.address = point.address;
            }
        }
        if self.further {
            self.count();
        }
    }

    /// Some iterations later, however many stretches they are.
    pub(crate) fn jump(&mut self, times: u64) {
        for (point, touch) in self.points.iter_mut().zip(&mut self.touches) {
            point.address = point.address.wrapping_add(point.step.cast_unsigned().wrapping_mul(times));
            touch.address = point.address;
            if touch.step == 0 {
                point.until = point.stay(self.shift);
            }
        }
        self.count();
    }
}

impl Point {
    /// Where it is some iterations later.
    #[inline]
    pub(crate) fn after(&self, times: u64) -> Point {
        let address = self.address.wrapping_add(self.step.cast_unsigned().wrapping_mul(times));
        Point { address, ..*self }
    }

    /// It is in another line in each iteration.
    #[inline]
    pub(crate) fn is_fast(&self, shift: u32) -> bool {
        self.step.unsigned_abs() >= 1 << shift
    }

    /// Iterations in which a slow point crosses a line, if that is the same for all lines.
    #[inline]
    pub(crate) fn iterations_of_a_line(&self, shift: u32) -> Option<u64> {
        (self.bits < shift).then(|| 1 << (shift - self.bits))
    }

    /// Iterations from here in which a slow point stays in its line.
    #[inline]
    pub(crate) fn stay(&self, shift: u32) -> u64 {
        let line = 1_u64 << shift;
        let byte = self.address & (line - 1);
        let room = if self.step > 0 { line - 1 - byte } else { byte };
        // Most steps are a power of two, and division is slow.
        match (self.step, self.bits) {
            (0, _) => u64::MAX,
            (step, u32::MAX) => 1 + room / step.unsigned_abs(),
            (_, bits) => 1 + (room >> bits),
        }
    }
}
