//! `workspan build`: any build, with compilers that run the pass.
//!
//! The build sees a folder first in `PATH` whose `cc`, `c++`, `gfortran` and so on call [`driver`]; `CC`, `CXX`, `FC` and
//! cargo's `RUSTC_WRAPPER` name them, too. Pass and run-time lie in the user's cache ([`library`]), where built programs find
//! the latter. A build that names a compiler by its path goes past all of them: it is said if none of them was called.

pub mod archive;
pub mod check;
pub mod companion;
pub mod compiler;
pub mod driver;
pub mod kept_calls;
pub mod library;

use std::env;
use std::ffi::OsString;
use std::path::Path;

use anyhow::Context;

use crate::args;
use crate::exit::Outcome;
use crate::output;
use crate::record::child;
use compiler::Language;
use workspan_model::Exit;

/// The variable that names a file in which stand-ins leave a mark.
const CALLED: &str = "WORKSPAN_COMPILED";

/// Runs the verb.
pub fn run(args: &args::instrument::Build) -> anyhow::Result<Outcome> {
    let installed = library::install()?;
    library::stand_in_for_all(&installed)?;
    let mut found = Vec::new();
    for (name, language) in [("C", Language::C), ("C++", Language::Cxx), ("Fortran", Language::Fortran)] {
        found.extend(compiler::find(language).ok().map(|path| format!("{name} by {}", path.display())));
    }
    if found.is_empty() {
        output::note("found no clang and no flang: C, C++ and Fortran cannot be built (install clang-19, flang-19)");
    } else {
        output::note(&format!("building with instrumentation: {}", found.join(", ")));
    }
    let mut path = installed.bin.clone().into_os_string();
    if let Some(former) = env::var_os("PATH") {
        path.push(":");
        path.push(former);
    }
    let script = |name: &str| Some(installed.bin.join(name).into_os_string());
    let mut environment: Vec<(OsString, Option<OsString>)> = vec![("PATH".into(), Some(path))];
    for (variable, name) in [("CC", "cc"), ("CXX", "c++"), ("FC", "gfortran"), ("F77", "gfortran"), ("F90", "gfortran")]
    {
        environment.push((variable.into(), script(name)));
    }
    // What was chosen counts also inside the build.
    for (language, variable) in [(Language::C, "CC"), (Language::Cxx, "CXX"), (Language::Fortran, "FC")] {
        if let (Some(keep), Some(chosen)) = (compiler::variable(language), env::var_os(variable)) {
            environment.push((keep.into(), Some(chosen)));
        }
    }
    if args.no_depend {
        environment.push((companion::NONE.into(), Some("1".into())));
    }
    environment.push(("RUSTC_WRAPPER".into(), script("rustc-wrapper")));
    if env::var_os("CARGO_BUILD_TARGET").is_none() {
        // Build scripts and procedural macros run on the machine, and are built without a target.
        environment.push(("CARGO_BUILD_TARGET".into(), compiler::host_of_rust().map(OsString::from)));
    }
    let called = tempfile::NamedTempFile::new().context("cannot make a temporary file")?;
    environment.push((CALLED.into(), Some(called.path().into())));
    let ended =
        child::run(&by_stand_in(&args.command, &installed.bin), &environment).context("cannot run the build")?;
    if ended.exit == Exit::Code(0) && called.as_file().metadata().is_ok_and(|file| file.len() == 0) {
        output::note(
            "the build called no compiler by way of workspan: either nothing was left to compile (clean the build), or it names \
             a compiler by its path (name it cc, c++ or gfortran there, without a folder)",
        );
    }
    Ok(match ended.exit {
        Exit::Code(code) => Outcome::Code(code),
        Exit::Signal(signal) => Outcome::Signal(signal),
    })
}

/// A command line whose first word is the path of a compiler, with the compiler's stand-in in its place.
fn by_stand_in(command: &[OsString], bin: &Path) -> Vec<OsString> {
    let mut command = command.to_vec();
    let first = command.first().map(Path::new).filter(|first| first.components().count() > 1);
    let name = first.and_then(Path::file_name).and_then(|name| name.to_str());
    if let Some(known) = name.and_then(library::stand_in) {
        command[0] = bin.join(known).into_os_string();
    }
    command
}

/// A stand-in was called: whoever started the build knows then that it was.
pub(crate) fn note_call() {
    let file = env::var_os(CALLED).and_then(|path| std::fs::OpenOptions::new().append(true).open(path).ok());
    // It is a hint: the compilation goes on.
    let _ = file.map(|mut file| std::io::Write::write_all(&mut file, b"."));
}
