//! The plugin as a file, and the memory that it writes.

use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::Context;
use nix::sys::memfd::{memfd_create, MFdFlags};
use nix::unistd::ftruncate;
use workspan_emulator::ring::{Ring, BYTES};

use crate::openmp::collector::Collector;

/// The library, as `build.rs` has compiled it; empty where it could not be.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/emulator.so"));

/// What an emulator needs for a trace.
#[derive(Debug)]
pub struct Plugin {
    library: Collector,
    memory: OwnedFd,
    /// The memory, on this side.
    pub ring: Ring,
}

impl Plugin {
    /// Makes them.
    pub fn new() -> anyhow::Result<Plugin> {
        anyhow::ensure!(
            is_built(),
            "this workspan was built without its plugin for emulators: use one for Linux with glibc"
        );
        let library = Collector::of(LIBRARY)?;
        // The emulator inherits it.
        let memory = memfd_create("workspan-trace", MFdFlags::empty()).context("cannot make memory for the trace")?;
        ftruncate(&memory, i64::try_from(BYTES)?).context("cannot make memory for the trace")?;
        let ring = Ring::create(memory.as_raw_fd()).context("cannot map memory for the trace")?;
        Ok(Plugin { library, memory, ring })
    }

    /// The emulator's argument behind `-plugin`.
    pub fn argument(&self) -> String {
        format!("file={},memory={}", self.library.path().to_string_lossy(), self.memory.as_raw_fd())
    }
}

/// True if there is a library at all.
pub fn is_built() -> bool {
    !LIBRARY.is_empty()
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn the_library_is_part_of_the_command() {
        assert!(super::LIBRARY.starts_with(b"\x7fELF"));
    }
}
