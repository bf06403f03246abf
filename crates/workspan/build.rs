//! Compiles the collector for OpenMP programs, which is a library of its own: the command carries it along, and has it
//! loaded into the programs that it runs. Its three crates depend on nothing else, so that the compiler alone will do,
//! whatever profile the command is built in. A second library is for idle accounting alone. A third is the plugin that an
//! emulator loads for instruction traces.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// In the order in which they depend on each other; the last is the library.
const CRATES: [&str; 3] = ["workspan-wire", "workspan-collect", "workspan-preload"];

/// The libraries: name, and what is set for it.
const LIBRARIES: [(&str, &[&str]); 2] = [("collector.so", &[]), ("idle.so", &["--cfg", "idle_only"])];

/// The plugin of the emulator: its crate, which depends on the first of [`CRATES`], and its library.
const PLUGIN: (&str, &str) = ("workspan-emulator", "emulator.so");

/// Set where the command is only looked at, by lints or for its documentation, and never run.
const WITHOUT: &str = "WORKSPAN_WITHOUT_LIBRARIES";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets it")?);
    // Where one cannot be compiled, its file stays empty: the command says so where it would need it.
    for library in LIBRARIES.iter().map(|(library, _)| library).chain([&PLUGIN.1]).chain(&INSTRUMENTED) {
        fs::write(out.join(library), [])?;
    }
    println!("cargo::rerun-if-env-changed={WITHOUT}");
    if env::var_os(WITHOUT).is_some() {
        return Ok(());
    }
    instrumentation(&out)?;
    let crates = Path::new("..");
    let root = |name: &str| crates.join(name).join("src/lib.rs");
    for name in CRATES.into_iter().chain([PLUGIN.0]) {
        println!("cargo::rerun-if-changed={}", crates.join(name).join("src").display());
    }
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    let glibc = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|libc| libc == "gnu");
    if !linux || !glibc || !CRATES.iter().chain([&PLUGIN.0]).all(|name| root(name).is_file()) {
        return Ok(());
    }
    let mut known: Vec<String> = Vec::new();
    for name in CRATES {
        let crate_name = name.replace('-', "_");
        let command = compiler(&crate_name, &root(name), &out, &known)?;
        if Some(&name) == CRATES.last() {
            for (library, settings) in LIBRARIES {
                run(linked(&command, &out.join(library), settings), library)?;
            }
        } else {
            let mut command = command;
            command.args(["--crate-type=rlib", "-Cdebuginfo=line-tables-only", "--out-dir"]).arg(&out);
            run(command, name)?;
        }
        known.push(crate_name);
    }
    let (name, library) = PLUGIN;
    let command = compiler(&name.replace('-', "_"), &root(name), &out, &known[..1])?;
    run(linked(&command, &out.join(library), &["--cfg", "emulator_plugin"]), library)
}

/// The compiler for a crate that depends on those that are `known`.
fn compiler(name: &str, root: &Path, out: &Path, known: &[String]) -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(env::var_os("RUSTC").ok_or("cargo sets it")?);
    // The program's exceptions pass through the collector, which has something to do then.
    command.args(["--edition=2021", "--cap-lints=allow", "-Copt-level=3", "-Cpanic=unwind", "-Ccodegen-units=1"]);
    command.arg("--target").arg(env::var_os("TARGET").ok_or("cargo sets it")?);
    command.arg("--crate-name").arg(name).arg(root).arg("-L").arg(out);
    for dependency in known {
        let file = out.join(format!("lib{dependency}.rlib"));
        command.arg("--extern").arg(format!("{dependency}={}", file.display()));
    }
    Ok(command)
}

/// The same as a library. One piece of code, as where the hooks are compiled into a crate. Symbols stay, for backtraces; the
/// lines of the standard library would make it ten times larger.
fn linked(compiler: &Command, library: &Path, settings: &[&str]) -> Command {
    let mut command = Command::new(compiler.get_program());
    command.args(compiler.get_args().map(OsString::from)).args(settings);
    command.args(["--crate-type=cdylib", "-Clto=fat", "-Cdebuginfo=0", "-Cstrip=debuginfo", "-o"]).arg(library);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = OsString::from("-Clinker=");
        option.push(linker);
        command.arg(option);
    }
    command
}

/// The compiler pass, what stands in for MPI, and the run-time of the programs that the pass instruments: a library with thread-local storage that other
/// objects use, which rustc cannot export, so that the linker is called here.
const INSTRUMENTATION: [&str; 4] = ["workspan-trace", "workspan-pass", "workspan-pass-rt", "workspan-mpi"];

/// What they are made into: their files.
const INSTRUMENTED: [&str; 4] = ["pass.so", "rt.so", "mpi.so", "rt-other.so"];

