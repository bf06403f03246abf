//! A folder under a name that any library understands.
//!
//! Query engines take URLs or text for paths: `..`, new lines and names that are no UTF-8 get lost on the way. An open folder has
//! a name of its own in `/proc`, in plain ASCII, whatever its path is; elsewhere the canonical path must do.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A folder that is open, and its plain name for as long as it is.
#[derive(Debug)]
pub(crate) struct PlainFolder {
    path: PathBuf,
    _open: Option<File>,
}

impl PlainFolder {
    /// Opens a folder.
    pub(crate) fn open(folder: &Path) -> io::Result<PlainFolder> {
        let canonical = folder.canonicalize()?;
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let open = File::open(&canonical)?;
            let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), open.as_raw_fd()));
            if path.is_dir() {
                return Ok(PlainFolder { path, _open: Some(open) });
            }
        }
        Ok(PlainFolder { path: canonical, _open: None })
    }

    /// Its name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn any_folder_has_a_plain_name() {
        let around = tempfile::tempdir().unwrap();
        for name in [&b"plain"[..], b"new\nline", b"no \xfe text", b"star*?", b"%41 percent"] {
            let folder = around.path().join(OsStr::from_bytes(name));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("file"), name).unwrap();
            for path in [folder.clone(), folder.join("../").join(OsStr::from_bytes(name))] {
                let plain = PlainFolder::open(&path).unwrap();
                let text = plain.path().to_str().unwrap();
                assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'/'), "{text}");
                assert_eq!(fs::read(plain.path().join("file")).unwrap(), name);
            }
        }
        assert!(PlainFolder::open(&around.path().join("none")).is_err());
    }
}
