//! Standing in for a compiler: the same arguments, with the pass loaded and the run-time linked.
//!
//! Nothing is built without instrumentation in silence: what a compilation wrote is looked at ([`check`]), and a compiler
//! that did not run the pass is an error.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context;
use workspan_instrument::{Package, Runtime, GRAPH_FOLDER};

use super::check::{self, State};
use super::compiler::Language;
use super::library::{Installed, RUN_TIME_NAME};
use super::{companion, compiler, kept_calls, library};
use crate::exit::{self, Outcome};
use crate::output;

/// `workspan compile-as LANGUAGE -- ARGUMENTS`, as the stand-ins' scripts call it.
pub fn run_if_asked(arguments: &[OsString]) -> Option<ExitCode> {
    let [_, verb, language, dashes, rest @ ..] = arguments else {
        return None;
    };
    if verb != "compile-as" || dashes != "--" {
        return None;
    }
    Language::of(&language.to_string_lossy()).map(|language| exit::code(run(language, rest)))
}

fn run(language: Language, arguments: &[OsString]) -> anyhow::Result<Outcome> {
    super::note_call();
    let installed = library::install()?;
    if language == Language::Rust {
        return rust(&installed, arguments);
    }
    let line = Line::parse(arguments);
    let compiler = compiler::find(language)?;
    let mut command = Command::new(&compiler);
    if line.is_static && line.links() {
        anyhow::bail!(
            "a static program cannot be instrumented: its run-time is a shared library; build without -static"
        );
    }
    if line.removed_lto {
        output::note("-flto is ignored: instrumented code is optimised file by file");
    }
    let preload = preload(&installed.pass);
    let mut options = Vec::new();
    if line.compiles() {
        command.env("LD_PRELOAD", &preload);
        if !line.has_debug_info {
            // Places in the source; the code stays the same. Flang knows only the whole of it.
            let option = if language == Language::Fortran { "-g" } else { "-gline-tables-only" };
            options.push(OsString::from(option));
        }
    }
    if line.links() {
        options.extend(link(run_time(&installed, line.processor.as_deref())?));
    }
    command.args(&options).args(&line.arguments);
    // Beside the first, since most builds leave a processor idle.
    let outputs = if line.compiles() || line.links() { line.outputs() } else { Vec::new() };
    let single = match outputs.as_slice() {
        [output] if line.stops != Some(Stop::Assembly) => Some(output.clone()),
        _ => None,
    };
    let second = single.as_deref().filter(|_| companion::wanted()).and_then(|output| {
        companion::start(&companion::Job {
            compiler: &compiler,
            language,
            options: &options,
            arguments: &line.arguments,
            output,
            compiles: line.compiles(),
            preload: &preload,
        })
    });
    let status = command.status().with_context(|| format!("cannot run {}", compiler.display()));
    if let Some(output) = &single {
        companion::finish(second, output);
    }
    let status = status?;
    let outcome = Outcome::of(status);
    if outcome == Outcome::OK && line.compiles() {
        for file in line.outputs() {
            if check::state(&file) == State::Native {
                anyhow::bail!(
                    "{} was compiled without instrumentation: {} did not run the pass; name another compiler in {} \
                     (one that is linked with libLLVM as a shared library, as those of Debian, Ubuntu and Fedora are)",
                    file.display(),
                    compiler.display(),
                    compiler::variable(language).unwrap_or("CC"),
                );
            }
        }
    }
    Ok(outcome)
}

/// The pass, before what is loaded anyway.
fn preload(pass: &Path) -> OsString {
    let mut all = pass.as_os_str().to_owned();
    if let Some(former) = env::var_os("LD_PRELOAD").filter(|former| !former.is_empty()) {
        all.push(":");
        all.push(former);
    }
    all
}

/// The folder of the run-time for a processor; nothing: this machine's.
fn run_time<'i>(installed: &'i Installed, processor: Option<&str>) -> anyhow::Result<&'i Path> {
    match processor {
        None | Some(env::consts::ARCH) => Ok(&installed.folder),
        Some(library::OTHER) => installed.other.as_deref().with_context(|| {
            let other = library::OTHER;
            format!(
                "this workspan has no run-time for {other}: type `rustup target add {other}-unknown-linux-gnu`, install \
                 gcc-{}-linux-gnu, then build or install workspan anew",
                other.replace('_', "-")
            )
        }),
        Some(other) => anyhow::bail!("programs for {other} cannot be instrumented: those for x86_64 and aarch64 can"),
    }
}

/// What links the run-time: first, so that its definitions come before the C library's.
fn link(folder: &Path) -> Vec<OsString> {
    let with = |option: &str| {
        let mut option = OsString::from(option);
        option.push(folder);
        option
    };
    let keep = ["-Wl,--push-state,--no-as-needed", "-lworkspan_pass_rt", "-Wl,--pop-state"];
    let mut options = vec![with("-L"), with("-Wl,-rpath,")];
    options.extend(keep.map(OsString::from));
    options
}

