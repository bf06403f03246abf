//! The collector as a file that the dynamic loader can load.
//!
//! It lies in memory, named by way of `/proc`, so that nothing is left behind and no version can be mistaken for another.
//! Where the system does not let such files be executed, it lies in the user's cache.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::{env, process};

use anyhow::Context;
use nix::errno::Errno;
use nix::sys::memfd::{memfd_create, MFdFlags};

/// The library, as `build.rs` has compiled it; empty where it could not be.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/collector.so"));

/// The same for idle accounting alone.
static IDLE_ONLY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/idle.so"));

/// The file is to be executed (Linux 6.3 and newer; before, all may be).
const MFD_EXEC: MFdFlags = MFdFlags::from_bits_retain(0x10);

/// The library as a file, which lasts as long as this.
#[derive(Debug)]
pub struct Collector {
    path: OsString,
    /// Keeps the memory.
    _file: Option<File>,
}

impl Collector {
    /// Makes the file.
    pub fn new() -> anyhow::Result<Collector> {
        Collector::of_openmp(LIBRARY)
    }

    /// The one for idle accounting alone.
    pub fn of_idle_time() -> anyhow::Result<Collector> {
        Collector::of_openmp(IDLE_ONLY)
    }

    fn of_openmp(library: &[u8]) -> anyhow::Result<Collector> {
        anyhow::ensure!(is_built(), "this workspan was built without its collector for OpenMP programs");
        Collector::of(library)
    }

    /// A library that this command carries along.
    pub(crate) fn of(library: &[u8]) -> anyhow::Result<Collector> {
        if let Ok(file) = in_memory(library) {
            let path = format!("/proc/{}/fd/{}", process::id(), file.as_raw_fd()).into();
            return Ok(Collector { path, _file: Some(file) });
        }
        let path = in_cache(library).context("cannot write the library that programs load")?;
        Ok(Collector { path: path.into(), _file: None })
    }

    /// Where programs find it.
    pub fn path(&self) -> &OsString {
        &self.path
    }

    /// True if it lies in memory.
    pub fn is_in_memory(&self) -> bool {
        self._file.is_some()
    }
}

/// True if there is a library at all.
pub fn is_built() -> bool {
    !LIBRARY.is_empty()
}

fn in_memory(library: &[u8]) -> io::Result<File> {
    let create = |flags| memfd_create("workspan-collector", MFdFlags::MFD_CLOEXEC | flags);
    let fd = match create(MFD_EXEC) {
        Err(Errno::EINVAL) => create(MFdFlags::empty()),
        other => other,
    };
    let mut file = File::from(fd?);
    file.write_all(library)?;
    Ok(file)
}

/// A file whose name reports its content, so that another version has another.
fn in_cache(library: &[u8]) -> io::Result<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    let folder = folder.unwrap_or_else(env::temp_dir).join("workspan");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("collector-{:016x}.so", hash(library)));
    if fs::read(&path).is_ok_and(|found| found == library) {
        return Ok(path);
    }
    let beside = path.with_extension(format!("tmp{}", process::id()));
    fs::write(&beside, library)?;
    fs::rename(&beside, &path)?;
    Ok(path)
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn the_file_is_the_library() {
        for (collector, library) in [(Collector::new(), LIBRARY), (Collector::of_idle_time(), IDLE_ONLY)] {
            let collector = collector.expect("this system has memory files or a cache");
            assert_eq!(fs::read(collector.path()).expect("it is readable"), library);
            assert!(library.starts_with(b"\x7fELF"));
        }
    }
}
