//! `workspan build`: any build, with compilers that run the pass.
//!
//! The build sees a folder first in `PATH` whose `cc`, `c++`, `gfortran` and so on call [`driver`]; `CC`, `CXX`, `FC` and
//! cargo's `RUSTC_WRAPPER` name them, too. Pass and run-time lie in the user's cache ([`library`]), where built programs find
//! the latter.

pub mod check;
pub mod companion;
pub mod compiler;
pub mod driver;
pub mod library;

use std::env;
use std::ffi::OsString;

use anyhow::Context;

use crate::args;
use crate::exit::Outcome;
use crate::output;
use crate::record::child;
use compiler::Language;
use workspan_model::Exit;

/// Runs the verb.
pub fn run(args: &args::instrument::Build) -> anyhow::Result<Outcome> {
    let installed = library::install()?;
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
    environment.push(("RUSTC_WRAPPER".into(), script("rustc-wrapper")));
    if env::var_os("CARGO_BUILD_TARGET").is_none() {
        // Build scripts and procedural macros run on the machine, and are built without a target.
        environment.push(("CARGO_BUILD_TARGET".into(), compiler::host_of_rust().map(OsString::from)));
    }
    let ended = child::run(&args.command, &environment).context("cannot run the build")?;
    Ok(match ended.exit {
        Exit::Code(code) => Outcome::Code(code),
        Exit::Signal(signal) => Outcome::Signal(signal),
    })
}
