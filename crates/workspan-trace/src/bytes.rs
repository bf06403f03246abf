//! Numbers and texts in bytes: variable-length integers, and a reader that takes any bytes.

/// Appends.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// What has been written.
    pub bytes: Vec<u8>,
}

impl Writer {
    /// An unsigned number: seven bits a byte, the lowest first.
    #[inline]
    pub fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push((value & 0x7f) as u8);
    }

    /// A signed number: zigzag.
    #[inline]
    pub fn signed(&mut self, value: i64) {
        self.number(zigzag(value));
    }

    /// A text with its length.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// The bytes end too early, or are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl core::fmt::Display for Malformed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the bytes end too early or are damaged")
    }
}

impl std::error::Error for Malformed {}

/// Reads what [`Writer`] wrote.
#[derive(Clone, Debug)]
pub struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    /// From the first byte.
    pub fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { rest: bytes }
    }

    /// Bytes not read yet.
    pub fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// An unsigned number.
    #[inline]
    pub fn number(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(Malformed)?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    /// An unsigned number of 32 bits.
    #[inline]
    pub fn small(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.number()?).map_err(|_| Malformed)
    }

    /// A signed number.
    #[inline]
    pub fn signed(&mut self) -> Result<i64, Malformed> {
        self.number().map(unzigzag)
    }

    /// How many things follow, each of at least one byte: no more than there are bytes.
    pub fn count(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.rest.len()).ok_or(Malformed)
    }

    /// Some bytes.
    pub fn take(&mut self, length: usize) -> Result<&'b [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// A text.
    pub fn text(&mut self) -> Result<String, Malformed> {
        let length = self.count()?;
        self.take(length).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Small numbers of either sign become small.
#[inline]
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Back.
#[inline]
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let mut writer = Writer::default();
        for number in numbers {
            writer.number(number);
            writer.signed(number.cast_signed());
        }
        writer.text("Ä");
        let mut reader = Reader::new(&writer.bytes);
        for number in numbers {
            assert_eq!(reader.number(), Ok(number));
            assert_eq!(reader.signed(), Ok(number.cast_signed()));
        }
        assert_eq!(reader.text().as_deref(), Ok("Ä"));
        assert_eq!(reader.number(), Err(Malformed));
        assert_eq!(Reader::new(&[0xff; 20]).number(), Err(Malformed));
        assert_eq!(Reader::new(&[5, b'a']).text(), Err(Malformed));
    }
}
