//! Builds and runs programs in C, C++ and Fortran that report where their calls are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use workspan_model::{Site, SiteKind};

use crate::build::{fixtures, scratch};

/// A compiler of the system. All are needed: a test that passes without one would say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compiler {
    Clang,
    Gcc,
    ClangCpp,
    Gpp,
    Gfortran,
    Flang,
}

impl Compiler {
    fn command(self) -> &'static str {
        match self {
            Compiler::Clang => "clang-19",
            Compiler::Gcc => "gcc",
            Compiler::ClangCpp => "clang++-19",
            Compiler::Gpp => "g++",
            Compiler::Gfortran => "gfortran",
            Compiler::Flang => "flang-new-19",
        }
    }

    fn source(self) -> &'static str {
        match self {
            Compiler::Clang | Compiler::Gcc => "c.c",
            Compiler::ClangCpp | Compiler::Gpp => "cpp.cpp",
            Compiler::Gfortran | Compiler::Flang => "fortran.F90",
        }
    }
}

impl Compiler {
    /// The option that names the folder of Fortran's module files: those of two compilers, or two tests, must not meet.
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
    fixtures().join("native")
}

/// A call that a program has reported.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) file: String,
    pub(crate) line: u32,
    /// Possible names, separated by `|`.
    pub(crate) function: String,
    /// Path of the library in which it is; empty for the executable.
    pub(crate) module: String,
    pub(crate) address: u64,
}

impl Told {
    /// The site that a collector would make of it.
    pub(crate) fn site(&self) -> Site {
        Site {
            kind: SiteKind::Task,
            file: String::new(),
            line: 0,
            column: 0,
            function: None,
            type_name: String::new(),
            module: self.module.clone(),
            addresses: vec![self.address],
            via: None,
        }
    }
}

/// A built program.
#[derive(Debug)]
pub(crate) struct Native {
    pub(crate) executable: PathBuf,
    /// The library beside it; not of all.
    pub(crate) library: PathBuf,
    pub(crate) told: Vec<Told>,
}

impl Native {
    /// Builds the fixture for a compiler, and runs it.
    #[track_caller]
    pub(crate) fn build(test: &str, compiler: Compiler, options: &[&str]) -> Native {
        Native::build_source(test, compiler, compiler.source(), options)
    }

    /// The same for another source.
    #[track_caller]
    pub(crate) fn build_source(test: &str, compiler: Compiler, source: &str, options: &[&str]) -> Native {
        let folder = scratch(test);
        let path = |name: &str| folder.join(name).to_str().expect("the path is UTF-8").to_owned();
        let (here, library) = (path("here.o"), path("liblibrary.so"));
        run("gcc", &["-O2", "-fPIC", "-c", "here.c", "-o", &here]);
        let executable = path("program");
        let mut words = vec!["-fopenmp", source, &here, "-o", &executable];
        if source == "c.c" {
            let build = ["-shared", "-fPIC", "library.c", "-o", &library];
            let options: Vec<&str> = options.iter().copied().filter(|option| !option.ends_with("pie")).collect();
            run(compiler.command(), &[&build[..], &options].concat());
            words.extend([&library, "-Wl,-rpath,$ORIGIN", "-rdynamic"]);
        }
        let modules = folder.to_str().expect("the path is UTF-8");
        if let Some(option) = compiler.modules() {
            words.extend([option, modules]);
        }
        run(compiler.command(), &[&words[..], options].concat());
        let told = tell(executable.as_ref());
        Native { executable: executable.into(), library: library.into(), told }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(&self.executable).expect("it was just built")
    }

    pub(crate) fn library_bytes(&self) -> Vec<u8> {
        fs::read(&self.library).unwrap_or_default()
    }

    pub(crate) fn sites(&self) -> Vec<Site> {
        self.told.iter().map(Told::site).collect()
    }
}

/// Runs a compiler, or another tool, in the folder of the sources.
#[track_caller]
pub(crate) fn run(command: &str, arguments: &[&str]) {
    let output = Command::new(command).args(arguments).current_dir(sources()).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {command}, which these tests need: {error}"));
    assert!(output.status.success(), "{command} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a program and reads what it reports.
#[track_caller]
fn tell(executable: &Path) -> Vec<Told> {
    let output = Command::new(executable).output().expect("it was just built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("fixtures print UTF-8");
    let told: Vec<Told> = text
        .lines()
        .map(|line| {
            let mut words = line.split('\t');
            let mut word = || words.next().expect("a word").to_owned();
            let (file, line, function, module, address) = (word(), word(), word(), word(), word());
            Told {
                file,
                line: line.parse().expect("a number"),
                function,
                module,
                address: address.parse().expect("a number"),
            }
        })
        .collect();
    assert!(told.len() >= 8, "{text}");
    told
}
