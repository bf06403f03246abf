//! Histograms of task sizes.

use crate::units::Nanos;

/// Buckets into which sizes are counted: four to a power of two, those from 2^41 on in one, as collectors do.
pub const BUCKETS: usize = 160;

/// The bucket of a value, below [`BUCKETS`].
#[inline]
pub fn bucket(value: u64) -> usize {
    if value < 4 {
        return usize::from(value.to_le_bytes()[0]);
    }
    let exponent = value.ilog2();
    let quarter = (value >> (exponent - 2)) & 3;
    (((exponent as usize - 1) << 2) + usize::from(quarter.to_le_bytes()[0])).min(BUCKETS - 1)
}

/// First value of a bucket below [`BUCKETS`], or the end of the last one.
fn low(index: usize) -> Nanos {
    let within = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    Nanos(if index < 4 { within(index) } else { within(4 + index % 4) << (index / 4 - 1) })
}

/// How many values fell into which interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<Bucket>,
}

/// An interval and its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value.
    pub low: Nanos,
    /// First value above it.
    pub high: Nanos,
    /// Values within.
    pub count: u64,
}

impl Histogram {
    /// Without values.
    pub const EMPTY: Histogram = Histogram { buckets: Vec::new() };

    /// From buckets in ascending order; empty ones are excluded.
    pub fn new(buckets: impl IntoIterator<Item = Bucket>) -> Histogram {
        Histogram { buckets: buckets.into_iter().filter(|b| b.count > 0).collect() }
    }

    /// From counts by [`bucket`].
    pub fn of_counts(counts: &[u64; BUCKETS]) -> Histogram {
        Histogram::new(counts.iter().enumerate().map(|(at, count)| Bucket {
            low: low(at),
            high: low(at + 1),
            count: *count,
        }))
    }

    /// The buckets that are not empty, ascending.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|b| b.count).sum()
    }

    /// The value below which the share `q` of all values lies, interpolated within its bucket. Error: at most the
    /// width of a bucket, a quarter of the value.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts, for a quantile")]
        let rank = q.clamp(0.0, 1.0) * (count - 1) as f64;
        let mut before = 0.0;
        for bucket in &self.buckets {
            #[expect(clippy::cast_precision_loss, reason = "counts, for a quantile")]
            let within = bucket.count as f64;
            if rank < before + within {
                let share = (rank - before + 0.5) / within;
                // A bucket of one value holds exactly that value.
                let width = (bucket.high - bucket.low).0 - 1;
                #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "within a bucket")]
                let offset = (share * width as f64) as i64;
                return Some(Nanos(bucket.low.0 + offset));
            }
            before += within;
        }
        self.buckets.last().map(|b| Nanos(b.high.0 - 1))
    }

    /// The same without its `count` smallest values.
    pub fn without_smallest(&self, count: u64) -> Histogram {
        let mut left = count;
        Histogram::new(self.buckets.iter().map(|bucket| {
            let taken = left.min(bucket.count);
            left -= taken;
            Bucket { count: bucket.count - taken, ..*bucket }
        }))
    }

    /// Adds the counts of `other`, whose buckets are cut the same way.
    pub fn merge(&mut self, other: &Histogram) {
        for bucket in &other.buckets {
            match self.buckets.binary_search_by_key(&bucket.low, |b| b.low) {
                Ok(at) => self.buckets[at].count += bucket.count,
                Err(at) => self.buckets.insert(at, *bucket),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(low: i64, high: i64, count: u64) -> Bucket {
        Bucket { low: Nanos(low), high: Nanos(high), count }
    }

    #[test]
    fn quantiles_lie_in_their_bucket() {
        let h = Histogram::new([bucket(3, 4, 5), bucket(8, 10, 0), bucket(16, 20, 5)]);
        assert_eq!(h.quantile(0.0), Some(Nanos(3)));
        assert_eq!(h.quantile(0.4), Some(Nanos(3)));
        assert!((16..20).contains(&h.quantile(0.9).unwrap().0));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn a_value_lies_within_its_bucket() {
        for value in (0..5000).chain((3..41).flat_map(|e| [(1u64 << e) - 1, 1 << e, (1 << e) + 1])) {
            let at = super::bucket(value);
            let value = i64::try_from(value).unwrap();
            let last = at == BUCKETS - 1;
            assert!(super::low(at).0 <= value && (last || value < super::low(at + 1).0), "{value} in {at}");
        }
        assert_eq!(super::bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_smallest_go_first() {
        let h = Histogram::new([bucket(3, 4, 5), bucket(8, 10, 2)]);
        assert_eq!(h.without_smallest(6).buckets(), [bucket(8, 10, 1)]);
    }

    #[test]
    fn merging_adds_counts() {
        let mut h = Histogram::new([bucket(3, 4, 5)]);
        h.merge(&Histogram::new([bucket(2, 3, 1), bucket(3, 4, 2)]));
        assert_eq!(h.buckets(), [bucket(2, 3, 1), bucket(3, 4, 7)]);
    }
}
