//! Functions with which threads begin, and which say nothing of what these do: they call what they are given.
//!
//! A program that wraps `pthread_create` begins all of its threads with one function of its own, which calls a method or a
//! pointer; so do GLib, Qt and others. What the function is given says more of a thread then, where that is another function
//! ([`function_at`]); or else the call of the wrapper. Two signs, from machine code:
//!
//! * the function calls through a register or what one points to ([`runs_what_it_is_given`]): tasks of a pool, too, whose
//!   threads differ by who has created the pool;
//! * the wrapper has the function's address in its code ([`names`]): otherwise it is given the function itself, which is its
//!   name then.
//!
//! **Bias:** instructions are not decoded. What looks like such a call is one in all but rare cases; then the threads of one function
//! are listed by who has created them.
//!
//! **Cost**: once for each function with which threads begin, and once for each call of `pthread_create`.

use core::ffi::c_void;
use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a function that are looked at.
const MOST: u64 = 8192;

/// What the unwinder knows of the code at an address.
#[repr(C)]
struct Bases {
    _text: *const c_void,
    _data: *const c_void,
    function: *const c_void,
}

extern "C" {
    fn _Unwind_Find_FDE(code: *const c_void, bases: *mut Bases) -> *const u32;
}

/// True if the function calls through a register or memory that it does not name. What is known is kept.
pub fn runs_what_it_is_given(function: u64) -> bool {
    static KNOWN: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
    let slot = &KNOWN[(function >> 4) as usize % KNOWN.len()];
    let known = slot.load(Ordering::Relaxed);
    if known >> 1 == function {
        return known & 1 != 0;
    }
    let found = code_of(function).is_some_and(calls_indirectly);
    slot.store(function << 1 | u64::from(found), Ordering::Relaxed);
    found
}

/// True if `function` has the address `of` in its code before `end`.
pub fn names(function: u64, end: u64, of: u64) -> bool {
    if function == 0 || function >= end || end - function > MOST {
        return false;
    }
    // SAFETY: the unwinder says that the function which is being executed at `end` begins there.
    let code = unsafe { slice::from_raw_parts(function as *const u8, (end - function) as usize) };
    has_address(code, function, of)
}

/// The function that begins at an address, which may be that of anything: as far as the unwinder knows one there.
pub fn function_at(address: u64) -> Option<u64> {
    code_of(address).map(|_| address)
}

/// The code of a function that the unwinder knows.
pub fn code_of(function: u64) -> Option<&'static [u8]> {
    let mut bases = Bases { _text: core::ptr::null(), _data: core::ptr::null(), function: core::ptr::null() };
    // SAFETY: any address may be requested; what is found is written to `bases`.
    let entry = unsafe { _Unwind_Find_FDE(function as *const c_void, &raw mut bases) };
    if entry.is_null() || bases.function as u64 != function {
        return None;
    }
    // Length, place of the common part, begin, size: of four bytes each, as compilers write them for code of usual distances.
    // SAFETY: an entry has at least these.
    let [_, _, begin, size] = unsafe { entry.cast::<[u32; 4]>().read_unaligned() };
    let place = (entry as u64).wrapping_add(2 * size_of::<u32>() as u64);
    // Of another encoding the begin is none of four bytes, or what follows it is the rest of a distance of eight.
    if place.wrapping_add_signed(i64::from(begin as i32)) != function || size > i32::MAX as u32 {
        return None;
    }
    let length = u64::from(size).min(MOST) as usize;
    // SAFETY: code of that size begins there, as the entry says.
    Some(unsafe { slice::from_raw_parts(function as *const u8, length) })
}

