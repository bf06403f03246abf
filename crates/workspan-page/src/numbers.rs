//! Whole numbers of any size as bytes: seven bits each, the lowest first; signed ones with the sign in the lowest bit.

/// Appends a number.
pub(crate) fn write(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(low(value) | 0x80);
        value >>= 7;
    }
    out.push(low(value));
}

/// Appends a signed number.
pub(crate) fn write_signed(out: &mut Vec<u8>, value: i64) {
    write(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

fn low(value: u64) -> u8 {
    value.to_le_bytes()[0] & 0x7f
}

/// Reads numbers one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'a> {
    bytes: &'a [u8],
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Numbers<'a> {
        Numbers { bytes }
    }

    /// The next number; `None` at the end, or if it is too large.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u64> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        if *first < 0x80 {
            return Some(u64::from(*first));
        }
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if *byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// The next signed number.
    #[inline]
    pub(crate) fn next_signed(&mut self) -> Option<i64> {
        let value = self.next()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The next number, if it is a 32-bit one.
    #[inline]
    pub(crate) fn next_u32(&mut self) -> Option<u32> {
        u32::try_from(self.next()?).ok()
    }

    /// This number of bytes.
    pub(crate) fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(usize::try_from(count).ok()?)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let values = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let signed = [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN];
        let mut bytes = Vec::new();
        values.iter().for_each(|value| write(&mut bytes, *value));
        signed.iter().for_each(|value| write_signed(&mut bytes, *value));
        let mut numbers = Numbers::new(&bytes);
        assert_eq!(values.map(|_| numbers.next()), values.map(Some));
        assert_eq!(signed.map(|_| numbers.next_signed()), signed.map(Some));
        assert!(numbers.is_empty() && numbers.next().is_none());
        assert_eq!(Numbers::new(&[0xff; 12]).next(), None);
    }
}
