//! A hash that is the same on every machine and in every version: FNV-1a, for handles that people and scripts keep.

/// What has been hashed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(u64);

impl Hash {
    /// Of nothing.
    pub const fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Hash {
        let mut hash = Hash::new();
        hash.feed(bytes);
        hash
    }

    /// More bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// All of it.
    pub fn long(self) -> u64 {
        self.0
    }

    /// Half of it, with something of the other half: for handles that people type.
    pub fn short(self) -> u32 {
        u32::try_from((self.0 ^ self.0 >> 32) & 0xffff_ffff).unwrap_or(0)
    }
}

impl Default for Hash {
    fn default() -> Hash {
        Hash::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_one() {
        // From the test vectors of its authors.
        let known = [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)];
        for (text, hash) in known {
            assert_eq!(Hash::of(text.as_bytes()).long(), hash, "{text}");
        }
    }
}
