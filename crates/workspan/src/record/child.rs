//! Running the program: its input, output, status and signals are its own.
//!
//! Ctrl-C goes to the whole foreground group, so the program gets it and we must only survive it. Requests to end that
//! are sent to us alone (`SIGTERM`, `SIGHUP`) are passed on.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

use nix::sys::resource::{getrusage, Usage, UsageWho};
use nix::sys::signal::{kill, Signal};
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use workspan_collect::platform;
use workspan_model::{Exit, Nanos};

use crate::exit::{Status, NOT_EXECUTABLE, NOT_FOUND};

/// How the program ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Status or signal.
    pub exit: Exit,
    /// Cycle counter then.
    pub ticks: u64,
    /// CPU time it took.
    pub cpu: Nanos,
}

/// Runs `command` to its end. `environment`: variables to set, or to remove.
pub fn run(command: &[OsString], environment: &[(OsString, Option<OsString>)]) -> anyhow::Result<Ended> {
    let survived = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, Arc::clone(&survived))?;
    }
    let mut signals = Signals::new([SIGTERM, SIGHUP])?;
    let before = cpu_of_children();
    let mut child = Command::new(&command[0]);
    child.args(&command[1..]);
    for (name, value) in environment {
        match value {
            Some(value) => child.env(name, value),
            None => child.env_remove(name),
        };
    }
    let mut child = child.spawn().map_err(|error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
        Status { code, message: format!("cannot run {}: {error}", command[0].to_string_lossy()) }
    })?;
    let pid = i32::try_from(child.id()).map(Pid::from_raw);
    let over = Arc::new(AtomicBool::new(false));
    let handle = signals.handle();
    let forward = {
        let over = Arc::clone(&over);
        thread::spawn(move || {
            for signal in signals.forever() {
                if let (Ok(pid), Ok(signal), false) = (pid, Signal::try_from(signal), over.load(Ordering::Acquire)) {
                    // It may just have ended; then there is nobody to tell.
                    let _ = kill(pid, signal);
                }
            }
        })
    };
    let status = child.wait()?;
    let ticks = platform::ticks();
    over.store(true, Ordering::Release);
    handle.close();
    // The thread ends when its signals are closed.
    let _ = forward.join();
    let exit = match status.signal() {
        Some(signal) => Exit::Signal(signal),
        None => Exit::Code(status.code().unwrap_or(0)),
    };
    Ok(Ended { exit, ticks, cpu: cpu_of_children() - before })
}

fn cpu_of_children() -> Nanos {
    let time = |usage: Usage| usage.user_time().num_nanoseconds() + usage.system_time().num_nanoseconds();
    Nanos(getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, time))
}
