//! Windows and widths: what a machine that looks a limited way ahead, or runs a limited number of instructions at once, makes of the
//! same dependences (Wall, *Limits of instruction-level parallelism*).
//!
//! A window of W instructions moves on by W / [`STEPS`] instructions at a time: the run is cut into groups of that many, and an
//! instruction begins no earlier than all instructions up to the [`STEPS`]th group before its own have ended. A width of K:
//! among the cycles in which an instruction may run, it takes the first that fewer than K instructions have taken; those
//! before it in the run choose first. Pointers that an instruction moves besides take no place of their own.
//!
//! **Bound**: a ring of [`STEPS`] depths for each window, and of cycles for each width. A cycle that all instructions of the
//! window have passed is free to be used again: no chain within a window is longer than the window has instructions.
//! **Cost**: two operations on a row, and a look at one cycle for each width.

use crate::model::{Machine, Model, BROADEST};
use crate::row::{raise, Lane, Row};

/// Steps in which a window moves on by its own size.
pub const STEPS: usize = 32;

/// How evenly parallelism is spread over a run (Theobald, Gao and Hendren).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothability {
    /// The smallest width that is not less than the parallelism of the same window without a limit.
    pub width: u64,
    /// Cycles without a limit over cycles with that width.
    pub value: f64,
}

/// The smoothability of a run of this number of instructions, from cycles by machine; `None` if there are no windows or widths.
pub fn smoothability(instructions: u64, cycles: &[(Machine, u64)]) -> Option<Smoothability> {
    let (_, free) = cycles.iter().find(|(machine, cycles)| *machine == Machine::Window(BROADEST) && *cycles > 0)?;
    let parallelism = instructions as f64 / *free as f64;
    let widths = cycles.iter().filter_map(|(machine, cycles)| match machine {
        Machine::Width(width) => Some((1u64 << width, *cycles)),
        _ => None,
    });
    let (width, limited) = widths
        .clone()
        .find(|(width, _)| *width as f64 >= parallelism)
        .or_else(|| widths.max_by_key(|(width, _)| *width))?;
    Some(Smoothability { width, value: *free as f64 / limited.max(1) as f64 })
}

/// Windows of some lanes of an engine.
#[derive(Debug)]
pub struct Windows<L, const N: usize> {
    /// What every instruction must wait for now.
    floor: Row<L, N>,
    /// When all up to the last instruction have ended.
    ended: Row<L, N>,
    /// The lanes with windows, by the size of their groups as a power of two: that of the first is 1 instruction.
    groups: Vec<Vec<Lag<L>>>,
    slots: Vec<Slots>,
    count: u64,
}

/// A lane of a window: what had ended at the end of each of the last groups.
#[derive(Debug)]
struct Lag<L> {
    lane: usize,
    ended: [L; STEPS],
}

impl<L: Lane, const N: usize> Windows<L, N> {
    /// The windows and widths of models; those with widths are the last.
    pub fn new(models: &[Model; N], wanted: bool) -> Windows<L, N> {
        let mut groups: Vec<Vec<Lag<L>>> = Vec::new();
        let mut slots = Vec::new();
        for (lane, model) in models.iter().enumerate().filter(|_| wanted) {
            let size = match model.machine {
                Machine::Window(size) => size,
                Machine::Width(_) => BROADEST,
                Machine::Ideal | Machine::Latency => continue,
            };
            if let Machine::Width(width) = model.machine {
                slots.push(Slots::new(1 << width, 2 << BROADEST));
            }
            let group = (size - STEPS.ilog2()) as usize;
            while groups.len() <= group {
                groups.push(Vec::new());
            }
            groups[group].push(Lag { lane, ended: [L::START; STEPS] });
        }
        Windows { floor: [L::START; N], ended: [L::START; N], groups, slots, count: 0 }
    }

    /// What an instruction must wait for, whatever it depends on.
    #[inline(always)]
    pub fn begin(&self, row: &mut Row<L, N>) {
        raise(row, &self.floor);
    }

    /// Cycles in which an instruction runs, if it could run in those of `here`.
    #[inline(always)]
    pub fn place(&mut self, here: &mut Row<L, N>) {
        let first = N - self.slots.len();
        for (lane, slots) in here[first..].iter_mut().zip(&mut self.slots) {
            *lane = L::at(slots.take(lane.depth()));
        }
    }

    /// A pointer has moved.
    #[inline(always)]
    pub fn moved(&mut self, row: &Row<L, N>) {
        raise(&mut self.ended, row);
    }

    /// An instruction is over.
    #[inline(always)]
    pub fn end(&mut self, here: &Row<L, N>) {
        raise(&mut self.ended, here);
        self.count += 1;
        // Groups of all sizes that end here.
        let sizes = (self.count.trailing_zeros() as usize + 1).min(self.groups.len());
        for (size, lags) in self.groups[..sizes].iter_mut().enumerate() {
            let at = (self.count >> size) as usize % STEPS;
            for lag in lags {
                // What ended with the group that is as many groups before the next one.
                self.floor[lag.lane] = lag.ended[(at + 1) % STEPS];
                lag.ended[at] = self.ended[lag.lane];
            }
        }
    }
}

/// How many instructions run in each cycle.
#[derive(Debug)]
struct Slots {
    width: u32,
    /// By cycle: its number in the upper half; in the lower the instructions that it has, or, if it is full, [`FULL`] and how
    /// many cycles later there may be room.
    cycles: Vec<u64>,
}

const FULL: u32 = 1 << 31;

impl Slots {
    fn new(width: u32, cycles: usize) -> Slots {
        Slots { width, cycles: vec![0; cycles] }
    }

    #[inline(always)]
    fn cycle(&mut self, at: u32) -> &mut u64 {
        let mask = self.cycles.len() - 1;
        &mut self.cycles[at as usize & mask]
    }

    /// Takes the first cycle from `ready` on that has room.
    #[inline(always)]
    fn take(&mut self, ready: u64) -> u64 {
        let ready = ready as u32;
        let mut at = ready;
        loop {
            let width = self.width;
            let cycle = self.cycle(at);
            let known = if (*cycle >> 32) as u32 == at { *cycle as u32 } else { 0 };
            if known & FULL == 0 {
                let now = if known + 1 < width { known + 1 } else { FULL | 1 };
                *cycle = u64::from(at) << 32 | u64::from(now);
                break;
            }
            at += known & !FULL;
        }
        if at != ready {
            self.shorten(ready, at);
        }
        u64::from(at)
    }

    /// Whoever looks for a place next skips what is full.
    fn shorten(&mut self, mut from: u32, to: u32) {
        while from < to {
            let cycle = self.cycle(from);
            let next = from + (*cycle as u32 & !FULL);
            *cycle = u64::from(from) << 32 | u64::from(FULL | (to - from));
            from = next;
        }
    }
}
