//! What the decrementer of a `limiter_node` takes, as the name of its class says: a number, or messages that say no more than that they come.

use core::ffi::c_void;
use core::ptr;

/// A number that a decrementer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    bytes: usize,
    is_signed: bool,
}

impl Number {
    /// The number in this message.
    ///
    /// # Safety
    ///
    /// The message is such a number.
    pub unsafe fn read(self, message: *const c_void) -> i64 {
        let mut bytes = [0; 8];
        // SAFETY: the caller's promise.
        unsafe { ptr::copy_nonoverlapping(message.cast::<u8>(), bytes.as_mut_ptr(), self.bytes) };
        let unused = 64 - 8 * self.bytes as u32;
        let bits = i64::from_ne_bytes(bytes) << unused;
        if self.is_signed {
            bits >> unused
        } else {
            (bits.cast_unsigned() >> unused).try_into().unwrap_or(i64::MAX)
        }
    }
}

/// True for the class of such a node.
pub fn is_limiter(name: &[u8]) -> bool {
    ["N3tbb6detail2d112limiter_nodeI", "N3tbb6detail2d212limiter_nodeI"]
        .iter()
        .any(|own| name.starts_with(own.as_bytes()))
}

/// What the decrementer of this class takes, if it is one: a number, or messages that say no more than that they come.
pub fn decrementer(name: &[u8]) -> Option<Option<Number>> {
    let own = ["N3tbb6detail2d119threshold_regulatorI", "N3tbb6detail2d219threshold_regulatorI"];
    if !own.iter().any(|own| name.starts_with(own.as_bytes())) {
        return None;
    }
    let end = name.iter().position(|byte| *byte == 0)?;
    // The second argument of the template is before the last, which is `void`.
    let kind = name[..end].strip_suffix(b"vEE")?.last()?;
    let number = |bytes, is_signed| Some(Some(Number { bytes, is_signed }));
    match kind {
        b'_' | b'E' => Some(None),
        b'a' | b'c' => number(1, true),
        b'h' | b'b' => number(1, false),
        b's' => number(2, true),
        b't' => number(2, false),
        b'i' => number(4, true),
        b'j' => number(4, false),
        b'l' | b'x' => number(8, true),
        b'm' | b'y' => number(8, false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_nodes() {
        let name = |text: &str| {
            let mut name = [0; 100];
            name[..text.len()].copy_from_slice(text.as_bytes());
            name
        };
        assert!(is_limiter(&name("N3tbb6detail2d112limiter_nodeIiNS1_12continue_msgEEE")));
        assert!(!is_limiter(&name("N3tbb6detail2d110queue_nodeIiEE")));
        let regulator =
            |arguments: &str| decrementer(&name(&format!("N3tbb6detail2d119threshold_regulatorI{arguments}EE")));
        assert_eq!(regulator("NS1_12limiter_nodeIiNS1_12continue_msgEEES3_v"), Some(None));
        assert_eq!(regulator("NS1_12limiter_nodeIiiEEiv"), Some(Some(Number { bytes: 4, is_signed: true })));
        assert_eq!(regulator("NS1_12limiter_nodeIdmEEmv"), Some(Some(Number { bytes: 8, is_signed: false })));
        assert_eq!(decrementer(&name("N3tbb6detail2d112limiter_nodeIiiEE")), None);
    }

    #[test]
    fn numbers() {
        let read = |bytes, is_signed, words: [u8; 8]| {
            // SAFETY: there are eight bytes.
            unsafe { Number { bytes, is_signed }.read(words.as_ptr().cast()) }
        };
        assert_eq!(read(1, true, [0xff, 1, 0, 0, 0, 0, 0, 0]), -1);
        assert_eq!(read(1, false, [0xff, 1, 0, 0, 0, 0, 0, 0]), 255);
        assert_eq!(read(4, true, [2, 0, 0, 0, 9, 9, 9, 9]), 2);
        assert_eq!(read(8, false, [0xff; 8]), i64::MAX);
    }
}
