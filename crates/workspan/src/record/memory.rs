//! The shared memory: an anonymous file that the program opens by way of `/proc`. Its length is sealed: were it cut, whoever
//! has it mapped, the program or ourselves, would die of `SIGBUS`.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use nix::fcntl::{fcntl, FcntlArg, FdFlag, SealFlag};
use nix::sys::memfd::{memfd_create, MFdFlags};
use workspan_read::{first_page, Request, Snapshot};
use workspan_wire::shm;

/// The runner's side of the shared memory.
#[derive(Debug)]
pub struct SharedMemory {
    file: File,
    inherited: bool,
}

impl SharedMemory {
    /// Makes one and writes the request into it. Sparse: it takes memory only as it is used.
    pub fn new(request: &Request) -> io::Result<SharedMemory> {
        let fd: OwnedFd = memfd_create("workspan", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
        let file = File::from(fd);
        file.set_len(shm::SIZE as u64)?;
        fcntl(&file, FcntlArg::F_ADD_SEALS(SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL))?;
        file.write_all_at(&first_page(request), 0)?;
        Ok(SharedMemory { file, inherited: false })
    }

    /// Lets the program inherit it: behind a wrapper it may be in a namespace of its own, from which our part of `/proc` cannot be
    /// reached.
    pub fn inherit(&mut self) -> io::Result<()> {
        fcntl(&self.file, FcntlArg::F_SETFD(FdFlag::empty()))?;
        self.inherited = true;
        Ok(())
    }

    /// Where the program finds it, as long as this process lives.
    pub fn path(&self) -> OsString {
        if self.inherited {
            return format!("/proc/self/fd/{}", self.file.as_raw_fd()).into();
        }
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

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    #[test]
    fn the_memory_can_be_neither_cut_nor_grown() {
        let request =
            super::super::request(&Default::default(), &crate::rayon::Script, &Default::default(), Default::default());
        let memory = SharedMemory::new(&request).expect("this system has memory files");
        let of_the_program = OpenOptions::new().read(true).write(true).open(memory.path()).expect("it is ours");
        for length in [0, 4096, shm::SIZE as u64 + 1] {
            let error = of_the_program.set_len(length).expect_err("it is sealed");
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
        }
        assert_eq!(of_the_program.metadata().expect("it is open").len(), shm::SIZE as u64);
    }
}
