//! Whether programs that use OpenMP can be watched.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::collector::{self, Collector};
use super::libomp;
use super::program::{Program, Runtime};
use crate::doctor::check::Check;

const GROUP: &str = "OpenMP";
const PROGRAM: &str = "program";

/// All of them.
pub(super) fn checks() -> Vec<Check> {
    vec![collector(), runtime()]
}

/// Whether the collector can be loaded into a program.
fn collector() -> Check {
    if !collector::is_built() {
        return Check::warn(GROUP, "collector", "not part of this workspan")
            .means("Programs that use OpenMP cannot be profiled.")
            .fix("use a workspan that was built for Linux with glibc");
    }
    let collector = match Collector::new() {
        Ok(collector) => collector,
        Err(error) => {
            return Check::warn(GROUP, "collector", format!("{error:#}"))
                .means("Programs that use OpenMP cannot be profiled.")
                .fix("allow memfd_create, or make the cache folder writable (XDG_CACHE_HOME)")
        }
    };
    let place = if collector.is_in_memory() { "in memory" } else { "in the cache folder" };
    // Any program will do: the loader complains on standard error if it cannot load what it is asked to load.
    let child =
        Command::new("/bin/sh").args(["-c", ":"]).env("LD_PRELOAD", collector.path()).stdin(Stdio::null()).output();
    match child {
        Ok(output) if output.stderr.is_empty() => {
            Check::ok(GROUP, "collector", format!("{place}; a program can load it"))
        }
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
            Check::warn(GROUP, "collector", format!("{place}; a program cannot load it: {error}"))
                .means("Programs that use OpenMP cannot be profiled.")
                .fix("let programs execute memory files (`sysctl vm.memfd_noexec=0`), and see each other in /proc")
        }
        // Without a shell there is nothing to try it with.
        Err(_) => Check::ok(GROUP, "collector", place),
    }
}

/// What stands in for gcc's runtime.
fn runtime() -> Check {
    match libomp::newest() {
        Ok(found) => Check::ok(GROUP, "libomp", format!("LLVM {}, with an interface for tools: {}", found.version, found.path.display())),
        Err(missing) => Check::warn(GROUP, "libomp", missing.to_string())
            .means("Programs that gcc and gfortran have built for OpenMP cannot be profiled; those of clang and flang can.")
            .fix(libomp::FIX),
    }
}

/// The OpenMP runtime, and whether it can be watched.
pub(super) fn of_program(program: &Program) -> Check {
    let place =
        |path: &Option<PathBuf>| path.as_ref().map_or("not found", |path| path.to_str().unwrap_or("?")).to_owned();
    if let Some(obstacle) = program.obstacle() {
        let check = Check::missing(PROGRAM, "openmp", program.describe());
        return check.means(format!("It cannot be profiled: {obstacle}.")).fix("link it dynamically");
    }
    match &program.runtime {
        Runtime::Shared { name, path } => {
            let found = format!("{}: {name} ({})", program.describe(), place(path));
            match path.as_deref().map(libomp::look) {
                None => Check::missing(PROGRAM, "openmp", found)
                    .means("The program cannot start.")
                    .fix("install the library, or name its folder in LD_LIBRARY_PATH"),
                Some(None) => Check::missing(PROGRAM, "openmp", found)
                    .means("This runtime has no interface for tools: a run would report nothing.")
                    .fix(libomp::FIX),
                Some(Some(library)) if library.version.number < libomp::OLDEST => Check::warn(PROGRAM, "openmp", found)
                    .means("It does not report the chunks of loops.")
                    .fix("use LLVM 15 or newer"),
                Some(Some(_)) => Check::ok(PROGRAM, "openmp", found),
            }
        }
        Runtime::Gcc { stand_in: Ok(library) } => {
            Check::ok(PROGRAM, "openmp", format!("{} ({})", program.describe(), library.path.display()))
        }
        Runtime::Gcc { stand_in: Err(missing) } => {
            Check::missing(PROGRAM, "openmp", format!("libgomp, and no runtime to replace it for the run: {missing}"))
                .means("gcc's OpenMP runtime has no interface for tools; LLVM's can replace it for the run.")
                .fix(libomp::FIX)
        }
        Runtime::Linked { .. } => Check::ok(PROGRAM, "openmp", program.describe())
            .means("Places come from debug information only; after a tail call the function shown is the caller's."),
    }
}
