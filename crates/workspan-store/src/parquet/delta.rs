//! Differences, packed in blocks: `DELTA_BINARY_PACKED`.

use super::bits;
use super::thrift::Cursor;

/// Decodes numbers, no more than `most`.
pub(super) fn decode(bytes: &[u8], most: usize, out: &mut Vec<i64>) -> Option<()> {
    let mut cursor = Cursor::new(bytes);
    let block: usize = cursor.unsigned()?.try_into().ok()?;
    let parts: usize = cursor.unsigned()?.try_into().ok()?;
    let count: usize = cursor.unsigned()?.try_into().ok()?;
    let mut value = cursor.signed()?;
    if count > most || parts == 0 || block == 0 {
        return None;
    }
    let each = block / parts;
    if !block.is_multiple_of(parts) || !each.is_multiple_of(32) {
        return None;
    }
    if count == 0 {
        return Some(());
    }
    out.push(value);
    let mut left = count - 1;
    while left > 0 {
        let least = cursor.signed()?;
        for width in cursor.take(parts)? {
            if left == 0 {
                // Parts without numbers have no bytes either.
                break;
            }
            let width = u32::from(*width);
            let packed = cursor.take((each / 8).checked_mul(width as usize)?)?;
            let now = left.min(each);
            bits::unpack(packed, width, now, |difference| {
                value = value.wrapping_add(least).wrapping_add(difference.cast_signed());
                out.push(value);
            })?;
            left -= now;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_added_up() {
        // 128 in 4 parts, 5 numbers from 7 on; differences of at least −2, with 2 bits: 3, 0, 1, 2 above.
        let mut bytes = vec![0x80, 0x01, 4, 5, 14, 3, 2, 0, 0, 0, 0b1001_0011];
        bytes.extend([0; 7]);
        let mut out = Vec::new();
        assert_eq!(decode(&bytes, 5, &mut out), Some(()));
        assert_eq!(out, [7, 8, 6, 5, 5]);
        assert_eq!(decode(&bytes, 4, &mut out), None);
        assert_eq!(decode(&bytes[..15], 5, &mut out), None);
    }
}
