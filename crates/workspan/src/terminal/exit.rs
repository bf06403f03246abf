//! Exit statuses.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

use crate::output;

/// All is well.
pub const OK: u8 = 0;
/// `workspan doctor` found that something essential is missing.
pub const MISSING: u8 = 1;
/// `workspan advise` or `diff` found what `--fail-on` names.
pub const FOUND: u8 = 1;
/// Wrong usage, or input or output that failed; a message is on stderr.
pub const FAILED: u8 = 2;
/// The program to record exists but cannot be run.
pub const NOT_EXECUTABLE: u8 = 126;
/// The program to record does not exist.
pub const NOT_FOUND: u8 = 127;

/// How a verb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this status.
    Code(i32),
    /// As the profiled program: by this signal.
    Signal(i32),
}

impl Outcome {
    /// All is well.
    pub const OK: Outcome = Outcome::Code(0);

    /// As a program ended that was run in place of us.
    pub fn of(status: ExitStatus) -> Outcome {
        match status.signal() {
            Some(signal) => Outcome::Signal(signal),
            None => Outcome::Code(status.code().unwrap_or(i32::from(FAILED))),
        }
    }
}

/// Ends the process accordingly: with a status, or by the signal that ended the program.
pub fn code(outcome: anyhow::Result<Outcome>) -> ExitCode {
    match outcome {
        Ok(Outcome::Code(code)) => ExitCode::from(u8::try_from(code & 0xff).unwrap_or(FAILED)),
        Ok(Outcome::Signal(signal)) => {
            // Does not return for signals that end a process by default.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            ExitCode::from(u8::try_from((128 + signal) & 0xff).unwrap_or(FAILED))
        }
        Err(error) => {
            output::error(&error);
            let code = error.downcast_ref::<Status>().map_or(FAILED, |s| s.code);
            ExitCode::from(code)
        }
    }
}

/// An error with a status of its own.
#[derive(Debug)]
pub struct Status {
    /// The status.
    pub code: u8,
    /// What happened, and what to do.
    pub message: String,
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}