/// `call` or `jmp` through a register, or through memory that is not named in the instruction.
fn calls_indirectly(code: &[u8]) -> bool {
    const GROUP: u8 = 0xff;
    let is_call = |operand: u8| matches!(operand >> 3 & 7, 2 | 4) && operand & 0xc7 != 5;
    // The last byte of a distance that the instruction before has: backwards, and by less than a megabyte, it is the same.
    let in_distance = |at: usize| {
        let byte = |back: usize| at.checked_sub(back).map_or(0, |at| code[at]);
        byte(1) >= 0xf0 && (matches!(byte(4), 0xe8 | 0xe9) || byte(5) == 0x0f && byte(4) >> 4 == 8)
    };
    let follows = |at: usize| at == 0 || code[at - 1] != GROUP || in_distance(at - 1);
    code.windows(2).enumerate().any(|(at, two)| two[0] == GROUP && is_call(two[1]) && !in_distance(at) && follows(at))
}

/// True if the address `of` is in `code`, which lies at `base`: by distance, or as a number.
fn has_address(code: &[u8], base: u64, of: u64) -> bool {
    code.windows(4).enumerate().any(|(at, four)| {
        let number = i32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        let next = base.wrapping_add(at as u64 + 4);
        next.wrapping_add_signed(i64::from(number)) == of || u64::from(number as u32) == of
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_through_pointers() {
        for (code, expected) in [
            (&[0xff, 0x13][..], true),
            (&[0xff, 0x50, 0x10], true),
            (&[0x41, 0xff, 0xd4], true),
            (&[0x48, 0x8b, 0x07, 0xff, 0x60, 0x10], true),
            // Behind a place on the stack that looks like a call.
            (&[0x48, 0x8b, 0x45, 0xe8, 0x48, 0x89, 0xc7, 0xff, 0xd2], true),
            // A call backwards, and then one.
            (&[0xe8, 0x95, 0x1e, 0xff, 0xff, 0xff, 0xd0], true),
            // By the table that the loader fills in; a push; a decrement.
            (&[0xff, 0x15, 1, 2, 3, 4], false),
            (&[0xff, 0x30], false),
            (&[0xff, 0x48, 0x08], false),
            // Calls and branches backwards, and what is behind them.
            (&[0xe8, 0x95, 0x1e, 0xff, 0xff, 0x90], false),
            (&[0xe8, 0x95, 0x1e, 0xf0, 0xff, 0x55], false),
            (&[0x0f, 0x85, 0x95, 0x1e, 0xf0, 0xff, 0x55], false),
            (&[], false),
        ] {
            assert_eq!(calls_indirectly(code), expected, "{code:x?}");
        }
    }

    #[test]
    fn addresses_in_code() {
        // lea rdx, [rip + 0x10]; mov edx, 0x401000
        assert!(has_address(&[0x48, 0x8d, 0x15, 0x10, 0, 0, 0], 0x5000, 0x5017));
        assert!(!has_address(&[0x48, 0x8d, 0x15, 0x10, 0, 0, 0], 0x5000, 0x5018));
        assert!(has_address(&[0xba, 0x00, 0x10, 0x40, 0x00], 0x5000, 0x40_1000));
    }

    /// Code of a function ends within its object, and where the entry says.
    #[test]
    fn code_is_as_long_as_the_entry_says() {
        extern "C" fn computes(number: u64) -> u64 {
            core::hint::black_box(number) * 3
        }
        let code = code_of(computes as *const () as u64).expect("the compiler writes an entry");
        assert!((2..200).contains(&code.len()), "{}", code.len());
        assert_eq!(code.as_ptr() as u64, computes as *const () as u64);
    }

    #[test]
    fn functions_of_this_program() {
        extern "C" fn computes(number: u64) -> u64 {
            core::hint::black_box(number) + 1
        }
        extern "C" fn calls(function: extern "C" fn(u64) -> u64) -> u64 {
            core::hint::black_box(function)(core::hint::black_box(3)) + 1
        }
        assert_eq!(calls(computes), 5);
        assert!(runs_what_it_is_given(calls as *const () as u64));
        assert!(runs_what_it_is_given(calls as *const () as u64), "as known");
        assert!(!runs_what_it_is_given(computes as *const () as u64));
        assert!(!runs_what_it_is_given(1));
        let here = computes as *const () as u64;
        assert_eq!([here, here + 1, 0, 1].map(function_at), [Some(here), None, None, None]);
    }
}
