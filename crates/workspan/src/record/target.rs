//! The program to run: where it is, and how it can be profiled.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context;
use object::read::ReadCache;
use object::{Object, ObjectSection};
use workspan_wire::shm::{NOTE_IDLE_ONLY, NOTE_MAGIC, NOTE_SECTION, WIRE_VERSION};

use crate::exit::{Status, NOT_FOUND};
use crate::openmp;

/// How a program can be profiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// It carries hooks in its rayon.
    Rayon(Hooks),
    /// It uses OpenMP: a collector is loaded into it.
    Openmp(openmp::Program),
    /// It is a script: what it starts may carry hooks.
    Script,
}

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

/// The program to watch: that of the command or, where that is a wrapper (`env`, `unshare`, `bash -c`) which carries no hooks and
/// uses no OpenMP, the first program among its arguments that does.
pub fn of_command(command: &[OsString]) -> anyhow::Result<PathBuf> {
    let (first, arguments) = command.split_first().context("no command")?;
    let wrapper = find(first)?;
    if look(&wrapper)?.is_some() {
        return Ok(wrapper);
    }
    let watched = arguments.iter().flat_map(|word| words(word)).find_map(|word| {
        let program = find(&word).ok().filter(|program| program.is_file())?;
        matches!(look(&program), Ok(Some(Runtime::Rayon(_) | Runtime::Openmp(_)))).then_some(program)
    });
    Ok(watched.unwrap_or(wrapper))
}

/// A word that may be a program, and those within it if it is a line for a shell.
fn words(word: &OsStr) -> Vec<OsString> {
    let separates = |byte: &u8| byte.is_ascii_whitespace() || b";|&()<>'\"".contains(byte);
    let parts = word.as_bytes().split(separates).filter(|part| !part.is_empty());
    let parts = parts.map(|part| OsStr::from_bytes(part).to_owned()).filter(|part| part != word);
    std::iter::once(word.to_owned()).chain(parts).collect()
}

/// How a program can be watched, for a profile: an error also if it measures nothing but idle time.
pub fn profiled_runtime(executable: &Path) -> anyhow::Result<Runtime> {
    let runtime = runtime(executable)?;
    anyhow::ensure!(
        !matches!(&runtime, Runtime::Rayon(hooks) if hooks.runtime.ends_with(NOTE_IDLE_ONLY)),
        "{} was built by `cargo workspan scale`, to measure nothing but idle time: build it with `cargo workspan build`",
        executable.display()
    );
    Ok(runtime)
}

/// How a program can be profiled. An error if it cannot: a run would report nothing.
pub fn runtime(executable: &Path) -> anyhow::Result<Runtime> {
    let Some(runtime) = look(executable)? else {
        anyhow::bail!(
            "{} is not instrumented and does not use OpenMP. For a Rust program that uses rayon: build it with \
             `cargo workspan build`, or build and run it with `cargo workspan run`",
            executable.display()
        );
    };
    match &runtime {
        Runtime::Rayon(hooks) if hooks.wire_version != WIRE_VERSION => anyhow::bail!(
            "{} was built by another version of Workspan (wire version {}, this one has {WIRE_VERSION}): build it \
             again with `cargo workspan build`",
            executable.display(),
            hooks.wire_version
        ),
        _ => Ok(runtime),
    }
}

/// How a program can be profiled, if it can.
pub fn look(executable: &Path) -> anyhow::Result<Option<Runtime>> {
    let cannot_run = |error: io::Error| {
        let code = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { crate::exit::NOT_EXECUTABLE };
        Status { code, message: format!("cannot run {}: {error}", executable.display()) }
    };
    let cannot_look = |error: io::Error| {
        anyhow::Error::new(error).context(format!("cannot look at the libraries of {}", executable.display()))
    };
    let mut file = fs::File::open(executable).map_err(cannot_run)?;
    let mut start = [0; 2];
    let length = file.read(&mut start).map_err(cannot_run)?;
    if start[..length] == *b"#!" {
        return Ok(Some(Runtime::Script));
    }
    // Of a large executable only some pages are read.
    let cache = ReadCache::new(file);
    let file = object::File::parse(&cache).map_err(|_| {
        let message = format!("cannot run {}: neither an executable nor a script", executable.display());
        Status { code: crate::exit::NOT_EXECUTABLE, message }
    })?;
    if let Some(section) = file.section_by_name(NOTE_SECTION) {
        return Ok(section.data().ok().and_then(parse_note).map(Runtime::Rayon));
    }
    Ok(openmp::program::look(executable).map_err(cannot_look)?.map(Runtime::Openmp))
}

/// True if the system gives a program rights that its caller has not. Capabilities of a file show in an attribute, which only
/// the C library reads: that there are any is enough to know.
pub fn is_privileged(executable: &Path) -> bool {
    const SET_ID: u32 = 0o6000;
    let set_id = fs::metadata(executable).is_ok_and(|found| found.permissions().mode() & SET_ID != 0);
    set_id || has_capabilities(executable)
}

fn has_capabilities(executable: &Path) -> bool {
    let listed = std::process::Command::new("getcap").arg("--").arg(executable).output();
    listed.is_ok_and(|listed| listed.status.success() && !listed.stdout.is_empty())
}

impl Runtime {
    /// What a recording says of it.
    pub fn describe(&self) -> String {
        match self {
            Runtime::Rayon(hooks) => hooks.runtime.clone(),
            Runtime::Openmp(program) => program.describe(),
            Runtime::Script => String::new(),
        }
    }
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
