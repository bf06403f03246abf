//! The second form of what `workspan build` builds: instrumented before optimisation, for `workspan depend`.
//!
//! The compiler is run twice. What the second run makes lies beside the first, with a name that begins with a dot: objects
//! `.x.o.depend`, which the second link takes in place of `x.o`, and the program `.prog.depend`. An object without a second form is
//! linked as it is; static libraries have a second form, too ([`super::archive`]). A second run that fails takes nothing away: the build
//! goes on, and `workspan depend` says what is missing.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::compiler::Language;

/// Set by `cargo workspan depend`, for rustc: programs are built in this form alone. Its value is a folder for what rustc keeps.
pub const RUST: &str = "WORKSPAN_DEPEND_RUST";
/// What has rustc leave optimisation to the pass, and make all generic functions in the crate that uses them.
pub const RUST_OPTIONS: [&str; 5] =
    ["-Copt-level=3", "-Cno-prepopulate-passes", "-Ccodegen-units=1", "-Cdebuginfo=2", "-Clto=off"];

/// Has the pass instrument before optimisation.
pub const VARIABLE: &str = "WORKSPAN_PASS_EARLY";

/// Set where nobody wants a second form.
pub const NONE: &str = "WORKSPAN_NO_DEPEND";

/// True if second forms are to be made.
pub fn wanted() -> bool {
    std::env::var_os(NONE).is_none()
}

/// Where the second form of a file is.
pub fn beside(file: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(".depend");
    file.with_file_name(name)
}

/// The second form of an object, or the object itself if it has none.
pub fn of_object(object: &Path) -> PathBuf {
    let is_object = object.extension().is_some_and(|extension| extension == "o" || extension == "lo");
    Some(beside(object)).filter(|second| is_object && second.is_file()).unwrap_or_else(|| object.to_owned())
}

/// The file of a program, as the system finds it.
pub fn find(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return Some(program.to_owned()).filter(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// The same, behind all links.
pub fn resolved(program: &Path) -> Option<PathBuf> {
    let found = find(program)?;
    Some(fs::canonicalize(&found).unwrap_or(found))
}

/// The second form of a program, if there is one.
pub fn of_program(program: &Path) -> Option<PathBuf> {
    Some(beside(&resolved(program)?)).filter(|path| path.is_file())
}

/// A compilation, or a link.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The compiler.
    pub compiler: &'a Path,
    /// Its language.
    pub language: Language,
    /// What is put before the arguments.
    pub options: &'a [OsString],
    /// The arguments.
    pub arguments: &'a [OsString],
    /// What it writes: one file.
    pub output: &'a Path,
    /// Sources are compiled.
    pub compiles: bool,
    /// What has to be loaded into the compiler.
    pub preload: &'a OsStr,
}

/// Starts the second run.
pub fn start(job: &Job<'_>) -> Option<Child> {
    let second = beside(job.output);
    let _ = fs::remove_file(&second);
    let mut command = Command::new(job.compiler);
    command.args(job.options).args(changed(job.arguments));
    if job.compiles {
        command.env(VARIABLE, "1").env("LD_PRELOAD", job.preload);
        match job.language {
            // Array expressions become loops without temporary arrays; what LLVM would do the pass prevents.
            Language::Fortran => command.arg("-O1"),
            // All of debug information, for the names of variables.
            _ => command.args(["-O1", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names", "-w", "-g"]),
        };
    }
    command.arg("-o").arg(second).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok()
}

/// Waits for it. What is not complete goes.
pub fn finish(child: Option<Child>, output: &Path) {
    let done = child.and_then(|mut child| child.wait().ok()).is_some_and(|status| status.success());
    if !done {
        let _ = fs::remove_file(beside(output));
    }
}

/// The arguments without what names other outputs, and with the second forms of objects and static libraries.
fn changed(arguments: &[OsString]) -> Vec<OsString> {
    let folders = library_folders(arguments);
    let mut all = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        match text.as_ref() {
            "-o" | "-MF" | "-MT" | "-MQ" => {
                rest.next();
            }
            "-MD" | "-MMD" | "-MP" | "-save-temps" | "-v" | "-gsplit-dwarf" => {}
            _ if text.starts_with("-o") && !text.starts_with("-openmp") || text.starts_with("-save-temps=") => {}
            "-l" => {
                let name = rest.next().cloned().unwrap_or_default();
                match second_library(&name.to_string_lossy(), &folders) {
                    Some(second) => all.push(second.into_os_string()),
                    None => all.extend([argument.clone(), name]),
                }
            }
            _ => {
                let path = Path::new(argument);
                let is_archive = path.extension().is_some_and(|extension| extension == "a");
                let second = match text.strip_prefix("-l") {
                    Some(name) => second_library(name, &folders),
                    None => Some(beside(path)).filter(|second| is_archive && second.is_file()),
                };
                all.push(second.unwrap_or_else(|| of_object(path)).into_os_string());
            }
        }
    }
    all
}

/// Folders in which a linker looks for libraries: those of `-L`, in their order.
fn library_folders(arguments: &[OsString]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.to_string_lossy().strip_prefix("-L") {
            Some("") => folders.extend(rest.next().map(PathBuf::from)),
            Some(folder) => folders.push(PathBuf::from(folder)),
            None => {}
        }
    }
    folders
}

/// The second form of a library that a linker finds in these folders.
fn second_library(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let (shared, archive) = match name.strip_prefix(':') {
        Some(file) => (None, file.to_owned()),
        None => (Some(format!("lib{name}.so")), format!("lib{name}.a")),
    };
    for folder in folders {
        if shared.as_ref().is_some_and(|shared| folder.join(shared).exists()) {
            return None;
        }
        let archive = folder.join(&archive);
        if archive.exists() {
            return Some(beside(&archive)).filter(|second| second.is_file());
        }
    }
    None
}
