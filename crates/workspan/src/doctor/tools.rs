//! Cargo, rustc, and our own two commands.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::{env, io};

use super::check::Check;

const GROUP: &str = "tools";

/// All of them. `has_program`: there is a program already, so that nothing needs to be built.
pub(super) fn checks(has_program: bool) -> Vec<Check> {
    vec![tool("cargo", "CARGO", has_program), tool("rustc", "RUSTC", has_program), clang(), commands()]
}

/// A compiler that runs the pass.
fn clang() -> Check {
    const NEWEST: u32 = 22;
    const OLDEST: u32 = 16;
    let numbered = (OLDEST..=NEWEST).rev().map(|version| format!("clang-{version}"));
    match numbered.chain(["clang".to_owned()]).find_map(|name| version(&name.into()).ok()) {
        Some(version) => Check::ok(GROUP, "clang", version),
        None => Check::warn(GROUP, "clang", "not found")
            .means("`workspan build`, for `depend` and `graph`, cannot compile C, C++ and Fortran. All else works without.")
            .fix(format!("install clang, and flang for Fortran, of LLVM {OLDEST} to {NEWEST} (`apt-get install clang-19 flang-19`)")),
    }
}

fn tool(name: &'static str, variable: &str, has_program: bool) -> Check {
    let command = env::var_os(variable).unwrap_or_else(|| name.into());
    match version(&command) {
        Ok(version) => Check::ok(GROUP, name, version),
        Err(error) => {
            let found = format!("cannot run {}: {error}", command.to_string_lossy());
            let check = if has_program { Check::warn(GROUP, name, found) } else { Check::missing(GROUP, name, found) };
            check
                .means("Workspan cannot build instrumented programs; it can run and report those built elsewhere.")
                .fix("install Rust (https://rustup.rs), and open a new shell")
        }
    }
}

fn version(command: &OsString) -> io::Result<String> {
    let output = Command::new(command).arg("--version").output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("it ends with {}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned())
}

/// Each of our two commands calls the other by its place.
fn commands() -> Check {
    let Ok(here) = env::current_exe() else {
        return Check::warn(GROUP, "commands", "cannot find our own executable").fix("mount /proc");
    };
    let version = env!("CARGO_PKG_VERSION");
    let folder = here.parent().map(PathBuf::from).unwrap_or_default();
    for name in ["workspan", "cargo-workspan"] {
        if !folder.join(name).is_file() {
            return Check::warn(GROUP, "commands", format!("`{name}` is not in {}", folder.display()))
                .means("`cargo workspan` builds programs, `workspan` runs and reports them: each needs the other.")
                .fix("install both (`cargo install workspan`)");
        }
    }
    let in_path = env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|entry| entry == folder));
    if in_path || cargo_home().is_some_and(|home| home.join("bin") == folder) {
        return Check::ok(GROUP, "commands", format!("workspan and cargo-workspan {version}"));
    }
    Check::warn(GROUP, "commands", format!("workspan {version} is in {}, which is not in PATH", folder.display()))
        .means("Cargo does not find `cargo workspan`.")
        .fix(format!("export PATH=\"{}:$PATH\"", folder.display()))
}

/// Where cargo also looks for commands.
fn cargo_home() -> Option<PathBuf> {
    let default = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(default)
}
