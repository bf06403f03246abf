//! Code that is about to run for the first time is brought into the page tables.

use workspan_collect::{clock, platform};

use super::tasks;

/// That of the runtime, in which `runtime` lies, and of this library what hooks run: the compiler puts what belongs to one crate together.
/// Not all of the library, a third of which shows what a panic would have to say, since its pages count as the program's memory.
pub(super) fn code(runtime: u64) {
    const HOOKS: u64 = 96 << 10;
    const COLLECTOR: u64 = 56 << 10;
    platform::populate_code(runtime, u64::MAX);
    platform::populate_code(tasks::task_create as *const () as u64, HOOKS);
    platform::populate_code(clock::set_anchor as *const () as u64, COLLECTOR);
}
