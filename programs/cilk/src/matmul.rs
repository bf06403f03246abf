//! Product of square matrices, C += A·B, by quarters: first the four products with the left half of A, beside each
//! other, then the four with its right half, so that no quarter of C is written by two at a time. Matrices of no more
//! than cutoff rows are left to serial loops. Size is the number of rows.
//!
//! Work Θ(n³), span Θ(n).

use crate::input::Numbers;
use crate::tile::{add_product, is_product, Matrix, Tile, TileMut};

pub fn run(n: usize, cutoff: usize) -> bool {
    let mut numbers = Numbers::new();
    let (a, b) = (Matrix::random(n, n, &mut numbers), Matrix::random(n, n, &mut numbers));
    let mut c = Matrix::zero(n, n);
    rayon::scope(|_| multiply(&mut c.tile_mut(), a.tile(), b.tile(), cutoff.max(1)));
    is_product(c.tile(), a.tile(), b.tile(), &mut numbers)
}

fn multiply(c: &mut TileMut<'_>, a: Tile<'_>, b: Tile<'_>, cutoff: usize) {
    if c.rows() <= cutoff {
        return add_product(c, 1.0, a, b);
    }
    for (a, b) in a.halves_by_columns().into_iter().zip(b.halves_by_rows()) {
        let [[mut c00, mut c01], [mut c10, mut c11]] = c.quarters();
        let ([top, bottom], [left, right]) = (a.halves_by_rows(), b.halves_by_columns());
        rayon::join(
            || rayon::join(|| multiply(&mut c00, top, left, cutoff), || multiply(&mut c01, top, right, cutoff)),
            || rayon::join(|| multiply(&mut c10, bottom, left, cutoff), || multiply(&mut c11, bottom, right, cutoff)),
        );
    }
}
