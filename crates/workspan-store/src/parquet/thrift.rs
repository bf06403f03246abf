//! Thrift's compact protocol: structures of numbered fields.

/// Structures within structures; deeper ones are refused.
const MAX_DEPTH: u32 = 16;

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
}

/// Type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    True,
    False,
    Byte,
    /// Of any width.
    Number,
    Double,
    Bytes,
    List,
    Struct,
}

impl Kind {
    fn of(nibble: u8) -> Option<Kind> {
        Some(match nibble {
            1 => Kind::True,
            2 => Kind::False,
            3 => Kind::Byte,
            4..=6 => Kind::Number,
            7 => Kind::Double,
            8 => Kind::Bytes,
            9 | 10 => Kind::List,
            12 => Kind::Struct,
            _ => return None,
        })
    }
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// An unsigned number in LEB128.
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A signed number: 0, −1, 1, −2 are 0, 1, 2, 3.
    pub(super) fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// A signed number that is a size, or a position.
    pub(super) fn size(&mut self) -> Option<usize> {
        self.signed()?.try_into().ok()
    }

    pub(super) fn binary(&mut self) -> Option<&'a [u8]> {
        let length = self.unsigned()?.try_into().ok()?;
        self.take(length)
    }

    /// The kind of a list's elements, and how many there are: no more than bytes.
    pub(super) fn list(&mut self) -> Option<(Kind, usize)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.unsigned()?.try_into().ok()?,
            short => short.into(),
        };
        (count <= self.bytes.len()).then_some((Kind::of(head & 15)?, count))
    }

    /// Reads a structure: `field` receives number and kind of each of its fields, reads those it knows, and leaves the
    /// others, for which it returns false.
    pub(super) fn structure(&mut self, mut field: impl FnMut(&mut Self, u64, Kind) -> Option<bool>) -> Option<()> {
        self.fields(0, &mut field)
    }

    fn fields(&mut self, depth: u32, field: &mut dyn FnMut(&mut Self, u64, Kind) -> Option<bool>) -> Option<()> {
        let mut last = 0u64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            last = match head >> 4 {
                0 => self.signed()?.try_into().ok()?,
                step => last.checked_add(step.into())?,
            };
            let kind = Kind::of(head & 15)?;
            if !field(self, last, kind)? {
                self.skip(kind, depth + 1)?;
            }
        }
    }

    fn skip(&mut self, kind: Kind, depth: u32) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            Kind::True | Kind::False => {}
            Kind::Byte => _ = self.byte()?,
            Kind::Number => _ = self.unsigned()?,
            Kind::Double => _ = self.take(8)?,
            Kind::Bytes => _ = self.binary()?,
            Kind::List => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    match kind {
                        // In a list they have a byte each.
                        Kind::True | Kind::False => _ = self.byte()?,
                        _ => self.skip(kind, depth + 1)?,
                    }
                }
            }
            Kind::Struct => self.fields(depth, &mut |_, _, _| Some(false))?,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_bounded() {
        let nested = vec![0x1c; 100_000];
        assert_eq!(Cursor::new(&nested).structure(|_, _, _| Some(false)), None);
        let lists = vec![0x19; 100_000];
        assert_eq!(Cursor::new(&lists).structure(|_, _, _| Some(false)), None);
    }

    #[test]
    fn numbers_are_read() {
        assert_eq!(Cursor::new(&[0x80, 0x01]).unsigned(), Some(128));
        assert_eq!(Cursor::new(&[3]).signed(), Some(-2));
        assert_eq!(Cursor::new(&[0xff; 11]).unsigned(), None);
        assert_eq!(Cursor::new(&[0x80]).unsigned(), None);
    }
}
