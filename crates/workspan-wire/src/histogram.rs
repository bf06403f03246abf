//! Log-linear buckets for task sizes: four to every power of two, so a bucket is at most 25 % wide.
//!
//! Values 0..=3 have a bucket each; a value `v >= 4` with highest bit `e` falls into the quarter of `[2^e, 2^(e+1))`
//! that its next two bits name. Everything from 2^41 ticks (about ten minutes) on shares the last bucket.

/// Number of buckets.
pub const BUCKETS: usize = 160;

/// The bucket of a task of `value` ticks.
#[inline(always)]
pub fn bucket(value: u64) -> usize {
    let v = value | 1;
    let exponent = 63 - v.leading_zeros();
    let index = if exponent < 2 {
        // Below 4.
        (value & 3) as usize
    } else {
        let quarter = (value >> (exponent - 2)) & 3;
        ((exponent as usize - 1) << 2) + quarter as usize
    };
    if index < BUCKETS {
        index
    } else {
        BUCKETS - 1
    }
}

/// The values `[low, high)` of bucket `index`.
pub fn bounds(index: usize) -> (u64, u64) {
    if index < 4 {
        return (index as u64, index as u64 + 1);
    }
    let exponent = (index >> 2) + 1;
    let quarter = (index & 3) as u64;
    let width = 1u64 << (exponent - 2);
    let low = (4 + quarter) * width;
    (low, low + width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_within_its_bucket() {
        for value in (0..5000).chain((3..40).flat_map(|e| [(1u64 << e) - 1, 1 << e, (1 << e) + 1])) {
            let (low, high) = bounds(bucket(value));
            assert!(low <= value && value < high, "{value} not in [{low}, {high})");
        }
    }

    #[test]
    fn buckets_are_contiguous() {
        for i in 1..BUCKETS {
            assert_eq!(bounds(i - 1).1, bounds(i).0, "bucket {i}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }
}
