//! How many bytes functions of the C library touch: what the pass asks where their arguments or results say.
//!
//! **Invariant:** nothing is looked at but what the function looks at itself.

use core::ffi::c_int;

/// Bytes of a text with its end, or as many as there may be.
///
/// # Safety
/// The text can be read as far.
#[no_mangle]
pub unsafe extern "C" fn __workspan_extent_text(text: *const u8, most: usize) -> usize {
    // SAFETY: as this function's.
    unsafe { length(text, most) }.map_or(0, |length| (length + 1).min(most))
}

/// Bytes that a copy of at most N characters of a text has, with the end that is added.
///
/// # Safety
/// The text can be read as far.
#[no_mangle]
pub unsafe extern "C" fn __workspan_extent_copy(text: *const u8, most: usize) -> usize {
    // SAFETY: as this function's.
    unsafe { length(text, most) }.map_or(0, |length| length + 1)
}

/// Bytes that `snprintf` has written, by its result.
#[no_mangle]
pub extern "C" fn __workspan_extent_printed(result: c_int, most: usize) -> usize {
    usize::try_from(result).map_or(0, |length| (length + 1).min(most))
}

/// Bytes that `memccpy` has copied, by its result.
#[no_mangle]
pub extern "C" fn __workspan_extent_found(begin: usize, result: usize, most: usize) -> usize {
    if result == 0 {
        most
    } else {
        result.wrapping_sub(begin)
    }
}

unsafe fn length(text: *const u8, most: usize) -> Option<usize> {
    if text.is_null() {
        return None;
    }
    let is_end = |at: &usize| {
        // SAFETY: each byte but the first comes behind one that is not the end.
        let byte = unsafe { text.add(*at) };
        // SAFETY: as above.
        unsafe { byte.read() == 0 }
    };
    Some((0..most).find(is_end).unwrap_or(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_those_of_the_c_library() {
        let text = c"abc".as_ptr().cast();
        let of = |most| {
            // SAFETY: a text with an end.
            let own = unsafe { __workspan_extent_text(text, most) };
            // SAFETY: as above.
            (own, unsafe { __workspan_extent_copy(text, most) })
        };
        assert_eq!([0, 2, 3, 4, 9].map(of), [(0, 1), (2, 3), (3, 4), (4, 4), (4, 4)]);
        // SAFETY: nothing is read.
        assert_eq!(unsafe { __workspan_extent_text(core::ptr::null(), usize::MAX) }, 0);
        assert_eq!([-1, 0, 5, 8].map(|result| __workspan_extent_printed(result, 6)), [0, 1, 6, 6]);
        assert_eq!(__workspan_extent_printed(5, 0), 0);
        assert_eq!([__workspan_extent_found(100, 104, 9), __workspan_extent_found(100, 0, 9)], [4, 9]);
    }
}
