//! The program to run: where it is, and how it can be profiled.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context;
use object::read::ReadCache;

use crate::exit::{Status, NOT_EXECUTABLE, NOT_FOUND};
use crate::openmp::loading::Obstacle;
use crate::rayon::Script;
use crate::runtime::{self, Runtime};

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
            let name = command.to_string_lossy();
            let hint = match fs::metadata(path) {
                Ok(found) if found.is_dir() => format!(": {name} is a folder"),
                Ok(_) => format!(" (the file in this folder: ./{name})"),
                Err(_) => " (no such file in the folders of PATH; a program in this folder is ./NAME)".to_owned(),
            };
            let message = format!("command not found: {name}{hint}");
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
        matches!(look(&program), Ok(Some(runtime)) if !runtime.is_script()).then_some(program)
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

/// How a program can be profiled. An error if it cannot, or not so: a run would report nothing. `idle_only`: only idle time is
/// wanted.
pub fn runtime(executable: &Path, idle_only: bool) -> anyhow::Result<Box<dyn Runtime>> {
    let Some(runtime) = look(executable)? else {
        if let Some(obstacle) = Obstacle::of(executable) {
            anyhow::bail!("{} cannot be profiled: {obstacle}", executable.display());
        }
        anyhow::bail!(
            "{0} is not instrumented and does not use OpenMP, oneTBB or threads of its own. For a Rust program that uses rayon: build it with \
             `cargo workspan build`, or build and run it with `cargo workspan run`. A serial program: which loops and calls could run in parallel, says \
             `workspan depend -- {0}`, if it is built by `workspan build`; how parallel it could be at most, `workspan limits -- {0}`",
            executable.display()
        );
    };
    runtime.check(executable, idle_only)?;
    Ok(runtime)
}

/// That a program cannot be run, and why.
pub fn refused(program: &Path, error: &io::Error) -> Status {
    let name = program.display();
    if error.kind() == io::ErrorKind::IsADirectory {
        let message = format!("cannot run {name}: it is a folder; name the program in it");
        return Status { code: NOT_EXECUTABLE, message };
    }
    if error.kind() != io::ErrorKind::NotFound {
        return Status { code: NOT_EXECUTABLE, message: format!("cannot run {name}: {error}") };
    }
    let message = if program.components().count() == 1 {
        format!("cannot run {name}: there is no such program in the folders of PATH; one in this folder is ./{name}")
    } else {
        let folder = if program.is_absolute() { String::new() } else { format!(" in {}", crate::files::here()) };
        format!("cannot run {name}: there is no such file{folder}; check the path")
    };
    Status { code: NOT_FOUND, message }
}

/// How a program can be profiled, if it can.
pub fn look(executable: &Path) -> anyhow::Result<Option<Box<dyn Runtime>>> {
    let cannot_run = |error: io::Error| refused(executable, &error);
    let cannot_look = |error: io::Error| {
        anyhow::Error::new(error).context(format!("cannot look at the libraries of {}", executable.display()))
    };
    let mut file = fs::File::open(executable).map_err(cannot_run)?;
    let mut start = [0; 2];
    let length = file.read(&mut start).map_err(cannot_run)?;
    if start[..length] == *b"#!" {
        return Ok(Some(Box::new(Script)));
    }
    // Of a large executable only some pages are read.
    let cache = ReadCache::new(file);
    let file = object::File::parse(&cache).map_err(|_| {
        let hint = "(a source file must be compiled, a script begins with #!)";
        let message = format!("cannot run {}: it is neither an executable nor a script {hint}", executable.display());
        Status { code: NOT_EXECUTABLE, message }
    })?;
    runtime::look(executable, &file).map_err(cannot_look)
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