/// rustc, called by cargo: crates for the target are instrumented, build scripts and procedural macros are not.
fn rust(installed: &Installed, arguments: &[OsString]) -> anyhow::Result<Outcome> {
    let (rustc, rest) = arguments.split_first().context("cargo names rustc")?;
    let has = |wanted: &str| rest.iter().any(|argument| argument.to_string_lossy().starts_with(wanted));
    let mut command;
    if has("--target") {
        let rest = with_hooks(installed, rest)?;
        let rustc = compiler::real_rustc(rustc);
        command = Command::new(&rustc);
        command.env("LD_PRELOAD", preload(&installed.pass)).args(&rest).args(kept_calls::options(&rustc));
        if !has("debuginfo=") && !rest.iter().any(|argument| argument == "-g") {
            command.arg("-Cdebuginfo=line-tables-only");
        }
        let run_time = run_time(installed, target_of(&rest).as_deref())?;
        let mut folder = OsString::from("-Lnative=");
        folder.push(run_time);
        let mut path = OsString::from("-Clink-arg=-Wl,-rpath,");
        path.push(run_time);
        command.arg(folder).arg(format!("-ldylib={RUN_TIME_NAME}")).arg(path);
        if let Some(folder) = env::var_os(companion::RUST) {
            command.env(companion::VARIABLE, "1").args(companion::RUST_OPTIONS);
            // It keeps calls of the program's own functions: without it, rustc would inline small ones.
            let mut incremental = OsString::from("-Cincremental=");
            incremental.push(folder);
            command.arg(incremental);
        }
    } else {
        command = Command::new(rustc);
        command.args(rest);
    }
    let status = command.status().with_context(|| format!("cannot run {}", rustc.to_string_lossy()))?;
    if rest == ["-vV"] {
        // Cargo compiles everything again if this answer changes: so it does with another pass.
        let pass = installed.folder.file_name().unwrap_or_default().to_string_lossy();
        output::data(&format!("workspan: {pass}\n"))?;
    }
    Ok(Outcome::of(status))
}

/// The processor that rustc compiles for, as its options say.
fn target_of(arguments: &[OsString]) -> Option<String> {
    let words = arguments.iter().map(|argument| argument.to_string_lossy());
    let mut after = words.skip_while(|word| !word.starts_with("--target"));
    let first = after.next()?;
    let target = first.strip_prefix("--target=").map(str::to_owned);
    target.or_else(|| after.next().map(std::borrow::Cow::into_owned)).map(|target| processor(&target))
}

/// The arguments, with hooks in place of rayon's own text if it is that crate: its tasks are then in the graph.
fn with_hooks(installed: &Installed, arguments: &[OsString]) -> anyhow::Result<Vec<OsString>> {
    let mut arguments = arguments.to_vec();
    let name = arguments.iter().position(|argument| argument == "--crate-name").and_then(|at| arguments.get(at + 1));
    if name.is_none_or(|name| name != "rayon_core") {
        return Ok(arguments);
    }
    let Some(root) = arguments.iter_mut().find(|argument| argument.to_string_lossy().ends_with("src/lib.rs")) else {
        return Ok(arguments);
    };
    let path = env::current_dir().context("cannot find the working directory")?.join(&*root);
    let folder = path.parent().and_then(Path::parent).context("a crate root without a package")?.to_owned();
    let version = env::var("CARGO_PKG_VERSION").context("cargo did not set CARGO_PKG_VERSION")?;
    let package = Package { runtime: Runtime::RayonCore, version, folder };
    match workspan_instrument::instrument(&package, &installed.folder.join(GRAPH_FOLDER)) {
        Ok(copy) => *root = copy.root.into(),
        // The program is built, and `graph races` says what its graph lacks.
        Err(error) => output::note(&format!("tasks of rayon will not be in the graph: {error}")),
    }
    Ok(arguments)
}

/// A compiler's command line, as far as it matters here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    arguments: Vec<OsString>,
    sources: Vec<PathBuf>,
    inputs: usize,
    output: Option<PathBuf>,
    /// Stops before linking, or asks only.
    stops: Option<Stop>,
    is_static: bool,
    has_debug_info: bool,
    removed_lto: bool,
    /// That of `--target`.
    processor: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// `-c`
    Object,
    /// `-S`
    Assembly,
    /// `-E`, `-M`, a question.
    Nothing,
}

/// Options whose argument stands by itself.
const WITH_ARGUMENT: &[&str] = &[
    "-o",
    "-I",
    "-L",
    "-D",
    "-U",
    "-l",
    "-x",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xclang",
    "-Xpreprocessor",
    "-Xassembler",
    "-arch",
    "-target",
    "-T",
    "-u",
    "-z",
    "-mllvm",
    "-J",
    "-e",
    "--param",
    "-isysroot",
    "-rpath",
];
const SOURCES: &[&str] = &[
    "c", "cc", "cpp", "cxx", "c++", "C", "CPP", "i", "ii", "bc", "ll", "f", "F", "for", "FOR", "f90", "F90", "f95",
    "F95", "f03", "F03", "f08", "F08",
];

