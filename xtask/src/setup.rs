//! What the tests need of the machine beside a Rust toolchain: found, installed, or requested.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::shell;

/// Something that a package of the system provides.
#[derive(Debug)]
struct Tool {
    /// Debian's and Ubuntu's name for the package.
    package: &'static str,
    /// How it is found.
    look: Look,
    /// What needs it.
    needed_for: &'static str,
}

#[derive(Debug)]
enum Look {
    /// One of these commands is in PATH.
    Commands(&'static [&'static str]),
    /// This file exists.
    File(&'static str),
}

const TOOLS: &[Tool] = &[
    tool("gcc", &["gcc"], "C programs on libgomp and plain threads"),
    tool("g++", &["g++"], "C++ programs"),
    tool("gfortran", &["gfortran"], "Fortran programs on libgomp"),
    tool("clang-19", &["clang-19"], "C and C++ programs on LLVM's OpenMP"),
    tool("flang-19", &["flang-19", "flang-new-19"], "Fortran programs on LLVM's OpenMP"),
    Tool {
        package: "libomp-19-dev",
        look: Look::File("/usr/lib/llvm-19/lib/libomp.so"),
        needed_for: "LLVM's OpenMP itself, and its header omp-tools.h",
    },
    Tool {
        package: "libtbb-dev",
        look: Look::File("/usr/include/oneapi/tbb/task_group.h"),
        needed_for: "C++ programs on oneTBB",
    },
    tool("openmpi-bin", &["mpirun.openmpi"], "running programs on Open MPI"),
    Tool {
        package: "libopenmpi-dev",
        look: Look::File("/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h"),
        needed_for: "C programs on Open MPI",
    },
    tool("mpich", &["mpirun.mpich"], "running programs on MPICH"),
    Tool {
        package: "libmpich-dev",
        look: Look::File("/usr/lib/x86_64-linux-gnu/libmpich.so"),
        needed_for: "C programs on MPICH",
    },
    tool("qemu-user", &["qemu-x86_64"], "limits of parallelism of programs that are only there as executables"),
    tool(
        "chromium",
        &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
        "showing the HTML report as a reader sees it",
    ),
];

/// What programs for another processor need, on x86-64.
const CROSS: &[Tool] = &[
    tool("gcc-aarch64-linux-gnu", &["aarch64-linux-gnu-gcc"], "programs for aarch64 and the run-time that they get"),
    tool("g++-aarch64-linux-gnu", &["aarch64-linux-gnu-g++"], "the same in C++"),
    Tool {
        package: "libc6-dev-arm64-cross",
        look: Look::File("/usr/aarch64-linux-gnu/include/stdio.h"),
        needed_for: "the same: the C library for aarch64",
    },
];
/// Rust's name for what they run on.
const CROSS_TARGET: &str = "aarch64-unknown-linux-gnu";

