//! The emulator: which one runs a program, and whether it can be watched.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::exit::{Status, NOT_EXECUTABLE, NOT_FOUND};

/// How to get one.
pub const FIX: &str = "apt-get install qemu-user (not qemu-user-static, whose emulators load no plugins)";

/// The emulator of programs for x86-64.
pub const NAME: &str = "qemu-x86_64";

/// An emulator that loads plugins.
#[derive(Clone, Debug)]
pub struct Emulator {
    /// Where it is.
    pub path: PathBuf,
    /// What it says its version is.
    pub version: String,
}

/// Finds it: the one that is named, or else by its usual name.
pub fn find(named: Option<&Path>) -> Result<Emulator, String> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => in_path(OsStr::new(NAME)).ok_or_else(|| format!("there is no {NAME} in PATH"))?,
    };
    let says = |argument: &str| {
        let output = Command::new(&path).arg(argument).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("cannot run {}: {error}", path.display()))?;
        Ok::<String, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let version = says("--version")?.lines().next().unwrap_or_default().to_owned();
    if !says("-help")?.contains("-plugin") {
        return Err(format!("{} loads no plugins", path.display()));
    }
    Ok(Emulator { path, version })
}

/// The file of a command, if there is one in `PATH`.
pub fn in_path(name: &OsStr) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The program that a command names: an executable for x86-64 on Linux.
pub fn program(name: &OsStr) -> anyhow::Result<PathBuf> {
    let refuse = |code, message: String| Err(Status { code, message }.into());
    let shown = name.to_string_lossy();
    let path = match name.as_encoded_bytes().contains(&b'/') {
        true => Some(PathBuf::from(name)).filter(|path| path.exists()),
        false => in_path(name),
    };
    let Some(path) = path else {
        return refuse(NOT_FOUND, format!("cannot run {shown}: there is no such program"));
    };
    let head = match fs::read(&path) {
        Ok(bytes) => bytes.into_iter().take(64).collect::<Vec<u8>>(),
        Err(error) => return refuse(NOT_EXECUTABLE, format!("cannot run {shown}: {error}")),
    };
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
        let interpreter = line.trim();
        return refuse(
            NOT_EXECUTABLE,
            format!("{shown} is a script: name its interpreter (`workspan limits -- {interpreter} {shown} …`)"),
        );
    }
    if !head.starts_with(b"\x7fELF") {
        return refuse(NOT_EXECUTABLE, format!("{shown} is not an executable (no ELF file)"));
    }
    let machine = u16::from_le_bytes([head.get(18).copied().unwrap_or(0), head.get(19).copied().unwrap_or(0)]);
    if head.get(4) != Some(&2) || head.get(5) != Some(&1) || machine != X86_64 {
        let machine = machine_name(machine);
        return refuse(
            NOT_EXECUTABLE,
            format!("{shown} is for {machine}: limits are known of programs for x86-64 only; build it for x86-64"),
        );
    }
    Ok(path)
}

const X86_64: u16 = 62;

fn machine_name(machine: u16) -> String {
    match machine {
        3 => "32-bit x86".to_owned(),
        40 => "32-bit ARM".to_owned(),
        183 => "aarch64".to_owned(),
        243 => "RISC-V".to_owned(),
        62 => "x86-64 in a form that Linux does not run".to_owned(),
        other => format!("another machine (ELF number {other})"),
    }
}
