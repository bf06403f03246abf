//! Windows and widths: what a machine that looks only so far ahead, or runs only so many instructions at once, makes of the
//! same dependences (Wall, *Limits of instruction-level parallelism*).
//!
//! A window of W instructions: instruction `i` begins no earlier than all up to `i - W` have ended. A width of K: among the
//! cycles in which an instruction may run, it takes the first that fewer than K instructions have taken; those before it in
//! the run choose first. Pointers that an instruction moves besides take no place of their own.
//!
//! **Bound**: a ring of depths for each window, and of cycles for each width. A cycle that all instructions of the window
//! have passed is free to be used again: no chain within a window is longer than the window has instructions.

use crate::model::{Machine, Model, WINDOWS};
use crate::row::{deeper, Lane, Row};

/// Windows of some lanes of an engine.
#[derive(Debug)]
pub struct Windows<L, const N: usize> {
    first: usize,
    /// For each lane from the first: when all up to the last instruction have ended.
    ended: Row<L, N>,
    /// The same, of as many instructions before as the window has.
    rings: Vec<Vec<L>>,
    slots: Vec<Slots>,
    count: usize,
}

impl<L: Lane, const N: usize> Windows<L, N> {
    /// The windows and widths of models, of which they are the last.
    pub fn new(models: &[Model; N], wanted: bool) -> Windows<L, N> {
        let machine = |model: &Model| matches!(model.machine, Machine::Window(_) | Machine::Width(_));
        let first = models.iter().position(machine).filter(|_| wanted).unwrap_or(N);
        let size = |model: &Model| match model.machine {
            Machine::Window(size) => 1 << size,
            _ => 1 << WINDOWS.end(),
        };
        let slots = models[first..].iter().filter_map(|model| match model.machine {
            Machine::Width(width) => Some(Slots::new(1 << width, 1 << WINDOWS.end())),
            _ => None,
        });
        Windows {
            first,
            ended: [L::START; N],
            rings: models[first..].iter().map(|model| vec![L::START; size(model)]).collect(),
            slots: slots.collect(),
            count: 0,
        }
    }

    /// What an instruction must wait for, whatever it depends on.
    #[inline(always)]
    pub fn begin(&self, row: &mut Row<L, N>) {
        for (lane, ring) in row[self.first..].iter_mut().zip(&self.rings) {
            *lane = deeper(*lane, ring[self.count & (ring.len() - 1)]);
        }
    }

    /// Cycles in which an instruction runs, if it could run in those of `here`.
    #[inline(always)]
    pub fn place(&mut self, here: &mut Row<L, N>) {
        let first = N - self.slots.len();
        for ((lane, slots), ended) in here[first..].iter_mut().zip(&mut self.slots).zip(&self.ended[first..]) {
            *lane = L::at(slots.take(lane.depth(), ended.depth()));
        }
    }

    /// A pointer has moved.
    #[inline(always)]
    pub fn moved(&mut self, row: &Row<L, N>) {
        for (ended, lane) in self.ended[self.first..].iter_mut().zip(&row[self.first..]) {
            *ended = deeper(*ended, *lane);
        }
    }

    /// An instruction is over.
    #[inline(always)]
    pub fn end(&mut self, here: &Row<L, N>) {
        self.moved(here);
        for (ended, ring) in self.ended[self.first..].iter().zip(&mut self.rings) {
            let at = self.count & (ring.len() - 1);
            ring[at] = *ended;
        }
        self.count += 1;
    }
}

/// How many instructions run in each cycle.
#[derive(Debug)]
struct Slots {
    width: u16,
    /// By cycle; as many as the window has instructions, since each of them takes at most one cycle more.
    cycles: Vec<Cycle>,
    /// The last cycle that is not as it was a ring ago.
    last: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cycle {
    /// A later cycle that may have room, if this has none.
    next: u32,
    /// Instructions that it has.
    count: u16,
}

impl Slots {
    fn new(width: u16, window: usize) -> Slots {
        Slots { width, cycles: vec![Cycle::default(); window], last: 0 }
    }

    #[inline(always)]
    fn cycle(&mut self, at: u32) -> &mut Cycle {
        let mask = self.cycles.len() - 1;
        &mut self.cycles[at as usize & mask]
    }

    /// Takes the first cycle from `ready` on that has room; `ended` is the last in which anything ran before.
    #[inline(always)]
    fn take(&mut self, ready: u64, ended: u64) -> u64 {
        let (ready, ended) = (ready as u32, ended as u32);
        while self.last <= ended {
            self.last += 1;
            *self.cycle(self.last) = Cycle::default();
        }
        let width = self.width;
        let mut at = ready;
        loop {
            let cycle = self.cycle(at);
            if cycle.count < width {
                cycle.count += 1;
                break;
            }
            at = cycle.next.max(at + 1);
        }
        // Whoever looks for a place next skips what is full.
        let mut from = ready;
        while from < at {
            let next = self.cycle(from).next.max(from + 1);
            self.cycle(from).next = at;
            from = next;
        }
        u64::from(at)
    }
}
