//! The shared memory: an anonymous file that the program opens by way of `/proc`.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use nix::sys::memfd::{memfd_create, MFdFlags};
use workspan_read::{first_page, Request, Snapshot};
use workspan_wire::shm;

/// The runner's side of the shared memory.
#[derive(Debug)]
pub struct SharedMemory {
    file: File,
}

impl SharedMemory {
    /// Makes one and writes the request into it. Sparse: it takes memory only as it is used.
    pub fn new(request: &Request) -> io::Result<SharedMemory> {
        let fd: OwnedFd = memfd_create("workspan", MFdFlags::MFD_CLOEXEC)?;
        let file = File::from(fd);
        file.set_len(shm::SIZE as u64)?;
        file.write_all_at(&first_page(request), 0)?;
        Ok(SharedMemory { file })
    }

    /// Where the program finds it, as long as this process lives.
    pub fn path(&self) -> OsString {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }

    /// What the program has written.
    pub fn snapshot(&self) -> FileSnapshot<'_> {
        FileSnapshot { file: &self.file }
    }
}

/// A file as a snapshot.
#[derive(Debug)]
pub struct FileSnapshot<'a> {
    file: &'a File,
}

impl Snapshot for FileSnapshot<'_> {
    fn read(&self, offset: usize, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset as u64)?;
        Ok(bytes)
    }
}
