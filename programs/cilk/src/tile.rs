//! Dense matrices by rows, and parts of them that tasks read and write at the same time.

use std::marker::PhantomData;

use crate::input::{close, Numbers};

/// A matrix.
#[derive(Clone)]
pub struct Matrix {
    items: Vec<f64>,
    rows: usize,
    columns: usize,
}

impl Matrix {
    /// All zero.
    pub fn zero(rows: usize, columns: usize) -> Matrix {
        Matrix { items: vec![0.0; rows * columns], rows, columns }
    }

    /// Of numbers without order.
    pub fn random(rows: usize, columns: usize, numbers: &mut Numbers) -> Matrix {
        Matrix { items: numbers.reals(rows * columns), rows, columns }
    }

    /// The whole of it, for reading.
    pub fn tile(&self) -> Tile<'_> {
        Tile {
            at: self.items.as_ptr(),
            rows: self.rows,
            columns: self.columns,
            stride: self.columns,
            life: PhantomData,
        }
    }

    /// The whole of it, for writing.
    pub fn tile_mut(&mut self) -> TileMut<'_> {
        let at = self.items.as_mut_ptr();
        TileMut { at, rows: self.rows, columns: self.columns, stride: self.columns, life: PhantomData }
    }
}

/// A rectangle of a matrix that nobody writes: `rows` rows of `columns` items from `at` on, `stride` items apart.
#[derive(Clone, Copy)]
pub struct Tile<'a> {
    at: *const f64,
    rows: usize,
    columns: usize,
    stride: usize,
    life: PhantomData<&'a [f64]>,
}

/// A rectangle of a matrix that nobody else reads or writes.
pub struct TileMut<'a> {
    at: *mut f64,
    rows: usize,
    columns: usize,
    stride: usize,
    life: PhantomData<&'a mut [f64]>,
}

// SAFETY: a tile is as good as the shared slices that are its rows.
unsafe impl Send for Tile<'_> {}
// SAFETY: as above.
unsafe impl Sync for Tile<'_> {}
// SAFETY: a tile is as good as the exclusive slices that are its rows.
unsafe impl Send for TileMut<'_> {}

impl<'a> Tile<'a> {
    pub fn rows(self) -> usize {
        self.rows
    }

    pub fn columns(self) -> usize {
        self.columns
    }

    pub fn row(self, i: usize) -> &'a [f64] {
        assert!(i < self.rows);
        // SAFETY: the row is a part of the matrix, and nobody writes it while `'a` lasts.
        unsafe { std::slice::from_raw_parts(self.at.add(i * self.stride), self.columns) }
    }

    /// Top and bottom.
    pub fn halves_by_rows(self) -> [Tile<'a>; 2] {
        let half = self.rows / 2;
        [self.part(0, 0, half, self.columns), self.part(half, 0, self.rows - half, self.columns)]
    }

    /// Left and right.
    pub fn halves_by_columns(self) -> [Tile<'a>; 2] {
        let half = self.columns / 2;
        [self.part(0, 0, self.rows, half), self.part(0, half, self.rows, self.columns - half)]
    }

    /// Halves of halves, by rows.
    pub fn quarters(self) -> [[Tile<'a>; 2]; 2] {
        self.halves_by_rows().map(Tile::halves_by_columns)
    }

    /// The product with a vector.
    pub fn times(self, vector: &[f64]) -> Vec<f64> {
        (0..self.rows).map(|i| self.row(i).iter().zip(vector).map(|(a, x)| a * x).sum()).collect()
    }

    fn part(self, row: usize, column: usize, rows: usize, columns: usize) -> Tile<'a> {
        // SAFETY: row and column are no more than those of the tile, so this is inside the matrix or at its end.
        Tile { at: unsafe { self.at.add(row * self.stride + column) }, rows, columns, ..self }
    }
}

impl TileMut<'_> {
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The same for reading.
    pub fn shared(&self) -> Tile<'_> {
        Tile { at: self.at, rows: self.rows, columns: self.columns, stride: self.stride, life: PhantomData }
    }

    pub fn row(&mut self, i: usize) -> &mut [f64] {
        assert!(i < self.rows);
        // SAFETY: the row is a part of the matrix, and nobody else has it while the tile is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(i * self.stride), self.columns) }
    }

    /// One row, and a later one.
    pub fn two_rows(&mut self, i: usize, j: usize) -> (&mut [f64], &mut [f64]) {
        assert!(i < j && j < self.rows);
        // SAFETY: as in `row`.
        let first = unsafe { std::slice::from_raw_parts_mut(self.at.add(i * self.stride), self.columns) };
        // SAFETY: as in `row`; rows do not overlap.
        let second = unsafe { std::slice::from_raw_parts_mut(self.at.add(j * self.stride), self.columns) };
        (first, second)
    }

    /// Top and bottom.
    pub fn halves_by_rows(&mut self) -> [TileMut<'_>; 2] {
        self.shared().halves_by_rows().map(Tile::exclusive)
    }

    /// Left and right.
    pub fn halves_by_columns(&mut self) -> [TileMut<'_>; 2] {
        self.shared().halves_by_columns().map(Tile::exclusive)
    }

    /// Halves of halves, by rows.
    pub fn quarters(&mut self) -> [[TileMut<'_>; 2]; 2] {
        self.shared().quarters().map(|halves| halves.map(Tile::exclusive))
    }
}

impl<'a> Tile<'a> {
    /// Back from what `TileMut::shared` gave: for parts that do not overlap, of a tile that is borrowed for writing.
    fn exclusive(self) -> TileMut<'a> {
        TileMut {
            at: self.at.cast_mut(),
            rows: self.rows,
            columns: self.columns,
            stride: self.stride,
            life: PhantomData,
        }
    }
}

/// `c += factor · a · b`, serially.
pub fn add_product(c: &mut TileMut<'_>, factor: f64, a: Tile<'_>, b: Tile<'_>) {
    for i in 0..c.rows() {
        for (k, a) in a.row(i).iter().enumerate() {
            add(c.row(i), factor * a, b.row(k));
        }
    }
}

/// `to += factor · from`.
pub fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// True if `c = a · b`: by Freivalds, `c · x = a · (b · x)` for a vector `x` without order.
pub fn is_product(c: Tile<'_>, a: Tile<'_>, b: Tile<'_>, numbers: &mut Numbers) -> bool {
    let x = numbers.reals(b.columns());
    close(&c.times(&x), &a.times(&b.times(&x)))
}
