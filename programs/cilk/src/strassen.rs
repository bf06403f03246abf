//! Product of square matrices by Strassen: seven products of sums of quarters, beside each other, each a task that also
//! makes its sums; the quarters of the result are sums of the products, made serially. Matrices of no more than cutoff
//! rows, or of an odd number of them, are left to serial loops. Size is the number of rows.
//!
//! Work Θ(n^log₂7), span Θ(n²) for the sums.

use crate::input::Numbers;
use crate::tile::{add, add_product, is_product, Matrix, Tile, TileMut};

/// What a product takes of each quarter of A, and of each of B.
const PRODUCTS: [([f64; 4], [f64; 4]); 7] = [
    ([1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]),
    ([0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]),
    ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, -1.0]),
    ([0.0, 0.0, 0.0, 1.0], [-1.0, 0.0, 1.0, 0.0]),
    ([1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]),
    ([-1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]),
    ([0.0, 1.0, 0.0, -1.0], [0.0, 0.0, 1.0, 1.0]),
];

/// What a quarter of the result takes of each product.
const SUMS: [[f64; 7]; 4] = [
    [1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    [1.0, -1.0, 1.0, 0.0, 0.0, 1.0, 0.0],
];

pub fn run(n: usize, cutoff: usize) -> bool {
    let mut numbers = Numbers::new();
    let (a, b) = (Matrix::random(n, n, &mut numbers), Matrix::random(n, n, &mut numbers));
    let mut c = Matrix::zero(n, n);
    rayon::scope(|_| multiply(&mut c.tile_mut(), a.tile(), b.tile(), cutoff.max(1)));
    is_product(c.tile(), a.tile(), b.tile(), &mut numbers)
}

/// `c += a · b`.
fn multiply(c: &mut TileMut<'_>, a: Tile<'_>, b: Tile<'_>, cutoff: usize) {
    let n = c.rows();
    if n <= cutoff || n % 2 == 1 {
        return add_product(c, 1.0, a, b);
    }
    let mut products = [(); 7].map(|()| Matrix::zero(n / 2, n / 2));
    rayon::scope(|scope| {
        for (product, (of_a, of_b)) in products.iter_mut().zip(PRODUCTS) {
            scope.spawn(move |_| {
                let (a, b) = (sum(a, of_a), sum(b, of_b));
                multiply(&mut product.tile_mut(), a.tile(), b.tile(), cutoff);
            });
        }
    });
    for (mut quarter, factors) in c.quarters().into_iter().flatten().zip(SUMS) {
        for (product, factor) in products.iter().zip(factors) {
            add_tile(&mut quarter, factor, product.tile());
        }
    }
}

/// A sum of quarters.
fn sum(tile: Tile<'_>, factors: [f64; 4]) -> Matrix {
    let mut sum = Matrix::zero(tile.rows() / 2, tile.rows() / 2);
    for (quarter, factor) in tile.quarters().into_iter().flatten().zip(factors) {
        add_tile(&mut sum.tile_mut(), factor, quarter);
    }
    sum
}

fn add_tile(to: &mut TileMut<'_>, factor: f64, from: Tile<'_>) {
    for i in (0..to.rows()).filter(|_| factor != 0.0) {
        add(to.row(i), factor, from.row(i));
    }
}