/// The processor of a target, as Rust names it.
fn processor(target: &str) -> String {
    match target.split('-').next().unwrap_or_default() {
        "arm64" => "aarch64".to_owned(),
        "amd64" => "x86_64".to_owned(),
        known => known.to_owned(),
    }
}

impl Line {
    fn parse(arguments: &[OsString]) -> Line {
        let mut line = Line::default();
        let mut rest = arguments.iter();
        let mut language = false;
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            match text.as_ref() {
                "-c" => line.stops = line.stops.or(Some(Stop::Object)),
                "-S" => line.stops = line.stops.filter(|stop| *stop == Stop::Nothing).or(Some(Stop::Assembly)),
                "-E" | "-M" | "-MM" | "-fsyntax-only" | "-###" | "-emit-llvm" => line.stops = Some(Stop::Nothing),
                "-static" | "-static-pie" => line.is_static = true,
                _ => {}
            }
            if text.starts_with("-flto") || text == "-fwhole-program" {
                line.removed_lto = true;
                continue;
            }
            line.has_debug_info |= text.starts_with("-g") && !text.starts_with("-gcc") && text != "-g0";
            line.arguments.push(argument.clone());
            if WITH_ARGUMENT.contains(&text.as_ref()) {
                if let Some(value) = rest.next() {
                    line.arguments.push(value.clone());
                    if text == "-target" {
                        line.processor = Some(processor(&value.to_string_lossy()));
                    }
                    if text == "-o" {
                        line.output = Some(PathBuf::from(value));
                    }
                    language |= text == "-x" && value != "none" && !value.to_string_lossy().contains("assembler");
                }
            } else if let Some(target) = text.strip_prefix("--target=") {
                line.processor = Some(processor(target));
            } else if let Some(file) = text.strip_prefix("-o").filter(|_| !text.starts_with("-openmp")) {
                line.output = Some(PathBuf::from(file));
            } else if !text.starts_with('-') || text == "-" {
                line.inputs += 1;
                let path = Path::new(argument);
                let extension = path.extension().unwrap_or_default().to_string_lossy();
                if language || SOURCES.contains(&extension.as_ref()) {
                    line.sources.push(path.to_owned());
                }
            }
        }
        line
    }

    /// It makes objects from sources.
    fn compiles(&self) -> bool {
        !self.sources.is_empty() && self.stops != Some(Stop::Nothing)
    }

    /// It links.
    fn links(&self) -> bool {
        self.inputs > 0 && self.stops.is_none() && !self.arguments.iter().any(|argument| argument == "-r")
    }

    /// Files whose content shows whether the pass ran.
    fn outputs(&self) -> Vec<PathBuf> {
        if let Some(output) = self.output.as_ref().filter(|output| *output != OsStr::new("-")) {
            return vec![output.clone()];
        }
        let extension = match self.stops {
            Some(Stop::Object) => "o",
            Some(Stop::Assembly) => "s",
            Some(Stop::Nothing) => return Vec::new(),
            None => return vec![PathBuf::from("a.out")],
        };
        let beside = |source: &PathBuf| PathBuf::from(source.file_name().unwrap_or_default()).with_extension(extension);
        self.sources.iter().map(beside).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line::parse(&text.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines_are_understood() {
        let compile = line("-O2 -c -I include a.c b.cpp");
        assert!(compile.compiles() && !compile.links() && !compile.has_debug_info);
        assert_eq!(compile.outputs(), [Path::new("a.o"), Path::new("b.o")]);
        let both = line("-g a.f90 x.o -o prog -lm -flto=auto");
        assert!(both.compiles() && both.links() && both.has_debug_info && both.removed_lto);
        assert_eq!(both.outputs(), [Path::new("prog")]);
        assert!(!both.arguments.iter().any(|argument| argument == "-flto=auto"));
        let link = line("a.o b.o -shared -olib.so");
        assert!(!link.compiles() && link.links());
        assert!(!line("-E a.c").compiles() && !line("--version").links() && !line("-v").links());
        assert!(!line("-S -emit-llvm a.c").compiles() && line("-static a.c").is_static);
        assert_eq!(line("-S a.c").outputs(), [Path::new("a.s")]);
        let processor = |text: &str| line(text).processor;
        assert_eq!(processor("--target=aarch64-linux-gnu a.c").as_deref(), Some("aarch64"));
        assert_eq!(processor("-target arm64-linux-gnu a.c").as_deref(), Some("aarch64"));
        assert_eq!(processor("a.c -O2"), None);
        assert!(line("-x c - -o t").compiles() && !line("-c start.S").compiles());
    }
}
