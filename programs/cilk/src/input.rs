//! Inputs: numbers without order, the same in each run and in C.

/// Numbers by a linear congruence.
pub struct Numbers(u64);

impl Numbers {
    /// From the first one on.
    pub fn new() -> Numbers {
        Numbers(1)
    }

    /// The next number, of 44 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    /// The next number, from -1 to 1.
    pub fn real(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 43) as f64 - 1.0
    }

    /// This number of of them.
    pub fn reals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.real()).collect()
    }
}

/// True if two results are equal but for rounding. What is no number is equal to nothing.
pub fn close(found: &[f64], expected: &[f64]) -> bool {
    let largest = expected.iter().fold(1.0, |largest: f64, x| largest.max(x.abs()));
    found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= 1e-9 * largest)
}
