//! The program to run: where it is, and whether it carries hooks.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use object::{Object, ObjectSection};
use workspan_wire::shm::{NOTE_MAGIC, NOTE_SECTION, WIRE_VERSION};

use crate::exit::{Status, NOT_FOUND};

/// What an executable says about its hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// Wire version.
    pub wire_version: u32,
    /// Name and version of the runtime that carries them.
    pub runtime: String,
}

/// Finds a command as a shell does.
pub fn find(command: &OsStr) -> anyhow::Result<PathBuf> {
    let path = Path::new(command);
    if path.components().count() > 1 {
        return Ok(path.to_owned());
    }
    let executable =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    env::var_os("PATH")
        .and_then(|paths| env::split_paths(&paths).map(|folder| folder.join(command)).find(executable))
        .ok_or_else(|| {
            let message = format!("command not found: {}", command.to_string_lossy());
            Status { code: NOT_FOUND, message }.into()
        })
}

/// The hooks of an executable. An error if it has none: a run would tell nothing.
///
/// A script is let pass: the program that it starts may have hooks.
pub fn hooks(executable: &Path) -> anyhow::Result<Hooks> {
    let Some(hooks) = look(executable)? else {
        anyhow::bail!(
            "{} carries no hooks: build it with `cargo workspan build`, or run it with `cargo workspan run` \
             (is rayon among its dependencies?)",
            executable.display()
        );
    };
    if hooks.wire_version != WIRE_VERSION {
        anyhow::bail!(
            "{} was built with hooks of wire version {}, this workspan has {WIRE_VERSION}: build it again with \
             `cargo workspan build`",
            executable.display(),
            hooks.wire_version
        );
    }
    Ok(hooks)
}

/// The hooks of an executable, if it has any.
pub fn look(executable: &Path) -> anyhow::Result<Option<Hooks>> {
    let bytes = fs::read(executable).map_err(|error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { crate::exit::NOT_EXECUTABLE };
        Status { code, message: format!("cannot run {}: {error}", executable.display()) }
    })?;
    if bytes.starts_with(b"#!") {
        return Ok(Some(Hooks { wire_version: WIRE_VERSION, runtime: String::new() }));
    }
    let file = object::File::parse(&*bytes).map_err(|_| {
        let message = format!("cannot run {}: neither an executable nor a script", executable.display());
        Status { code: crate::exit::NOT_EXECUTABLE, message }
    })?;
    let Some(section) = file.section_by_name(NOTE_SECTION) else {
        return Ok(None);
    };
    Ok(section.data().ok().and_then(parse_note))
}

fn parse_note(data: &[u8]) -> Option<Hooks> {
    let at = data.windows(NOTE_MAGIC.len()).position(|w| w == NOTE_MAGIC)? + NOTE_MAGIC.len();
    let version = data.get(at..at + 4)?.try_into().ok()?;
    let text = data.get(at + 4..)?;
    let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
    Some(Hooks {
        wire_version: u32::from_ne_bytes(version),
        runtime: String::from_utf8_lossy(&text[..end]).into_owned(),
    })
}
