//! Cholesky factorisation of a dense matrix: A = Uᵗ·U for an upper triangle U, in place.
//!
//! By quarters: the first is factored; the one to its right is solved for it, in strips of columns beside each other;
//! the last is reduced by the product of that with itself, in tiles beside each other, and factored. Tiles of no more
//! than cutoff rows and columns are left to serial loops. Size is the number of rows.
//!
//! Work Θ(n³), span Θ(n log² n).

use crate::input::{close, Numbers};
use crate::tile::{add, Matrix, Tile, TileMut};

pub fn run(n: usize, cutoff: usize) -> bool {
    let mut numbers = Numbers::new();
    let mut a = Matrix::random(n, n, &mut numbers);
    make_definite(&mut a.tile_mut());
    let x = numbers.reals(n);
    let expected = a.tile().times(&x);
    rayon::scope(|_| factor(&mut a.tile_mut(), cutoff.max(1)));
    close(&times_factors(a.tile(), &x), &expected)
}

/// Symmetric, with a diagonal that outweighs the rest.
fn make_definite(a: &mut TileMut<'_>) {
    let n = a.rows();
    for i in 0..n {
        a.row(i)[i] = n as f64;
        for j in i + 1..n {
            let (upper, lower) = a.two_rows(i, j);
            lower[i] = upper[j];
        }
    }
}

fn factor(a: &mut TileMut<'_>, cutoff: usize) {
    if a.rows() <= cutoff {
        return factor_tile(a);
    }
    let [[mut first, mut right], [_, mut last]] = a.quarters();
    factor(&mut first, cutoff);
    solve(first.shared(), &mut right, cutoff);
    reduce_upper(&mut last, right.shared(), cutoff);
    factor(&mut last, cutoff);
}

fn factor_tile(a: &mut TileMut<'_>) {
    for k in 0..a.rows() {
        let row = &mut a.row(k)[k..];
        let root = row[0].sqrt();
        row.iter_mut().for_each(|x| *x /= root);
        for i in k + 1..a.rows() {
            let (row, other) = a.two_rows(k, i);
            add(&mut other[i..], -row[i], &row[i..]);
        }
    }
}

/// `b` becomes the X for which `uᵗ · X = b`.
fn solve(u: Tile<'_>, b: &mut TileMut<'_>, cutoff: usize) {
    if b.columns() > cutoff {
        let [mut left, mut right] = b.halves_by_columns();
        rayon::join(|| solve(u, &mut left, cutoff), || solve(u, &mut right, cutoff));
    } else if u.rows() > cutoff {
        let [[first, right], [_, last]] = u.quarters();
        let [mut top, mut bottom] = b.halves_by_rows();
        solve(first, &mut top, cutoff);
        reduce(&mut bottom, right, top.shared(), cutoff);
        solve(last, &mut bottom, cutoff);
    } else {
        for k in 0..u.rows() {
            b.row(k).iter_mut().for_each(|x| *x /= u.row(k)[k]);
            for i in k + 1..u.rows() {
                let (row, other) = b.two_rows(k, i);
                add(other, -u.row(k)[i], row);
            }
        }
    }
}

/// `c -= aᵗ · a`, of which only the upper triangle matters.
fn reduce_upper(c: &mut TileMut<'_>, a: Tile<'_>, cutoff: usize) {
    if c.rows() <= cutoff {
        return reduce(c, a, a, cutoff);
    }
    let [[mut first, mut upper], [_, mut last]] = c.quarters();
    let [left, right] = a.halves_by_columns();
    rayon::join(
        || reduce(&mut upper, left, right, cutoff),
        || rayon::join(|| reduce_upper(&mut first, left, cutoff), || reduce_upper(&mut last, right, cutoff)),
    );
}

/// `c -= aᵗ · b`.
fn reduce(c: &mut TileMut<'_>, a: Tile<'_>, b: Tile<'_>, cutoff: usize) {
    if c.rows().max(c.columns()) <= cutoff {
        for k in 0..a.rows() {
            for (i, a) in a.row(k).iter().enumerate() {
                add(c.row(i), -a, b.row(k));
            }
        }
    } else if c.rows() >= c.columns() {
        let [mut top, mut bottom] = c.halves_by_rows();
        let [left, right] = a.halves_by_columns();
        rayon::join(|| reduce(&mut top, left, b, cutoff), || reduce(&mut bottom, right, b, cutoff));
    } else {
        let [mut first, mut second] = c.halves_by_columns();
        let [left, right] = b.halves_by_columns();
        rayon::join(|| reduce(&mut first, a, left, cutoff), || reduce(&mut second, a, right, cutoff));
    }
}

/// `Uᵗ·(U·x)`.
fn times_factors(upper: Tile<'_>, x: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; x.len()];
    for i in 0..x.len() {
        let row = &upper.row(i)[i..];
        let sum: f64 = row.iter().zip(&x[i..]).map(|(u, x)| u * x).sum();
        add(&mut product[i..], sum, row);
    }
    product
}
