//! Numbers and texts in files: LEB128 for integers (zigzag for signed), length and UTF-8 for texts.

/// Appends to a buffer.
#[derive(Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// An unsigned number: seven bits a byte, lowest first, the top bit set in all but the last.
    pub fn unsigned(&mut self, mut value: u64) -> &mut Encoder {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        #[expect(clippy::cast_possible_truncation, reason = "seven bits")]
        self.bytes.push(value as u8);
        self
    }

    /// A signed number: 0, -1, 1, -2… become 0, 1, 2, 3….
    pub fn signed(&mut self, value: i64) -> &mut Encoder {
        #[expect(clippy::cast_sign_loss, reason = "zigzag")]
        self.unsigned(((value << 1) ^ (value >> 63)) as u64)
    }

    /// A text.
    pub fn text(&mut self, value: &str) -> &mut Encoder {
        self.unsigned(value.len() as u64);
        self.bytes.extend_from_slice(value.as_bytes());
        self
    }
}

/// Takes from a buffer. `None` means that the buffer ended or made no sense; the decoder is then useless.
#[derive(Debug)]
pub struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Starts at the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { rest: bytes }
    }

    /// True at the end.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// An unsigned number.
    pub fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0u64;
        let mut shift = 0;
        loop {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift += 7;
            if shift > 63 {
                return None;
            }
        }
    }

    /// A signed number.
    pub fn signed(&mut self) -> Option<i64> {
        let raw = self.unsigned()?;
        #[expect(clippy::cast_possible_wrap, reason = "zigzag")]
        Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    /// A number that must fit 32 bits.
    pub fn small(&mut self) -> Option<u32> {
        u32::try_from(self.unsigned()?).ok()
    }

    /// A text.
    pub fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.unsigned()?).ok()?;
        if length > self.rest.len() {
            return None;
        }
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(std::str::from_utf8(text).ok()?.to_owned())
    }

    /// A count of things that take at least one byte each, so that it bounds an allocation.
    pub fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.unsigned()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_survive() {
        let signed = [0, -1, 1, i64::MIN, i64::MAX, 300];
        let mut e = Encoder::default();
        for v in signed {
            e.signed(v);
        }
        e.unsigned(u64::MAX).text("ä");
        let bytes = e.into_bytes();
        let mut d = Decoder::new(&bytes);
        for v in signed {
            assert_eq!(d.signed(), Some(v));
        }
        assert_eq!(d.unsigned(), Some(u64::MAX));
        assert_eq!(d.text().as_deref(), Some("ä"));
        assert!(d.is_empty());
        assert_eq!(d.unsigned(), None);
    }

    #[test]
    fn overlong_numbers_and_counts_are_refused() {
        assert_eq!(Decoder::new(&[0xff; 11]).unsigned(), None);
        assert_eq!(Decoder::new(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]).unsigned(), None);
        assert_eq!(Decoder::new(&[100, 1]).count(), None);
        assert_eq!(Decoder::new(&[5, b'a']).text(), None);
    }
}
