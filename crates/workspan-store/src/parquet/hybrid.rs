//! Runs of one number, and packed numbers, in turn: levels, and positions in dictionaries.

use super::bits;
use super::thrift::Cursor;

/// What `put` receives: numbers one by one, or the same one several times.
pub(super) enum Run {
    One(u64),
    Many(u64, usize),
}

/// Decodes `count` numbers of `width` bits.
pub(super) fn decode(bytes: &[u8], width: u32, count: usize, mut put: impl FnMut(Run) -> Option<()>) -> Option<()> {
    if width > 32 {
        return None;
    }
    let mut cursor = Cursor::new(bytes);
    let mut left = count;
    while left > 0 {
        let head = cursor.unsigned()?;
        let length = usize::try_from(head >> 1).ok()?;
        if head & 1 == 0 {
            let value = cursor.take(width.div_ceil(8) as usize)?;
            let value = value.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            let length = length.min(left);
            // Nothing comes of it, and it would go on for as long as there are bytes.
            if length == 0 {
                return None;
            }
            put(Run::Many(value, length))?;
            left -= length;
        } else {
            // Groups of eight; the last one may be cut short.
            let packed = length.checked_mul(width as usize)?.min(cursor.rest().len());
            let numbers = length.checked_mul(8)?.min(left);
            if numbers == 0 {
                return None;
            }
            let mut fits = Some(());
            bits::unpack(cursor.take(packed)?, width, numbers, |value| {
                if fits.is_some() {
                    fits = put(Run::One(value));
                }
            })?;
            fits?;
            left -= numbers;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], width: u32, count: usize) -> Option<Vec<u64>> {
        let mut found = Vec::new();
        decode(bytes, width, count, |run| {
            match run {
                Run::One(value) => found.push(value),
                Run::Many(value, count) => found.extend(std::iter::repeat_n(value, count)),
            }
            Some(())
        })?;
        Some(found)
    }

    #[test]
    fn runs_and_packed_numbers() {
        // Three times 5, then the numbers from 0 to 7 in three bits each.
        let bytes = [0x06, 0x05, 0x03, 0x88, 0xc6, 0xfa];
        assert_eq!(all(&bytes, 3, 11), Some(vec![5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7]));
        assert_eq!(all(&bytes, 3, 4), Some(vec![5, 5, 5, 0]));
        assert_eq!(all(&bytes, 3, 12), None);
        assert_eq!(all(&[0, 0, 0, 0], 3, 1), None);
        assert_eq!(all(&[0xff; 20], 32, 9), None);
    }
}
