//! The program to run: where it is, and how it can be profiled.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use object::read::ReadCache;

use crate::exit::{Status, NOT_FOUND};
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
            let message = format!("command not found: {}", command.to_string_lossy());
            Status { code: NOT_FOUND, message }.into()
        })
}

/// How a program can be profiled. An error if it cannot, or not so: a run would report nothing. `idle_only`: only idle time is
/// wanted.
pub fn runtime(executable: &Path, idle_only: bool) -> anyhow::Result<Box<dyn Runtime>> {
    let Some(runtime) = look(executable)? else {
        anyhow::bail!(
            "{} is not instrumented and does not use OpenMP. For a Rust program that uses rayon: build it with \
             `cargo workspan build`, or build and run it with `cargo workspan run`",
            executable.display()
        );
    };
    runtime.check(executable, idle_only)?;
    Ok(runtime)
}

/// How a program can be profiled, if it can.
pub fn look(executable: &Path) -> anyhow::Result<Option<Box<dyn Runtime>>> {
    let cannot_run = |error: io::Error| {
        let code = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { crate::exit::NOT_EXECUTABLE };
        Status { code, message: format!("cannot run {}: {error}", executable.display()) }
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
        let message = format!("cannot run {}: neither an executable nor a script", executable.display());
        Status { code: crate::exit::NOT_EXECUTABLE, message }
    })?;
    Ok(runtime::look(executable, &file))
}
