//! Code that is about to run for the first time is brought into the page tables.

use workspan_collect::platform;

/// That of the runtime, in which `runtime` lies, of the program, and ours.
pub(super) fn code(runtime: u64) {
    let ours = code as *const () as u64;
    for address in [runtime, ours] {
        platform::populate_code(address);
    }
}
