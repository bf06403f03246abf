//! The times of the two innermost tasks as numbers, to see how an iteration moves them.

/// All times of the innermost tasks.
#[derive(Debug, Default)]
pub struct Times {
    /// What maxima are taken of.
    pub(super) times: Vec<u64>,
    /// Work of the program at the beginnings of tasks and lines.
    pub(super) begun: Vec<u64>,
    /// What may not change.
    pub(super) shape: Vec<usize>,
}

fn moves_alike(from: &Times, to: &Times, before: (&Times, &Times)) -> bool {
    let steps = |a: &[u64], b: &[u64], c: &[u64], d: &[u64]| {
        a.len() == b.len()
            && c.len() == d.len()
            && a.len() == c.len()
            && (0..a.len()).all(|at| b[at].wrapping_sub(a[at]) == d[at].wrapping_sub(c[at]))
    };
    from.shape == to.shape
        && to.shape == before.0.shape
        && before.0.shape == before.1.shape
        && steps(&from.times, &to.times, &before.0.times, &before.1.times)
        && steps(&from.begun, &to.begun, &before.0.begun, &before.1.begun)
}

impl Times {
    /// True if the last of three moved as the one before it did.
    pub fn continues(seen: &[Times; 3]) -> bool {
        moves_alike(&seen[1], &seen[2], (&seen[0], &seen[1]))
    }

    /// True if it comes after another as the last of three comes after the one before.
    pub fn follows(&self, other: &Times, seen: &[Times; 3]) -> bool {
        moves_alike(other, self, (&seen[1], &seen[2]))
    }
}
