//! Everything bound to a processor, an operating system or a C library, one file each.
//!
//! | need | x86-64 | aarch64 (untested) | elsewhere |
//! |---|---|---|---|
//! | counter | `rdtsc` | `cntvct_el0` | `CLOCK_MONOTONIC` |
//! | interrupt witness | segment selector | none | none |
//! | 128-bit compare and swap | `cmpxchg16b` | `ldaxp`/`stlxp` | short spin lock |
//! | counters of events, read in user space | `rdpmc` | none | none |
//! | switch witness | glibc ≥ 2.35: restartable sequences | the same | none |
//!
//! What is missing degrades: without a switch witness long strands still consult the kernel's CPU clock, so only
//! preemptions of short strands go unseen.

#[cfg_attr(all(target_arch = "x86_64", not(miri)), path = "x86_64.rs")]
#[cfg_attr(all(target_arch = "aarch64", not(miri)), path = "aarch64.rs")]
#[cfg_attr(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))), path = "portable.rs")]
mod processor;

#[cfg_attr(
    all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)),
    path = "rseq.rs"
)]
#[cfg_attr(
    not(all(
        target_os = "linux",
        target_env = "gnu",
        any(target_arch = "x86_64", target_arch = "aarch64"),
        not(miri)
    )),
    path = "no_rseq.rs"
)]
mod switch;

#[cfg_attr(all(target_os = "linux", not(miri)), path = "linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(miri))), path = "no_kernel.rs")]
mod kernel;

#[cfg_attr(all(target_os = "linux", not(miri)), path = "perf.rs")]
#[cfg_attr(not(all(target_os = "linux", not(miri))), path = "no_perf.rs")]
pub mod perf;

#[cfg(all(target_os = "linux", not(miri)))]
mod objects;

#[cfg(all(target_os = "linux", not(miri)))]
pub use objects::{objects, populate_code, Object};

pub use kernel::{
    environment, executable, is_runnable, library_function, load_base, map_apart, map_private, map_shared, module_of,
    monotonic_nanos, on_fork, path_of_module, populate, process_cpu_nanos, process_id, processors_length,
    run_delay_nanos, sleep_nanos, thread_cpu_nanos, thread_id, thread_usage, transfers, unmap, ErrnoGuard,
};
pub use processor::{event_counter, exchange_pair, interrupt_witness, steady_counter, ticks};
pub use switch::switch_witness;

/// Bytes of the longest path that is looked at, with the zero at its end: as long as the kernel takes one.
pub const MOST_PATH: usize = 4096;

/// A file of code in memory.
#[derive(Clone, Copy, Debug)]
pub struct Module<'a> {
    /// Load address.
    pub base: u64,
    /// First address behind it: nothing else lies between the two.
    pub end: u64,
    /// Path; empty for the executable.
    pub path: &'a [u8],
}

/// Reads and writes by system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// Their number.
    pub number: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Transfers {
    /// None yet.
    pub const NONE: Transfers = Transfers { number: 0, bytes: 0 };

    /// Those since `before`.
    pub fn since(self, before: Transfers) -> Transfers {
        Transfers { number: self.number.wrapping_sub(before.number), bytes: self.bytes.wrapping_sub(before.bytes) }
    }
}

/// What the kernel counts for the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Times the thread gave up its CPU to wait for something.
    pub voluntary: u64,
    /// Times it was taken from it.
    pub involuntary: u64,
    /// Page faults that needed no input.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Times that a device was read from for it.
    pub input: u64,
}

impl Usage {
    /// Nothing yet.
    pub const NONE: Usage = Usage { voluntary: 0, involuntary: 0, minor_faults: 0, major_faults: 0, input: 0 };

    /// Page faults, minor and major.
    pub fn faults(&self) -> u64 {
        self.minor_faults + self.major_faults
    }
}
