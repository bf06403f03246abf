//! Building the programs of `programs/openmp` and `programs/cilk-openmp`, once with each compiler.

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

/// The program of `programs/openmp` whose main file this is, built by `compiler`.
pub(crate) fn openmp(main: &str, compiler: Compiler) -> PathBuf {
    built("openmp", main, compiler)
}

/// The same of `programs/cilk-openmp`.
pub(crate) fn cilk(main: &str, compiler: Compiler) -> PathBuf {
    built("cilk-openmp", main, compiler)
}

fn built(programs: &str, main: &str, compiler: Compiler) -> PathBuf {
    static BUILT: OnceLock<Mutex<BTreeMap<(PathBuf, Compiler), PathBuf>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().expect("no build has failed");
    let main = build::root().join("programs").join(programs).join(main);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(programs).join(compiler.command());
    built.entry((main.clone(), compiler)).or_insert_with(|| compile(&main, &folder, compiler)).clone()
}

fn compile(main: &Path, folder: &Path, compiler: Compiler) -> PathBuf {
    fs::create_dir_all(folder).expect("the target directory is writable");
    let name = main.file_name().expect("a file").to_string_lossy();
    let program = folder.join(name.replace('.', "-"));
    let include = build::root().join("include");
    let mut command = Command::new(compiler.command());
    command.args(["-O2", "-g", "-fopenmp", "-o"]).arg(&program);
    match compiler.modules() {
        Some(option) => {
            command.arg(option).arg(folder);
            command.arg(include.join("workspan.f90")).arg(sources().join("cost.f90"));
        }
        None => {
            command.arg("-I").arg(&include);
        }
    }
    command.arg(main).arg("-lm");
    match command.output() {
        Ok(output) if output.status.success() => program,
        Ok(output) => panic!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            panic!("{} is missing; `cargo xtask test` installs it", compiler.command())
        }
        Err(error) => panic!("{command:?}: {error}"),
    }
}
