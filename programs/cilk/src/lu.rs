//! LU decomposition of a dense matrix without pivots, in place: A = L·U, L with ones on its diagonal.
//!
//! By quarters: the first is decomposed; the one to its right is solved for L and the one below for U, beside each
//! other; the last is reduced by the product of the two, in tiles beside each other, and decomposed. Tiles of no more
//! than cutoff rows and columns are left to serial loops. Size is the number of rows.
//!
//! Work Θ(n³), span Θ(n log² n).

use crate::input::{close, Numbers};
use crate::tile::{add, add_product, Matrix, Tile, TileMut};

pub fn run(n: usize, cutoff: usize) -> bool {
    let mut numbers = Numbers::new();
    let mut a = Matrix::random(n, n, &mut numbers);
    // Without pivots, the diagonal must outweigh the rest.
    let mut tile = a.tile_mut();
    (0..n).for_each(|i| tile.row(i)[i] = n as f64);
    let x = numbers.reals(n);
    let expected = a.tile().times(&x);
    rayon::scope(|_| decompose(&mut a.tile_mut(), cutoff.max(1)));
    close(&times_factors(a.tile(), &x), &expected)
}

fn decompose(a: &mut TileMut<'_>, cutoff: usize) {
    if a.rows() <= cutoff {
        return decompose_tile(a);
    }
    let [[mut first, mut right], [mut below, mut last]] = a.quarters();
    decompose(&mut first, cutoff);
    let solved = first.shared();
    rayon::join(|| solve_lower(solved, &mut right, cutoff), || solve_upper(solved, &mut below, cutoff));
    reduce(&mut last, below.shared(), right.shared(), cutoff);
    decompose(&mut last, cutoff);
}

fn decompose_tile(a: &mut TileMut<'_>) {
    for k in 0..a.rows() {
        for i in k + 1..a.rows() {
            let (row, other) = a.two_rows(k, i);
            other[k] /= row[k];
            let factor = other[k];
            add(&mut other[k + 1..], -factor, &row[k + 1..]);
        }
    }
}

/// `b` becomes the X for which `l · X = b`.
fn solve_lower(l: Tile<'_>, b: &mut TileMut<'_>, cutoff: usize) {
    if b.columns() > cutoff {
        let [mut left, mut right] = b.halves_by_columns();
        rayon::join(|| solve_lower(l, &mut left, cutoff), || solve_lower(l, &mut right, cutoff));
    } else if l.rows() > cutoff {
        let [[first, _], [below, last]] = l.quarters();
        let [mut top, mut bottom] = b.halves_by_rows();
        solve_lower(first, &mut top, cutoff);
        reduce(&mut bottom, below, top.shared(), cutoff);
        solve_lower(last, &mut bottom, cutoff);
    } else {
        for i in 1..l.rows() {
            for k in 0..i {
                let (row, other) = b.two_rows(k, i);
                add(other, -l.row(i)[k], row);
            }
        }
    }
}

/// `b` becomes the X for which `X · u = b`.
fn solve_upper(u: Tile<'_>, b: &mut TileMut<'_>, cutoff: usize) {
    if b.rows() > cutoff {
        let [mut top, mut bottom] = b.halves_by_rows();
        rayon::join(|| solve_upper(u, &mut top, cutoff), || solve_upper(u, &mut bottom, cutoff));
    } else if u.rows() > cutoff {
        let [[first, right], [_, last]] = u.quarters();
        let [mut left, mut rest] = b.halves_by_columns();
        solve_upper(first, &mut left, cutoff);
        reduce(&mut rest, left.shared(), right, cutoff);
        solve_upper(last, &mut rest, cutoff);
    } else {
        for i in 0..b.rows() {
            let row = b.row(i);
            for k in 0..u.rows() {
                row[k] /= u.row(k)[k];
                let factor = row[k];
                add(&mut row[k + 1..], -factor, &u.row(k)[k + 1..]);
            }
        }
    }
}

/// `c -= a · b`.
fn reduce(c: &mut TileMut<'_>, a: Tile<'_>, b: Tile<'_>, cutoff: usize) {
    if c.rows().max(c.columns()) <= cutoff {
        add_product(c, -1.0, a, b);
    } else if c.rows() >= c.columns() {
        let [mut top, mut bottom] = c.halves_by_rows();
        let [above, below] = a.halves_by_rows();
        rayon::join(|| reduce(&mut top, above, b, cutoff), || reduce(&mut bottom, below, b, cutoff));
    } else {
        let [mut first, mut second] = c.halves_by_columns();
        let [left, right] = b.halves_by_columns();
        rayon::join(|| reduce(&mut first, a, left, cutoff), || reduce(&mut second, a, right, cutoff));
    }
}

/// `L·(U·x)`.
fn times_factors(factors: Tile<'_>, x: &[f64]) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let upper: Vec<f64> = (0..x.len()).map(|i| dot(&factors.row(i)[i..], &x[i..])).collect();
    (0..x.len()).map(|i| upper[i] + dot(&factors.row(i)[..i], &upper)).collect()
}
