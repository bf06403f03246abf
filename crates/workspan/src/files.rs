//! Files: recordings, and other requested outputs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io, process};

use anyhow::Context;
use workspan_model::Recording;
use workspan_read::{decode, encode, Problem};

use crate::output;

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
    let bytes = fs::read(file).with_context(|| {
        let hint = if !file.exists() {
            " (record one with `cargo workspan run` or `workspan record`)".to_owned()
        } else if let Some(recording) = beside_strands(file) {
            format!(": this folder holds strands; the report is in {0} (type {0} instead)", output::quoted(&recording))
        } else {
            String::new()
        };
        format!("cannot read {}{hint}", file.display())
    })?;
    let (recording, problems) = decode(&bytes).with_context(|| format!("cannot use {}", file.display()))?;
    for problem in &problems {
        output::note(&format!("warning: {}: {problem}", file.display()));
    }
    let half = |at: usize| bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
    // Right behind the eight bytes by which the format is known.
    Ok(Opened { recording, problems, bytes: bytes.len(), format: (half(8), half(10)) })
}

/// Writes a recording; a former one is kept as `FILE.old`.
pub fn write(file: &Path, recording: &Recording) -> anyhow::Result<()> {
    let bytes = encode(recording);
    put(file, true, |out| Ok(out.write_all(&bytes)?)).with_context(|| format!("cannot write {}", file.display()))
}

/// An error if `file` could not be written: better before a long run than after it.
pub fn check_writable(file: &Path) -> anyhow::Result<()> {
    let check = || {
        if is_special(file)? {
            return Ok(());
        }
        let beside = beside(file);
        fs::write(&beside, [])?;
        fs::remove_file(&beside)
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
    let into = |file: fs::File| {
        let mut out = io::BufWriter::new(file);
        write(&mut out)?;
        anyhow::Ok(out.flush()?)
    };
    if is_special(file)? {
        return into(fs::OpenOptions::new().write(true).open(file)?);
    }
    let beside = beside(file);
    let whole = || {
        into(fs::File::create(&beside)?)?;
        if keep_former && file.exists() {
            fs::rename(file, with_suffix(file, ".old"))?;
        }
        Ok(fs::rename(&beside, file)?)
    };
    let written = whole();
    if written.is_err() {
        // What is left of the attempt is of no use; the first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// True for a device or a pipe, which must be written to and never be replaced. A folder is an error.
fn is_special(file: &Path) -> io::Result<bool> {
    match fs::metadata(file) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) => Ok(!found.is_file()),
        // That there is nothing yet is the usual case; other errors come again, in better words.
        Err(_) => Ok(false),
    }
}

/// Where a file or a folder is until it is whole.
pub fn beside(file: &Path) -> PathBuf {
    with_suffix(file, &format!(".tmp{}", process::id()))
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
