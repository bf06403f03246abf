//! What a program may report to a collector. Without a collector every call is a load and a test.
//!
//! The collector's functions are weak symbols: a program with this crate links and runs whether or not an instrumented
//! runtime is linked in.

#![expect(unsafe_code, reason = "weak symbols of the collector")]
#![no_std]

use core::marker::PhantomData;
use core::panic::Location;

/// Makes each call of a function a region with the function's name: what [`region`] is for a block, this is for a function.
///
/// ```
/// #[workspan_probe::function]
/// fn parse(line: &str) -> usize {
///     line.len()
/// }
/// assert_eq!(parse("a line"), 6);
/// ```
///
/// Between the sites that fork, `workspan calls` then shows who calls whom. A call within another of the same function is
/// part of that one. The region has the place of the function's name. Functions that are `async` or `const` are refused:
///
/// ```compile_fail
/// #[workspan_probe::function]
/// async fn later() {}
/// ```
pub use workspan_macros::function;

/// Address of a function of the collector; 0 if nobody defines it.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
macro_rules! address_of {
    ($symbol:literal) => {{
        let address: usize;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: reads the symbol's address from the global offset table: 0 if nobody defines it.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) address,
                options(nostack, pure, readonly, preserves_flags)
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {0}, :got:", $symbol),
                concat!("ldr {0}, [{0}, :got_lo12:", $symbol, "]"),
                out(reg) address,
                options(nostack, pure, readonly, preserves_flags)
            );
        }
        address
    }};
}

/// The same where weak symbols are not known to work.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
macro_rules! address_of {
    ($symbol:literal) => {
        0usize
    };
}

type Tick = extern "C" fn(u64);
type Begin = unsafe extern "C" fn(*const u8, *const u8, usize) -> u32;
type End = extern "C" fn(u32);

/// Advances the virtual clock of the calling thread, for exact tests; with the real clock it has no effect.
#[inline]
pub fn tick(ticks: u64) {
    if let Some(tick) = collector_tick() {
        tick(ticks);
    }
}

/// True if a collector is linked into this program.
pub fn present() -> bool {
    collector_tick().is_some()
}

/// Marks what follows, up to the guard's end, as a region: it has a row of its own in reports, and
/// `workspan what-if -s NAME=8` reports what making it faster would give. It may be part of a task, or contain what forks.
///
/// ```
/// let data: Vec<u32> = {
///     let _region = workspan_probe::region("read");
///     (0..100).collect()
/// };
/// ```
///
/// A region is known by the place of this call; the name of the first call there stays. One that ends ends those that were
/// begun within it.
#[inline]
#[track_caller]
#[must_use = "the region ends when the guard is dropped"]
pub fn region(name: &'static str) -> Region {
    let location: &'static Location<'static> = Location::caller();
    let mark = collector_begin().map(|begin| {
        let location: *const Location<'static> = location;
        // SAFETY: both are of static life, and as the collector requests.
        unsafe { begin(location.cast(), name.as_ptr(), name.len()) }
    });
    Region { mark, _thread: PhantomData }
}

/// A marked region, until dropped. It belongs to the thread that began it.
#[derive(Debug)]
pub struct Region {
    mark: Option<u32>,
    _thread: PhantomData<*const ()>,
}

impl Drop for Region {
    #[inline]
    fn drop(&mut self) {
        if let (Some(mark), Some(end)) = (self.mark, collector_end()) {
            end(mark);
        }
    }
}

fn collector_tick() -> Option<Tick> {
    let address = address_of!("workspan_tick");
    // SAFETY: the collector defines the symbol as a function of this type; 0 is `None`.
    unsafe { core::mem::transmute::<usize, Option<Tick>>(address) }
}

fn collector_begin() -> Option<Begin> {
    let address = address_of!("workspan_region_begin");
    // SAFETY: as above.
    unsafe { core::mem::transmute::<usize, Option<Begin>>(address) }
}

fn collector_end() -> Option<End> {
    let address = address_of!("workspan_region_end");
    // SAFETY: as above.
    unsafe { core::mem::transmute::<usize, Option<End>>(address) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_happens_without_a_collector() {
        assert!(!super::present());
        super::tick(5);
        let region = super::region("nothing");
        drop(region);
    }
}
