//! The command `cargo workspan`.

use std::process::ExitCode;

fn main() -> ExitCode {
    workspan::main_cargo()
}
