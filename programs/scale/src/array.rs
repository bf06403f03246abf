//! The array benchmark of Acar et al. 4: M cells, L additions to each, cells taken G apart, all of it R times.

use std::cell::UnsafeCell;
use std::hint::black_box;

/// Cells that are processed one after the other.
const GROUP: u64 = 1000;

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    cells: u64,
    load: u64,
    gap: u64,
    repeat: u64,
}

impl Shape {
    /// M, L, G, R.
    pub fn of(words: &[&str]) -> Shape {
        let number = |at: usize| -> u64 { words.get(at).and_then(|word| word.parse().ok()).expect("M L G R") };
        let shape = Shape { cells: number(0), load: number(1), gap: number(2).max(1), repeat: number(3) };
        assert!(shape.cells % shape.gap == 0, "G divides M");
        shape
    }

    /// The place of the cell that is processed in the `i`-th turn: each once, G apart.
    fn place(&self, i: u64) -> u64 {
        (i * self.gap + i * self.gap / self.cells) % self.cells
    }
}

/// Cells that several threads process, each cell by one of them.
struct Cells(Vec<UnsafeCell<u64>>);

// SAFETY: `process` visits every place once, so no two threads touch the same cell.
unsafe impl Sync for Cells {}

impl Cells {
    fn new(shape: &Shape) -> Cells {
        Cells((0..shape.cells).map(UnsafeCell::new).collect())
    }

    /// Turns `from` to `to`.
    fn process(&self, shape: &Shape, from: u64, to: u64) {
        for turn in from..to {
            let cell = self.0[usize::try_from(shape.place(turn)).unwrap_or(0)].get();
            // SAFETY: no other thread has this turn, so none has this cell.
            let mut value = unsafe { *cell };
            for _ in 0..shape.load {
                value = black_box(value).wrapping_add(1);
            }
            // SAFETY: as above.
            unsafe { *cell = value };
        }
    }

    /// Each cell has what it had, and all additions.
    fn check(&self, shape: &Shape) {
        for (i, cell) in (0u64..).zip(&self.0) {
            // SAFETY: nobody else has them any more.
            assert_eq!(unsafe { *cell.get() }, i + shape.load * shape.repeat);
        }
    }
}

/// In parallel.
pub fn parallel(shape: &Shape) {
    fn range(cells: &Cells, shape: &Shape, from: u64, to: u64) {
        if to - from <= GROUP {
            return cells.process(shape, from, to);
        }
        let middle = from + (to - from) / 2;
        rayon::join(|| range(cells, shape, from, middle), || range(cells, shape, middle, to));
    }
    let cells = Cells::new(shape);
    for _ in 0..shape.repeat {
        range(&cells, shape, 0, shape.cells);
    }
    cells.check(shape);
}

/// One cell after the other.
pub fn sequential(shape: &Shape) {
    let cells = Cells::new(shape);
    for _ in 0..shape.repeat {
        cells.process(shape, 0, shape.cells);
    }
    cells.check(shape);
}
