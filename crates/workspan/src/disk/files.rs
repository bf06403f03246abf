//! Files: recordings, and other requested outputs.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{anyhow, Context};
use nix::fcntl::OFlag;
use tempfile::{NamedTempFile, TempDir};
use workspan_model::Recording;
use workspan_read::{decode, encode, Problem, ReadError};

use crate::known::{self, Known};
use crate::{output, untrusted};

/// A larger file is no recording: its tables are bounded.
const LARGEST: u64 = 1 << 30;

/// A recording from a file.
#[derive(Debug)]
pub struct Opened {
    /// What it holds, as far as it is intact.
    pub recording: Recording,
    /// What is wrong with the rest.
    pub problems: Vec<Problem>,
    /// Length of the file.
    pub bytes: usize,
    /// Major and minor version of its format.
    pub format: (u16, u16),
}

/// The recording that belongs to a folder of strands; `None` if `file` is no such folder.
pub fn beside_strands(file: &Path) -> Option<PathBuf> {
    let is_folder = file.extension().is_some_and(|extension| extension == "strands") && file.is_dir();
    is_folder.then(|| file.with_extension("wspan"))
}

/// Reads a recording; reports on stderr what is wrong with it.
pub fn read(file: &Path) -> anyhow::Result<Opened> {
    let bytes = File::open(file).and_then(|opened| up_to(opened, LARGEST)).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => return missing(file),
            _ if file.is_dir() => of_folder(file),
            _ => error.to_string(),
        };
        anyhow!("cannot read {}: {reason}", file.display())
    })?;
    let (mut recording, problems) = decode(&bytes).map_err(|error| {
        let hint = if error == ReadError::Foreign { hint(file, &bytes) } else { String::new() };
        anyhow!("cannot use {}: {error}{hint}", file.display())
    })?;
    for problem in &problems {
        output::note(&format!("warning: {}: {problem}", file.display()));
    }
    untrusted::make_harmless(&mut recording);
    let half = |at: usize| bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
    // Right behind the eight bytes by which the format is known.
    Ok(Opened { recording, problems, bytes: bytes.len(), format: (half(8), half(10)) })
}

/// What to type where there is no recording.
fn missing(file: &Path) -> anyhow::Error {
    anyhow!("there is no {}: record one with `cargo workspan run` or `workspan record`", file.display())
}

/// What a folder is, in place of which a recording should be named.
fn of_folder(folder: &Path) -> String {
    if let Some(recording) = beside_strands(folder) {
        return format!(
            "this folder holds strands; the report is in {0} (type {0} instead)",
            output::quoted(&recording)
        );
    }
    if let Some(known) = Known::of(folder) {
        return known.advice(folder);
    }
    match known::recording_in(folder) {
        Some(recording) => format!("it is a folder; name a recording, such as {}", output::quoted(&recording)),
        None => "it is a folder; name a recording, NAME.wspan".to_owned(),
    }
}

/// What to type for a file that is no recording.
fn hint(file: &Path, bytes: &[u8]) -> String {
    if let Some(known) = Known::of(file).filter(|known| *known != Known::Recording) {
        return format!("; {}", known.advice(file));
    }
    if bytes.starts_with(b"\x7fELF") {
        let name = output::quoted(file);
        let path = if name.contains('/') { name } else { format!("./{name}") };
        return format!(" (to profile this program: `workspan record -- {path}`)");
    }
    " (recordings are what `workspan record` and `cargo workspan run` write, NAME.wspan)".to_owned()
}

/// Writes a recording; a former one is kept as `FILE.old`.
pub fn write(file: &Path, recording: &Recording) -> anyhow::Result<()> {
    let bytes = encode(recording);
    put(file, true, |out| Ok(out.write_all(&bytes)?)).with_context(|| format!("cannot write {}", file.display()))
}

/// The working folder, as text; empty if there is none any more.
pub fn here() -> String {
    std::env::current_dir().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default()
}

