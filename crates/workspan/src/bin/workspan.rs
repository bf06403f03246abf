//! The command `workspan`.

use std::process::ExitCode;

fn main() -> ExitCode {
    workspan::main_workspan()
}
