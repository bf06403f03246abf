//! `workspan limits`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

const LIMITS: &str = "\
Examples:
  workspan limits -- ./prog args
  workspan limits --json=limits.json -- sort words.txt";

/// `workspan limits`.
#[derive(Args, Clone, Debug)]
#[command(after_help = LIMITS)]
pub struct Limits {
    /// Run the program with the emulator at FILE (default: qemu-x86_64 in PATH).
    #[arg(long, value_name = "FILE")]
    pub emulator: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
