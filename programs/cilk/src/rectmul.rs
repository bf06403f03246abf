//! Product of rectangular matrices, C += A·B, by halves of whatever is longest: of rows of A or columns of B, the two
//! beside each other; of what A and B have in common, one after the other, as both write all of C. What is no longer
//! than cutoff in any direction is left to serial loops. With size n, A is of n × n/2 and B of n/2 × 2n.
//!
//! Work Θ(n³), span Θ(n).

use crate::input::Numbers;
use crate::tile::{add_product, is_product, Matrix, Tile, TileMut};

pub fn run(n: usize, cutoff: usize) -> bool {
    let mut numbers = Numbers::new();
    let (a, b) = (Matrix::random(n, n / 2, &mut numbers), Matrix::random(n / 2, 2 * n, &mut numbers));
    let mut c = Matrix::zero(n, 2 * n);
    rayon::scope(|_| multiply(&mut c.tile_mut(), a.tile(), b.tile(), cutoff.max(1)));
    is_product(c.tile(), a.tile(), b.tile(), &mut numbers)
}

fn multiply(c: &mut TileMut<'_>, a: Tile<'_>, b: Tile<'_>, cutoff: usize) {
    let (rows, columns, depth) = (c.rows(), c.columns(), a.columns());
    if rows.max(columns).max(depth) <= cutoff {
        add_product(c, 1.0, a, b);
    } else if depth > rows.max(columns) {
        for (a, b) in a.halves_by_columns().into_iter().zip(b.halves_by_rows()) {
            multiply(c, a, b, cutoff);
        }
    } else if rows >= columns {
        let [mut top, mut bottom] = c.halves_by_rows();
        let [above, below] = a.halves_by_rows();
        rayon::join(|| multiply(&mut top, above, b, cutoff), || multiply(&mut bottom, below, b, cutoff));
    } else {
        let [mut first, mut second] = c.halves_by_columns();
        let [left, right] = b.halves_by_columns();
        rayon::join(|| multiply(&mut first, a, left, cutoff), || multiply(&mut second, a, right, cutoff));
    }
}