const fn tool(package: &'static str, commands: &'static [&'static str], needed_for: &'static str) -> Tool {
    Tool { package, look: Look::Commands(commands), needed_for }
}

impl Tool {
    fn is_there(&self) -> bool {
        match self.look {
            Look::Commands(names) => names.iter().any(|name| shell::has_command(name)),
            Look::File(path) => Path::new(path).exists(),
        }
    }
}

/// The machine lacks something, and what to do about it.
#[derive(Debug)]
pub(crate) struct Missing(pub(crate) String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// What the machine allows us to do about a missing tool.
#[derive(Clone, Copy, Debug)]
struct Rights {
    apt: bool,
    root: bool,
}

/// What to do about missing tools.
#[derive(Debug, PartialEq, Eq)]
enum Plan {
    Nothing,
    Install(Vec<&'static str>),
    Ask(String),
}

/// Makes sure that all tools are there: installs them as root on Debian and Ubuntu, otherwise says how.
pub(crate) fn tools() -> anyhow::Result<()> {
    let cross = if cfg!(target_arch = "x86_64") { CROSS } else { &[] };
    provide(&TOOLS.iter().chain(cross).collect::<Vec<_>>())?;
    if !cross.is_empty() && shell::has_command("rustup") {
        // The build of `workspan` looks for it.
        let mut command = Command::new("rustup");
        command.args(["target", "add", CROSS_TARGET]).current_dir(shell::root());
        if !shell::succeeds(&mut command) {
            eprintln!("note: rustup has no target {CROSS_TARGET} (programs for aarch64 are not tested)");
        }
    }
    Ok(())
}

fn provide(tools: &[&Tool]) -> anyhow::Result<()> {
    let missing: Vec<&Tool> = tools.iter().copied().filter(|tool| !tool.is_there()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let rights = Rights { apt: shell::has_command("apt-get"), root: is_root() };
    if rights.apt && rights.root && !missing.iter().all(|tool| is_offered(tool.package)) {
        // No lists yet, as in a fresh container, or too old ones.
        apt_update()?;
    }
    // Not every release has every package. Its absence is for the tests that need it to report.
    let (offered, absent): (Vec<&Tool>, Vec<&Tool>) =
        missing.into_iter().partition(|tool| !rights.apt || !has_lists() || is_offered(tool.package));
    for tool in absent {
        eprintln!("note: this system has no package `{}` ({})", tool.package, tool.needed_for);
    }
    match plan(&offered, rights) {
        Plan::Nothing => Ok(()),
        Plan::Install(packages) => install(&packages),
        Plan::Ask(text) => Err(Missing(text).into()),
    }
}

fn plan(missing: &[&Tool], rights: Rights) -> Plan {
    if missing.is_empty() {
        return Plan::Nothing;
    }
    let packages: Vec<&'static str> = missing.iter().map(|tool| tool.package).collect();
    if rights.apt && rights.root {
        return Plan::Install(packages);
    }
    let list: String = missing.iter().map(|tool| format!("\n  {:<14}  {}", tool.package, tool.needed_for)).collect();
    let how = if rights.apt {
        format!(
            "install it, then run this again:\n  sudo apt-get update && sudo apt-get install -y {}",
            packages.join(" ")
        )
    } else {
        "install it with this system's package manager (the names are Debian's), then run this again".to_owned()
    };
    Plan::Ask(format!(
        "the tests need what is not here:{list}\n{how}\nor use what is here: cargo xtask test --no-setup"
    ))
}

fn install(packages: &[&str]) -> anyhow::Result<()> {
    eprintln!("installing what the tests need: {}", packages.join(", "));
    let mut command = apt();
    command.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages);
    // Lists that name versions the archive has no more.
    shell::run(&mut command).or_else(|_| {
        apt_update()?;
        shell::run(&mut command)
    })
}

/// Learns what packages there are.
pub(crate) fn apt_update() -> anyhow::Result<()> {
    shell::run(apt().args(["update", "-qq"]))
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    // A fresh machine may still be installing updates.
    command.args(["-o", "DPkg::Lock::Timeout=300"]).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn is_offered(package: &str) -> bool {
    shell::succeeds(Command::new("apt-cache").args(["show", package]))
}

/// True if apt knows of any package that could be installed.
fn has_lists() -> bool {
    is_offered("gcc")
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// Makes sure that there is what libFuzzer is compiled with.
pub(crate) fn fuzzing() -> anyhow::Result<()> {
    provide(&TOOLS.iter().filter(|tool| tool.package == "g++").collect::<Vec<_>>())
}

/// Makes sure that there is a nightly toolchain with these components, of which `cargo +nightly VERB` shows the first.
pub(crate) fn nightly(components: &[&str]) -> anyhow::Result<()> {
    if components.first().is_some_and(|verb| shell::succeeds(shell::cargo().args(["+nightly", verb, "--version"]))) {
        return Ok(());
    }
    let mut command = Command::new("rustup");
    command.args(["toolchain", "install", "nightly", "--profile", "minimal"]).current_dir(shell::root());
    command.args(components.iter().flat_map(|component| ["--component", component]));
    if shell::has_command("rustup") {
        return shell::run(&mut command);
    }
    Err(Missing(format!(
        "there is no nightly toolchain with {} (with rustup: {})",
        components.join(", "),
        shell::line(&command)
    ))
    .into())
}

/// Makes sure that the toolchain has components: `fmt` is `rustfmt`, `clippy` is `clippy`.
pub(crate) fn components() -> anyhow::Result<()> {
    let missing: Vec<&str> = [("fmt", "rustfmt"), ("clippy", "clippy")]
        .into_iter()
        .filter(|(verb, _)| !shell::succeeds(shell::cargo().args([verb, "--version"])))
        .map(|(_, component)| component)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut command = Command::new("rustup");
    command.args(["component", "add"]).args(&missing).current_dir(shell::root());
    if shell::has_command("rustup") {
        return shell::run(&mut command);
    }
    Err(Missing(format!("this toolchain has no {} (with rustup: {})", missing.join(", no "), shell::line(&command)))
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Vec<&'static Tool> {
        TOOLS.iter().filter(|tool| ["g++", "clang-19"].contains(&tool.package)).collect()
    }

    #[test]
    fn nothing_is_asked_for_where_nothing_is_missing() {
        assert_eq!(plan(&[], Rights { apt: false, root: false }), Plan::Nothing);
    }

    #[test]
    fn root_installs() {
        assert_eq!(plan(&two(), Rights { apt: true, root: true }), Plan::Install(vec!["g++", "clang-19"]));
    }

    #[test]
    fn others_are_told_the_exact_command() {
        let Plan::Ask(text) = plan(&two(), Rights { apt: true, root: false }) else { panic!("it cannot install") };
        assert!(text.contains("\n  sudo apt-get update && sudo apt-get install -y g++ clang-19\n"), "{text}");
        let Plan::Ask(text) = plan(&two(), Rights { apt: false, root: true }) else { panic!("there is no apt") };
        assert!(
            text.contains("clang-19        C and C++ programs on LLVM's OpenMP\n") && !text.contains("apt-get"),
            "{text}"
        );
    }
}
