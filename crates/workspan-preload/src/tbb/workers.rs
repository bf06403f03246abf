//! How many threads libtbb takes: as many as the runner says, where it says so.
//!
//! libtbb has no variable for that; it counts the processors that the process may use. So it alone sees another number of
//! these.

use core::ffi::{c_int, c_long};
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering};

use workspan_collect::platform;

/// Not looked up yet.
const UNKNOWN: u32 = u32::MAX;

static WANTED: AtomicU32 = AtomicU32::new(UNKNOWN);

/// The number that the runner wants; 0 for none.
fn wanted() -> u32 {
    let known = WANTED.load(Ordering::Relaxed);
    if known != UNKNOWN {
        return known;
    }
    let text = platform::environment(b"WORKSPAN_TBB_WORKERS\0");
    // SAFETY: a terminated text of the environment.
    let text = text.map(|text| unsafe { core::ffi::CStr::from_ptr(text.as_ptr()) }.to_bytes());
    let number = text.and_then(|text| core::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(0);
    WANTED.store(number, Ordering::Relaxed);
    number
}

/// The number for a call from libtbb, which returns to there.
fn wanted_by(returns_to: u64) -> Option<u32> {
    let number = wanted();
    let asks = number != 0 && {
        let module = platform::module_of(returns_to);
        module.is_some_and(|module| module.path.windows(10).any(|part| part == b"libtbb.so."))
    };
    asks.then_some(number)
}

extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn __sysconf(name: c_int) -> c_long;
}

const GET_AFFINITY: c_long = 204;

/// # Safety
///
/// As for the C library's.
#[no_mangle]
#[unsafe(naked)]
unsafe extern "C" fn sched_getaffinity() {
    core::arch::naked_asm!("mov rcx, qword ptr [rsp]", "jmp {to}", to = sym affinity)
}

unsafe extern "C" fn affinity(process: c_int, size: usize, mask: *mut u8, returns_to: u64) -> c_int {
    // As the C library does it: its own may be called before there is anything to look functions up with, from an allocator
    // that starts. SAFETY: the caller's own.
    let written = unsafe { syscall(GET_AFFINITY, process, size.min(c_int::MAX as usize), mask) };
    let Ok(written) = usize::try_from(written) else { return -1 };
    // SAFETY: the rest of what the caller has.
    unsafe { mask.add(written).write_bytes(0, size - written) };
    if let Some(number) = wanted_by(returns_to) {
        // SAFETY: what the C library has just filled.
        let mask = unsafe { slice::from_raw_parts_mut(mask, size) };
        // Its own first.
        let own: u32 = mask.iter().map(|byte| byte.count_ones()).sum();
        let mut surplus = i64::from(number) - i64::from(own);
        for at in 0..mask.len() * 8 {
            let (byte, bit) = (&mut mask[at / 8], 1 << (at % 8));
            if surplus > 0 && *byte & bit == 0 {
                *byte |= bit;
                surplus -= 1;
            }
        }
        for at in (0..mask.len() * 8).rev() {
            let (byte, bit) = (&mut mask[at / 8], 1 << (at % 8));
            if surplus < 0 && *byte & bit != 0 {
                *byte &= !bit;
                surplus += 1;
            }
        }
    }
    0
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
#[unsafe(naked)]
unsafe extern "C" fn sysconf() {
    core::arch::naked_asm!("mov rsi, qword ptr [rsp]", "jmp {to}", to = sym configured)
}

unsafe extern "C" fn configured(name: c_int, returns_to: u64) -> c_long {
    const CONFIGURED: c_int = 83;
    const ONLINE: c_int = 84;
    // SAFETY: any name may be requested.
    let answer = unsafe { __sysconf(name) };
    if matches!(name, CONFIGURED | ONLINE) {
        if let Some(number) = wanted_by(returns_to) {
            return answer.max(c_long::from(number));
        }
    }
    answer
}
