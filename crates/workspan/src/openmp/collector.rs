//! The collector as a file that the dynamic loader can load.
//!
//! It lies in memory, named by way of `/proc`, so that nothing is left behind and no version can be mistaken for another.
//! Where the system does not let such files be executed, it lies in the user's cache, or for want of one that is the user's own
//! in a new folder. A library that others can write would be loaded into the user's programs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::Context;
use nix::errno::Errno;
use nix::fcntl::{fcntl, FcntlArg, FdFlag};
use nix::sys::memfd::{memfd_create, MFdFlags};
use tempfile::TempDir;

use crate::cache::{self, is_ours};

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
    in_memory: bool,
    /// The memory, or a file whose name the loader would not read as one.
    file: Option<File>,
    /// A folder made for it.
    _folder: Option<TempDir>,
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
            let path = by_descriptor(&file);
            return Ok(Collector { path, in_memory: true, file: Some(file), _folder: None });
        }
        Collector::on_disk(library).context("cannot write the library that programs load")
    }

    fn on_disk(library: &[u8]) -> io::Result<Collector> {
        let (path, folder) = match in_cache(library)? {
            Some(path) => (path, None),
            None => {
                let folder = tempfile::Builder::new().prefix("workspan-").tempdir()?;
                let path = folder.path().join("collector.so");
                fs::write(&path, library)?;
                (path, Some(folder))
            }
        };
        let Named { name, file } = name(&path)?;
        Ok(Collector { path: name, in_memory: false, file, _folder: folder })
    }

    /// Lets programs inherit it: behind a wrapper they may be in a namespace of their own, from which our part of `/proc` cannot
    /// be reached.
    pub fn inherit(&mut self) -> io::Result<()> {
        if let Some(file) = self.file.as_ref().filter(|_| self.in_memory) {
            fcntl(file, FcntlArg::F_SETFD(FdFlag::empty()))?;
            self.path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
        }
        Ok(())
    }

    /// Where programs find it.
    pub fn path(&self) -> &OsString {
        &self.path
    }

    /// True if it lies in memory.
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
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

/// A library as `LD_PRELOAD` can name it.
#[derive(Debug)]
pub struct Named {
    /// The name.
    pub name: OsString,
    /// To be kept open as long as the name is used.
    pub file: Option<File>,
}

/// Names a library for `LD_PRELOAD`, in which spaces and colons separate names and nothing quotes them.
pub fn name(library: &Path) -> io::Result<Named> {
    let separates = |byte: &u8| matches!(byte, b' ' | b':');
    if !library.as_os_str().as_encoded_bytes().iter().any(separates) {
        return Ok(Named { name: library.into(), file: None });
    }
    let file = File::open(library)?;
    Ok(Named { name: by_descriptor(&file), file: Some(file) })
}

/// A name for a file that this process has open, as long as it has.
fn by_descriptor(file: &File) -> OsString {
    format!("/proc/{}/fd/{}", process::id(), file.as_raw_fd()).into()
}

/// A file whose name reports its content, so that another version has another. None if there is no folder in which nobody else
/// writes.
fn in_cache(library: &[u8]) -> io::Result<Option<PathBuf>> {
    let Some(folder) = cache::folder() else {
        return Ok(None);
    };
    let path = folder.join(format!("collector-{:016x}.so", cache::hash(library)));
    if is_ours(&path) && fs::read(&path).is_ok_and(|found| found == library) {
        return Ok(Some(path));
    }
    cache::write(&path, library)?;
    Ok(Some(path))
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

    #[test]
    fn names_that_the_loader_would_take_apart() {
        let folder = tempfile::tempdir().expect("writable");
        for (file, plain) in [("lib.so", true), ("a lib.so", false), ("a:b.so", false)] {
            let path = folder.path().join(file);
            fs::write(&path, file).expect("writable");
            let named = name(&path).expect("it can be opened");
            assert_eq!(named.name == path.as_os_str(), plain);
            assert!(named.name.to_str().is_some_and(|name| !name.contains([' ', ':'])));
            assert_eq!(fs::read(&named.name).expect("it is the same file"), file.as_bytes());
        }
    }
}
