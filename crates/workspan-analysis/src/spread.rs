//! A quantity over several runs.

/// Median, smallest and largest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread<T> {
    /// Middle value; of an even number, the lower middle one.
    pub median: T,
    /// Smallest.
    pub low: T,
    /// Largest.
    pub high: T,
}

impl<T: Copy + Default + PartialOrd> Spread<T> {
    /// Of `values`; all default if there are none.
    pub fn of(values: impl IntoIterator<Item = T>) -> Spread<T> {
        let mut values: Vec<T> = values.into_iter().collect();
        values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        match (values.first(), values.get(values.len().saturating_sub(1) / 2), values.last()) {
            (Some(low), Some(median), Some(high)) => Spread { median: *median, low: *low, high: *high },
            _ => Spread::default(),
        }
    }

    /// True if all values are the same.
    pub fn is_single(&self) -> bool {
        self.low == self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(Spread::of([3, 1, 2]), Spread { median: 2, low: 1, high: 3 });
        assert_eq!(Spread::of([4, 1]), Spread { median: 1, low: 1, high: 4 });
        assert_eq!(Spread::<i32>::of([]), Spread::default());
    }
}
