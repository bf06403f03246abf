//! Building the OpenMP programs of `programs/openmp`, once with each compiler.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use crate::build;

/// A compiler that knows OpenMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Compiler {
    Clang,
    Gcc,
    ClangCpp,
    GccCpp,
    Flang,
    Gfortran,
}

impl Compiler {
    /// The command.
    fn command(self) -> &'static str {
        match self {
            Compiler::Clang => "clang-19",
            Compiler::Gcc => "gcc",
            Compiler::ClangCpp => "clang++-19",
            Compiler::GccCpp => "g++",
            Compiler::Flang => "flang-new-19",
            Compiler::Gfortran => "gfortran",
        }
    }

    /// True if the program's runtime is libomp, and its directives say where they stand.
    pub(crate) fn is_llvm(self) -> bool {
        matches!(self, Compiler::Clang | Compiler::ClangCpp | Compiler::Flang)
    }

    /// The option that names the folder of Fortran's module files.
    fn modules(self) -> Option<&'static str> {
        match self {
            Compiler::Flang => Some("-module-dir"),
            Compiler::Gfortran => Some("-J"),
            _ => None,
        }
    }
}

/// The folder of the sources.
pub(crate) fn sources() -> PathBuf {
    build::root().join("programs/openmp")
}

/// The program whose main file this is, built by `compiler`.
pub(crate) fn openmp(main: &str, compiler: Compiler) -> PathBuf {
    static BUILT: OnceLock<Mutex<BTreeMap<(String, Compiler), PathBuf>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().expect("no build has failed");
    built.entry((main.to_owned(), compiler)).or_insert_with(|| compile(main, compiler)).clone()
}

fn compile(main: &str, compiler: Compiler) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openmp").join(compiler.command());
    fs::create_dir_all(&folder).expect("the target directory is writable");
    let program = folder.join(main.replace('.', "-"));
    let include = build::root().join("include");
    let mut command = Command::new(compiler.command());
    command.args(["-O2", "-g", "-fopenmp", "-o"]).arg(&program);
    match compiler.modules() {
        Some(option) => {
            command.arg(option).arg(&folder);
            command.arg(include.join("workspan.f90")).arg(sources().join("cost.f90"));
        }
        None => {
            command.arg("-I").arg(&include);
        }
    }
    command.arg(sources().join(main));
    match command.output() {
        Ok(output) if output.status.success() => program,
        Ok(output) => panic!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            panic!("{} is missing; `cargo xtask test` installs it", compiler.command())
        }
        Err(error) => panic!("{command:?}: {error}"),
    }
}
