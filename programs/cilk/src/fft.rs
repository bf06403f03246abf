//! Fast Fourier transform by Cooley and Tukey: the transforms of the even and of the odd elements, beside each other,
//! then the sums and differences of the two, in parts beside each other. Up to cutoff elements no tasks are made. Size
//! is the number of elements, made a power of two.
//!
//! Work Θ(n log n), span Θ(log² n).

use crate::input::Numbers;

/// A complex number.
#[derive(Clone, Copy, Default)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    /// The point at this share of the way round the unit circle, clockwise.
    fn root(share: f64) -> Complex {
        let (sin, cos) = (-std::f64::consts::TAU * share).sin_cos();
        Complex { re: cos, im: sin }
    }

    fn plus(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }

    fn minus(self, other: Complex) -> Complex {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }

    fn times(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    fn norm(self) -> f64 {
        self.re * self.re + self.im * self.im
    }
}

pub fn run(size: usize, cutoff: usize) -> bool {
    let n = size.next_power_of_two();
    let mut numbers = Numbers::new();
    let input: Vec<Complex> = (0..n).map(|_| Complex { re: numbers.real(), im: numbers.real() }).collect();
    let roots: Vec<Complex> = (0..n / 2).map(|i| Complex::root(i as f64 / n as f64)).collect();
    let mut output = vec![Complex::default(); n];
    rayon::scope(|_| transform(&input, &mut output, 1, &roots, cutoff));
    is_transform(&output, &input)
}

/// The transform of every `stride`-th element of `input`; `roots` are those of the whole.
fn transform(input: &[Complex], output: &mut [Complex], stride: usize, roots: &[Complex], cutoff: usize) {
    let n = output.len();
    if n == 1 {
        output[0] = input[0];
        return;
    }
    let (even, odd) = output.split_at_mut(n / 2);
    let odd_input = &input[stride..];
    if n > cutoff {
        rayon::join(
            || transform(input, even, 2 * stride, roots, cutoff),
            || transform(odd_input, odd, 2 * stride, roots, cutoff),
        );
    } else {
        transform(input, even, 2 * stride, roots, cutoff);
        transform(odd_input, odd, 2 * stride, roots, cutoff);
    }
    combine(even, odd, stride, roots, cutoff);
}

/// Sums and differences, the odd ones turned by every `stride`-th root.
fn combine(even: &mut [Complex], odd: &mut [Complex], stride: usize, roots: &[Complex], cutoff: usize) {
    let n = even.len();
    if n > cutoff.max(1) {
        let (even, even_rest) = even.split_at_mut(n / 2);
        let (odd, odd_rest) = odd.split_at_mut(n / 2);
        rayon::join(
            || combine(even, odd, stride, roots, cutoff),
            || combine(even_rest, odd_rest, stride, &roots[n / 2 * stride..], cutoff),
        );
        return;
    }
    for ((even, odd), root) in even.iter_mut().zip(odd).zip(roots.iter().step_by(stride)) {
        let turned = odd.times(*root);
        (*even, *odd) = (even.plus(turned), even.minus(turned));
    }
}

/// Some elements are what their definition says, and all together have the energy of the input, n times.
fn is_transform(output: &[Complex], input: &[Complex]) -> bool {
    let n = input.len();
    let energy = |numbers: &[Complex]| numbers.iter().map(|x| x.norm()).sum::<f64>();
    let right = |k: usize| {
        // A polynomial at the k-th root of unity, by Horner.
        let root = Complex::root(k as f64 / n as f64);
        let expected = input.iter().rev().fold(Complex::default(), |sum, x| sum.times(root).plus(*x));
        expected.minus(output[k]).norm() <= 1e-16 * energy(output)
    };
    let same = (energy(output) / energy(input) / n as f64 - 1.0).abs() <= 1e-9;
    same && [0, 1, n / 3, n / 2, n - 1].into_iter().all(|k| right(k % n))
}
