//! Recordings on disk.

use std::io;
use std::path::{Path, PathBuf};
use std::{fs, process};

use anyhow::Context;
use workspan_model::Recording;
use workspan_read::{decode, encode};

use crate::output;

/// Reads a recording; tells what is wrong with it on stderr.
pub fn read(file: &Path) -> anyhow::Result<Recording> {
    let bytes = fs::read(file).with_context(|| {
        let hint = if file.exists() { "" } else { " (record one with `cargo workspan run` or `workspan record`)" };
        format!("cannot read {}{hint}", file.display())
    })?;
    let (recording, problems) = decode(&bytes).with_context(|| format!("cannot use {}", file.display()))?;
    for problem in problems {
        output::note(&format!("warning: {}: {problem}", file.display()));
    }
    Ok(recording)
}

/// Writes a recording; a former one is kept as `FILE.old`.
pub fn write(file: &Path, recording: &Recording) -> anyhow::Result<()> {
    let bytes = encode(recording);
    replace(file, &bytes, true).with_context(|| format!("cannot write {}", file.display()))
}

/// Writes a file so that there is never half of it: beside its place, then moved there.
pub fn replace(file: &Path, bytes: &[u8], keep_former: bool) -> io::Result<()> {
    let beside = with_suffix(file, &format!(".tmp{}", process::id()));
    let written = fs::write(&beside, bytes).and_then(|()| {
        if keep_former && file.exists() {
            fs::rename(file, with_suffix(file, ".old"))?;
        }
        fs::rename(&beside, file)
    });
    if written.is_err() {
        // What is left of the attempt is of no use; the first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
