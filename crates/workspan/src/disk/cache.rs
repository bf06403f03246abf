//! The user's cache folder for what can be made again.
//!
//! **Invariant:** what is read there only this user can have written: libraries in it are loaded into programs.

use std::env;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

/// The folder, which is made if need be. None if there is no folder in which nobody else writes.
pub fn folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?.join("workspan");
    make_folder(&folder).is_ok().then_some(folder)
}

/// Makes a folder, unless it is there. An error if others can write there.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let refused =
        || io::Error::new(io::ErrorKind::PermissionDenied, "it is a link, another user's, or others can write there");
    is_ours(folder).then_some(()).ok_or_else(refused)
}

/// True if only this user can write there, and it is no link.
pub fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        !found.is_symlink() && found.uid() == geteuid().as_raw() && found.permissions().mode() & 0o022 == 0
    })
}

/// Writes a file of the folder, which others see as a whole or not at all.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempfile_in(folder)?;
    beside.write_all(content)?;
    beside.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A number that reports a file's content in its name: FNV-1a.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_is_read() {
        let folder = tempfile::tempdir().expect("writable");
        let at = |name: &str| folder.path().join(name);
        for (name, mode, ours) in [("private", 0o700, true), ("read", 0o755, true), ("shared", 0o777, false)] {
            fs::create_dir(at(name)).expect("writable");
            fs::set_permissions(at(name), Permissions::from_mode(mode)).expect("it is ours");
            assert_eq!(is_ours(&at(name)), ours, "{name}");
        }
        std::os::unix::fs::symlink("private", at("link")).expect("writable");
        assert!(!is_ours(&at("link")) && !is_ours(&at("none")));
    }
}