/// An error if `file` could not be written: better before a long run than after it.
pub fn check_writable(file: &Path) -> anyhow::Result<()> {
    let check = || {
        if is_special(file)? {
            return Ok(());
        }
        temporary(file).map(drop)
    };
    check().with_context(|| format!("cannot write {}", file.display()))
}

/// Writes a file so that there is never half of it: beside its place, then moved there.
pub fn replace(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    replace_with(file, |out| Ok(out.write_all(bytes)?))
}

/// The same for what is too large to be kept in memory.
pub fn replace_with(file: &Path, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    put(file, false, write)
}

fn put(file: &Path, keep_former: bool, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let into = |file: &mut File| {
        let mut out = io::BufWriter::new(file);
        write(&mut out)?;
        anyhow::Ok(out.flush()?)
    };
    if is_special(file)? {
        return into(&mut OpenOptions::new().write(true).open(file)?);
    }
    // What is left of a failed attempt goes with it.
    let mut beside = temporary(file)?;
    into(beside.as_file_mut())?;
    if keep_former && file.exists() {
        fs::rename(file, with_suffix(file, ".old"))?;
    }
    beside.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// The content of a file that somebody else has named: a regular one, of at most `most` bytes. Devices and pipes, which
/// may have no end or never begin, are errors.
pub fn read_regular(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let opened = open_regular(file)?;
    if opened.metadata()?.len() > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    up_to(opened, most)
}

/// Opens a regular file, without waiting for whatever else it may be.
pub fn open_regular(file: &Path) -> io::Result<File> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok(opened)
}

/// All of a file; an error if it is longer than that.
fn up_to(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// True for a device or a pipe, which must be written to and never be replaced. A folder is an error.
fn is_special(file: &Path) -> io::Result<bool> {
    match fs::metadata(file) {
        Ok(found) if found.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory: name a file in it"))
        }
        Ok(found) => Ok(!found.is_file()),
        // That there is nothing yet is the usual case; other errors come again, in better words.
        Err(_) => Ok(false),
    }
}

/// Where a file is until it is whole: beside its place, of a name that nobody can have taken before.
fn temporary(file: &Path) -> io::Result<NamedTempFile> {
    let name = with_suffix(Path::new(file.file_name().unwrap_or_default()), ".tmp");
    let mut builder = tempfile::Builder::new();
    let folder = existing_folder_around(file)?;
    builder
        .prefix(name.as_os_str())
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(without_name)
}

/// The folder in which a file is to be. An error that says how to make it, if there is none.
fn existing_folder_around(file: &Path) -> io::Result<&Path> {
    let folder = folder_around(file);
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("there is no folder {0}: make it with `mkdir -p {0}`", output::quoted(folder)),
        )),
        _ => Ok(folder),
    }
}

/// The same error without the name that a file has until it is whole, which says nothing to a user.
fn without_name(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source()).and_then(|source| source.downcast_ref::<io::Error>());
    if let Some(code) = inner.and_then(io::Error::raw_os_error) {
        return io::Error::from_raw_os_error(code);
    }
    let text = error.to_string();
    let what = text.split_once(" at path ").map_or(text.as_str(), |(what, _)| what);
    io::Error::new(error.kind(), format!("{what}; name a file in a folder that you can write to"))
}

/// The same for a folder.
pub fn temporary_folder(folder: &Path) -> io::Result<TempDir> {
    let name = with_suffix(Path::new(folder.file_name().unwrap_or_default()), ".tmp");
    let mut builder = tempfile::Builder::new();
    let around = existing_folder_around(folder)?;
    builder.prefix(name.as_os_str()).permissions(Permissions::from_mode(0o777)).tempdir_in(around).map_err(without_name)
}

/// The folder in which a file is.
pub fn folder_around(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path with something behind its name.
pub fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where nobody can make a file, be it root.
    #[test]
    fn errors_have_no_names_of_temporary_files() {
        let error = temporary(Path::new("/proc/page.html")).expect_err("a file was made").to_string();
        assert!(error.ends_with("; name a file in a folder that you can write to"), "{error}");
        assert!(!error.contains("page.html"), "{error}");
    }
}
