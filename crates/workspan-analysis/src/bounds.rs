//! What work and span say about the speedup on any number of processors.
//!
//! With `T` for what one processor takes, work and time blocked, `S` for the span, and times on `P` processors:
//!
//! | law | says |
//! |---|---|
//! | work law | no schedule is shorter than `T / P` |
//! | span law | none is shorter than `S` |
//! | Brent's theorem | no greedy schedule is longer than `T / P + S (1 - 1/P)` |
//!
//! A speedup is `T` over the time. A greedy schedule leaves no processor idle while a strand is ready, and pays nothing for
//! moving work: so the truth may be below the lower bound, by what stealing costs. A strand that is blocked holds its
//! processor.

use workspan_model::Nanos;

/// Between what the speedup of a greedy schedule lies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Processors.
    pub processors: u32,
    /// At least.
    pub least: f64,
    /// At most.
    pub most: f64,
}

/// Powers of two for which bounds are reported: up to 1024.
pub const POWERS: u32 = 11;

/// No schedule of this number of processors is shorter, by the work law: rounded up.
pub fn work_law(serial: Nanos, processors: u32) -> Nanos {
    let p = i64::from(processors.max(1));
    Nanos(serial.0.div_euclid(p) + i64::from(serial.0.rem_euclid(p) != 0))
}

/// No greedy schedule of this number of processors is longer, by Brent's theorem: rounded up.
pub fn brent(serial: Nanos, span: Nanos, processors: u32) -> Nanos {
    work_law(serial, processors) + span - Nanos(span.0 / i64::from(processors.max(1)))
}

/// The bounds on a number of processors, which are not rounded. Without anything to run all are zero.
pub fn bounds(serial: Nanos, span: Nanos, processors: u32) -> Bounds {
    let (serial, span) = (serial.as_f64(), span.as_f64());
    if serial <= 0.0 || processors == 0 {
        return Bounds { processors, ..Bounds::default() };
    }
    let p = f64::from(processors);
    let (longest, shortest) = (serial / p + span * (1.0 - 1.0 / p), (serial / p).max(span));
    Bounds { processors, least: serial / longest, most: serial / shortest }
}

/// The bounds on 1, 2, 4 … 1024 processors.
pub fn curve(serial: Nanos, span: Nanos) -> [Bounds; POWERS as usize] {
    std::array::from_fn(|power| bounds(serial, span, 1 << power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(serial: i64, span: i64, processors: u32, least: f64, most: f64) {
        let found = bounds(Nanos(serial), Nanos(span), processors);
        assert!((found.least - least).abs() < 1e-9 && (found.most - most).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_laws_hold() {
        // All of it serial.
        check(100, 100, 8, 1.0, 1.0);
        // Ten at a time.
        check(1_000, 100, 1, 1.0, 1.0);
        check(1_000, 100, 10, 1_000.0 / 190.0, 10.0);
        check(1_000, 100, 1_000, 1_000.0 / 100.9, 10.0);
        check(0, 0, 8, 0.0, 0.0);
        check(100, 10, 0, 0.0, 0.0);
    }
}
