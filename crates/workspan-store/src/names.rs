//! Names of files in a folder of strands.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Sites of all runs.
pub const SITES: &str = "sites.parquet";
/// Contexts of all runs.
pub const CONTEXTS: &str = "contexts.parquet";

/// The folder of strands that belongs to a recording: `NAME.strands` for `NAME.wspan`. Names are bytes: those of two recordings
/// that differ only in what is no text must not share a folder.
pub fn folder_of(recording: &Path) -> PathBuf {
    const RECORDING: &[u8] = b".wspan";
    const STRANDS: &[u8] = b".strands";
    let name = recording.file_name().unwrap_or_default().as_encoded_bytes();
    let at = name.windows(RECORDING.len()).rposition(|window| window == RECORDING);
    let (stem, rest) = at.map_or((name, &[][..]), |at| (&name[..at], &name[at + RECORDING.len()..]));
    recording.with_file_name(text(&[stem, STRANDS, rest].concat()))
}

#[cfg(unix)]
fn text(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn text(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// A part of a run's strands; runs from 1, parts from 0.
pub fn part(run: u32, part: u32) -> String {
    format!("nodes-{run}-{part:04}.parquet")
}

/// What is known of a run as a whole.
pub fn meta(run: u32) -> String {
    format!("meta-{run}.parquet")
}

/// Run and number of a part, by its name.
pub fn parse_part(name: &str) -> Option<(u32, u32)> {
    let (run, part) = name.strip_prefix("nodes-")?.strip_suffix(".parquet")?.split_once('-')?;
    Some((run.parse().ok()?, part.parse().ok()?)).filter(|(run, number)| crate::names::part(*run, *number) == name)
}

/// The run, by the name of [`meta`].
pub fn parse_meta(name: &str) -> Option<u32> {
    let run = name.strip_prefix("meta-")?.strip_suffix(".parquet")?.parse().ok()?;
    (meta(run) == name).then_some(run)
}

/// Removes what a writer has made in a folder, and the folder if nothing else is in it.
pub fn remove(folder: &Path) -> io::Result<()> {
    clear(folder)?;
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}

/// Removes what a writer has made in a folder.
pub(crate) fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let name = name.strip_suffix(TEMPORARY).unwrap_or(&name);
        let ours = [SITES, CONTEXTS].contains(&name) || parse_part(name).is_some() || parse_meta(name).is_some();
        if ours {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// What a file is called until it is whole.
pub(crate) const TEMPORARY: &str = ".tmp";

/// Creates a file that has its place when it is whole. Something of that name may be left of a writer that was killed, or have
/// been put there: it is removed, and a link is not followed.
pub(crate) fn create_temporary(path: &Path) -> io::Result<File> {
    let path = temporary(path);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// The path of a file until it is whole.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(TEMPORARY);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_after_its_recording() {
        for (file, folder) in [
            ("workspan.wspan", "workspan.strands"),
            ("a/b.wspan.old", "a/b.strands.old"),
            ("/x/plain", "/x/plain.strands"),
        ] {
            assert_eq!(folder_of(Path::new(file)), Path::new(folder));
        }
    }

    #[test]
    #[cfg(unix)]
    fn names_that_are_no_text_have_folders_of_their_own() {
        use std::os::unix::ffi::OsStrExt;
        let folder = |name: &[u8]| folder_of(Path::new(std::ffi::OsStr::from_bytes(name)));
        assert_eq!(folder(b"r\xfd.wspan").as_os_str().as_bytes(), b"r\xfd.strands");
        assert_ne!(folder(b"r\xfd.wspan"), folder(b"r\xfe.wspan"));
    }

    #[test]
    #[cfg(unix)]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [part, victim] = ["nodes-1-0000.parquet", "victim"].map(|name| folder.path().join(name));
        fs::write(&victim, "kept").unwrap();
        std::os::unix::fs::symlink(&victim, temporary(&part)).unwrap();
        drop(create_temporary(&part).unwrap());
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
        assert!(fs::symlink_metadata(temporary(&part)).unwrap().is_file());
    }

    #[test]
    fn names_of_parts_are_read_as_written() {
        for (run, number) in [(1, 0), (12, 9999), (1, 12345)] {
            assert_eq!(parse_part(&part(run, number)), Some((run, number)));
        }
        for name in ["nodes-1-000.parquet", "nodes-1-0000.parquet.tmp", "nodes-01-0000.parquet", "nodes-1.parquet"] {
            assert_eq!(parse_part(name), None, "{name}");
        }
    }
}
