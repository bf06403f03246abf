//! Running the program: its input, output, status and signals are its own.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{getrlimit, getrusage, setrlimit, Resource, Usage, UsageWho, RLIM_INFINITY};
use nix::sys::time::TimeValLike;
use workspan_collect::platform;
use workspan_model::{Exit, Nanos};

use super::{interpreter, target};
use crate::exit::{Status, NOT_EXECUTABLE};
use crate::runtime::{Variable, STAND_IN};
use crate::signals;

/// How the program ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Status or signal.
    pub exit: Exit,
    /// Cycle counter then.
    pub ticks: u64,
    /// CPU time it took.
    pub cpu: Nanos,
    /// From before its start to its end.
    pub wall: Nanos,
}

/// Where the program reads from and writes to.
#[derive(Clone, Copy, Debug)]
pub enum Streams<'f> {
    /// Where we do.
    Ours,
    /// It reads nothing; of what it writes, errors are kept.
    Errors(&'f File),
    /// It reads nothing, and writes all to our standard error.
    Messages,
}

/// Runs `command` to its end, in a changed environment.
pub fn run(command: &[OsString], environment: &[Variable]) -> anyhow::Result<Ended> {
    run_with(command, environment, Streams::Ours)
}

/// The same, with streams of its own.
pub fn run_with(command: &[OsString], environment: &[Variable], streams: Streams<'_>) -> anyhow::Result<Ended> {
    let caught = signals::Caught::new()?;
    let before = cpu_of_children();
    let mut child = Command::new(&command[0]);
    child.args(&command[1..]);
    for (name, value) in environment {
        match value {
            Some(value) => child.env(name, value),
            None => child.env_remove(name),
        };
    }
    match streams {
        Streams::Ours => {}
        Streams::Errors(file) => {
            child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file.try_clone()?);
        }
        Streams::Messages => {
            child.stdin(Stdio::null()).stdout(io::stderr());
        }
    }
    let began = Instant::now();
    let deeper = Deeper::new(environment);
    let spawned = child.spawn();
    drop(deeper);
    let mut child = spawned.map_err(|error| {
        let name = command[0].to_string_lossy();
        let missing = target::find(&command[0]).ok().and_then(|path| interpreter::missing(&path));
        if let Some(missing) = missing {
            let message = format!(
                "cannot run {name}: it needs {}, which does not exist (install it, or correct the first line of a script)",
                missing.display()
            );
            return Status { code: NOT_EXECUTABLE, message };
        }
        target::refused(Path::new(&command[0]), &error)
    })?;
    let passed_on = caught.pass_on_to(&child);
    let status = child.wait()?;
    let ticks = platform::ticks();
    let wall = Nanos(i64::try_from(began.elapsed().as_nanos()).unwrap_or(i64::MAX));
    passed_on.end(status.signal());
    let exit = match status.signal() {
        Some(signal) => Exit::Signal(signal),
        None => Exit::Code(status.code().unwrap_or(0)),
    };
    Ok(Ended { exit, ticks, cpu: cpu_of_children() - before, wall })
}

/// As long as it lives, programs that start have room for deeper recursion on their main stack: tasks that run at once take more
/// of it in LLVM's runtime than in gcc's, for which it stands in. What deep recursion fits there must fit here.
#[derive(Debug)]
struct Deeper(Option<(u64, u64)>);

/// This number of times as deep.
const DEEPER: u64 = 4;

impl Deeper {
    /// If the environment is that of a runtime that stands in.
    fn new(environment: &[Variable]) -> Deeper {
        let stands_in = environment.iter().any(|(name, value)| name == STAND_IN && value.is_some());
        let limits = getrlimit(Resource::RLIMIT_STACK).ok().filter(|(soft, _)| stands_in && *soft != RLIM_INFINITY);
        Deeper(limits.filter(|(soft, hard)| {
            let wanted = soft.saturating_mul(DEEPER).min(*hard);
            setrlimit(Resource::RLIMIT_STACK, wanted, *hard).is_ok()
        }))
    }
}

impl Drop for Deeper {
    fn drop(&mut self) {
        if let Some((soft, hard)) = self.0 {
            // Lowered to what it was: that is always allowed.
            let _ = setrlimit(Resource::RLIMIT_STACK, soft, hard);
        }
    }
}

fn cpu_of_children() -> Nanos {
    let time = |usage: Usage| usage.user_time().num_nanoseconds() + usage.system_time().num_nanoseconds();
    Nanos(getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, time))
}
