//! What watches the program: the emulator, or what there is in its place.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::bail;
use workspan_emulator::ring::NEWEST;

use super::analysis::Feed;
use super::emulator::{self, Emulator};
use super::run::Ended;
use super::{lackey, run, step};
use crate::args;

/// A tracer.
#[derive(Clone, Debug)]
pub enum Tracer {
    /// The emulator with our plugin.
    Emulator(Emulator),
    /// Valgrind at this path, of this version.
    Valgrind(PathBuf, String),
    /// One instruction at a time.
    Step,
}

/// The one that is requested, or else the fastest that there is.
pub fn find(args: &args::Limits) -> anyhow::Result<Tracer> {
    let emulator = || emulator::find(args.emulator.as_deref());
    match args.tracer {
        Some(args::Tracer::Qemu) => {}
        Some(args::Tracer::Valgrind) => match valgrind() {
            Some(found) => return Ok(found),
            None => bail!("there is no valgrind in PATH: apt-get install valgrind"),
        },
        Some(args::Tracer::Step) => return Ok(Tracer::Step),
        None if args.emulator.is_none() && emulator().is_err() => {
            if let Some(found) = valgrind() {
                return Ok(found);
            }
        }
        None => {}
    }
    match emulator() {
        Ok(found) => Ok(Tracer::Emulator(found)),
        Err(missing) => bail!("no emulator to run the program with: {missing}: {}", emulator::FIX),
    }
}

/// Valgrind, if it is there.
pub fn valgrind() -> Option<Tracer> {
    let path = emulator::in_path(OsStr::new("valgrind"))?;
    let output = Command::new(&path).arg("--version").stdin(Stdio::null()).output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !version.is_empty()).then_some(Tracer::Valgrind(path, version))
}

impl Tracer {
    /// Feeds what `program` does.
    pub fn run(&self, program: &Path, command: &[OsString], feed: &mut Feed<'_>) -> anyhow::Result<Ended> {
        match self {
            Tracer::Emulator(emulator) => run::run(emulator, program, command, feed),
            Tracer::Valgrind(path, _) => lackey::run(path, program, command, feed),
            Tracer::Step => step::run(program, command, feed),
        }
    }

    /// Why there is no instruction, if the emulator has not loaded the plugin.
    pub fn check_plugin(&self, ended: &Ended) -> anyhow::Result<()> {
        let Tracer::Emulator(emulator) = self else { return Ok(()) };
        let path = emulator.path.display();
        match ended.remarks.interface {
            0 if ended.signal().is_none() => bail!(
                "{path} has not loaded Workspan's plugin, which is for versions 1 to {NEWEST} of the plugin interface ({}): its \
                 message is above; name another emulator with --emulator, or use --tracer valgrind",
                ended.status
            ),
            version if version > NEWEST => bail!(
                "{path} has version {version} of the plugin interface; Workspan knows versions 1 to {NEWEST}: name an older \
                 emulator with --emulator, or use --tracer valgrind"
            ),
            _ => Ok(()),
        }
    }

    /// Its name and version.
    pub fn text(&self) -> String {
        match self {
            Tracer::Emulator(emulator) => emulator.version.clone(),
            Tracer::Valgrind(_, version) => format!("{version} (lackey)"),
            Tracer::Step => "one instruction at a time (ptrace)".to_owned(),
        }
    }

    /// What it does not see.
    pub fn warning(&self) -> Option<&'static str> {
        match self {
            Tracer::Emulator(_) => None,
            Tracer::Valgrind(..) => Some(
                "valgrind traced the program: buffers of system calls are no dependences, all threads count as one, and it \
                 takes 20 times as long as the emulator (apt-get install qemu-user)",
            ),
            Tracer::Step => Some("only the first thread was traced, one instruction at a time"),
        }
    }

    /// In an error: what ran nothing.
    pub fn name(&self) -> String {
        match self {
            Tracer::Emulator(emulator) => emulator.path.display().to_string(),
            Tracer::Valgrind(path, _) => path.display().to_string(),
            Tracer::Step => "ptrace".to_owned(),
        }
    }
}
