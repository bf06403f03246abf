//! Virtual tables that stand in for the program's: with some functions replaced, and the rest as it was.
//!
//! Open addressing by the address of the original, append-only, no locks. Whoever claims a place fills it; others that need it
//! at the same moment wait for a few stores. **Cost** of a look-up: a multiplication and as a rule one comparison.

use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{AcqRel, Acquire, Release},
};

const TABLES: usize = 4096;
/// More are not followed.
const MOST_STEPS: usize = 64;
/// Offset and type before the functions.
const BEFORE: usize = 2;
const WORDS: usize = 8;

#[repr(C)]
struct Tables(UnsafeCell<[[usize; WORDS]; TABLES]>);
// SAFETY: a table is written by who has claimed it, and constant once it is ready.
unsafe impl Sync for Tables {}

static STAND_INS: Tables = Tables(UnsafeCell::new([[0; WORDS]; TABLES]));
static ORIGINALS: [AtomicUsize; TABLES] = [const { AtomicUsize::new(0) }; TABLES];
static READY: [AtomicBool; TABLES] = [const { AtomicBool::new(false) }; TABLES];

fn place(number: usize) -> *mut usize {
    STAND_INS.0.get().cast::<usize>().wrapping_add(number * WORDS)
}

/// What stands in for a table of `count` functions, some of which are replaced. Nothing if there are too many.
///
/// # Safety
/// It is a virtual table of that many functions, at most six; it always comes with the same replacements.
pub unsafe fn stand_in(original: *const usize, count: usize, replaced: &[(usize, usize)]) -> Option<*const usize> {
    let address = original as usize;
    let first = (address >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    for step in 0..MOST_STEPS {
        let number = (first + step) % TABLES;
        let found = ORIGINALS[number].compare_exchange(0, address, AcqRel, Acquire);
        match found {
            Ok(_) => {
                let table = place(number);
                for word in 0..BEFORE + count {
                    // SAFETY: the caller's promise; the place is ours alone.
                    unsafe { table.add(word).write(original.sub(BEFORE).add(word).read()) };
                }
                for (function, by) in replaced {
                    // SAFETY: the place is ours alone.
                    unsafe { table.add(BEFORE + function).write(*by) };
                }
                READY[number].store(true, Release);
            }
            Err(other) if other != address => continue,
            Err(_) => {
                while !READY[number].load(Acquire) {
                    spin_loop();
                }
            }
        }
        return Some(place(number).wrapping_add(BEFORE));
    }
    None
}

/// What a table stands in for, if it does.
pub fn original(table: *const usize) -> Option<*const usize> {
    let distance = (table as usize).checked_sub(STAND_INS.0.get() as usize)?;
    let number = distance / (WORDS * size_of::<usize>());
    ORIGINALS.get(number).map(|original| original.load(Acquire) as *const usize)
}
