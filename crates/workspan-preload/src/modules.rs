//! Which module a piece of code belongs to: the program, the collector, or a runtime that is followed by other means.

use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::platform;

/// Load address of the OpenMP runtime.
static RUNTIME: AtomicU64 = AtomicU64::new(0);
/// First address behind the OpenMP runtime; 0 without one.
static RUNTIME_END: AtomicU64 = AtomicU64::new(0);
/// Load address of a runtime that does not report its workers itself.
static POOL: AtomicU64 = AtomicU64::new(0);

/// `address` lies in the OpenMP runtime.
pub fn leave_alone(address: u64) {
    if let Some(module) = platform::module_of(address) {
        RUNTIME.store(module.base, Ordering::Relaxed);
        RUNTIME_END.store(module.end, Ordering::Relaxed);
    }
}

/// Threads that begin in the module that is loaded at `base` are workers.
pub fn are_workers(base: u64) {
    POOL.store(base, Ordering::Relaxed);
}

/// True if the call that returns to `address` is a runtime's that is followed by other means, or lies in the module of `own`.
///
/// A body of the program may end in a jump to the function called: that returns to the runtime in its place. Runtimes call bodies by
/// pointers, and the functions of other libraries by name.
#[cfg(target_arch = "x86_64")]
pub fn is_runtime(address: u64, own: u64) -> bool {
    let Some(module) = platform::module_of(address) else { return false };
    let bases = [RUNTIME.load(Ordering::Relaxed), POOL.load(Ordering::Relaxed)];
    // An executable may lie at 0.
    bases.iter().any(|base| *base != 0 && *base == module.base) && is_called_by_name(address, &module)
        || platform::module_of(own).is_some_and(|own| own.base == module.base)
}

/// True if what returns to `address` was called at a distance that the instruction says, or by the table of the loader.
#[cfg(target_arch = "x86_64")]
fn is_called_by_name(address: u64, module: &platform::Module<'_>) -> bool {
    /// `call` at a distance of four bytes.
    const NEAR: u8 = 0xe8;
    /// `call` of an address that lies at a distance of four bytes.
    const BY_TABLE: [u8; 2] = [0xff, 0x15];
    const LONGEST: u64 = 6;
    if address - module.base < LONGEST {
        return true;
    }
    // SAFETY: code that calls stands before where it returns to, and is readable as long as its module is loaded; the module does not begin
    // within these bytes.
    let before = unsafe { ((address - LONGEST) as *const [u8; LONGEST as usize]).read() };
    let [.., first, second, third, fourth] = before;
    let target = address.wrapping_add_signed(i32::from_le_bytes([first, second, third, fourth]).into());
    before[1] == NEAR && (module.base..module.end).contains(&target) || before.starts_with(&BY_TABLE)
}

/// True if code at `address` is the OpenMP runtime's: two comparisons.
pub fn of_the_runtime(address: u64) -> bool {
    (RUNTIME.load(Ordering::Relaxed)..RUNTIME_END.load(Ordering::Relaxed)).contains(&address)
}

/// True if code at `address` is that of a pool's workers.
pub fn is_workers(address: u64) -> bool {
    let base = POOL.load(Ordering::Relaxed);
    base != 0 && platform::module_of(address).is_some_and(|module| module.base == base)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Code, with a call at its end, of a module that has as much behind it.
    #[track_caller]
    fn check(call: &[u8], by_name: bool) {
        let mut code = [0x90_u8; 64];
        code[32 - call.len()..32].copy_from_slice(call);
        let base = code.as_ptr() as u64;
        let module = platform::Module { base, end: base + code.len() as u64, path: b"" };
        assert_eq!(is_called_by_name(base + 32, &module), by_name, "{call:x?}");
    }

    #[test]
    fn runtimes_call_bodies_by_pointers() {
        // Where the table of the procedures lies, and by that of the loader.
        check(&[0xe8, 0x10, 0, 0, 0], true);
        check(&[0xe8, 0xf0, 0xff, 0xff, 0xff], true);
        check(&[0xff, 0x15, 0x10, 0x20, 0, 0], true);
        // By a register, and by memory that one points to.
        for call in [&[0xff, 0xd0][..], &[0x41, 0xff, 0xd3], &[0xff, 0x50, 0x10], &[0xff, 0x14, 0xc8]] {
            check(call, false);
        }
        check(&[0xff, 0x93, 0x10, 0x01, 0, 0], false);
    }
}
