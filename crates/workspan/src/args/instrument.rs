//! Command lines of `workspan build`.

use std::ffi::OsString;

use clap::Args;

const BUILD: &str = "\
COMMAND runs with clang, clang++ and flang in place of cc, gcc, c++, g++, gfortran and the like, first in PATH and in CC,
CXX and FC, with versions in their names, too; cargo builds with instrumentation for the machine's target, into target/TRIPLE.
A build made without must be cleaned first: objects that are there already stay as they are.

Examples:
  workspan build -- make -j
  workspan build -- cc -O2 prog.c -o prog -lpthread
  workspan build -- sh -c 'cmake -B build && cmake --build build'
  workspan build -- cargo build --release";

/// `workspan build`.
#[derive(Args, Clone, Debug)]
#[command(after_help = BUILD)]
pub struct Build {
    /// The build and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