fn instrumentation(out: &Path) -> Result<(), Box<dyn Error>> {
    let crates = Path::new("..");
    for name in INSTRUMENTATION {
        println!("cargo::rerun-if-changed={}", crates.join(name).join("src").display());
    }
    let exports = crates.join("workspan-pass-rt/rt.map");
    println!("cargo::rerun-if-changed={}", exports.display());
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let known = is("CARGO_CFG_TARGET_ARCH", "x86_64") || is("CARGO_CFG_TARGET_ARCH", "aarch64");
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !known || !glibc || !exports.is_file() {
        return Ok(());
    }
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let target = env::var("TARGET")?;
    let here = Target { name: &target, linker: &linker, emulated: false };
    here.library(out, "workspan-trace", "rlib", "libworkspan_trace.rlib")
        .and_then(|command| run(command, "workspan-trace"))?;
    for (name, file) in [("workspan-pass", "pass.so"), ("workspan-mpi", "mpi.so")] {
        run(here.library(out, name, "cdylib", file)?, name)?;
    }
    here.run_time(out, out, &exports, "rt.so")?;
    // For programs that an emulator runs: only where rustc and a linker know the other processor.
    let other = if target.starts_with("x86_64") { "aarch64" } else { "x86_64" };
    let (name, linker) = (format!("{other}-unknown-linux-gnu"), OsString::from(format!("{other}-linux-gnu-gcc")));
    let folder = out.join("other");
    fs::create_dir_all(&folder)?;
    let there = Target { name: &name, linker: &linker, emulated: true };
    if there.is_known() && there.run_time(out, &folder, &exports, "rt-other.so").is_err() {
        println!("cargo::warning=no run-time for {name}: programs that are built for it cannot be instrumented");
        fs::write(out.join("rt-other.so"), [])?;
    }
    Ok(())
}

/// What programs are instrumented for.
struct Target<'a> {
    /// As rustc names it.
    name: &'a str,
    linker: &'a OsString,
    /// They run by an emulator.
    emulated: bool,
}

impl Target<'_> {
    /// True if rustc has the target's standard library, and there is a linker.
    fn is_known(&self) -> bool {
        let rustc = || Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let libraries = rustc().args(["--print", "target-libdir", "--target", self.name]).output();
        let folder = libraries.ok().and_then(|output| String::from_utf8(output.stdout).ok());
        let linker = Command::new(self.linker).arg("--version").output();
        folder.is_some_and(|folder| Path::new(folder.trim()).is_dir())
            && linker.is_ok_and(|output| output.status.success())
    }

    /// The compiler for a crate.
    fn library(&self, out: &Path, name: &str, kind: &str, file: &str) -> Result<Command, Box<dyn Error>> {
        let mut command = Command::new(env::var_os("RUSTC").ok_or("cargo sets it")?);
        command.args(["--edition=2021", "--cap-lints=allow", "-Copt-level=3", "-Ccodegen-units=1"]);
        // Exceptions of the program pass through what is interposed; it has to note their tasks' ends.
        command.arg(if name == "workspan-pass" { "-Cpanic=abort" } else { "-Cpanic=unwind" });
        // Threads are cancelled through functions that are interposed: the unwinder must know them.
        command.args(["-Cforce-unwind-tables=yes", "-Crelocation-model=pic", "--target", self.name]);
        command.arg(format!("--crate-type={kind}")).arg("--crate-name").arg(name.replace('-', "_"));
        command.arg(Path::new("..").join(name).join("src/lib.rs")).arg("-o").arg(out.join(file));
        if self.emulated {
            command.args(["--cfg", "emulated"]);
        }
        if kind != "rlib" {
            command.args(["-Clto=fat", "-Cdebuginfo=0", "-Cstrip=debuginfo"]);
            command.arg("--extern").arg(format!("workspan_trace={}", out.join("libworkspan_trace.rlib").display()));
            let mut option = OsString::from("-Clinker=");
            option.push(self.linker);
            command.arg(option);
        }
        Ok(command)
    }

    /// The run-time, into `out`; what it is made of, into `folder`.
    fn run_time(&self, out: &Path, folder: &Path, exports: &Path, file: &str) -> Result<(), Box<dyn Error>> {
        if folder != out {
            run(self.library(folder, "workspan-trace", "rlib", "libworkspan_trace.rlib")?, "workspan-trace")?;
        }
        run(self.library(folder, "workspan-pass-rt", "staticlib", "rt.a")?, "workspan-pass-rt")?;
        let mut command = Command::new(self.linker);
        command.args(["-shared", "-o"]).arg(out.join(file));
        command.args(["-Wl,-soname,libworkspan_pass_rt.so", "-Wl,--gc-sections", "-Wl,--strip-debug"]);
        let mut option = OsString::from("-Wl,--version-script=");
        option.push(exports);
        command.arg(option).args(["-Wl,-u,__workspan_flush", "-Wl,-u,__workspan_register", "-Wl,-u,pthread_create"]);
        command.arg(folder.join("rt.a")).args(["-lpthread", "-ldl", "-lgcc_s"]);
        run(command, "workspan-pass-rt")
    }
}

fn run(mut command: Command, what: &str) -> Result<(), Box<dyn Error>> {
    let status = command.status()?;
    if !status.success() {
        return Err(format!("the collector does not compile: {status} for {what}").into());
    }
    Ok(())
}
